#pragma once
// A baseline as the first part of a report.
#include "ops/baseline/baseline.h"
#include "render/report/report.h"

namespace weir::ops {

/// With the last run that was compared with it and the trend of each measure, where a history has
/// them.
[[nodiscard]] Result<render::BaselinePart> baseline_part(const BaselinePlace& place,
                                                         const std::string& name);

}  // namespace weir::ops
