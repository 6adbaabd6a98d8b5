#pragma once
// Who is at the other end of the cable: LLDP frames (IEEE 802.1AB) as systemd-networkd keeps them,
// one file per interface. The kernel has them nowhere else: without networkd they are not known.
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

inline constexpr std::string_view kNetworkdLldp = "/run/systemd/netif/lldp/";  // and the index

/// One frame, from its Ethernet header on.
[[nodiscard]] Parsed<evidence::Neighbour> parse_lldp_frame(std::string_view frame);

/// networkd's file: of each frame eight bytes of length in little endian, then the frame.
[[nodiscard]] Parsed<std::vector<evidence::Neighbour>> parse_networkd_lldp(std::string_view file);
/// What parse_networkd_lldp() reads back, from frames with no more than the names.
[[nodiscard]] std::string networkd_lldp_file(const std::vector<evidence::Neighbour>& neighbours);

/// Of the interface with this index. Absent where networkd keeps none, or has heard nothing.
[[nodiscard]] evidence::Fact<evidence::Neighbour> read_neighbour(
    Kernel& kernel, const evidence::Fact<unsigned>& interface);

}  // namespace weir::host
