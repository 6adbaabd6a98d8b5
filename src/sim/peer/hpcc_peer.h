#pragma once
// The peer's arithmetic (model `hpcc`): its transmission times, and its ECMP hash, MurmurHash3
// (x86, 32 bit; Appleby, public domain algorithm) over three words {source ip, destination ip,
// source port | destination port << 16}, seeded with the switch's node id. An ACK travels with the
// addresses swapped.
#include <bit>
#include <cstdint>

#include "sim/fabric/network.h"

namespace weir::sim {

constexpr std::uint32_t hpcc_address(NodeId node) {
  const std::uint32_t number = to_index(node);
  return 0x0b000001U + ((number / 256) << 16U) + ((number % 256) << 8U);
}

inline constexpr std::uint32_t kHpccPort = 100;  // the destination port of every flow file

constexpr std::uint32_t hpcc_hash(const QueuePair& qp, bool back, std::uint32_t seed) {
  const std::uint32_t forth_ports = qp.source_port | (kHpccPort << 16U);
  const std::uint32_t back_ports = kHpccPort | (std::uint32_t{qp.source_port} << 16U);
  const std::uint32_t words[3] = {hpcc_address(back ? qp.target : qp.source),
                                  hpcc_address(back ? qp.source : qp.target),
                                  back ? back_ports : forth_ports};
  std::uint32_t h = seed;
  for (const std::uint32_t word : words) {
    h ^= std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
    h = std::rotl(h, 13) * 5 + 0xe6546b64U;
  }
  h ^= 12U;
  h = (h ^ (h >> 16U)) * 0x85ebca6bU;
  h = (h ^ (h >> 13U)) * 0xc2b2ae35U;
  return h ^ (h >> 16U);
}

/// Picoseconds that the peer makes of `seconds`: a fixed-point number of 64 fraction bits, and the
/// whole nanoseconds of that.
[[nodiscard]] std::int64_t hpcc_time(double seconds);  // as the peer computes

/// And for `bytes` at `rate`. What should be 8384 ns is 8383.
[[nodiscard]] std::int64_t hpcc_time(std::int64_t bytes, std::int64_t rate);

}  // namespace weir::sim
