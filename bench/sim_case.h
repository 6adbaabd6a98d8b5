#pragma once
// One measured run of the simulator on files of the HPCC simulator: set-up apart from the run.
#include <memory>
#include <string>

#include "base/result.h"
#include "sim/hpcc.h"
#include "sim/sim.h"

namespace weir::bench {

struct SimCase {
  std::unique_ptr<sim::Sim> sim;
  Time stop;
};

/// `model`: "hpcc" or "native".
Result<SimCase> set_up(const std::string& config, const std::string& model);

/// The part that is measured; a function of its own, so that a profiler can be told its name.
void measured_run(SimCase& run);

/// Marks and CNPs there must have been: without them DCQCN did not work, and the speed means
/// nothing.
Status check_congested(const SimCase& run);

}  // namespace weir::bench
