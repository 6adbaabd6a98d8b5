#pragma once
// What tells one run from another: everything that it says.
#include <string>

#include "preflight/report.h"

namespace weir::store {

[[nodiscard]] std::string run_digest(const preflight::Report& run);

}  // namespace weir::store
