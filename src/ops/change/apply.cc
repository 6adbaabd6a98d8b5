#include "ops/change/apply.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "host/change/watchdog.h"
#include "host/linux/host.h"

namespace weir::ops {
namespace {

using host::HostOutcome;
using host::JournalPhase;

constexpr std::int64_t kPicoseconds = 1'000'000'000'000;

const lab::Lab* lab_of(const HostSet& set) {
  return set.lab ? &*set.lab : nullptr;
}

/// A state directory that cannot be opened, locked or read.
template <class T>
Result<T> or_state_failure(weir::Result<T> result) {
  if (result || result.error().code != ErrorCode::kPermission) {
    const bool is_damaged = !result && result.error().code == ErrorCode::kParse;
    return or_fail(is_damaged ? FailureKind::kBadInput : FailureKind::kCouldNotLook,
                   std::move(result));
  }
  return could_not_look(result.error().what +
                        "; run it as root (sudo), or name another directory with --state; weir "
                        "plan shows the commands without changing anything");
}

/// Links come back in real time; a lab's at once.
host::ApplyEnvironment environment_of(const HostSet& set) {
  host::ApplyEnvironment environment;
  if (set.lab) return environment;
  environment.wait = [](Duration duration) {
    timespec time{};
    time.tv_sec = duration.raw() / kPicoseconds;
    time.tv_nsec = (duration.raw() % kPicoseconds) / 1000;
    ::nanosleep(&time, nullptr);
  };
  return environment;
}

/// The host of that name; this machine whatever its name was, since there is no other.
host::HostFinder finder_of(const HostSet& set) {
  return [&set](const std::string& name) -> host::HostIo* {
    if (!set.lab && set.hosts.size() == 1) return set.hosts.front().get();
    const auto found = std::find_if(set.hosts.begin(), set.hosts.end(),
                                    [&](const auto& host) { return host->name() == name; });
    return found == set.hosts.end() ? nullptr : found->get();
  };
}

/// "2026-11-15T12:03:44Z", now.
std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (::gmtime_r(&now, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// In a lab the time is the lab's.
host::JournalHead head_of(const Plan& plan, const ApplyRequest& request) {
  return {.time = plan.set.lab ? plan.seen.hosts.front().provenance.time : time_now(),
          .tool = request.tool,
          .design = plan.fabric.design.file,
          .boot = plan.set.lab ? std::string() : host::boot_id(),
          .steps = static_cast<unsigned>(plan.step_count())};
}

/// In the watchdog's process, which has no terminal and perhaps not even the files of its session.
weir::Status roll_back_unconfirmed(const host::StateDirectory& state,
                                   const host::StoredJournal& stored, std::string_view reason) {
  HostSet set;
  set.hosts.push_back(host::make_linux_host());
  WEIR_TRY(done, host::roll_back(state, stored, finder_of(set), host::boot_id(), reason,
                                 environment_of(set)));
  if (done.is_whole) return {};
  return Error{ErrorCode::kIo, "not everything could be restored: weir rollback tries again"};
}

/// An apply that nobody ended is in the way of the next.
Failure refuse_open(const host::Journal& open) {
  const bool is_awaiting = open.phase == JournalPhase::kAwaiting;
  return could_not_look(fmt::format("the apply of {} at {} is {}: {}weir rollback undoes it",
                                    open.head.design, open.head.time, host::to_text(open.phase),
                                    is_awaiting ? "weir confirm keeps it, " : ""));
}

std::vector<HostOutcome> apply_all(const Plan& plan, const ApplyRequest& request,
                                   host::JournalWriter& journal) {
  const auto total = static_cast<double>(std::max<std::size_t>(plan.step_count(), 1));
  double done = 0;
  const host::HostFinder find = finder_of(plan.set);
  std::vector<HostOutcome> outcomes;
  for (const host::HostPlan& steps : plan.hosts) {
    host::HostIo* io = find(steps.host);
    WEIR_CHECK(io != nullptr);
    host::ApplyEnvironment environment = environment_of(plan.set);
    environment.is_interrupted = request.is_interrupted;
    environment.before_step = [&](const host::Step& /*step*/) {
      tell(request.progress, done / total, steps.host);
      done += 1;
    };
    outcomes.push_back(host::apply_plan(*io, steps, &journal, environment));
    if (!outcomes.back().is_done()) break;
  }
  return outcomes;
}

/// Written down as kept, or as awaiting a confirmation; where that fails, everything is undone.
void end_journal(const Plan& plan, const ApplyRequest& request, host::JournalWriter& journal,
                 Applied& applied) {
  if (request.confirm_within)
    applied.confirm_until = std::time(nullptr) + request.confirm_within->raw() / kPicoseconds;
  const weir::Status ended =
      applied.confirm_until ? journal.awaiting(*applied.confirm_until) : journal.kept();
  if (ended) return;
  for (HostOutcome& outcome : applied.hosts) {
    outcome.failure = ended.error().what;
    host::undo(*finder_of(plan.set)(outcome.host), outcome, &journal);
  }
}

Result<Applied> make_changes(const Plan& plan, const ApplyRequest& request) {
  const host::StateDirectory state = state_directory(request.state, lab_of(plan.set));
  WEIR_TRY_STATUS(or_state_failure(state.prepare()));
  WEIR_TRY(lock, or_state_failure(state.lock()));
  WEIR_TRY(open, or_state_failure(state.open_journal()));
  if (open) return refuse_open(open->journal);
  WEIR_TRY(journal, or_state_failure(state.create()));
  WEIR_TRY_STATUS(or_state_failure(journal.begin(head_of(plan, request))));
  std::optional<host::Watchdog> watchdog;
  if (request.confirm_within) {
    auto started = host::Watchdog::start(
        state, lock, [&](const host::StoredJournal& stored, std::string_view reason) {
          return roll_back_unconfirmed(state, stored, reason);
        });
    if (!started) {
      (void)journal.ended(true).has_value();
      return could_not_look(started.error().what);
    }
    watchdog.emplace(std::move(*started));
  }
  Applied applied;
  applied.hosts = apply_all(plan, request, journal);
  if (!applied.is_failed()) {
    end_journal(plan, request, journal, applied);
  } else if (applied.hosts.back().was_refused) {
    (void)journal.ended(true).has_value();
  }
  return applied;
}

bool changes_pfc(const host::Journal& journal) {
  return std::any_of(journal.steps.begin(), journal.steps.end(), [](const host::JournalStep& step) {
    return std::holds_alternative<host::SetPfc>(step.operation.change) &&
           step.state != host::JournalStepState::kUndone;
  });
}

}  // namespace

host::StateDirectory state_directory(const std::string& given, const lab::Lab* lab) {
  using host::StateDirectory;
  std::string path(host::kDefaultStateDirectory);
  if (lab != nullptr) path = lab->directory() + "/journal";
  if (!given.empty()) path = given;
  return StateDirectory(path, lab != nullptr ? StateDirectory::Durability::kUnsynced
                                             : StateDirectory::Durability::kSynced);
}

std::optional<host::Journal> unfinished_apply(const std::string& state, const lab::Lab* lab) {
  auto open = state_directory(state, lab).open_journal();
  if (!open || !*open) return std::nullopt;
  return std::move((*open)->journal);
}

std::size_t Applied::count(host::StepState state) const {
  std::size_t count = 0;
  for (const HostOutcome& host : hosts)
    count += static_cast<std::size_t>(
        std::count_if(host.steps.begin(), host.steps.end(),
                      [&](const host::StepOutcome& step) { return step.state == state; }));
  return count;
}

Result<Applied> apply(Plan& plan, const ApplyRequest& request) {
  if (plan.set.are_captured)
    return bad_request("a captured machine cannot be changed: weir plan shows what would change");
  if (request.confirm_within && plan.set.lab)
    return bad_request("--confirm-within is for this machine: a lab cannot be cut off");
  if (plan.step_count() == 0) return Applied{};
  if (!plan.set.lab) return make_changes(plan, request);
  // A lab's hosts are one file: written once for all of them.
  WEIR_TRY_STATUS(or_could_not_look(plan.set.lab->begin()));
  auto applied = make_changes(plan, request);
  WEIR_TRY_STATUS(or_fail(FailureKind::kRolledBack, plan.set.lab->commit()));
  return applied;
}

Result<RollbackPlan> plan_rollback(const Source& source, const std::string& state) {
  WEIR_TRY(set, open_hosts(source));
  if (set.are_captured) return bad_request("a captured machine cannot be changed");
  host::StateDirectory directory = state_directory(state, lab_of(set));
  WEIR_TRY_STATUS(or_state_failure(directory.prepare()));
  WEIR_TRY(lock, or_state_failure(directory.lock()));
  WEIR_TRY(found, or_state_failure(directory.last_standing()));
  RollbackPlan plan{std::move(set), std::move(directory), std::move(lock), std::move(found)};
  if (!plan.journal) return plan;
  plan.needs_consent = !plan.set.lab && !plan.journal->journal.is_open();
  plan.takes_links_down = changes_pfc(plan.journal->journal);
  return plan;
}

Result<host::Rollback> roll_back(RollbackPlan& plan) {
  WEIR_CHECK(plan.journal.has_value());
  lab::Lab* const lab = plan.set.lab ? &*plan.set.lab : nullptr;
  if (lab != nullptr) WEIR_TRY_STATUS(or_could_not_look(lab->begin()));
  auto done = host::roll_back(plan.state, *plan.journal, finder_of(plan.set),
                              lab != nullptr ? std::string() : host::boot_id(), "asked for",
                              environment_of(plan.set));
  if (lab != nullptr) WEIR_TRY_STATUS(or_could_not_look(lab->commit()));
  return or_state_failure(std::move(done));
}

Result<Confirmed> confirm(const std::string& given) {
  const host::StateDirectory state = state_directory(given, nullptr);
  WEIR_TRY_STATUS(or_state_failure(state.prepare()));
  WEIR_TRY(lock, or_state_failure(state.lock()));
  WEIR_TRY(open, or_state_failure(state.open_journal()));
  Confirmed out{.directory = state.path()};
  if (!open) {
    WEIR_TRY(all, or_state_failure(state.journals()));
    if (all.empty()) return out;
    out.journal = std::move(all.back().journal);
    const bool was_undone = out.journal.phase == JournalPhase::kUndone ||
                            out.journal.phase == JournalPhase::kUndoneInPart;
    out.state = was_undone ? ConfirmState::kTooLate : ConfirmState::kKeptAlready;
    return out;
  }
  if (open->journal.phase != JournalPhase::kAwaiting)
    return could_not_look(fmt::format("the apply of {} at {} was cut off: weir rollback undoes it",
                                      open->journal.head.design, open->journal.head.time));
  WEIR_TRY(journal, or_state_failure(state.reopen(*open)));
  WEIR_TRY_STATUS(or_state_failure(journal.kept()));
  out.state = ConfirmState::kConfirmed;
  out.journal = std::move(open->journal);
  return out;
}

}  // namespace weir::ops
