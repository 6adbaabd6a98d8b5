#pragma once
// The texts that kernel files hold, each into its value. Pure, total: any bytes go in, a value or a
// reason comes out, and a text that the driver never prints is an error, not a zero.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "evidence/evidence.h"

namespace weir::host {

/// A value, or why the text holds none.
template <class T>
class Parsed {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a parser returns either
  Parsed(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Parsed(evidence::Missing why) : state_(std::in_place_index<1>, why) {}
  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const T& operator*() const { return std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] evidence::Missing why() const { return std::get<1>(state_); }

 private:
  std::variant<T, evidence::Missing> state_;
};

/// Decimal, or hexadecimal after 0x; white space around it.
[[nodiscard]] Parsed<std::uint64_t> parse_number(std::string_view text);
/// The same for what fits `unsigned`; -1 is how the kernel says that it does not know.
[[nodiscard]] Parsed<unsigned> parse_unsigned(std::string_view text);
/// "0" and "1"; a driver whose firmware did not answer prints nothing at all.
[[nodiscard]] Parsed<bool> parse_flag(std::string_view text);
/// Without white space at its ends; empty is unsupported (rxe's fw_ver).
[[nodiscard]] Parsed<std::string> parse_word(std::string_view text);

/// "4: ACTIVE".
[[nodiscard]] Parsed<bool> parse_port_active(std::string_view text);
[[nodiscard]] Parsed<evidence::LinkLayer> parse_link_layer(std::string_view text);
/// "IB/RoCE v1", "RoCE v2".
[[nodiscard]] Parsed<evidence::GidType> parse_gid_type(std::string_view text);
[[nodiscard]] Parsed<evidence::Duplex> parse_duplex(std::string_view text);
/// Megabits per second; -1 and 0xffffffff while the link is down.
[[nodiscard]] Parsed<BitRate> parse_speed(std::string_view text);
/// An InfiniBand port's: "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)".
[[nodiscard]] Parsed<BitRate> parse_port_rate(std::string_view text);
/// "32.0 GT/s PCIe", "16 GT/s": megatransfers; "Unknown" is unsupported.
[[nodiscard]] Parsed<unsigned> parse_pci_speed(std::string_view text);
/// "0-3,8": processors, nodes. At most 2^16 of them.
[[nodiscard]] Parsed<std::vector<unsigned>> parse_cpu_list(std::string_view text);

/// The vendor's traffic_class file: nothing while unset, "Global tclass=106", then rules. A bare
/// number is what some documents show.
struct ForcedTrafficClass {
  std::optional<TosByte> global;
  std::vector<std::string> rules;
};
[[nodiscard]] Parsed<ForcedTrafficClass> parse_traffic_class(std::string_view text);

/// The vendor's qos/buffer_size: a heading of two lines and a table.
struct BufferTable {
  Bytes total;
  std::array<Bytes, 8> size{};
  std::array<Bytes, 8> xoff{};
  std::array<Bytes, 8> xon{};
};
[[nodiscard]] Parsed<BufferTable> parse_buffer_table(std::string_view text);
/// The vendor's qos/prio2buffer: "Priority\tBuffer", then eight rows.
[[nodiscard]] Parsed<std::array<unsigned, 8>> parse_priority_to_buffer(std::string_view text);
/// The vendor's qos/maxrate: eight numbers of kbit/s.
[[nodiscard]] Parsed<std::array<BitRate, 8>> parse_max_rates(std::string_view text);
/// qos/trust of the vendor's oldest stacks: "dscp", "pcp".
[[nodiscard]] Parsed<evidence::TrustMode> parse_trust(std::string_view text);

/// /proc/PID/limits: the soft limit of locked memory; nullopt is unlimited.
[[nodiscard]] Parsed<std::optional<Bytes>> parse_memlock(std::string_view text);
/// /etc/os-release: PRETTY_NAME.
[[nodiscard]] Parsed<std::string> parse_os_release(std::string_view text);
/// /proc/modules: names.
[[nodiscard]] Parsed<std::vector<std::string>> parse_modules(std::string_view text);
/// A value of `KEY=value` lines, as uevent and os-release have them.
[[nodiscard]] std::optional<std::string> value_of_key(std::string_view text, std::string_view key);
/// A value of `Key: value` lines, as /proc/driver/nvidia has them.
[[nodiscard]] Parsed<std::string> parse_colon_value(std::string_view text, std::string_view key);

/// The largest RDMA MTU that fits a network device's: the kernel's iboe_get_mtu(), which takes off
/// 96 bytes of headers (rdma/ib_addr.h). Unsupported below the smallest, 256.
[[nodiscard]] Parsed<Bytes> roce_mtu_within(Bytes netdev_mtu);

/// "::ffff:10.10.1.5" as sysfs prints it, to "10.10.1.5"; nullopt where it is no IPv4 address.
[[nodiscard]] std::optional<std::string> ipv4_of_gid(std::string_view gid);

/// nccl.conf: one NAME=VALUE per line, '#' begins a comment. An error where a line is neither.
[[nodiscard]] Parsed<std::vector<evidence::NamedText>> parse_nccl_conf(std::string_view text);

}  // namespace weir::host
