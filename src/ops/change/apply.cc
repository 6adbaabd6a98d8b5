#include "ops/change/apply.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "host/change/watchdog.h"
#include "host/linux/host.h"

namespace weir::ops {
namespace {

using host::HostOutcome;
using host::JournalPhase;

constexpr std::int64_t kPicoseconds = 1'000'000'000'000;
constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;

const lab::Lab* lab_of(const HostSet& set) {
  return set.lab ? &*set.lab : nullptr;
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

/// In a lab the time is the lab's.
host::JournalHead head_of(const Transaction& transaction, const ApplyRequest& request) {
  const Plan& plan = transaction.plan;
  return {.time = plan.set.lab ? plan.seen.hosts.front().provenance.time : time_now(),
          .tool = request.tool,
          .design = plan.fabric.design.file,
          .boot = plan.set.lab ? std::string() : host::boot_id(),
          .steps = static_cast<unsigned>(plan.step_count()),
          .lint = transaction.lint};
}

host::Healer healer_of(HostSet& set) {
  return [&set](const host::JournalFailure& failure) {
    return end_failure(failure, set.lab ? &*set.lab : nullptr);
  };
}

/// Of this machine, in a process that perhaps has no terminal and not even the files of its
/// session.
weir::Result<host::Rollback> roll_back_here(const host::StateDirectory& state,
                                            const host::StoredJournal& stored,
                                            std::string_view reason) {
  HostSet set;
  set.hosts.push_back(host::make_linux_host());
  return host::roll_back(state, stored, finder_of(set), host::boot_id(), reason,
                         environment_of(set), healer_of(set));
}

weir::Status whole_or_error(const weir::Result<host::Rollback>& done) {
  if (!done) return done.error();
  if (done->is_whole) return {};
  return Error{ErrorCode::kIo, "not everything could be restored: weir rollback tries again"};
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

/// All hosts or none: where one failed or it was interrupted, those before it are put back too, the
/// last first; then the journal is ended.
void undo_all(const Plan& plan, host::JournalWriter& journal, Applied& applied) {
  const HostOutcome& failed = applied.hosts.back();
  const host::HostFinder find = finder_of(plan.set);
  // What cannot be written down is undone all the same: a rollback finds the steps as they were.
  if (applied.hosts.size() > 1) (void)journal.undoing(failed.failure).has_value();
  for (auto host = applied.hosts.rbegin() + 1; host != applied.hosts.rend(); ++host) {
    host->failure = failed.was_interrupted ? "interrupted" : failed.host + " failed";
    host::undo(*find(host->host), *host, &journal, environment_of(plan.set));
  }
  (void)journal.ended(applied.is_restored()).has_value();
}

/// Written down as kept, or as awaiting a confirmation; where that fails, everything is undone.
void end_journal(const Plan& plan, const ApplyRequest& request, host::JournalWriter& journal,
                 Applied& applied) {
  weir::Status ended;
  if (request.confirm_within) {
    const std::int64_t within = request.confirm_within->raw() / kPicosecondsPerMillisecond;
    applied.confirm_until = std::time(nullptr) + within / 1000;
    ended = journal.awaiting(*applied.confirm_until, host::boot_time_now().ms + within);
  } else {
    ended = journal.kept();
  }
  if (ended) return;
  for (HostOutcome& outcome : applied.hosts) {
    outcome.failure = ended.error().what;
    host::undo(*finder_of(plan.set)(outcome.host), outcome, &journal);
  }
}

/// Before the first change: whatever happens afterwards, it is rolled back unless it is confirmed.
weir::Status arm(const ApplyRequest& request, const host::StateDirectory& state,
                 host::StateLock& lock, host::JournalWriter& journal, Applied& applied) {
  if (!request.confirm_within) return {};
  WEIR_TRY(guard, host::arm_guard(state, lock, *request.confirm_within,
                                  [&](const host::StoredJournal& stored, std::string_view reason) {
                                    return whole_or_error(roll_back_here(state, stored, reason));
                                  }));
  applied.guard = guard;
  return journal.guarded(guard, request.confirm_within->raw() / kPicosecondsPerMillisecond);
}

Result<Applied> make_changes(Transaction& transaction, const ApplyRequest& request) {
  const Plan& plan = transaction.plan;
  const host::StateDirectory& state = transaction.state;
  WEIR_TRY(journal, or_state_failure(state.create()));
  WEIR_TRY_STATUS(or_state_failure(journal.begin(head_of(transaction, request))));
  // Room to say how it ended, whatever fills the disk.
  if (const weir::Status reserved = journal.reserve(0); !reserved) {
    (void)journal.ended(true).has_value();
    return state_failure(reserved.error());
  }
  Applied applied;
  if (const weir::Status armed = arm(request, state, *transaction.lock, journal, applied); !armed) {
    (void)journal.ended(true).has_value();
    if (applied.guard) host::disarm_guard(*applied.guard);
    return could_not_look(armed.error().what);
  }
  applied.hosts = apply_all(plan, request, journal);
  if (applied.is_failed()) {
    undo_all(plan, journal, applied);
  } else {
    end_journal(plan, request, journal, applied);
  }
  if (applied.is_failed() && applied.guard && applied.is_restored())
    host::disarm_guard(*applied.guard);
  return applied;
}

Pending pending_of(const host::Journal& journal) {
  Pending pending{.title = journal.title(), .phase = journal.phase, .left = {}};
  if (journal.phase != JournalPhase::kAwaiting) return pending;
  const std::int64_t left = std::max<std::int64_t>(journal.deadline - host::boot_time_now().ms, 0);
  pending.left = Duration::raw(left / 1000 * kPicoseconds);
  return pending;
}

/// The journal of a lab is of all hosts that its apply changed.
Status refuse_part_of(const host::Journal& journal, const HostSet& set) {
  const host::HostFinder find = finder_of(set);
  std::vector<std::string> others;
  for (const host::JournalStep& step : journal.steps)
    if (find(step.host) == nullptr &&
        std::find(others.begin(), others.end(), step.host) == others.end())
      others.push_back(step.host);
  if (others.empty()) return {};
  return bad_request(fmt::format("{} changed {} too, and is undone as a whole: leave --hosts out",
                                 journal.title(), fold_hosts(others)));
}

bool changes_pfc(const host::Journal& journal) {
  return std::any_of(journal.steps.begin(), journal.steps.end(), [](const host::JournalStep& step) {
    return std::holds_alternative<host::SetPfc>(step.operation.change) &&
           step.state != host::JournalStepState::kUndone;
  });
}

/// Of an apply that was put back in part: the next one plans from what it finds, and would hide it.
Result<std::string> what_is_left(const host::StateDirectory& state, bool is_locked) {
  if (!is_locked) return std::string();
  WEIR_TRY(unsettled, or_state_failure(state.last_unsettled()));
  if (!unsettled || unsettled->journal.is_open()) return std::string();
  return fmt::format("{} of {} could not be undone; weir rollback --pending tries again",
                     counted(unsettled->journal.standing(), "change"), unsettled->journal.title());
}

}  // namespace

Result<std::optional<host::Journal>> unfinished_apply(const std::string& given,
                                                      const HostSet& set) {
  std::optional<host::Journal> none;
  const host::StateDirectory state = state_directory(given, lab_of(set));
  const auto may_read = state.is_there();
  const bool is_refused = !may_read && may_read.error().code == ErrorCode::kPermission;
  if (set.are_captured || is_refused) return none;
  WEIR_TRY(is_there, has_state(state, given));
  if (!is_there) return none;
  WEIR_TRY(open, or_state_failure(state.open_journal()));
  return open ? std::optional(std::move(open->journal)) : none;
}

std::size_t Applied::count(host::StepState state) const {
  std::size_t count = 0;
  for (const HostOutcome& host : hosts)
    count += static_cast<std::size_t>(
        std::count_if(host.steps.begin(), host.steps.end(),
                      [&](const host::StepOutcome& step) { return step.state == state; }));
  return count;
}

bool Applied::is_restored() const {
  return std::all_of(hosts.begin(), hosts.end(),
                     [](const HostOutcome& host) { return host.is_restored(); });
}

Result<Transaction> begin_apply(const PlanRequest& planned, const ApplyRequest& request) {
  WEIR_TRY(set, open_hosts(planned.source));
  if (!request.expect.empty() && planned.design.empty())
    return bad_request("--expect is of a design that is named, or sent as -");
  WEIR_TRY(fabric, request.expect.empty() ? fabric_for(planned.design, set)
                                          : load_fabric(planned.design, request.expect));
  WEIR_TRY(lint, lint_errors(fabric, request.despite_lint));
  host::StateDirectory state = state_directory(request.state, lab_of(set));
  std::optional<host::StateLock> lock;
  if (!set.are_captured) {
    WEIR_TRY_STATUS(or_state_failure(state.prepare()));
    WEIR_TRY(taken, or_state_failure(state.lock(request.wait)));
    lock.emplace(std::move(taken));
  }
  // A lab's hosts are one file: read now, and written once for all of them.
  if (set.lab) WEIR_TRY_STATUS(or_could_not_look(set.lab->begin()));
  WEIR_TRY(plan, plan_hosts(std::move(set), std::move(fabric)));
  std::optional<Pending> pending;
  if (lock) {
    WEIR_TRY(open, or_state_failure(state.open_journal()));
    if (open && plan.step_count() > 0) return open_journal_failure(*open);
    if (open) pending = pending_of(open->journal);
  }
  WEIR_TRY(left, what_is_left(state, lock.has_value()));
  return Transaction{std::move(plan), std::move(state),   std::move(lock),
                     std::move(lint), std::move(pending), std::move(left)};
}

Result<Applied> apply(Transaction& transaction, const ApplyRequest& request) {
  Plan& plan = transaction.plan;
  if (plan.set.are_captured)
    return bad_request("a captured machine cannot be changed: weir plan shows what would change");
  if (request.confirm_within && plan.set.lab)
    return bad_request("--confirm-within is for this machine: a lab cannot be cut off");
  if (plan.step_count() == 0) return Applied{};
  auto applied = make_changes(transaction, request);
  if (plan.set.lab) WEIR_TRY_STATUS(or_fail(FailureKind::kRolledBack, plan.set.lab->commit()));
  return applied;
}

Result<RollbackPlan> plan_rollback(const Source& source, const std::string& state,
                                   const host::LockWait& wait, RollbackScope scope) {
  WEIR_TRY(set, open_hosts(source));
  if (set.are_captured) return bad_request("a captured machine cannot be changed");
  host::StateDirectory directory = state_directory(state, lab_of(set));
  RollbackPlan plan{std::move(set), std::move(directory), {}, {}, {}};
  WEIR_TRY(is_there, has_state(plan.state, state));
  if (!is_there) return plan;
  WEIR_TRY(lock, or_state_failure(plan.state.lock(wait)));
  plan.lock.emplace(std::move(lock));
  const bool is_last = scope == RollbackScope::kLast;
  WEIR_TRY(found,
           or_state_failure(is_last ? plan.state.last_standing() : plan.state.last_unsettled()));
  if (!is_last && found && found->journal.head.verb != "apply") return plan;
  plan.journal = std::move(found);
  if (!plan.journal) return plan;
  const host::Journal& journal = plan.journal->journal;
  if (plan.set.lab && !source.hosts.empty()) WEIR_TRY_STATUS(refuse_part_of(journal, plan.set));
  const bool was_restarted = !journal.head.boot.empty() && journal.head.boot != host::boot_id();
  if (!was_restarted) plan.changed_since = host::changed_since(journal, finder_of(plan.set));
  plan.needs_consent = (!plan.set.lab && !journal.is_open()) || !plan.changed_since.empty();
  plan.takes_links_down = changes_pfc(journal);
  return plan;
}

Result<host::Rollback> roll_back(RollbackPlan& plan) {
  WEIR_CHECK(plan.journal.has_value());
  lab::Lab* const lab = plan.set.lab ? &*plan.set.lab : nullptr;
  if (lab != nullptr) WEIR_TRY_STATUS(or_could_not_look(lab->begin()));
  // A load of a lab is simulated: a process that its journal names is not ours, labs are copied.
  if (lab != nullptr) plan.journal->journal.load.reset();
  auto done = host::roll_back(
      plan.state, *plan.journal, finder_of(plan.set),
      lab != nullptr ? std::string() : host::boot_id(), "requested", environment_of(plan.set),
      healer_of(plan.set),
      lab != nullptr ? [lab] { return lab->commit(); } : std::function<weir::Status()>());
  if (done && plan.journal->journal.guard) host::disarm_guard(*plan.journal->journal.guard);
  return or_state_failure(std::move(done));
}

Result<Settled> settle(const std::string& given) {
  const host::StateDirectory state = state_directory(given, nullptr);
  Settled out{.directory = state.name(), .journal = {}, .rollback = {}};
  WEIR_TRY(is_there, has_state(state, given));
  if (!is_there) return out;
  WEIR_TRY(unsettled, or_state_failure(state.last_unsettled()));
  out.journal = std::move(unsettled);
  const auto roll_back = [&](const host::StoredJournal& stored,
                             std::string_view reason) -> weir::Status {
    out.journal = stored;
    out.was_rolled_back = true;
    WEIR_TRY(done, roll_back_here(state, stored, reason));
    out.rollback = std::move(done);
    return {};
  };
  if (!out.journal || out.journal->journal.is_open()) {
    WEIR_TRY_STATUS(or_state_failure(host::settle_open_journal(state, roll_back)));
    return out;
  }
  WEIR_TRY(lock, or_state_failure(state.lock({.patience = 1_s})));
  WEIR_TRY(left, or_state_failure(state.last_unsettled()));
  if (left) WEIR_TRY_STATUS(or_state_failure(roll_back(*left, "a part of it was left")));
  return out;
}

std::string_view confirm_state_text(ConfirmState state) {
  switch (state) {
    case ConfirmState::kConfirmed: return "confirmed";
    case ConfirmState::kNoApply: return "no apply";
    case ConfirmState::kKeptAlready: return "kept already";
    case ConfirmState::kTooLate: return "too late";
    case ConfirmState::kUndoneInPart: return "undone in part";
  }
  WEIR_UNREACHABLE("every state has a name");
}

Result<Confirmed> confirm(const Source& source, const std::string& given,
                          const host::LockWait& wait) {
  if (!source.captures.empty()) return bad_request("a captured machine cannot be changed");
  WEIR_TRY(set, open_hosts(source));
  const host::StateDirectory state = state_directory(given, lab_of(set));
  Confirmed out{.directory = state.name()};
  WEIR_TRY(is_there, has_state(state, given));
  if (!is_there) return out;
  WEIR_TRY(lock, or_state_failure(state.lock(wait)));
  WEIR_TRY(open, or_state_failure(state.open_journal()));
  if (!open) {
    WEIR_TRY(all, or_state_failure(state.journals()));
    // What weir verify wrote down of its load and its failure was never to be confirmed.
    std::erase_if(all, [](const auto& entry) { return entry.journal.head.verb != "apply"; });
    if (all.empty()) return out;
    out.journal = std::move(all.back().journal);
    out.state = out.journal.phase == JournalPhase::kUndone         ? ConfirmState::kTooLate
                : out.journal.phase == JournalPhase::kUndoneInPart ? ConfirmState::kUndoneInPart
                                                                   : ConfirmState::kKeptAlready;
    return out;
  }
  if (open->journal.phase != JournalPhase::kAwaiting)
    return could_not_look(
        fmt::format("{} was cut off: weir rollback undoes it", open->journal.title()));
  // Its time is over, and what rolls it back is about to.
  const host::BootTime now = host::boot_time_now();
  if (host::next_step(open, now) == host::WatchdogStep::kRollBack) {
    WEIR_TRY(done, or_state_failure(roll_back_here(state, *open, "it was not confirmed in time")));
    WEIR_TRY(after, or_state_failure(state.read(open->file)));
    out.journal = std::move(after->journal);
    out.state = done.is_whole ? ConfirmState::kTooLate : ConfirmState::kUndoneInPart;
    return out;
  }
  WEIR_TRY(journal, or_state_failure(state.reopen(*open)));
  WEIR_TRY_STATUS(or_state_failure(journal.kept()));
  if (open->journal.guard) host::disarm_guard(*open->journal.guard);
  out.state = ConfirmState::kConfirmed;
  out.journal = std::move(open->journal);
  return out;
}

}  // namespace weir::ops
