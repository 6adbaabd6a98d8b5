#pragma once
// JSON of weir calibrate.
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "ops/tune/calibrate.h"

namespace weir::cli {

void print_calibration_plan_json(Context& context, const Command& command,
                                 const ops::PlannedCalibration& planned, std::string_view verdict,
                                 const std::string& folder);
void print_calibrated_json(Context& context, const Command& command,
                           const ops::Calibrated& calibrated);
void print_twins_json(Context& context, const Command& command,
                      const std::vector<tune::Twin>& twins, std::string_view verdict);

}  // namespace weir::cli
