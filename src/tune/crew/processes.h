#pragma once
// Workers as processes with a pipe each way: what `srun … weir tune worker` is.
#include <memory>
#include <string>
#include <vector>

#include "tune/crew/crew.h"

namespace weir::tune {

/// Starts `count` processes of `command` (its program is looked for in PATH). Their standard error
/// is ours. When the crew is destroyed their input is closed, and one that does not end within five
/// seconds is terminated. The error says what could not be started.
[[nodiscard]] Result<std::unique_ptr<Crew>> start_processes(const std::vector<std::string>& command,
                                                            std::size_t count);

/// What `--launcher slurm` starts for one worker: a job step with one task. `program` is this one.
[[nodiscard]] std::vector<std::string> slurm_command(const std::string& program);

}  // namespace weir::tune
