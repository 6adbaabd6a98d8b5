#pragma once
// The report for programs.
#include <string>

#include "cli/frame/command.h"
#include "render/report/report.h"

namespace weir::cli {

/// What --format json writes.
[[nodiscard]] std::string report_document(const Command&, const render::Report&);
void print_report_json(Context&, const Command&, const render::Report&);

}  // namespace weir::cli
