#pragma once
// The models of `lint`, `prove` and `init` for programs.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "ops/fabric/design.h"

namespace weir::cli {

void print_linted_json(Context&, const Command&, const ops::Linted&, std::string_view verdict,
                       bool with_effective);
void print_proved_json(Context&, const Command&, const ops::Proved&, std::string_view verdict);
void print_templates_json(Context&, const Command&);
/// An empty path: with the text, which was not written.
void print_new_design_json(Context&, const Command&, const ops::NewDesign&,
                           const std::string& path);

}  // namespace weir::cli
