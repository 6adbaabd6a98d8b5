#pragma once
// From words to an exit status: parse, set up the context, run the verb. Everything main() does
// that can be tested without a process.
#include <span>
#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace weir::cli {

/// Runs the verb that `words` (without the program's name) ask for. Sets the context's json, quiet
/// and colour from the common options. Lets exceptions through: main() catches them once.
ExitCode run(std::span<const Command> table, const std::vector<std::string>& words, Context&);

}  // namespace weir::cli
