#pragma once
// The invariant CRC of RoCE: over everything that no hop may change. CRC-32 of Ethernet over eight
// bytes of ones (the missing local route header), the network header with its mutable fields set to
// ones, UDP with its checksum set to ones, the BTH with its congestion bits set to ones, the rest
// unchanged. Stored least significant byte first. (InfiniBand 1.4 vol. 1, 7.8.1; annexes A16.5.1
// and A17.9.4.)
#include <cstddef>
#include <cstdint>

namespace weir::wire {

enum class NetworkHeader : std::uint8_t { kIpv4, kIpv6, kGrh };

/// Of the packet that starts with its IP header (or, RoCEv1, its GRH) and is `size` bytes long with
/// the ICRC. `network_bytes`: of the network header, 20 to 60.
/// REQUIRES: network_bytes + UDP (IP only) + BTH + 4 <= size.
[[nodiscard]] std::uint32_t icrc(const std::uint8_t* packet, std::size_t size, NetworkHeader header,
                                 std::size_t network_bytes);

}  // namespace weir::wire
