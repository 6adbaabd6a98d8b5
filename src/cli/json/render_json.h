#pragma once
// The files of `render` for programs.
#include <string>

#include "cli/frame/command.h"
#include "ops/fabric/render.h"

namespace weir::cli {

/// An empty directory: with the texts, which were not written.
void print_rendered_json(Context&, const Command&, const ops::RenderedFiles&,
                         const std::string& directory);

}  // namespace weir::cli
