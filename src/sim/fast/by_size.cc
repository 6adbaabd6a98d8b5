#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "sim/fast/estimate.h"
#include "sim/fast/methods.h"

namespace weir::sim {
namespace {

// 1 + 2 + 4 windows of so many: 3.9 % of the bytes, 25 times less than all of them.
constexpr std::int64_t kSizeWindows = 180;
constexpr std::array<std::int64_t, 3> kWindowsOfRun{1, 2, 4};
// A message of one window has to outlast what happens at the start: some packets per queue pair.
constexpr std::int64_t kPacketsPerWindow = 8;

// Of the slope, where it does not bend: slopes of two short runs may agree by chance, and full runs
// were then off by 0.3 % (docs/fast.md).
constexpr double kStraightBound = 0.005;  // report only

struct SizeRuns {
  std::array<CompletionTimes, 3> completion;
  std::array<Duration, 3> round;
};

struct SizeEstimates {
  FastTimes completion;
  Estimate round;
};

// Slopes of round over mean; spreading made 2 % at most, paths that collide 5 % and more, and then
// the last flows of the full run took 30 % longer than any line says.
constexpr double kApart = 1.05;  // report only

/// Flows that share NICs or a port alike spread at first and finish together in the end: the mean
/// of short runs grows too slowly, their last flow too fast. Both get the slope in the middle.
/// False: some flows have a worse path for good.
bool bring_together(std::array<Line, 4>& lines) {
  if (lines.back().slope > lines.front().slope * kApart) return false;
  const double middle = (lines.front().slope + lines.back().slope) / 2;  // report only
  for (Line& line : lines)
    line.slope = middle;
  return true;
}

/// All have the largest bound of any: each is of the same three runs. None: no line holds.
std::optional<SizeEstimates> estimates_of(const SizeRuns& runs, double windows) {  // report only
  const auto line = [&](Duration CompletionTimes::*value) {
    return line_through(
        {runs.completion[0].*value, runs.completion[1].*value, runs.completion[2].*value});
  };
  std::array<Line, 4> lines{line(&CompletionTimes::mean), line(&CompletionTimes::p50),
                            line(&CompletionTimes::p99), line_through(runs.round)};
  double bound = 0;  // report only
  for (const Line& each : lines)
    bound = std::max(bound, each.bend / each.slope);
  bound += kStraightBound;
  if (!bring_together(lines)) return std::nullopt;
  return SizeEstimates{{follow(lines[0], windows, bound), follow(lines[1], windows, bound),
                        follow(lines[2], windows, bound)},
                       follow(lines[3], windows, bound)};
}

Duration mean_round(const WorkloadResult& load) {
  Duration all;
  for (const StepResult& step : load.steps)
    all += step.time();
  return load.steps.empty() ? all : all / static_cast<std::int64_t>(load.steps.size());
}

}  // namespace

Result<FastOutcome> approximate_size(const Experiment& experiment, const RunProgress& progress) {
  const Bytes size = experiment.workloads[0].size;
  const Bytes window = size / kSizeWindows;
  if (window < 4096_B * kPacketsPerWindow)
    return cannot_approximate("messages are too short to be divided into windows");
  const double windows = static_cast<double>(size.raw()) / static_cast<double>(window.raw());
  FastOutcome out;
  Digest digest;
  SizeRuns runs;
  for (std::size_t i = 0; i < kWindowsOfRun.size(); ++i) {
    Experiment part = experiment;
    part.workloads[0].size = window * kWindowsOfRun[i];
    WEIR_TRY(outcome, simulate(part, [&](double share) {
               if (progress) progress((static_cast<double>(i) + share) / 3);
             }));
    WEIR_TRY_STATUS(check_window(*outcome.sim));
    if (!outcome.is_finished)
      return cannot_approximate("a window does not finish within --duration");
    digest.add(outcome.results.digest);
    const WorkloadResult& load = outcome.workloads[0];
    runs.completion[i] = load.completion;
    runs.round[i] = mean_round(load);
    out.seen.flows += load.completed;
    out.seen.hops += outcome.perf.hops - outcome.perf.replayed_hops;
    out.seen.marked += outcome.results.totals.marked;
    out.seen.pauses += outcome.results.totals.pauses;
    out.flows = load.messages;
    out.notes = std::move(outcome.notes);
  }
  out.method = "size";
  for (const std::int64_t simulated : kWindowsOfRun)
    out.checked += static_cast<std::uint64_t>(simulated);
  out.windows = kSizeWindows;
  out.digest = digest.value();
  out.seed = experiment.seed;
  out.finished = out.flows;
  const auto estimates = estimates_of(runs, windows);
  if (!estimates)
    return cannot_approximate(
        "flows on paths that collide fall behind, and windows do not show how far");
  out.completion = estimates->completion;
  const WorkloadSpec& spec = experiment.workloads[0];
  const Duration end = spec.start.since_start() +
                       estimates->round.value * static_cast<std::int64_t>(spec.iterations);
  if (end > experiment.limit)
    return cannot_approximate("the run would not finish within --duration");
  out.workloads.push_back(
      {experiment.workloads[0].label, out.flows, out.flows, out.completion, estimates->round});
  return out;
}

}  // namespace weir::sim
