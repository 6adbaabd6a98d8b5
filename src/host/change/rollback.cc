#include "host/change/rollback.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <signal.h>

#include "base/file.h"
#include "base/text.h"
#include "evidence/deviation.h"
#include "host/probe/linux_command.h"
#include "host/probe/load_mark.h"

namespace weir::host {

namespace {

/// Writes what can be written, and remembers the first error.
class Recorder {
 public:
  explicit Recorder(JournalWriter& journal) : journal_(journal) {}
  [[nodiscard]] JournalWriter& journal() { return journal_; }
  void note(const Status& written) {
    if (!written && status_) status_ = written;
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  JournalWriter& journal_;
  Status status_;
};

Scope scope_of_all(const HostOutcome& host) {
  Scope scope;
  for (const StepOutcome& outcome : host.steps) {
    const std::string& device = outcome.step.operation.device;
    if (device.empty()) {
      scope.with_machine = true;
    } else if (std::find(scope.devices.begin(), scope.devices.end(), device) ==
               scope.devices.end()) {
      scope.devices.push_back(device);
    }
  }
  return scope;
}

/// After a restart.
struct Survival {
  bool is_there = false;    // the setting still shows what the apply made it (a NIC that keeps it)
  std::string unread = {};  // nobody knows: why it could not be looked at
};
Survival survival_of(const Step& step, const Result<evidence::Evidence>& now) {
  const Operation& operation = step.operation;
  if (!now) return {.unread = now.error().what};
  const std::optional<Change> found = as_found(operation.change, operation.device, *now);
  if (found) return {.is_there = found == operation.change && step.before != found};
  if (operation.device.empty()) return {.unread = "this host does not show it"};
  const evidence::Nic* const nic = now->find_nic(operation.device);
  if (nic == nullptr) return {.unread = operation.device + " is not there"};
  // A file that is not there holds no value; one that cannot be read may.
  const evidence::Fact<Change> fact = evidence::fact_of(operation.change, *nic);
  const bool is_unknown = fact.is_missing() && (fact.why() == counters::Missing::kPermission ||
                                                fact.why() == counters::Missing::kError);
  if (is_unknown) return {.unread = std::string(counters::to_text(fact.why()))};
  return {};
}

void undo_survivors(HostIo* io, HostOutcome& host, Recorder& recorder, Rollback& out,
                    const ApplyEnvironment& environment) {
  Result<evidence::Evidence> now = not_found_error("the host is not here");
  if (io != nullptr) now = io->facts(scope_of_all(host));
  HostOutcome survivors{.host = host.host, .steps = {}, .failure = ""};
  for (StepOutcome& outcome : host.steps) {
    const Survival survival = survival_of(outcome.step, now);
    if (survival.is_there) {
      survivors.steps.push_back(outcome);
      continue;
    }
    if (survival.unread.empty()) {
      outcome.state = StepState::kUndone;
      recorder.note(recorder.journal().undone(outcome.number));
      continue;
    }
    outcome.state = StepState::kNotUndone;
    outcome.error = "could not be read: " + survival.unread;
    recorder.note(recorder.journal().not_undone(outcome.number, outcome.error));
  }
  if (survivors.steps.empty()) return;
  undo(*io, survivors, &recorder.journal(), environment);
  out.survived += survivors.steps.size();
  for (const StepOutcome& undone : survivors.steps)
    for (StepOutcome& outcome : host.steps)
      if (outcome.number == undone.number) outcome = undone;
}

void mark_unreachable(HostOutcome& host, Recorder& recorder) {
  for (StepOutcome& step : host.steps) {
    step.state = StepState::kNotUndone;
    step.error = "the host is not here";
    recorder.note(recorder.journal().not_undone(step.number, step.error));
  }
}

/// True where no failure is left.
bool heal_failure(const Journal& journal, const Healer& heal, Recorder& recorder, Rollback& out) {
  if (!journal.failure || journal.failure->is_healed) return true;
  const Status healed =
      heal ? heal(*journal.failure) : Status(not_found_error("nothing here can end this failure"));
  if (!healed) {
    out.heal_error = healed.error().what;
    return false;
  }
  recorder.note(recorder.journal().healed());
  return true;
}

/// After a restart of this machine a load of its own has gone with it; one elsewhere has not.
void stop_its_load(const JournalLoad& load, Rollback& out) {
  if (out.was_restarted && load.stop.empty()) return;
  const Result<bool> stopped = stop_load(load);
  out.stopped_load = stopped && *stopped;
  if (!stopped) out.load_error = stopped.error().what;
}

/// Of /proc/PID/stat (proc(5)) from field 3 on, the state; nothing where there is no such process.
/// The name in front of it may have blanks: counted from its last parenthesis.
std::vector<std::string> stat_behind_name(std::int64_t pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return {};
  const auto fields = split(std::string_view(*text).substr(name_end + 2), ' ');
  return {fields.begin(), fields.end()};
}

/// Field 22: the start in clock ticks after boot.
std::uint64_t start_of(std::int64_t pid) {
  constexpr std::size_t kFieldsBehindName = 19;
  const auto fields = stat_behind_name(pid);
  if (fields.size() <= kFieldsBehindName) return 0;
  return parse_u64(fields[kFieldsBehindName]).value_or(0);
}

bool is_gone(std::int64_t group) {
  return ::kill(static_cast<pid_t>(-group), 0) != 0 && errno == ESRCH;
}

/// By the command that was written down for it.
Result<bool> stop_elsewhere(const JournalLoad& load) {
  constexpr Duration kPatience = 60_s;
  WEIR_TRY(running, RunningCommand::start_apart(load.stop));
  WEIR_TRY(outcome, running->finish(kPatience));
  if (outcome.exit_status == 0) return outcome.output.find(kLoadEnded) != std::string::npos;
  const std::string_view said = trim(outcome.errors);
  return Error{ErrorCode::kIo,
               fmt::format("its load on {} could not be ended and may go on there: {}", load.host,
                           said.empty() ? fmt::format("status {}", outcome.exit_status) : said)};
}

void send_and_wait(std::int64_t group, int signal) {
  constexpr int kLooks = 30;
  constexpr timespec kBetween = {.tv_sec = 0, .tv_nsec = 100'000'000};
  ::kill(static_cast<pid_t>(-group), signal);
  for (int look = 0; look < kLooks && !is_gone(group); ++look)
    ::nanosleep(&kBetween, nullptr);
}

}  // namespace

JournalLoad load_of_process(std::int64_t pid) {
  return {pid, start_of(pid)};
}

Result<bool> stop_load(const JournalLoad& load) {
  if (!load.stop.empty()) return stop_elsewhere(load);
  if (load.pid <= 1) return false;
  const std::uint64_t started = start_of(load.pid);
  // The leader may have ended while others of its group run on: the number is not given to another
  // process as long as the group is there.
  const bool is_it = started == load.started || (started == 0 && !is_gone(load.pid));
  if (!is_it || is_gone(load.pid)) return false;
  send_and_wait(load.pid, SIGTERM);
  if (!is_gone(load.pid)) send_and_wait(load.pid, SIGKILL);
  return true;
}

std::vector<ChangedSince> changed_since(const Journal& journal, const HostFinder& find_host) {
  std::vector<ChangedSince> out;
  for (const HostOutcome& host : standing_steps(journal)) {
    HostIo* const io = find_host(host.host);
    if (io == nullptr) continue;
    const Result<evidence::Evidence> now = io->facts(scope_of_all(host));
    if (!now) continue;
    for (auto outcome = host.steps.begin(); outcome != host.steps.end(); ++outcome) {
      const Step& step = outcome->step;
      const auto found = as_found(step.operation.change, step.operation.device, *now);
      if (!found || found == step.operation.change || found == step.before) continue;
      // A later step of the same apply may have changed it again.
      const bool is_last = std::none_of(outcome + 1, host.steps.end(), [&](const auto& later) {
        return later.step.operation.device == step.operation.device &&
               as_found(later.step.operation.change, step.operation.device, *now) == found;
      });
      if (is_last) out.push_back({host.host, step.rail, step.operation.change, *found});
    }
  }
  return out;
}

char process_state(std::int64_t pid) {
  const auto fields = stat_behind_name(pid);
  return fields.empty() || fields.front().empty() ? '\0' : fields.front().front();
}

std::string boot_id() {
  const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string();
}

Result<Rollback> roll_back(const StateDirectory& state, const StoredJournal& stored,
                           const HostFinder& find_host, const std::string& boot,
                           std::string_view reason, const ApplyEnvironment& environment,
                           const Healer& heal, const std::function<Status()>& keep) {
  Rollback out;
  out.hosts = standing_steps(stored.journal);
  const std::string& then = stored.journal.head.boot;
  out.was_restarted = !then.empty() && !boot.empty() && then != boot;
  WEIR_TRY(journal, state.reopen(stored));
  Recorder recorder(journal);
  if (keep) journal.hold();
  recorder.note(journal.undoing(out.was_restarted ? "the machine was restarted" : reason));
  if (stored.journal.load) stop_its_load(*stored.journal.load, out);
  for (auto host = out.hosts.rbegin(); host != out.hosts.rend(); ++host) {
    HostIo* const io = find_host(host->host);
    if (out.was_restarted) {
      undo_survivors(io, *host, recorder, out, environment);
    } else if (io == nullptr) {
      mark_unreachable(*host, recorder);
    } else {
      undo(*io, *host, &journal, environment);
    }
  }
  const bool is_healed = heal_failure(stored.journal, heal, recorder, out);
  out.is_whole = is_healed && out.load_error.empty() &&
                 std::all_of(out.hosts.begin(), out.hosts.end(),
                             [](const HostOutcome& host) { return host.is_restored(); });
  // A failure that is still on is tried again, at the next boot too: its journal stays open.
  if (is_healed) recorder.note(journal.ended(out.is_whole));
  if (keep) {
    WEIR_TRY_STATUS(keep());
    recorder.note(journal.release());
  }
  if (!recorder.status() && out.is_whole)
    return recorder.status().error().within(
        "everything was put back, but the journal could not be closed: weir rollback does that "
        "when "
        "it can be written again");
  if (!recorder.status()) return recorder.status().error();
  return out;
}

}  // namespace weir::host
