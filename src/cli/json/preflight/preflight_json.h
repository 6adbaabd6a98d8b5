#pragma once
// The model of `preflight` for programs, and as a file to go on from.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "preflight/report.h"

namespace weir::cli {

/// The object as text; the same on standard output and in the file of --out.
[[nodiscard]] std::string preflight_text_json(const Command&, const preflight::Report&,
                                              std::string_view verdict,
                                              const std::vector<std::string>& next);

}  // namespace weir::cli
