#pragma once
// The result of a tuning, from the directory that `weir tune --out` wrote.
#include <string>

#include "base/result.h"
#include "tune/result.h"

namespace weir::ops {

inline constexpr std::string_view kTuneResultFile = "tune.json";

/// `path` is the directory, or the file itself. Errors name the file and the place in it.
[[nodiscard]] weir::Result<tune::TuneResult> read_tune_result(const std::string& path);

}  // namespace weir::ops
