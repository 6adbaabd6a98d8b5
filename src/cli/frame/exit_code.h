#pragma once
// What the exit statuses of `weir` mean, for its help, the man page and the tests.
#include <span>
#include <string_view>

#include "vocab/exit_code.h"

namespace weir::cli {

using vocab::ExitCode;

struct ExitMeaning {
  ExitCode code;
  std::string_view brief;  // two or three words, for a help screen
  std::string_view meaning;
};

/// Every exit code, in the order of its number.
[[nodiscard]] std::span<const ExitMeaning> exit_meanings();

}  // namespace weir::cli
