#pragma once
// Makes the hosts what the design wants, keeps or undoes it. Every change is written down in a
// state directory before it is made, so that it can be undone after a crash and on another day.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/change/apply.h"
#include "host/change/rollback.h"
#include "host/change/state_directory.h"
#include "ops/change/plan.h"
#include "ops/source/progress.h"
#include "units/quantity.h"

namespace weir::ops {

/// `given`, or the lab's own place, or /var/lib/weir. In a lab nothing is lost with the power: its
/// journal is not synced.
[[nodiscard]] host::StateDirectory state_directory(const std::string& given, const lab::Lab* lab);

/// An earlier apply that was neither kept nor undone, where there is one and it can be read.
[[nodiscard]] std::optional<host::Journal> unfinished_apply(const std::string& state,
                                                            const lab::Lab* lab);

struct ApplyRequest {
  std::string state = {};
  std::string tool = {};                        // who writes the journal: "weir 0.1.0"
  std::optional<Duration> confirm_within = {};  // rolled back unless confirm() comes in time
  std::function<bool()> is_interrupted = {};    // then all that was done is undone
  ProgressCallback progress = {};
};

struct Applied {
  std::vector<host::HostOutcome> hosts;       // until the first that failed
  std::optional<std::int64_t> confirm_until;  // Unix seconds; where a confirmation is awaited

  [[nodiscard]] bool is_failed() const { return !hosts.empty() && !hosts.back().is_done(); }
  [[nodiscard]] std::size_t count(host::StepState state) const;
};

/// Host by host; the first failure ends it, is undone on that host, and hosts after it stay as they
/// are. With `confirm_within` the process forks: one thread, streams flushed.
[[nodiscard]] Result<Applied> apply(Plan& plan, const ApplyRequest& request);

/// What a rollback would undo, and the lock under which it is decided.
struct RollbackPlan {
  HostSet set;
  host::StateDirectory state;
  host::StateLock lock;
  std::optional<host::StoredJournal> journal;  // none: nothing to undo
  bool needs_consent = false;                  // it was kept: not to be undone by accident
  bool takes_links_down = false;
};
[[nodiscard]] Result<RollbackPlan> plan_rollback(const Source& source, const std::string& state);
/// REQUIRES: a journal.
[[nodiscard]] Result<host::Rollback> roll_back(RollbackPlan& plan);

enum class ConfirmState {
  kConfirmed,
  kNoApply,
  kKeptAlready,
  kTooLate,  // it was rolled back
};
struct Confirmed {
  ConfirmState state = ConfirmState::kNoApply;
  std::string directory;
  host::Journal journal;  // of the last apply, where there is one
};
/// Keeps what an apply with `confirm_within` made.
[[nodiscard]] Result<Confirmed> confirm(const std::string& state);

}  // namespace weir::ops
