#pragma once
// The NIC drivers: every name that one of them goes by, in one table.
//
// A driver has a name as the kernel prints it, a name for its family, and a habit of naming RDMA
// devices. Readers recognise hosts by them, the counter catalogue files raw names under them, fixes
// are chosen by them. A new driver is a row here, and a table of its counters in src/counters.
#include <array>
#include <cstdint>
#include <string_view>

namespace weir::vocab {

/// Who gives a counter its name: a NIC driver or a switch system.
enum class Driver : std::uint8_t {
  kMlx5,
  kAny,  // the kernel: what every driver has
  kBnxt,
  kIrdma,
  kIonic,
  kRxe,
  kSwitch,  // our own names for switch counters: the simulator's, and what readers produce
  kCumulus,
  kEos,
  kNxos,
  kJunos,
  kSonic,
};

struct NicDriver {
  Driver driver = Driver::kAny;  // kAny: the catalogue has no counters of its own for it
  std::string_view name = {};    // the family: "mlx5"
  std::string_view kernel = {};  // of the network device, as `ethtool -i` prints it: "mlx5_core"
  std::array<std::string_view, 3> modules = {};  // how kernel drivers of the family begin
  std::string_view device = {};     // how the driver's own RDMA device names begin: "mlx5_"
  std::string_view nic_model = {};  // the usual NIC, as a design names it; empty: none
};

inline constexpr auto kNicDrivers = std::to_array<NicDriver>({
    {Driver::kMlx5, "mlx5", "mlx5_core", {"mlx5"}, "mlx5_", "connectx7"},
    {Driver::kBnxt, "bnxt", "bnxt_en", {"bnxt"}, "bnxt_re", "thor2"},
    {Driver::kIrdma, "irdma", "ice", {"irdma", "ice", "idpf"}, "irdma", "e810"},
    {Driver::kIonic, "ionic", "ionic", {"ionic"}, "ionic_", "pollara"},
    {Driver::kRxe, "rxe", "rdma_rxe", {"rdma_rxe", "rxe"}, "rxe", ""},
    {Driver::kAny, "mlx4", "mlx4_core", {"mlx4"}, "mlx4_", ""},
    {Driver::kAny, "efa", "efa", {"efa"}, "efa_", ""},
    {Driver::kAny, "erdma", "erdma", {"erdma"}, "erdma", ""},
    {Driver::kAny, "hns", "hns_roce_hw_v2", {"hns"}, "hns_", ""},
    {Driver::kAny, "qedr", "qede", {"qede", "qedr"}, "qedr", ""},
    {Driver::kAny, "siw", "siw", {"siw"}, "siw", ""},
});

/// The family's row; nullptr for kAny and for switches.
[[nodiscard]] const NicDriver* find_driver(Driver driver);
/// By how an RDMA device is called: "mlx5_0", "bnxt_re1". nullptr where udev has renamed it.
[[nodiscard]] const NicDriver* driver_of_device(std::string_view device);

/// The family of a kernel driver: "mlx5_core" and "mlx5_ib" are mlx5, "ice" and "irdma" irdma; also
/// of a switch system's name. One that the catalogue does not know is kAny.
[[nodiscard]] Driver driver_of(std::string_view kernel_driver);

/// "mlx5" "bnxt" … "any" "switch" "cumulus" "eos" …
[[nodiscard]] std::string_view to_text(Driver driver);

/// How much of `name` is what drivers and udev begin RDMA device names with ("mlx5_" of "mlx5_0",
/// "rocep" of "rocep24s0"); 0 where it is no such name.
[[nodiscard]] std::size_t rdma_stem(std::string_view name);

/// A driver as a person deals with it: commands depend on the driver, and for mlx5 on who built it.
struct NicStack {
  std::string_view name;  // of a fix: "mlx5-ofed"
  std::string_view title;
  Driver driver;
  bool is_vendor;  // the vendor's own build, where the two differ
};
inline constexpr auto kNicStacks = std::to_array<NicStack>({
    {"mlx5-ofed", "NVIDIA ConnectX, vendor driver (mlnx_qos, sysfs)", Driver::kMlx5, true},
    {"mlx5-inbox", "NVIDIA ConnectX, kernel's own driver (dcb, debugfs)", Driver::kMlx5, false},
    {"bnxt", "Broadcom NetXtreme-E (Thor)", Driver::kBnxt, false},
    {"ice", "Intel E810 (ice, irdma)", Driver::kIrdma, false},
    {"ionic", "AMD Pensando (ionic)", Driver::kIonic, false},
});
/// nullptr where fixes know none of this driver.
[[nodiscard]] const NicStack* find_stack(Driver driver, bool is_vendor);

}  // namespace weir::vocab
