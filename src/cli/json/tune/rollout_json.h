#pragma once
// JSON of the verbs about a tuning on a live fabric.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "ops/tune/rollout.h"
#include "tune/judge/judge.h"

namespace weir::cli {

void print_judged_json(Context& context, const Command& command, const tune::Judged& judged,
                       std::string_view verdict);

/// `folder` is where the files were written; empty: nowhere.
void print_rollout_json(Context& context, const Command& command,
                        const ops::PlannedRollout& planned, std::string_view verdict,
                        const std::string& folder);

}  // namespace weir::cli
