#pragma once
// A command run to its end, with what it printed.
#include <string>
#include <vector>

#include "base/result.h"
#include "host/host_io.h"

namespace weir::host {

/// Searched for in PATH; standard input is empty. A signal that ended it is 128 + its number, as a
/// shell says it. Not found is an error; a command that fails is an outcome.
[[nodiscard]] Result<CommandOutcome> run_command(const std::vector<std::string>& command);

}  // namespace weir::host
