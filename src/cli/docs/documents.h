#pragma once
// Documents made from the command table: what is installed with the binary, and docs/commands.md.
// They hold no date and no machine's name, so that the same table always gives the same bytes. The
// tool weir-docs (main.cc) prints them; it is built with weir and not installed.
#include <span>
#include <string>

#include "cli/frame/command.h"

namespace weir::cli {

/// weir(1), in roff with the man macros.
[[nodiscard]] std::string man_page(std::span<const Command> table);

/// Completion scripts: verbs, options, choices, files; topics of `explain` come from the binary
/// that is being completed.
[[nodiscard]] std::string bash_completion(std::span<const Command> table);
[[nodiscard]] std::string zsh_completion(std::span<const Command> table);

/// docs/commands.md.
[[nodiscard]] std::string commands_page(std::span<const Command> table);

}  // namespace weir::cli
