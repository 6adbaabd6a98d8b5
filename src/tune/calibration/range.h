#pragma once
// What a calibrated design may be asked: loads within what was measured. Beyond it the fit says
// nothing, so who predicts must refuse or say so.
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "sim/workload/workload_spec.h"

namespace weir::tune {

/// In what the loads, together, go beyond the calibration of the design, as sentences; none where
/// the design has no calibration. The error is that of a load that does not fit the fabric.
[[nodiscard]] Result<std::vector<std::string>> outside_calibration(
    const design::Design& design, const design::Intent& intent,
    const std::vector<sim::WorkloadSpec>& loads);

}  // namespace weir::tune
