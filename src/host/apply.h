#pragma once
// Performs a plan on a host: step by step, each read back from the driver before the next. Where a
// step fails, or is taken and does not show, or costs the link, everything done is undone in
// reverse order: a host is never left half changed.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_io.h"
#include "host/plan.h"

namespace weir::host {

enum class StepState {
  kDone,         // performed, and the driver shows it
  kUnconfirmed,  // performed; the driver does not show this setting
  kFailed,
  kUndone,     // performed, then put back as it was found
  kNotUndone,  // performed, and could not be put back
  kNotTried,   // an earlier step failed
};
[[nodiscard]] std::string_view to_text(StepState);

struct StepOutcome {
  Step step;
  StepState state = StepState::kNotTried;
  std::string error;  // of kFailed and kNotUndone
};

struct HostOutcome {
  std::string host;
  std::vector<StepOutcome> steps;  // as in the plan
  std::string failure;             // empty: all is done

  [[nodiscard]] bool is_done() const { return failure.empty(); }
  /// Nothing of it is left on the host: all that was done could be undone.
  [[nodiscard]] bool is_restored() const;
};

/// Called before each step, so that a caller can show how far it is.
using StepListener = std::function<void(const Step&)>;

[[nodiscard]] HostOutcome apply_plan(HostIo& host, const HostPlan& plan,
                                     const StepListener& before_step = {});

/// Undoes what an apply did, last step first: for a caller who finds only later that it went wrong,
/// on another host of the same change.
void undo(HostIo& host, HostOutcome& outcome);

}  // namespace weir::host
