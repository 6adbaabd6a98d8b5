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
/// Of a quick preflight.
inline constexpr std::uint32_t kQuickRounds = 3;

/// Rounds that cover links instead of pairs: the circle method over the groups of hosts (those
/// below one leaf), in which the hosts of two groups meet one to one, and one round within each
/// group. Every link between a host and its leaf carries traffic in each, and every two leaves
/// exchange data in one: which of the links between them carries it is the hash's choice.
[[nodiscard]] std::vector<Round> link_rounds(const std::vector<std::uint32_t>& groups);

/// The rounds of a preflight, `groups` being a number per host: all pairs up to kAllPairsHosts,
/// links beyond. Of a quick one kQuickRounds of them, spread evenly.
[[nodiscard]] std::vector<Round> rounds_for(const std::vector<std::uint32_t>& groups,
                                            bool is_quick);

/// Pairs in which every host of the rounds takes part once or more: the first round, and of later
/// ones the pairs with a host that has not had its turn.
[[nodiscard]] std::vector<Round> covering_rounds(const std::vector<Round>& rounds);

/// How the number of hosts grows before all take part: 2, 4, 8, … below `hosts`.
[[nodiscard]] std::vector<std::uint32_t> growth(std::uint32_t hosts);

}  // namespace weir::preflight
