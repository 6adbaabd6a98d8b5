#pragma once
// `weir sim --fast`: completion times by approximation, each with a bound on its error. Parts of
// the run, the windows, are simulated in full; the rest is estimated; how far the windows agree
// with the estimate is the bound (docs/fast.md).
//
//   flow-level  flows that arrive by themselves. The flow-level model (fluid.h) carries the whole
//               run. A window is a stretch of its time, simulated in full from what the model has
//               under way there: how much longer flows take for the same bytes corrects the model
//   size        an all-to-all. A window is a part of every message. The run is made in full with
//               messages of one, two and four windows; time grows with the size in a straight line
//
// Which windows there are depends on the input alone, so one seed gives one result.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/results/simulate.h"

namespace weir::sim {

struct Estimate {
  Duration value;
  double bound = 0;  // report only: a share of the value; the truth is within it, 19 times of 20
};

struct FastTimes {
  Estimate mean;
  Estimate p50;
  Estimate p99;
};

struct FastWorkload {
  std::string label;
  std::uint64_t messages = 0;
  std::uint64_t completed = 0;
  FastTimes completion;           // of completed ones
  std::optional<Estimate> round;  // of an all-to-all: begin to end
};

/// Counted in the windows; nobody knows of the rest of the run.
struct WindowsSeen {
  std::uint64_t flows = 0;
  std::uint64_t hops = 0;
  std::uint64_t marked = 0;
  std::uint64_t pauses = 0;
};

struct FastOutcome {
  std::string_view method;    // "flow-level" or "size"
  std::uint64_t checked = 0;  // windows simulated in full …
  std::uint64_t windows = 0;  // … of so many in the run
  std::uint64_t digest = 0;   // of the approximation: never that of the run itself
  std::uint64_t seed = 1;
  std::uint64_t flows = 0;
  std::uint64_t finished = 0;  // in time, by the model
  FastTimes completion;        // of all flows that finish
  std::vector<FastWorkload> workloads;
  WindowsSeen seen;
  std::vector<std::string> notes;
};

/// The error says why this experiment cannot be approximated, and what to do.
[[nodiscard]] Result<FastOutcome> simulate_fast(const Experiment& experiment,
                                                const RunProgress& progress = {});

}  // namespace weir::sim
