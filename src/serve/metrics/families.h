#pragma once
// What was seen and judged, as metric families of Prometheus. A pure function but for numbers that
// wrap, which are widened from one scrape to the next.
//
//   absent        a counter that could not be read has no series; weir_counters_unreadable says how
//                 many of which place, and why. A missing number is never 0.
//   saturated     a number that sticks at its maximum is flagged: rates over it are 0 for ever
//   findings      a series while the finding is open; weir_findings is there with 0 too, so that
//                 "none" differs from "nobody looked"
//   a host        of a fleet that could not be read has weir_fleet_host_seen 0 and no other series
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "counters/snapshot.h"
#include "finding/finding.h"
#include "ops/source/fabric.h"
#include "ops/source/hosts.h"
#include "ops/watch/rounds.h"
#include "store/history.h"

namespace weir::serve {

/// Lean: what alerts and dashboards use, for the priorities of the design and any other on which
/// something happened. Full: every counter that the catalogue knows.
enum class Profile : std::uint8_t { kLean, kFull };

/// The last judgement, and when it was made.
struct Judged {
  finding::Judgement judgement;
  double unix_seconds = 0;
};

/// A collector that was asked in this scrape.
struct Collector {
  std::string name;  // "hosts" "findings"
  bool has_succeeded = false;
  double seconds = 0;
};

/// Numbers narrower than 64 bits, carried on beyond their width. A number that went down because it
/// was reset starts again, as Prometheus expects of a counter.
class Widened {
 public:
  /// `key` names the counter of a port; `raw` is as the driver shows it.
  std::uint64_t widen(const std::string& key, std::uint64_t raw, unsigned bits);
  [[nodiscard]] std::size_t size() const { return states_.size(); }

 private:
  struct State {
    std::uint64_t last = 0;
    std::uint64_t carried = 0;
  };
  std::map<std::string, State, std::less<>> states_;
};

/// A fleet that is looked at in rounds.
struct FleetScrape {
  std::vector<ops::WatchedHost> hosts;
  std::uint64_t rounds = 0;  // that are over
  double last_seconds = 0;   // how long the last of them took
};

struct Scrape {
  std::string version;
  const ops::Observation* seen = nullptr;  // nullptr: nothing could be looked at
  const ops::Fabric* fabric = nullptr;     // nullptr: no design
  const Judged* judged = nullptr;          // nullptr: not judged yet
  const std::vector<store::LastComparison>* baselines = nullptr;  // nullptr: not asked for
  std::optional<FleetScrape> fleet = {};
  std::vector<Collector> collectors;
  Profile profile = Profile::kLean;
  bool speaks_for_many = false;  // series carry the label `host`
};

/// Sorted by name, each name once, no two series of one family with the same labels.
[[nodiscard]] std::vector<prometheus::MetricFamily> families(const Scrape& scrape,
                                                             Widened& widened);

/// The text format 0.0.4.
[[nodiscard]] std::string to_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace weir::serve
