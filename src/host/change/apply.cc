#include "host/change/apply.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace weir::host {
namespace {

using evidence::Nic;

constexpr Duration kBetweenLooks = 200_ms;

/// What a change must not cost: a link that was up, and the addresses RDMA connects with.
struct Connected {
  bool is_up = false;
  std::size_t gids = 0;
};
using Connections = std::map<std::string, Connected>;  // by device

std::size_t gid_count(const Nic& nic) {
  if (!nic.rdma.gids.is_known()) return 0;
  return static_cast<std::size_t>(std::count_if(
      nic.rdma.gids->begin(), nic.rdma.gids->end(),
      [](const evidence::Gid& gid) { return gid.type == evidence::GidType::kRoceV2; }));
}

Scope devices_of(const HostPlan& plan) {
  Scope scope;
  for (const Step& step : plan.steps) {
    const std::string& device = step.operation.device;
    if (std::find(scope.devices.begin(), scope.devices.end(), device) == scope.devices.end())
      scope.devices.push_back(device);
  }
  return scope;
}

Connections connections_of(const evidence::Evidence& evidence) {
  Connections out;
  for (const Nic& nic : evidence.nics)
    out[nic.device] = {nic.link.up.is(true), gid_count(nic)};
  return out;
}

bool is_interrupted(const ApplyEnvironment& environment) {
  return environment.is_interrupted && environment.is_interrupted();
}

Error interrupted_error() {
  return {ErrorCode::kIo, "interrupted"};
}

/// Empty where the device is connected as before.
std::string lost_connection(const Nic& nic, const Connected& before) {
  if (before.is_up && nic.link.up.is(false)) return "the link did not come back";
  if (before.is_up && nic.rdma.gids.is_known() && gid_count(nic) < before.gids)
    return "the link came back without its RoCEv2 GIDs";
  return "";
}

Scope scope_of(const std::string& device) {
  if (device.empty()) return {.devices = {}, .with_machine = true};
  return {.devices = {device}, .with_machine = false};
}

/// Looks at one device until `judge` finds nothing wrong or patience is over; what was wrong last
/// is the error. `judge` may keep what it is given.
template <class Judge>
Status look_until_well(HostIo& host, const std::string& device, const ApplyEnvironment& environment,
                       Judge judge) {
  for (Duration waited;; waited += kBetweenLooks) {
    WEIR_TRY(now, host.facts(scope_of(device)));
    const bool is_gone = !device.empty() && now.find_nic(device) == nullptr;
    const std::string wrong = is_gone ? fmt::format("{} is gone", device) : std::string(judge(now));
    if (wrong.empty()) return {};
    const bool is_over = !environment.wait || waited >= environment.patience;
    if (is_over) return Error{ErrorCode::kIo, wrong};
    if (is_interrupted(environment)) return interrupted_error();
    environment.wait(kBetweenLooks);
  }
}

/// An interrupt moves to its new processor when it comes next.
bool is_shown_later(const Change& change) {
  return std::holds_alternative<SetIrqNodes>(change);
}

/// Performs one change and reads it back. `is_shown` says whether the driver shows it at all,
/// `seen` is what was read first: what others do while a link comes back is not of this step.
Status perform_and_confirm(HostIo& host, const Step& step, const Connected& before,
                           const ApplyEnvironment& environment, bool& is_shown,
                           evidence::Evidence& seen) {
  constexpr int kMoreLooks = 10;  // a firmware that is busy with the change answers a little later
  const Operation& operation = step.operation;
  int unseen = 0;
  bool is_first = true;
  WEIR_TRY_STATUS(host.perform(operation));
  std::string mismatch;
  const auto judge = [&](evidence::Evidence& now) -> std::string {
    const std::optional<Change> found = as_found(operation.change, operation.device, now);
    const bool differs = found && *found != operation.change;
    is_shown = found.has_value() && !differs;
    const Nic* const nic = now.find_nic(operation.device);
    const std::string lost = nic == nullptr ? std::string() : lost_connection(*nic, before);
    if (is_first) seen = std::move(now);
    is_first = false;
    if (!found && step.before && environment.wait && ++unseen <= kMoreLooks)
      return "the driver does not show it any more";
    if (differs && !is_shown_later(operation.change)) {
      mismatch = fmt::format("the driver took it and shows {}", value_text(*found));
      return "";  // waiting does not help
    }
    return lost;
  };
  const Status connected = look_until_well(host, operation.device, environment, judge);
  if (!mismatch.empty()) return Error{ErrorCode::kIo, mismatch};
  return connected;
}

/// A change that was refused changed nothing, and writing it again may cost the link.
bool is_as_before(HostIo& host, const Step& step) {
  const Result<evidence::Evidence> now = host.facts(scope_of(step.operation.device));
  return now && step.before && as_found(*step.before, step.operation.device, *now) == step.before;
}

Status put_back(HostIo& host, const StepOutcome& outcome) {
  const Step& step = outcome.step;
  if (!outcome.memory.empty()) return host.restore(step.operation.device, outcome.memory);
  if (is_as_before(host, step)) return {};
  if (!step.before) return not_found_error("what was there before could not be read");
  return host.perform({step.operation.device, *step.before});
}

/// What is shown after a step was put back; empty where all is well.
std::string wrong_after_undo(HostIo& host, const Step& step) {
  if (!step.before || is_shown_later(*step.before)) return "";
  const Result<evidence::Evidence> now = host.facts(scope_of(step.operation.device));
  if (!now) return now.error().what;
  const std::optional<Change> found = as_found(*step.before, step.operation.device, *now);
  if (!found || found == step.before) return "";
  return fmt::format("the driver shows {} instead of {}", value_text(*found),
                     value_text(*step.before));
}

void undo_step(HostIo& host, StepOutcome& outcome, JournalWriter* journal) {
  const Status done = put_back(host, outcome);
  std::string wrong = done ? wrong_after_undo(host, outcome.step) : done.error().what;
  outcome.state = wrong.empty() ? StepState::kUndone : StepState::kNotUndone;
  if (journal != nullptr && outcome.number > 0) {
    // A journal that cannot be written any more does not stop the undoing: a later one begins at
    // the last record and finds these steps as they were before.
    const Status written = wrong.empty() ? journal->undone(outcome.number)
                                         : journal->not_undone(outcome.number, wrong);
    (void)written.has_value();
  }
  if (!wrong.empty()) outcome.error = std::move(wrong);
}

bool was_performed(StepState state) {
  return state == StepState::kDone || state == StepState::kUnconfirmed;
}

/// What the settings of steps that are still to come are expected to be: as the plan saw them, or
/// as an earlier step left them (trust in DSCP begins with the driver's own map).
class Expectation {
 public:
  explicit Expectation(const std::vector<StepOutcome>& steps) : steps_(steps) {
    for (const StepOutcome& outcome : steps)
      values_.push_back(outcome.step.before);
  }

  /// Right before a step is made. An error where another program changed the setting.
  [[nodiscard]] Status check(std::size_t index, const evidence::Evidence& now) const {
    const Operation& operation = steps_[index].step.operation;
    const std::optional<Change>& expected = values_[index];
    if (!expected || is_shown_later(operation.change)) return {};
    const std::optional<Change> found = as_found(operation.change, operation.device, now);
    if (found == expected) return {};
    return Error{ErrorCode::kInvalid,
                 fmt::format("another program changed it: it was {} when it was planned and {}; "
                             "not written",
                             value_text(*expected),
                             found ? "is now " + value_text(*found) : "cannot be read now")};
  }

  /// What a step changed besides its own setting: right before it as expected, right after it not.
  void learn(std::size_t made, const evidence::Evidence& before, const evidence::Evidence& after) {
    for (std::size_t i = made + 1; i < steps_.size(); ++i) {
      const Operation& operation = steps_[i].step.operation;
      if (operation.device != steps_[made].step.operation.device) continue;
      if (as_found(operation.change, operation.device, before) != values_[i]) continue;
      values_[i] = as_found(operation.change, operation.device, after);
    }
  }

 private:
  const std::vector<StepOutcome>& steps_;
  std::vector<std::optional<Change>> values_;
};

/// Everything that any step may touch, before the first is made: a step that cannot be put back is
/// found out while nothing has changed.
Status remember_all(HostIo& host, HostOutcome& outcome) {
  for (StepOutcome& step : outcome.steps) {
    Result<std::string> memory = host.remember(step.step.operation);
    if (!memory) {
      return memory.error().within(
          fmt::format("{} {}", step.step.operation.device, name_of(step.step.operation.change)));
    }
    step.memory = std::move(*memory);
  }
  return {};
}

/// Room for all records of the steps, so that a disk that fills up does not stop the undoing.
Status reserve_space(const HostOutcome& outcome, JournalWriter& journal) {
  std::size_t bytes = 0;
  for (const StepOutcome& step : outcome.steps)
    bytes += journal.space_for(outcome.host, step.step, step.memory);
  return journal.reserve(bytes);
}

/// What a step needs of the apply around it.
struct StepContext {
  HostIo& host;
  HostOutcome& outcome;
  Expectation& expectation;
  JournalWriter* journal;
  const ApplyEnvironment& environment;
};

/// One step: looked at once more, written down, made, read back.
Status make_step(const StepContext& context, std::size_t index, const Connected& connected) {
  StepOutcome& outcome = context.outcome.steps[index];
  JournalWriter* const journal = context.journal;
  if (is_interrupted(context.environment)) return interrupted_error();
  const Scope scope = scope_of(outcome.step.operation.device);
  WEIR_TRY(before, context.host.facts(scope));
  WEIR_TRY_STATUS(context.expectation.check(index, before));
  if (journal != nullptr) {
    WEIR_TRY(number, journal->step(context.outcome.host, outcome.step, outcome.memory));
    outcome.number = number;
  }
  // From here on the change may have been taken, in part at least: it is to be undone.
  outcome.state = StepState::kUnconfirmed;
  bool is_shown = false;
  evidence::Evidence after;
  WEIR_TRY_STATUS(perform_and_confirm(context.host, outcome.step, connected, context.environment,
                                      is_shown, after));
  context.expectation.learn(index, before, after);
  if (journal != nullptr) WEIR_TRY_STATUS(journal->done(outcome.number, is_shown));
  if (is_shown) outcome.state = StepState::kDone;
  return {};
}

/// A change on one device may cost another its link: looked at when all are made.
Status confirm_connections(HostIo& host, const Connections& before,
                           const ApplyEnvironment& environment) {
  for (const auto& connection : before) {
    const std::string& device = connection.first;
    const Connected& wanted = connection.second;
    const Status well =
        look_until_well(host, device, environment, [&](const evidence::Evidence& now) {
          return lost_connection(*now.find_nic(device), wanted);
        });
    if (!well) return well.error().within(device);
  }
  return {};
}

}  // namespace

std::string_view to_text(StepState state) {
  switch (state) {
    case StepState::kDone: return "done";
    case StepState::kUnconfirmed: return "done, not shown by the driver";
    case StepState::kFailed: return "failed";
    case StepState::kUndone: return "undone";
    case StepState::kNotUndone: return "not undone";
    case StepState::kNotTried: return "not tried";
  }
  WEIR_UNREACHABLE("every state has a text");
}

bool HostOutcome::is_restored() const {
  return std::none_of(steps.begin(), steps.end(), [](const StepOutcome& outcome) {
    return was_performed(outcome.state) || outcome.state == StepState::kNotUndone;
  });
}

HostOutcome apply_plan(HostIo& host, const HostPlan& plan, JournalWriter* journal,
                       const ApplyEnvironment& environment) {
  HostOutcome outcome;
  outcome.host = plan.host;
  for (const Step& step : plan.steps)
    outcome.steps.push_back({.step = step});
  if (outcome.steps.empty()) return outcome;
  const Result<evidence::Evidence> start = host.facts(devices_of(plan));
  if (!start) {
    outcome.failure = start.error().what;
    return outcome;
  }
  Status ready = remember_all(host, outcome);
  if (ready && journal != nullptr) ready = reserve_space(outcome, *journal);
  if (!ready) {
    outcome.failure = ready.error().what;
    outcome.was_refused = true;
    return outcome;
  }
  const Connections connections = connections_of(*start);
  const auto fail = [&](const std::string& failure) {
    outcome.failure = failure;
    outcome.was_interrupted = is_interrupted(environment);
    if (journal != nullptr) (void)journal->undoing(failure).has_value();
    undo(host, outcome, journal, environment);
  };
  Expectation expectation(outcome.steps);
  const StepContext context{host, outcome, expectation, journal, environment};
  for (std::size_t i = 0; i < outcome.steps.size(); ++i) {
    StepOutcome& step = outcome.steps[i];
    if (environment.before_step) environment.before_step(step.step);
    const auto known = connections.find(step.step.operation.device);
    const Connected before = known == connections.end() ? Connected() : known->second;
    const Status made = make_step(context, i, before);
    if (made) continue;
    const bool may_be_taken = was_performed(step.state);
    outcome.was_refused = made.error().code == ErrorCode::kPermission && i == 0;
    fail(fmt::format("{} {}: {}: {}", step.step.operation.device,
                     name_of(step.step.operation.change), value_text(step.step.operation.change),
                     made.error().what));
    // A step that failed may have been taken in part: it was put back too.
    step.error = made.error().what + (step.error.empty() ? "" : "; " + step.error);
    if (!may_be_taken || step.state == StepState::kUndone) step.state = StepState::kFailed;
    return outcome;
  }
  const Status connected = confirm_connections(host, connections, environment);
  if (!connected) fail(connected.error().what);
  return outcome;
}

void undo(HostIo& host, HostOutcome& outcome, JournalWriter* journal,
          const ApplyEnvironment& environment) {
  for (auto step = outcome.steps.rbegin(); step != outcome.steps.rend(); ++step) {
    if (!was_performed(step->state)) continue;
    if (environment.before_step) environment.before_step(step->step);
    undo_step(host, *step, journal);
  }
}

std::vector<HostOutcome> standing_steps(const Journal& journal) {
  std::vector<HostOutcome> out;
  std::map<std::string_view, std::size_t> place_of;
  for (const JournalStep& step : journal.steps) {
    if (step.state == JournalStepState::kUndone) continue;
    const auto [known, is_new] = place_of.try_emplace(step.host, out.size());
    if (is_new) out.push_back({.host = step.host, .steps = {}, .failure = ""});
    HostOutcome* const host = &out[known->second];
    StepOutcome outcome;
    outcome.step.operation = step.operation;
    outcome.step.rail = step.rail;
    outcome.step.before = step.before;
    outcome.step.risk = risk_of(step.operation.change);
    outcome.state = StepState::kUnconfirmed;
    outcome.memory = step.memory;
    outcome.number = step.number;
    host->steps.push_back(std::move(outcome));
  }
  return out;
}

}  // namespace weir::host
