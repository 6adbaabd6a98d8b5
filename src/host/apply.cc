#include "host/apply.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace weir::host {
namespace {

using evidence::Nic;

/// Empty where the NIC shows what was set; else what is wrong. `confirmed` says whether it shows
/// this setting at all.
std::string mismatch(const Change& change, const Nic& now, bool& confirmed) {
  const std::optional<Change> found = as_found(change, now);
  confirmed = found.has_value();
  if (!found || *found == change) return "";
  return fmt::format("the driver took it and shows {}", value_text(*found));
}

/// Performs one change and reads it back.
Status perform_and_confirm(HostIo& host, const Operation& operation, bool must_be_up,
                           bool& confirmed) {
  WEIR_TRY_STATUS(host.perform(operation));
  WEIR_TRY(after, host.observe());
  const Nic* nic = after.find_nic(operation.device);
  if (nic == nullptr) return not_found_error(fmt::format("{} is gone", operation.device));
  const std::string wrong = mismatch(operation.change, *nic, confirmed);
  if (!wrong.empty()) return Error{ErrorCode::kIo, wrong};
  if (must_be_up && nic->link.up.is(false))
    return Error{ErrorCode::kIo, "the link did not come back"};
  return {};
}

/// A change that was refused changed nothing, and writing it again may cost the link.
bool is_as_before(HostIo& host, const Step& step) {
  const Result<evidence::Evidence> now = host.observe();
  const Nic* nic = now ? now->find_nic(step.operation.device) : nullptr;
  return nic != nullptr && step.before && as_found(*step.before, *nic) == step.before;
}

void undo_step(HostIo& host, StepOutcome& outcome) {
  const Step& step = outcome.step;
  if (is_as_before(host, step)) {
    outcome.state = StepState::kUndone;
    return;
  }
  if (!step.before) {
    outcome.state = StepState::kNotUndone;
    outcome.error = "what was there before could not be read";
    return;
  }
  bool confirmed = false;
  const Status undone =
      perform_and_confirm(host, {step.operation.device, *step.before}, false, confirmed);
  outcome.state = undone ? StepState::kUndone : StepState::kNotUndone;
  if (!undone) outcome.error = undone.error().what;
}

/// The devices whose link is up now: a change must not cost it.
std::set<std::string> devices_up(const evidence::Evidence& evidence) {
  std::set<std::string> up;
  for (const Nic& nic : evidence.nics)
    if (nic.link.up.is(true)) up.insert(nic.device);
  return up;
}

bool was_performed(StepState state) {
  return state == StepState::kDone || state == StepState::kUnconfirmed;
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

HostOutcome apply_plan(HostIo& host, const HostPlan& plan, const StepListener& before_step) {
  HostOutcome outcome;
  outcome.host = plan.host;
  for (const Step& step : plan.steps)
    outcome.steps.push_back({step, StepState::kNotTried, ""});
  if (outcome.steps.empty()) return outcome;
  const Result<evidence::Evidence> start = host.observe();
  if (!start) {
    outcome.failure = start.error().what;
    return outcome;
  }
  const std::set<std::string> up = devices_up(*start);
  for (StepOutcome& step : outcome.steps) {
    if (before_step) before_step(step.step);
    bool confirmed = false;
    const Status done = perform_and_confirm(host, step.step.operation,
                                            up.contains(step.step.operation.device), confirmed);
    if (done) {
      step.state = confirmed ? StepState::kDone : StepState::kUnconfirmed;
      continue;
    }
    step.error = done.error().what;
    outcome.failure = fmt::format("{} {}: {}", step.step.operation.device,
                                  to_text(step.step.operation.change), step.error);
    // A step that failed may have been taken in part: it is put back too.
    undo_step(host, step);
    if (step.state == StepState::kUndone) step.state = StepState::kFailed;
    undo(host, outcome);
    break;
  }
  return outcome;
}

void undo(HostIo& host, HostOutcome& outcome) {
  for (auto step = outcome.steps.rbegin(); step != outcome.steps.rend(); ++step)
    if (was_performed(step->state)) undo_step(host, *step);
}

}  // namespace weir::host
