#pragma once
// `weir sim --hpcc CONFIG`: the files of the HPCC simulator in, its result files out.
#include "cli/frame/command.h"

namespace weir::cli {

[[nodiscard]] ExitCode run_sim_hpcc(const Args& args, Context& context);

}  // namespace weir::cli
