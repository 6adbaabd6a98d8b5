#pragma once
// Who is slow among many pairs that were measured at once, and who is to blame once the suspects
// were measured again, alone, with partners that are known to be good. Pairs that run at the same
// time share links, so that a low rate in a round is a suspicion and no more.
#include <cstdint>
#include <vector>

#include "finding/thresholds.h"
#include "preflight/schedule.h"

namespace weir::preflight {

/// What one NIC sent to another in one round.
struct Sample {
  std::uint32_t from = 0;  // hosts
  std::uint32_t to = 0;
  std::uint32_t rail = 0;
  std::uint32_t round = 0;
  double rate = 0;   // bit/s of data; 0: it did not finish
  double floor = 0;  // what the pair must reach alone

  [[nodiscard]] double of_floor() const { return floor > 0 ? rate / floor : 1; }
  [[nodiscard]] bool is_slow() const { return rate < floor; }
};

struct Suspect {
  std::uint32_t host = 0;
  double score = 0;           // of the floor, in the median of its rounds; the worse way counts
  bool is_receiving = false;  // that way
  double z = 0;               // among like hosts; 0 where they are too few
};

/// Hosts whose median is below the floor, and, among at least `like_hosts` of their kind, an
/// outlier. `kinds` is a number per host: equal ones are compared. Worst first, at most `most`.
[[nodiscard]] std::vector<Suspect> suspects_among(const std::vector<Sample>& samples,
                                                  const std::vector<std::uint32_t>& kinds,
                                                  const finding::Thresholds& limits,
                                                  std::size_t most);

/// Slow pairs of hosts of which neither is a suspect. Worst first, at most `most`.
[[nodiscard]] std::vector<HostPair> suspect_pairs(const std::vector<Sample>& samples,
                                                  const std::vector<Suspect>& suspects,
                                                  std::size_t most);

/// A partner for a suspect: of its kind where there is one, no suspect, with the best median, and
/// not `excluded`. The suspect itself where nobody is left.
[[nodiscard]] std::uint32_t healthy_partner(std::uint32_t suspect, std::uint32_t excluded,
                                            const std::vector<Sample>& samples,
                                            const std::vector<Suspect>& suspects,
                                            const std::vector<std::uint32_t>& kinds);

enum class Blame : std::uint8_t { kNobody, kHost, kPath };

/// Alone with two healthy partners: slow with both is the host, with one is the path to that one,
/// with none the rounds shared a link.
[[nodiscard]] constexpr Blame blame(bool slow_with_first, bool slow_with_second) {
  if (slow_with_first && slow_with_second) return Blame::kHost;
  return slow_with_first || slow_with_second ? Blame::kPath : Blame::kNobody;
}

}  // namespace weir::preflight
