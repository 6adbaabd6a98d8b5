#pragma once
// weir apply on a fleet, or on a lab with --canary or --batch: in waves.
#include "cli/frame/command.h"
#include "ops/change/apply.h"
#include "ops/change/plan.h"

namespace weir::cli {

/// --canary N and --batch N.
[[nodiscard]] std::vector<Option> wave_options();

/// Whether the words ask for waves.
[[nodiscard]] bool asks_for_waves(const Args&, const ops::PlanRequest&);

ExitCode run_waves(const Args&, Context&, ops::PlanRequest planned, ops::ApplyRequest apply);

}  // namespace weir::cli
