#pragma once
// What a tuning found: the whole of it, as data. `weir tune --json` prints it, DIR/tune.json keeps
// it, reports and roll-out plans are made of it.
//
// Every change is relative (-0.12: 12 % less) and from runs of the report seeds, which no decision
// saw before, unless its field says otherwise. What was not run is absent, not zero.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "tune/statistics/statistics.h"

namespace weir::tune {

/// What is minimised. Of a workload with rounds or steps, and of one without.
enum class Objective : std::uint8_t {
  kStepTime,    // mean time of a step; mean completion time where there are none
  kP99,         // 99th percentile of the slowdown
  kThroughput,  // first post to last completion
  kLatency,     // mean slowdown
};
[[nodiscard]] std::string_view to_text(Objective);  // "step-time" "p99" "throughput" "latency"
[[nodiscard]] Result<Objective> parse_objective(std::string_view text);

/// One run of one workload under one seed.
struct Metrics {
  bool finished = false;  // every message complete within the limit
  std::uint64_t flows = 0;
  std::uint64_t stuck = 0;  // flows that did not finish, though neither end was dead
  double mean_us = 0;       // completion times
  double p99_us = 0;
  double max_us = 0;
  double slowdown_mean = 0;
  double slowdown_p99 = 0;
  std::optional<double> step_us;      // mean of rounds or steps
  std::optional<double> step_max_us;  // the longest of them
  double duration_us = 0;             // first post to last completion
  std::optional<double> bus_gbps;
  double utilisation = 0;  // of the NICs that receive
  std::uint64_t pauses = 0;
  double pause_share = 0;  // of the time, at the port that was paused longest
  std::uint64_t lossless_drops = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t marked = 0;
  double mark_share = 0;
  std::uint64_t cnps = 0;                 // that reached a sender
  double queue_bytes = 0;                 // the deepest of any switch port
  double jain = 1;                        // fairness of the flows' goodput
  std::optional<double> victim_slowdown;  // flows that do not go to the hot receiver
  std::optional<double> rdma_share;  // of the bytes that NICs received, CNPs aside: in their class
  std::uint64_t digest = 0;

  [[nodiscard]] bool is_lossless() const { return finished && lossless_drops == 0; }
};

/// A knob and its value as the design file writes them.
struct KnobSetting {
  std::string knob;
  std::string value;
};

/// Of one number over runs: the mean and the extremes.
struct Spread {
  double mean = 0;
  double least = 0;
  double most = 0;
};

/// Over the seeds of one workload.
struct Summary {
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;  // not finished, or lossless packets dropped
  std::uint64_t bad = 0;     // paused for more than the limit
  double bad_upper = 1;      // the largest rate of bad runs that this count does not exclude
  Spread objective;          // microseconds, or a slowdown
  Spread mean_us;
  Spread p99_us;
  Spread max_us;
  Spread slowdown_p99;
  Spread pauses;
  Spread pause_share;
  Spread marked;
  Spread mark_share;
  Spread cnps;
  Spread queue_bytes;
  Spread jain;
  Spread utilisation;
  std::optional<Spread> victim_slowdown;
};

/// One workload, start against chosen on the same seeds.
struct WorkloadOutcome {
  std::string workload;
  bool is_held_out = false;  // never seen by the search
  Summary start;
  Summary chosen;
  Change objective;
  Change mean;
  Change p99;
  double fisher_p = 1;  // of the two counts of bad runs
};

/// One change, measured by taking it back alone: what the fabric would lose without it.
struct Bought {
  std::string knob;
  std::string from;
  std::string to;
  std::string move;        // the named move it belongs to; empty: found by the search
  Change objective;        // with it against without it, over the tuned workloads
  std::uint64_t runs = 0;  // of each side
  std::uint64_t bad_with = 0;
  std::uint64_t bad_without = 0;
  double fisher_p = 1;
  std::string price;
  bool has_peer = false;  // could be checked in the peer's semantics
};

/// Morris screening: one row per knob, most influential first.
struct Sensitivity {
  std::string knob;
  double effect = 0;        // mean of |ln ratio| per step of the grid (mu*)
  double interaction = 0;   // its standard deviation (sigma)
  double pause_effect = 0;  // mean change of the share of paused runs
  bool is_inert = false;    // from the start values no step of it moved the objective or the pauses
};

/// A move that was tried from the start values, on the search seeds.
struct TriedMove {
  std::string move;
  std::string knob;
  std::string from;
  std::string to;
  Change objective;
  std::uint64_t bad_start = 0;
  std::uint64_t bad = 0;
  std::uint64_t runs = 0;
  /// "better", "worse", "more pauses", "fewer pauses" where the runs show it, "does nothing" where
  /// they exclude it, else "no difference shown"; "loses packets", "not allowed: …".
  std::string outcome;
};

/// The best that was found while runs may be paused no longer than `pause_limit`; selection seeds.
struct CurvePoint {
  double pause_limit = 0;  // share of the time
  std::vector<KnobSetting> settings;
  Change objective;  // against the start
  double pause_share = 0;
  double pauses = 0;
  std::uint64_t runs = 0;
  std::uint64_t bad = 0;  // beyond this point's own limit
  bool is_knee = false;
};

/// A failure, with the start values and with the chosen ones.
struct FailureOutcome {
  std::string name;   // "link" "rail" "host" "burst"
  std::string fault;  // as --fault takes it; empty for the burst
  std::string workload;
  Summary start;
  Summary chosen;
  bool start_passes = false;
  bool chosen_passes = false;
  std::string reason;  // where one does not
};

/// The gain again, under the rules of the HPCC simulator.
struct PeerWorkload {
  std::string workload;
  Change ours;
  Change peer;
  std::optional<double> ratio;  // of the gains; absent where ours is none
  bool agrees = false;          // same sign, at least half of it
};
struct PeerCheck {
  bool was_run = false;
  std::string why_not;
  std::vector<KnobSetting> checked;
  std::vector<std::string> unchecked;  // knobs that the peer does not have
  std::vector<PeerWorkload> workloads;
  bool agrees = false;  // on every workload with a gain or loss above 3 %
};

/// The target: marks, pauses, drops, use, tails, and one flow on an idle fabric.
enum class TargetState : std::uint8_t { kMet, kMissed, kNotJudged };
[[nodiscard]] std::string_view to_text(TargetState);  // "met" "missed" "not judged"
struct TargetSide {
  TargetState state = TargetState::kNotJudged;
  std::string text;  // the number, or why it is not judged
};
struct TargetRow {
  std::string goal;  // "marks" "pauses" "drops" "use" "tails" "idle"
  std::string workload;
  TargetSide start;
  std::optional<TargetSide> chosen;  // absent: the start values stay
  /// Of the values that hold after the tuning.
  [[nodiscard]] const TargetSide& now() const { return chosen ? *chosen : start; }
};

enum class StepState : std::uint8_t { kPassed, kFailed, kNotRun };
[[nodiscard]] std::string_view to_text(StepState);  // "passed" "failed" "not run"
struct StepOutcome {
  std::string name;  // "classify" "pfc" "search" "failure"
  StepState state = StepState::kNotRun;
  std::string text;  // one sentence
  std::vector<std::string> details;
};

enum class Verdict : std::uint8_t {
  kRefused,        // a step before the search failed
  kNothingToTune,  // no knob moves anything
  kNotProven,      // what looked better did not hold on fresh seeds
  kTuned,
};
[[nodiscard]] std::string_view to_text(Verdict);  // "refused" "nothing to tune" …

struct TuneResult {
  std::string design;  // its file
  std::string design_digest;
  Objective objective = Objective::kStepTime;
  double pause_limit = 0;
  double tolerance = 0;
  std::uint64_t seed = 1;
  std::uint64_t budget_runs = 0;
  std::uint64_t runs = 0;  // simulations made or taken from the cache
  Verdict verdict = Verdict::kRefused;
  std::string reason;  // one sentence
  std::vector<StepOutcome> steps;
  std::vector<std::string> workloads;
  std::vector<std::string> held_out;
  std::vector<KnobSetting> start;   // every knob of the search
  std::vector<KnobSetting> chosen;  // those that changed; empty: the start values stay
  /// What `gain` and `outcomes` are of: the chosen ones, or what was not proven.
  std::vector<KnobSetting> proposed;
  std::vector<WorkloadOutcome> outcomes;
  Change gain;  // of the objective, over the tuned workloads
  std::vector<Bought> bought;
  std::vector<Sensitivity> sensitivity;
  std::vector<TriedMove> tried;
  std::vector<CurvePoint> curve;
  std::vector<FailureOutcome> failures;
  std::vector<TargetRow> target;  // report seeds; search seeds where nothing was found
  PeerCheck peer;
  std::vector<KnobSetting> fixed;  // knobs that were left alone, with the reason as value
  std::vector<std::string> notes;
};

[[nodiscard]] Json to_json(const TuneResult& result);
/// The error names the place (a JSON pointer).
[[nodiscard]] Result<TuneResult> tune_result_from_json(const Json& document);

[[nodiscard]] Json to_json(const Metrics& metrics);
[[nodiscard]] Result<Metrics> metrics_from_json(const Json& document);

}  // namespace weir::tune
