#pragma once
// The five questions as a verb shows them: a table for people, a list for programs.
#include <vector>

#include "cli/frame/context.h"
#include "diagnose/core/interpret.h"

namespace weir::cli {

/// "ok", "!" or "?" before each: the answer is what one hopes for, is not, or is not known.
void print_questions(const std::vector<diagnose::Question>& questions, Context& context);

}  // namespace weir::cli
