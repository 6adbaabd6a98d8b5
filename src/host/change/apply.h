#pragma once
// Performs a plan on a host: step by step, each looked at once more and written down before it is
// made, and read back from the driver before the next. A setting that is not what the plan saw is
// not written: another program is at work there. Where a step fails, or is taken and does not show,
// or costs the link, or it is interrupted, everything done is undone in reverse order: a host is
// never left half changed.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/change/journal.h"
#include "host/change/plan.h"
#include "host/host_io.h"
#include "units/quantity.h"

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
  std::string error = {};   // of kFailed and kNotUndone
  std::string memory = {};  // what HostIo::remember() gave before it was performed
  unsigned number = 0;      // in the journal; 0: not written down
};

struct HostOutcome {
  std::string host;
  std::vector<StepOutcome> steps;  // as in the plan
  std::string failure;             // empty: all is done
  bool was_interrupted = false;
  bool was_refused = false;  // nothing was changed: no permission, or something cannot be read

  [[nodiscard]] bool is_done() const { return failure.empty(); }
  /// Nothing of it is left on the host: all that was done could be undone.
  [[nodiscard]] bool is_restored() const;
};

/// What an apply needs of the process around it; a test has its own.
struct ApplyEnvironment {
  std::function<void(const Step&)> before_step = {};  // to show how far it is
  std::function<bool()> is_interrupted = {};
  std::function<void(Duration)> wait = {};  // while a link comes back; empty: does not wait
  Duration patience = 60_s;                 // a 400G link with FEC may train for half of it
};

/// `journal` may be null where the host can be thrown away. Whoever calls says how it ended there
/// (kept, awaiting, ended): other hosts may belong to the same apply.
[[nodiscard]] HostOutcome apply_plan(HostIo& host, const HostPlan& plan,
                                     JournalWriter* journal = nullptr,
                                     const ApplyEnvironment& environment = {});

/// Undoes what an apply did, last step first. A step that cannot be undone does not keep the others
/// from it.
void undo(HostIo& host, HostOutcome& outcome, JournalWriter* journal = nullptr,
          const ApplyEnvironment& environment = {});

/// The steps of a journal that still stand, host by host: what undo() takes after a crash or on
/// another day.
[[nodiscard]] std::vector<HostOutcome> standing_steps(const Journal& journal);

}  // namespace weir::host
