#pragma once
// The model of `job` for programs.
#include <string_view>

#include "cli/frame/command.h"
#include "ops/inspect/job.h"

namespace weir::cli {

void print_job_json(Context&, const Command&, const ops::JudgedJob&, std::string_view verdict);

}  // namespace weir::cli
