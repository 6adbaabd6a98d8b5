#include "ops/change/state.h"

#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "host/probe/linux_command.h"
#include "units/format.h"

namespace weir::ops {

host::StateDirectory state_directory(const std::string& given, const lab::Lab* lab) {
  using host::StateDirectory;
  std::string path(host::kDefaultStateDirectory);
  if (lab != nullptr) path = lab->directory() + "/journal";
  if (!given.empty()) path = given;
  return StateDirectory(
      path, lab != nullptr ? StateDirectory::Kind::kLab : StateDirectory::Kind::kMachine);
}

Result<bool> has_state(const host::StateDirectory& state, const std::string& given) {
  WEIR_TRY(is_there, or_state_failure(state.is_there()));
  if (!is_there && !given.empty())
    return bad_input(
        fmt::format("{}: there is no such directory, so no journal of weir apply", given));
  return is_there;
}

Failure state_failure(const Error& error) {
  if (error.code == ErrorCode::kParse) return bad_input(error.what);
  if (error.code != ErrorCode::kPermission) return could_not_look(error.what);
  return could_not_look(error.what +
                        "; run it as root (sudo), or name another directory with --state; weir "
                        "plan shows the commands without changing anything");
}

Status refuse_open_journal(const host::StateDirectory& state) {
  WEIR_TRY(open, or_state_failure(state.open_journal()));
  if (!open) return {};
  return open_journal_failure(*open);
}

Failure open_journal_failure(const host::StoredJournal& open) {
  const bool is_awaiting = open.journal.phase == host::JournalPhase::kAwaiting;
  return could_not_look(fmt::format("{} is {}: {}weir rollback undoes it; nothing was changed now",
                                    open.journal.title(), host::to_text(open.journal.phase),
                                    is_awaiting ? "weir confirm keeps it, " : ""));
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (::gmtime_r(&now, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

weir::Status run_failure_line(const std::string& line,
                              const std::function<bool()>& is_interrupted) {
  WEIR_TRY(running, host::RunningCommand::start_apart({"sh", "-c", line}));
  WEIR_TRY(outcome, running->finish(kFailureLimit, is_interrupted));
  if (outcome.exit_status == 0) return {};
  if (outcome.timed_out)
    return Error{ErrorCode::kIo, fmt::format("{}: did not end within {} and was ended", line,
                                             to_text(kFailureLimit))};
  return Error{ErrorCode::kIo,
               fmt::format("{}: status {}: {}", line, outcome.exit_status, trim(outcome.errors))};
}

weir::Status end_failure(const host::JournalFailure& failure, lab::Lab* lab) {
  if (lab != nullptr) {
    for (const std::string& fault : failure.faults) {
      bool is_there = false;
      for (const lab::ActiveFault& active : lab->faults())
        is_there = is_there || active.text == fault;
      if (!is_there) continue;
      WEIR_TRY(cleared, lab->clear_fault(fault));
      WEIR_CHECK(cleared > 0);
    }
    return {};
  }
  if (failure.restore.empty()) return not_found_error("a failure of a lab: name it with --lab");
  return run_failure_line(failure.restore);
}

}  // namespace weir::ops
