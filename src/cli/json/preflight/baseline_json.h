#pragma once
// The models of `baseline` for programs.
#include <string_view>

#include "cli/frame/command.h"
#include "ops/baseline/baseline.h"

namespace weir::cli {

void print_saved_json(Context&, const Command&, const ops::SavedBaseline&);
void print_baselines_json(Context&, const Command&, const ops::BaselineList&);
void print_baseline_json(Context&, const Command&, const ops::ShownBaseline&);
void print_comparison_json(Context&, const Command&, const ops::ComparedRun&,
                           std::string_view verdict);
void print_dropped_json(Context&, const Command&, std::string_view name);

}  // namespace weir::cli
