#pragma once
// What `weir` itself says to programs, whatever the verb: failures and its version.
#include <span>
#include <string_view>

#include "cli/frame/context.h"
#include "ops/source/failure.h"

namespace weir::cli {

/// exit, message, and errors[]{file, line, column, message} where a file has mistakes.
void print_error_json(Context&, ExitCode code, std::string_view message,
                      std::span<const ops::FileError> places);

/// `weir … --help --json`: schema weir/help/1, as of `weir help`.
void print_help_json(Context&, std::string_view text);

/// `weir --version --json`: schema weir/version/1.
void print_version_json(Context&, std::string_view version_line);

}  // namespace weir::cli
