#pragma once
// Configurations of switches that a verb reads beside the design: --switch NAME=FILE.
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "design/fabric/intent.h"
#include "platforms/common/platform.h"

namespace weir::cli {

/// --switch NAME=FILE, as often as there are files.
[[nodiscard]] Option switch_option();

struct SwitchConfig {
  const design::SwitchIntent* wanted = nullptr;  // the design's
  std::string file;
  platforms::Parsed parsed;  // the state bears the design's name
};

/// Reads every --switch with the system that its text shows, or else the one that the design names.
/// Where one cannot be had, says why (a name that the design does not have, a file, a place in it)
/// and leaves the exit code in `code`. Lines that were not understood are said on stderr, the first
/// few of each file.
[[nodiscard]] std::optional<std::vector<SwitchConfig>> read_switch_configs(const Args&,
                                                                           const design::Intent&,
                                                                           Context&,
                                                                           ExitCode& code);

}  // namespace weir::cli
