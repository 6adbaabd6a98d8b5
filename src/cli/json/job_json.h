#pragma once
// The model of `job` for programs.
#include <string_view>

#include "cli/frame/command.h"
#include "ops/inspect/job.h"
#include "ops/inspect/job_workload.h"

namespace weir::cli {

void print_job_json(Context&, const Command&, const ops::JudgedJob&, std::string_view verdict);
/// Of --to workload.
void print_job_workload_json(Context&, const Command&, const ops::JobWorkload&);

}  // namespace weir::cli
