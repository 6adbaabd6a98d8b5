#pragma once
// Configuration files of switches beside the design: --switch [NAME=]FILE.
#include <vector>

#include "cli/frame/command.h"
#include "ops/source/switch_configs.h"

namespace weir::cli {

/// --switch [NAME=]FILE, as often as there are files.
[[nodiscard]] Option switch_option();

enum class SwitchNames { kOptional, kRequired };
[[nodiscard]] ops::Result<std::vector<ops::SwitchFile>> switch_files(
    const std::vector<std::string>& words, std::string_view option, SwitchNames names);

/// The first lines of each file that were not understood, on stderr.
void print_unread(const std::vector<ops::SwitchConfig>& configs, Context&);

}  // namespace weir::cli
