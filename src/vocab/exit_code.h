#pragma once
// How `weir` ends: the one list of exit statuses. Scripts depend on these numbers, and one `weir`
// reads those of another on a far host; a meaning never changes. cli/frame/exit_code.h has their
// texts.

namespace weir::vocab {

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

}  // namespace weir::vocab
