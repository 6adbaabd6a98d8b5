#pragma once
// --threshold NAME=VALUE, for every verb that judges by the thresholds (finding/thresholds.h).
#include "cli/frame/command.h"
#include "finding/thresholds.h"

namespace weir::cli {

[[nodiscard]] Option threshold_option();

/// The defaults with what the user set. The error names the option's value that is wrong.
[[nodiscard]] Result<finding::Thresholds> thresholds_of(const Args& args);

}  // namespace weir::cli
