#pragma once
// How `weir` ends: the one list of exit statuses, for the program, its help, the man page and the
// tests. Scripts depend on these numbers; a meaning never changes.
#include <span>
#include <string_view>

namespace weir::cli {

enum class ExitCode : int {
  kOk = 0,
  kFindings = 1,
  kUsage = 2,
  kBadInput = 3,
  kCouldNotLook = 4,
  kPartial = 5,
  kRolledBack = 6,
  kInternalError = 70,  // EX_SOFTWARE of sysexits.h
  kInterrupted = 130,   // 128 + SIGINT, as a shell reports it
};

struct ExitMeaning {
  ExitCode code;
  std::string_view brief;  // two or three words, for a help screen
  std::string_view meaning;
};

/// Every exit code, in the order of its number.
[[nodiscard]] std::span<const ExitMeaning> exit_meanings();

}  // namespace weir::cli
