#pragma once
// The plan as the manifest that `weir calibrate plan` writes and `weir calibrate fit` reads, and
// measured statistics as a file.
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "tune/calibration/fit.h"

namespace weir::tune {

inline constexpr std::string_view kManifestSchema = "weir/calibration-manifest/1";

[[nodiscard]] Json to_json(const Trial& trial);
[[nodiscard]] Json to_json(const CalibrationPlan& plan);
[[nodiscard]] Json to_json(const std::vector<MeasuredStatistic>& measured);

/// What a manifest holds: the plan, and measured statistics where they are in it already.
struct Manifest {
  CalibrationPlan plan;
  std::vector<MeasuredStatistic> measured;
};
/// Of a text that anyone may have written: every number is bounded, every name is one; errors name
/// the JSON pointer.
[[nodiscard]] Result<Manifest> manifest_from_text(std::string_view text);

}  // namespace weir::tune
