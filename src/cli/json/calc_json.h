#pragma once
// The models of `calc` for programs.
#include <string_view>

#include "cli/frame/command.h"
#include "ops/fabric/calc.h"

namespace weir::cli {

void print_headroom_json(Context&, const Command&, const ops::HeadroomAnswer&,
                         std::string_view verdict);
void print_buffers_json(Context&, const Command&, const ops::BufferAnswer&,
                        std::string_view verdict);
void print_wred_json(Context&, const Command&, const ops::WredAnswer&, std::string_view verdict);

}  // namespace weir::cli
