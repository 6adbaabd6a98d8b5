#include "host/change/rollback.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace weir::host {

namespace {

Status forget_all(std::vector<HostOutcome>& hosts, JournalWriter& journal) {
  for (HostOutcome& host : hosts) {
    for (StepOutcome& step : host.steps) {
      step.state = StepState::kUndone;
      WEIR_TRY_STATUS(journal.undone(step.number));
    }
  }
  return {};
}

Status mark_unreachable(HostOutcome& host, JournalWriter& journal) {
  for (StepOutcome& step : host.steps) {
    step.state = StepState::kNotUndone;
    step.error = "the host is not here";
    WEIR_TRY_STATUS(journal.not_undone(step.number, step.error));
  }
  return {};
}

}  // namespace

std::string boot_id() {
  const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string();
}

Result<Rollback> roll_back(const StateDirectory& state, const StoredJournal& stored,
                           const HostFinder& find_host, const std::string& boot,
                           std::string_view reason, const ApplyEnvironment& environment) {
  Rollback out;
  out.hosts = standing_steps(stored.journal);
  const std::string& then = stored.journal.head.boot;
  out.was_restarted = !then.empty() && !boot.empty() && then != boot;
  WEIR_TRY(journal, state.reopen(stored));
  WEIR_TRY_STATUS(journal.undoing(out.was_restarted ? "the machine was restarted" : reason));
  if (out.was_restarted) {
    WEIR_TRY_STATUS(forget_all(out.hosts, journal));
  } else {
    for (auto host = out.hosts.rbegin(); host != out.hosts.rend(); ++host) {
      HostIo* const io = find_host(host->host);
      if (io == nullptr) {
        WEIR_TRY_STATUS(mark_unreachable(*host, journal));
      } else {
        undo(*io, *host, &journal, environment);
      }
    }
  }
  out.is_whole = std::all_of(out.hosts.begin(), out.hosts.end(),
                             [](const HostOutcome& host) { return host.is_restored(); });
  WEIR_TRY_STATUS(journal.ended(out.is_whole));
  return out;
}

}  // namespace weir::host
