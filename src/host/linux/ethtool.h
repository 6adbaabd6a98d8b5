#pragma once
// Rings, pause, FEC, autonegotiation (ethtool netlink; ioctl where a kernel before 5.6 has none),
// the driver's name and the private statistics (ioctl only). Reading needs no privilege.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/evidence.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

struct DriverInfo {
  std::string driver;
  std::string version;
  std::string firmware;  // "28.43.2026 (MT_0000000838)"
  std::string bus;       // "0000:18:00.0"
};
[[nodiscard]] Answer<DriverInfo> read_driver_info(Kernel& kernel, const std::string& netdev);

/// Names as the driver spells them; asked anew each time, because names come and go with PFC.
using Statistics = std::vector<std::pair<std::string, std::uint64_t>>;
[[nodiscard]] Answer<Statistics> read_statistics(Kernel& kernel, const std::string& netdev);

struct EthtoolFacts {
  evidence::Rings rings;
  evidence::Fact<bool> pause_rx;
  evidence::Fact<bool> pause_tx;
  evidence::Fact<std::string> fec;  // "RS" "BaseR" "LLRS" "Off", as ethtool prints it
  evidence::Fact<bool> autoneg;
};

/// A driver's private flag by its name: "fw-lldp-agent" of ice. Absent where the driver has none of
/// that name.
[[nodiscard]] evidence::Fact<bool> read_private_flag(Kernel& kernel, const std::string& netdev,
                                                     std::string_view flag);

/// Knows the number of the generic netlink family after the first request.
class Ethtool {
 public:
  explicit Ethtool(Kernel& kernel) : kernel_(kernel) {}
  [[nodiscard]] EthtoolFacts read(const std::string& netdev);

  /// Autonegotiation of pause stays as it is: mlx5 refuses to change it.
  [[nodiscard]] Answer<Taken> set_pause(const std::string& netdev, bool rx, bool tx);
  [[nodiscard]] Answer<Taken> set_rings(const std::string& netdev, unsigned rx, unsigned tx);

 private:
  [[nodiscard]] Answer<std::uint16_t> family();
  /// The reply's attributes as bytes.
  [[nodiscard]] Answer<std::string> ask(std::uint8_t command, const std::string& netdev);
  /// `put` adds what is to be set to the request.
  template <class Put>
  [[nodiscard]] Answer<Taken> tell(std::uint8_t command, const std::string& netdev, Put put);
  void read_rings(const std::string& netdev, EthtoolFacts& out);
  void read_pause(const std::string& netdev, EthtoolFacts& out);
  void read_fec(const std::string& netdev, EthtoolFacts& out);

  Kernel& kernel_;
  std::optional<Answer<std::uint16_t>> family_;
};

/// The family's number out of the controller's reply.
[[nodiscard]] Parsed<std::uint16_t> parse_family(std::string_view message);

}  // namespace weir::host
