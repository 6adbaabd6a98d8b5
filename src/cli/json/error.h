#pragma once
// A failure for programs: schema weir/error/1.
#include <span>
#include <string_view>

#include "cli/frame/context.h"
#include "ops/source/failure.h"

namespace weir::cli {

/// exit, message, and errors[]{file, line, column, message} where a file has mistakes.
void print_error_json(Context&, ExitCode code, std::string_view message,
                      std::span<const ops::FileError> places);

}  // namespace weir::cli
