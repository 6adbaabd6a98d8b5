#pragma once
// The fabric of a design, packet by packet: once, or many times under other seeds and settings.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/source/fabric.h"
#include "ops/source/progress.h"
#include "render/report/report.h"
#include "sim/fast/fast.h"
#include "sim/results/simulate.h"

namespace weir::ops {

struct SimRequest {
  std::string design;
  std::vector<std::string> settings = {};  // "path=value", over the design's
  sim::Experiment experiment = {};         // everything except design and intent
  std::string trace = {};                  // a file for every frame, as CSV
  std::string pcap = {};                   // a file for what one port saw
  std::string pcap_port = {};              // empty: the first host's
  bool checks_replay = false;              // runs it without replay too, and compares
  ProgressCallback progress = {};
};

struct Simulated {
  std::unique_ptr<Fabric> fabric;  // the outcome points into it
  std::vector<sim::Fault> faults;
  sim::Outcome outcome;
  bool is_replay_checked = false;
};
[[nodiscard]] Result<Simulated> simulate(const SimRequest& request);

/// An approximation: completion times with a bound on their error, and no counters.
struct FastRequest {
  std::string design;
  std::vector<std::string> settings = {};
  sim::Experiment experiment = {};
  ProgressCallback progress = {};
};
struct Approximated {
  std::string file;  // of the design
  sim::FastOutcome outcome;
};
[[nodiscard]] Result<Approximated> simulate_fast(const FastRequest& request);

struct RepeatRequest {
  std::string design;
  std::vector<std::string> settings = {};
  sim::Experiment experiment = {};       // `seed` is the first
  std::uint64_t repeat = 1;              // seeds per point
  std::vector<std::string> sweeps = {};  // "path=value,value": every combination is a point
  unsigned jobs = 1;                     // runs at a time; the numbers do not depend on it
  ProgressCallback progress = {};
};

/// The design under one combination of settings.
struct SweepPoint {
  std::vector<std::string> settings;  // "path=value"
};

struct SweepRun {
  std::size_t point = 0;
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
  sim::Totals totals;
  /// Bits per second, of the slowest of the workloads that have one.
  std::optional<double> bus_bandwidth;  // report only
  bool is_finished = false;

  [[nodiscard]] bool is_lossless() const { return is_finished && totals.lossless_drops == 0; }
};

struct Repeated {
  std::string file;  // of the design
  std::vector<SweepPoint> points;
  std::vector<SweepRun> runs;  // by point, then by seed
};
/// Independent runs of one experiment.
[[nodiscard]] Result<Repeated> simulate_many(const RepeatRequest& request);

/// Of one number over runs.
struct Spread {
  double mean = 0;
  double deviation = 0;  // of the sample; 0 of one run
  double least = 0;
  double most = 0;
};
struct RunSummary {
  std::size_t runs = 0;
  std::size_t lossless = 0;    // finished and without a drop of lossless traffic
  std::size_t unfinished = 0;  // their times are left out
  Spread mean_us;
  Spread p99_us;
  Spread pauses;
  Spread marked;
  Spread queue_bytes;              // the deepest queue of each run
  std::optional<Spread> bus_gbps;  // of the runs that have one
};
/// Over the runs of one point, or over all.
[[nodiscard]] RunSummary summary_of(const std::vector<SweepRun>& runs,
                                    std::optional<std::size_t> point);

/// What `--plot` draws of one run: queues, pauses and rates over time where it was sampled, else
/// the steps of its first workload that has any.
[[nodiscard]] Result<render::Timeline> plot_of(const Simulated& simulated);
/// Of several runs: completion, queue, bus bandwidth and pauses over the values of the first sweep,
/// with a curve for each combination of the others; over the seeds where nothing is swept.
[[nodiscard]] render::Timeline plot_of(const Repeated& repeated);

/// Files of the HPCC simulator in, its result files out.
struct HpccRequest {
  std::string config;
  bool is_native = false;  // with our own model instead of the peer's
  ProgressCallback progress = {};
};
struct HpccSimulated {
  sim::Outcome outcome;
  std::string fct;  // fct.txt
  std::string pfc;  // pfc.txt
};
[[nodiscard]] Result<HpccSimulated> simulate_hpcc(const HpccRequest& request);

}  // namespace weir::ops
