#pragma once
// JSON Schemas (draft 2020-12) of what the program prints, for those who read it with other
// programs.
#include <span>
#include <string_view>

#include "base/json_fwd.h"

namespace weir::evidence {

/// "evidence", "judgement", "snapshot".
[[nodiscard]] std::span<const std::string_view> schema_names();

/// REQUIRES: one of schema_names().
[[nodiscard]] Json schema(std::string_view name);

}  // namespace weir::evidence
