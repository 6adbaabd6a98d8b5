#pragma once
// The five questions as a verb shows them: a table for people, a list for programs.
#include <vector>

#include "base/json_fwd.h"
#include "cli/frame/context.h"
#include "diagnose/core/interpret.h"

namespace weir::cli {

/// "ok", "!" or "?" before each: the answer is what one hopes for, is not, or is not known.
void print_questions(const std::vector<diagnose::Question>& questions, Context& context);

/// questions[]{question, answer, good, sentence, evidence[]{source, line, counter, value}}
[[nodiscard]] Json questions_json(const std::vector<diagnose::Question>& questions);

}  // namespace weir::cli
