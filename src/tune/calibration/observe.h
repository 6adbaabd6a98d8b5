#pragma once
// A trial in the simulator: the same statistics that a host shows, from the same load.
//
// Pure: a design with values for the unknowns, a trial and a seed in, one number per statistic of
// the trial out.
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "tune/calibration/experiment.h"
#include "tune/calibration/unknowns.h"

namespace weir::tune {

/// The values at which a trial is simulated.
struct Assumption {
  UnknownValues values;
  std::array<bool, kUnknowns> is_set{};  // others are as the design says
  design::CnpScope cnp_scope = design::CnpScope::kQp;
};

/// In the order of statistics_of(trial). REQUIRES: check_plan() found nothing.
[[nodiscard]] Result<std::vector<double>> observe(const design::Design& design,
                                                  const design::Intent& intent,
                                                  const CalibrationPlan& plan, const Trial& trial,
                                                  const Assumption& assumption, std::uint64_t seed);

}  // namespace weir::tune
