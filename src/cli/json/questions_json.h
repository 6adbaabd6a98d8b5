#pragma once
// The answers to the five questions, for programs.
#include <vector>

#include "base/json_fwd.h"
#include "diagnose/core/interpret.h"

namespace weir::cli {

/// questions[]{question, answer, good, sentence, evidence[]}
[[nodiscard]] Json questions_json(const std::vector<diagnose::Question>& questions);

}  // namespace weir::cli
