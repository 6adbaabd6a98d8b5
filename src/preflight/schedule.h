#pragma once
// Who exchanges data with whom, and when: rounds of pairs in which every host takes part once.
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::preflight {

/// Indices of hosts.
struct HostPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  friend bool operator==(const HostPair&, const HostPair&) = default;
};
using Round = std::vector<HostPair>;

/// The circle method: every two hosts meet in exactly one round. Of an even number n - 1 rounds of
/// n / 2 pairs; of an odd one n rounds, in each of which one host rests.
[[nodiscard]] std::vector<Round> circle_rounds(std::uint32_t hosts);

/// Up to this many hosts every pair is measured.
inline constexpr std::uint32_t kAllPairsHosts = 128;
/// Beyond it so many rounds, spread evenly over those of the circle: each holds pairs of every
/// distance, so that links of every tier carry traffic in each.
inline constexpr std::uint32_t kSampledRounds = 16;
/// Of a quick preflight.
inline constexpr std::uint32_t kQuickRounds = 3;

/// The rounds of a preflight; all of them where they are few enough.
[[nodiscard]] std::vector<Round> rounds_for(std::uint32_t hosts, bool is_quick);

/// How the number of hosts grows before all take part: 2, 4, 8, … below `hosts`.
[[nodiscard]] std::vector<std::uint32_t> growth(std::uint32_t hosts);

}  // namespace weir::preflight
