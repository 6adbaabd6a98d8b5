#pragma once
// What a retest proved, as findings: pairs that were alone in the fabric, and who was slow in them.
// Pure. A sentence says only what was measured.
#include <cstdint>
#include <string>
#include <vector>

#include "finding/finding.h"

namespace weir::preflight {

struct NicName {
  std::string host;
  std::uint32_t rail = 0;
  std::string device;  // "mlx5_3"
  std::string netdev;  // as the design names it
};

/// One way of a pair that was alone in the fabric.
struct Alone {
  std::string from;
  std::string to;
  std::uint32_t rail = 0;
  double rate = 0;  // bit/s
  double floor = 0;
};
/// "gpu01 to gpu09, rail 0, alone: 12.1 Gb/s of at least 93.1 Gb/s".
[[nodiscard]] std::string alone_text(const Alone& alone);

/// One NIC of a host, slow with two partners; `good` is how many other rails of the host reached
/// their floors in the same loads.
[[nodiscard]] finding::Finding slow_nic(const NicName& nic, const Alone& worst,
                                        const std::vector<std::string>& partners, std::size_t good);

/// A path between two hosts. `why` says what else was measured: ", and …".
[[nodiscard]] finding::Finding slow_path(const Alone& worst, const std::string& why);

/// Slow on every NIC of a rail, or below a leaf; alone too, with another below the same leaf.
struct SlowTogether {
  std::string what;          // "Rail 3", "leaf2", "Every rail"
  std::size_t hosts = 0;     // whose NICs are slow
  std::string rail;          // empty: not one
  std::string switch_name;   // where all of them hang
  std::vector<Alone> alone;  // the worst of each pair that was tried
};
[[nodiscard]] finding::Finding slow_together(const SlowTogether& slow);

/// Fast among themselves, slow with hosts below other leaves; `uplinks` is how many the leaf has.
[[nodiscard]] finding::Finding slow_uplinks(const SlowTogether& slow, const Alone& within,
                                            std::size_t uplinks);

}  // namespace weir::preflight
