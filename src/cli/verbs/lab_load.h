#pragma once
// `weir lab switch load`: configurations of switches, as an operator would load them, into a lab.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "lab/fabric/lab.h"

namespace weir::cli {

/// NAME=FILE each, and the directory of --all: a file for every switch, named as `weir render --all
/// --out DIR` names them.
[[nodiscard]] ExitCode load_switches(const Args&, const std::vector<std::string>& files, Context&,
                                     lab::Lab&);

}  // namespace weir::cli
