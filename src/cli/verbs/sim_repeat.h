#pragma once
// `weir sim --repeat N --sweep PATH=V1,V2 --jobs J`: independent runs of one experiment under other
// seeds and settings, on the cores there are, in one table.
#include "cli/frame/command.h"
#include "cli/frame/transition.h"
#include "sim/results/simulate.h"

namespace weir::cli {

/// Any of the options that ask for several runs.
[[nodiscard]] bool wants_several_runs(const Args& args);

/// `experiment` has everything but design and intent. The same runs give the same numbers,
/// whatever the number of jobs.
[[nodiscard]] ExitCode run_sim_repeat(const Args& args, Context& context,
                                      const sim::Experiment& experiment, const DesignInput& input);

}  // namespace weir::cli
