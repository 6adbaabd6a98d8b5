#pragma once
// JSON of the verbs about a tuning on a live fabric.
#include <string_view>

#include "cli/frame/command.h"
#include "tune/judge/judge.h"

namespace weir::cli {

void print_judged_json(Context& context, const Command& command, const tune::Judged& judged,
                       std::string_view verdict);

}  // namespace weir::cli
