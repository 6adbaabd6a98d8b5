#include "cli/frame/exit_code.h"

#include <array>

namespace weir::cli {

std::span<const ExitMeaning> exit_meanings() {
  static constexpr std::array kMeanings = {
      ExitMeaning{ExitCode::kOk, "all is well", "looked, and all is well"},
      ExitMeaning{ExitCode::kFindings, "findings",
                  "findings at or above --fail-on (default: error)"},
      ExitMeaning{ExitCode::kUsage, "usage",
                  "the command line is wrong: unknown verb or option, missing or malformed value"},
      ExitMeaning{ExitCode::kBadInput, "bad input",
                  "a file or text could not be used: says which, where and what was expected; "
                  "everything is left as it was"},
      ExitMeaning{ExitCode::kCouldNotLook, "not readable",
                  "no privilege, no device or no tool: says which and how to get it"},
      ExitMeaning{ExitCode::kPartial, "partial",
                  "some hosts or required checks gave no answer (they are named), or the command "
                  "under test failed"},
      ExitMeaning{ExitCode::kRolledBack, "rolled back", "a change failed and was rolled back"},
      ExitMeaning{ExitCode::kInternalError, "internal error",
                  "a bug in weir, or the output could not be written"},
      ExitMeaning{ExitCode::kInterrupted, "interrupted", "stopped by Ctrl-C"},
  };
  return kMeanings;
}

}  // namespace weir::cli
