#pragma once
// Probes of one peer over real sockets, without privilege where the system allows it:
//
//   ping   an ICMP echo through a ping socket (net.ipv4.ping_group_range admits the user)
//   raw    an ICMP echo through a raw socket (CAP_NET_RAW)
//   udp    a datagram to a closed port: the peer's "port unreachable" is the answer.
//          Needs no privilege; peers answer about once per second, so it is slow
//
// Never fragmented, and sent whatever the kernel remembers of the path (IP_PMTUDISC_PROBE). ICMP
// errors come from the socket's error queue (IP_RECVERR), which needs no privilege either.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/probe/probe_mtu.h"
#include "units/qos_code.h"

namespace weir::host {

enum class ProbeMethod { kPing, kRaw, kUdp };
[[nodiscard]] std::string_view to_text(ProbeMethod);  // "ping" "raw" "udp"

/// Where a peer is, and the way out to it.
struct ProbeTarget {
  std::string name;     // as the user gave it
  std::string address;  // numeric
  bool is_ipv6 = false;
  std::string interface;  // the route's; empty where it is not known
  std::uint32_t interface_mtu = 0;
};

/// By name or address; `family` 4 or 6 chooses, 0 takes the first. The error says whether the name
/// or the route is missing.
[[nodiscard]] Result<ProbeTarget> resolve_probe_target(const std::string& peer, int family);

/// The methods that this process may use, best first; udp is always there.
[[nodiscard]] std::vector<ProbeMethod> probe_methods(const ProbeTarget& target);

[[nodiscard]] std::unique_ptr<ProbeIo> make_probe_io(const ProbeTarget& target, ProbeMethod method,
                                                     std::optional<Dscp> dscp);

/// Whether an ICMP message that a raw socket saw is the echo reply to `id` and `sequence`.
/// `packet` begins with the IP header where `has_ip_header`. For tests: any bytes are fine.
[[nodiscard]] bool is_echo_reply(std::string_view packet, bool has_ip_header, bool is_ipv6,
                                 std::uint16_t id, std::uint16_t sequence);

/// What an ICMP error means for a probe. `type` and `code` as in the message.
[[nodiscard]] ProbeReply read_icmp_error(bool is_ipv6, unsigned type, unsigned code,
                                         std::uint32_t mtu, std::string from, bool is_peer);

/// Counters of a network interface that say something about size: "rx_length_errors" … Empty where
/// the interface is not there. From the kernel's link statistics, so it works in any namespace.
struct InterfaceCounter {
  std::string_view name;
  std::uint32_t value = 0;
};
[[nodiscard]] std::vector<InterfaceCounter> interface_counters(const std::string& interface);

}  // namespace weir::host
