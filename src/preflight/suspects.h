#pragma once
// Who is slow among many pairs that were measured at once, and who is to blame once the suspects
// were measured again, alone, with partners that are known to be good. Pairs that run at the same
// time share links, so that a low rate in a round is a suspicion and no more.
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
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

/// A NIC: of a host, on a rail.
struct NicId {
  std::uint32_t host = 0;
  std::uint32_t rail = 0;

  friend auto operator<=>(const NicId&, const NicId&) = default;
};

struct Suspect {
  NicId nic;
  double score = 0;           // of the floor, in the median of its rounds; the worse way counts
  bool is_receiving = false;  // that way
  double z = 0;               // among like hosts on the same rail; 0 where they are too few
  bool is_outlier = false;    // among them
};

/// NICs that are slow together: what they have in common is looked at before any of them.
enum class Common : std::uint8_t { kFabric, kRail, kLeaf };
struct SlowGroup {
  Common common = Common::kFabric;
  std::uint32_t number = 0;  // of the rail, or of the leaf
  std::vector<NicId> nics;
};

/// What fewer hosts have in common may be chance.
inline constexpr std::size_t kLeastTogether = 3;

/// What a NIC reached of its floor, in the median of its rounds; the worse way counts.
[[nodiscard]] std::map<NicId, double> nic_scores(const std::vector<Sample>& samples);

/// Pairs of NICs that reached their floors both ways, in both orders.
[[nodiscard]] std::set<std::pair<NicId, NicId>> good_pairs(const std::vector<Sample>& samples);

/// All NICs of the fabric, below their floors; else all of a rail, and all below a leaf, where
/// those of others are not all slow. `leaves` is a number per NIC; equal ones are below the same
/// leaf.
[[nodiscard]] std::vector<SlowGroup> slow_groups(const std::vector<Sample>& samples,
                                                 const std::map<NicId, std::uint32_t>& leaves);

/// NICs whose median is below the floor: outliers among at least `like_hosts` of their kind on the
/// same rail first, then the others, worst first. `kinds` is a number per host: equal ones are
/// compared. Of the NICs of `groups` only outliers, where there are enough to tell: the others have
/// their reason in common.
[[nodiscard]] std::vector<Suspect> suspects_among(const std::vector<Sample>& samples,
                                                  const std::vector<std::uint32_t>& kinds,
                                                  const std::vector<SlowGroup>& groups,
                                                  const finding::Thresholds& limits);

/// A host with its suspect NICs, as they are measured again: a load runs on all rails.
struct SuspectHost {
  std::uint32_t host = 0;
  std::vector<std::uint32_t> rails;
};
/// In the order of the suspects.
[[nodiscard]] std::vector<SuspectHost> suspect_hosts(const std::vector<Suspect>& suspects);

/// Slow pairs of NICs of which neither is a suspect, each pair of hosts once. Worst first, at most
/// `most`.
[[nodiscard]] std::vector<Sample> suspect_pairs(const std::vector<Sample>& samples,
                                                const std::vector<Suspect>& suspects,
                                                std::size_t most);

/// What is known of partners: the rounds, and whom they make suspect.
struct PartnerChoice {
  const std::vector<Sample>& samples;
  const std::vector<Suspect>& suspects;
  const std::vector<std::uint32_t>& kinds;
};
/// A partner for a host on these rails: one that reached its floors both ways with a third host,
/// else one that is no suspect; of its kind where there is one; with the best median; and not
/// `excluded`. The host itself where nobody is left.
[[nodiscard]] std::uint32_t healthy_partner(const SuspectHost& suspect, std::uint32_t excluded,
                                            const PartnerChoice& among);

/// Without those of which one end is one of these NICs.
[[nodiscard]] std::vector<Sample> without_nics(const std::set<NicId>& nics,
                                               std::vector<Sample> samples);

}  // namespace weir::preflight
