#pragma once
// The two ways of an approximation; simulate_fast() chooses.
#include "sim/fast/fast.h"

namespace weir::sim {

/// REQUIRES: open-loop workloads alone, no faults.
[[nodiscard]] Result<FastOutcome> approximate_flows(const Experiment& experiment,
                                                    const RunProgress& progress);

/// REQUIRES: one all-to-all.
[[nodiscard]] Result<FastOutcome> approximate_size(const Experiment& experiment,
                                                   const RunProgress& progress);

/// "it cannot be approximated: WHY; leave out --fast".
[[nodiscard]] Error cannot_approximate(std::string_view why);

/// The windows lost lossless traffic or flows: whatever follows is not what was asked about.
[[nodiscard]] Status check_window(const Sim& sim);

}  // namespace weir::sim
