#pragma once
// Patterns of names: "gpu[001-032]" is 32 names, zero-padded as the lower bound is.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::design {

/// Every name of the pattern, in order. Brackets may repeat ("pod[1-2]-leaf[1-4]"), hold lists
/// ("[1,3,5-7]") and steps ("[0-508:4]"), and patterns may be listed with commas outside brackets.
/// At most 100,000 names.
[[nodiscard]] Result<std::vector<std::string>> expand_names(std::string_view pattern);

/// Pieces between commas that stand outside brackets.
[[nodiscard]] std::vector<std::string_view> split_outside_brackets(std::string_view text);

}  // namespace weir::design
