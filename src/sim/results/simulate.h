#pragma once
// From a design to results in one call: derive, break, build, load, run, collect.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "sim/engine/sim.h"
#include "sim/fault/fault.h"
#include "sim/results/replay.h"
#include "sim/results/results.h"
#include "sim/results/sampler.h"
#include "sim/workload/workload.h"

namespace weir::sim {

struct Experiment {
  const design::Design* design = nullptr;  // not null
  design::Intent intent;                   // derived from it, without faults
  std::vector<WorkloadSpec> workloads;
  std::vector<Fault> faults;
  std::uint64_t seed = 1;
  std::uint64_t replica = 0;      // see Network: the same load with other random draws
  Duration limit = 100_ms;        // simulated: a fault may keep flows from ever finishing
  Duration sample_every;          // 0: no time series
  unsigned threads = 1;           // at most; 0: as many as help. No result depends on it
  bool replays = true;            // steps that repeat are not simulated again (docs/replay.md)
  bool keeps_rank_times = false;  // what each rank did when, for a picture
  Observer* observer = nullptr;
  std::function<void(const Sim&)> on_made;  // before the first event
};

struct Perf {
  std::uint64_t hops = 0;
  std::uint64_t data_hops = 0;
  std::uint64_t events = 0;
  double cpu_s = 0;    // report only: of the run
  double setup_s = 0;  // report only: before it
  std::uint64_t max_rss_bytes = 0;
  std::uint64_t replayed_hops = 0;  // those of `hops` that were not simulated

  [[nodiscard]] double hops_per_s() const {                                    // report only
    return cpu_s > 0 ? static_cast<double>(hops - replayed_hops) / cpu_s : 0;  // report only
  }
};
/// Of this thread, so far.
[[nodiscard]] double cpu_seconds();  // report only
/// Of this process, so far.
[[nodiscard]] std::uint64_t max_rss_bytes();

struct Outcome {
  std::unique_ptr<Sim> sim;
  Results results;
  std::vector<WorkloadResult> workloads;
  std::optional<Sampler> samples;
  std::vector<RankTimes> rank_times;  // where they are kept
  std::vector<std::string> notes;     // what of the design is not simulated
  Perf perf;
  ReplayReport replay;
  bool is_finished = false;  // nothing was left when it ended
};

/// Whether two runs of one experiment, with and without replay, came to the same: the digest and
/// every result. Empty, or what differs first.
[[nodiscard]] std::string difference(const Outcome& a, const Outcome& b);

/// The share that is done, 0 to 1: of the messages, or of the time where that is further.
using RunProgress = std::function<void(double share)>;  // report only

/// The error names the fault or workload that does not fit the fabric. A broken conservation law
/// (Sim::audit) is a bug and stops the program.
[[nodiscard]] Result<Outcome> simulate(const Experiment& experiment,
                                       const RunProgress& progress = {});

}  // namespace weir::sim
