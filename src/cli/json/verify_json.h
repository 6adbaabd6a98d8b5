#pragma once
// The models of `verify` and `probe mtu` for programs.
#include <string_view>

#include "cli/frame/command.h"
#include "ops/verify/probe.h"
#include "ops/verify/verify.h"

namespace weir::cli {

void print_verified_json(Context&, const Command&, const ops::Verified&, std::string_view verdict);
void print_probed_json(Context&, const Command&, const ops::Probed&, std::string_view verdict);

}  // namespace weir::cli
