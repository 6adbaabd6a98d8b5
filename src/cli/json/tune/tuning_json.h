#pragma once
// The models of `tune` for programs.
#include "cli/frame/command.h"
#include "ops/tune/tune.h"

namespace weir::cli {

void print_tuned_json(Context&, const ops::Tuned&);
/// One move, or all of them; all knobs.
void print_moves_json(Context&, std::string_view name);
void print_tune_knobs_json(Context&);

}  // namespace weir::cli
