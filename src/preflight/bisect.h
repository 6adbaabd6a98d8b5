#pragma once
// Which link of a large fabric is slow: pairs of hosts are measured alone, one after the other,
// until one link between switches is left, or the leaf whose uplinks it is among.
//
// Which of the links between two leaves carries a pair is the hash's choice, and differs from pair
// to pair. A pair that is slow alone makes every link that carried it a suspect; one that reaches
// its floor clears the links that carried it. Where nobody counts what links carry, pairs with
// hosts below third leaves say at which end it is: a pair that does not touch a leaf, and is slow,
// clears that leaf. A pair is slow by a link only where neither of its hosts is slow with hosts
// below its own leaf, to whom no such link leads.
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "preflight/schedule.h"
#include "preflight/suspects.h"

namespace weir::preflight {

/// A pair that was measured alone.
struct Trial {
  HostPair pair;
  bool is_slow = false;
  std::vector<std::uint32_t> links = {};  // between switches, that carried it; none: not known
};

/// Groups of two hosts that were slow together in the rounds, the slowest first, each once, at most
/// `most`; `groups` is a number per host. Pairs within a group have no link between switches.
[[nodiscard]] std::vector<HostPair> slow_between_groups(const std::vector<Sample>& samples,
                                                        const std::vector<std::uint32_t>& groups,
                                                        std::size_t most);

/// Pairs of hosts below the same two leaves as this one, which comes first.
[[nodiscard]] std::vector<HostPair> pairs_between(const HostPair& slow,
                                                  const std::vector<std::uint32_t>& groups,
                                                  std::size_t most);
/// Hosts below the leaf of `host` with hosts below leaves that are neither its own nor that of
/// `other`.
[[nodiscard]] std::vector<HostPair> pairs_elsewhere(std::uint32_t host, std::uint32_t other,
                                                    const std::vector<std::uint32_t>& groups,
                                                    std::size_t most);

/// What a link between switches carried while one pair ran; lower and upper are switches.
struct Carried {
  std::uint32_t link = 0;
  std::uint32_t lower = 0;
  std::uint32_t upper = 0;
  std::uint64_t bytes = 0;
};
/// Links of all tiers that carried data between two leaves: those that carried anything and hang
/// together with the first leaf, by way of no leaf but these two (`leaves` are all), so that what
/// other rails did elsewhere does not count. Of data that has arrived `least_share` of what the
/// busiest carried or more: acknowledgements on their way back are less. Data that has not (no
/// share) may have stopped at the slow link, after any number of bytes.
[[nodiscard]] std::vector<std::uint32_t> links_between(const std::vector<Carried>& carried,
                                                       const HostPair& ends,
                                                       const std::set<std::uint32_t>& leaves,
                                                       std::optional<double> least_share);

/// Those of which neither end is one of these hosts.
[[nodiscard]] std::vector<Sample> samples_without(const std::set<std::uint32_t>& hosts,
                                                  std::vector<Sample> samples);

/// Links that carried every slow pair and none that was not slow. Empty where no pair was slow, or
/// where nobody knows what carried the slow ones.
[[nodiscard]] std::vector<std::uint32_t> suspect_links(const std::vector<Trial>& trials);

/// Pairs of one leaf with third leaves.
struct SideCount {
  std::size_t tried = 0;
  std::size_t slow = 0;
};
/// At which end it is, where only one end's pairs with third leaves are slow.
enum class End : std::uint8_t { kNotKnown, kFirst, kSecond };
[[nodiscard]] constexpr End faulty_end(const SideCount& first, const SideCount& second) {
  if ((first.slow > 0) == (second.slow > 0)) return End::kNotKnown;
  return first.slow > 0 ? End::kFirst : End::kSecond;
}

}  // namespace weir::preflight
