#pragma once
// The one table of verbs. Adding a verb: a file verbs/<verb>.cc, a line in commands.h, a line here.
#include <span>

#include "cli/frame/command.h"

namespace weir::cli {

/// Every verb, in the order in which help lists them. Lives as long as the program.
[[nodiscard]] std::span<const Command> command_table();

}  // namespace weir::cli
