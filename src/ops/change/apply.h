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
#include "ops/change/state.h"
#include "ops/source/progress.h"
#include "units/quantity.h"

namespace weir::ops {

/// An earlier apply of these hosts that was neither kept nor undone. A failure where a journal is
/// damaged; none where the user may not read it.
[[nodiscard]] Result<std::optional<host::Journal>> unfinished_apply(const std::string& state,
                                                                    const HostSet& set);

struct ApplyRequest {
  std::string state = {};
  std::string tool = {};                        // who writes the journal: "weir 0.1.0"
  std::optional<Duration> confirm_within = {};  // rolled back unless confirm() comes in time
  std::string expect = {};                      // digest of the design; empty: any
  bool despite_lint = false;                    // the design may be broken; said in the journal
  host::LockWait wait = {};                     // for another that changes the hosts
  std::function<bool()> is_interrupted = {};    // then all that was done is undone
  ProgressCallback progress = {};
};

/// An earlier apply that nobody has ended.
struct Pending {
  std::string title;  // "the apply of fabric.yaml at 2026-11-15T12:03:44Z"
  host::JournalPhase phase = host::JournalPhase::kApplying;
  std::optional<Duration> left;  // whole seconds until it is rolled back
};

/// What an apply would do, and the lock under which that was found out: nobody else who asks for
/// the lock changes anything in between.
struct Transaction {
  Plan plan;
  host::StateDirectory state;
  std::optional<host::StateLock> lock;  // none: captured machines, which nothing can change
  std::vector<std::string> lint;        // errors of the design that were overridden
  std::optional<Pending> pending;       // only where there is nothing to do
  std::string left;                     // what of an earlier apply could not be undone; empty: none
};
/// A failure where an earlier apply is neither confirmed nor rolled back and there is something to
/// change.
[[nodiscard]] Result<Transaction> begin_apply(const PlanRequest& planned,
                                              const ApplyRequest& request);

struct Applied {
  std::vector<host::HostOutcome> hosts;       // until the first that failed
  std::optional<std::int64_t> confirm_until;  // Unix seconds; where a confirmation is awaited
  std::optional<host::JournalGuard> guard;    // … and what rolls it back

  [[nodiscard]] bool is_failed() const { return !hosts.empty() && !hosts.back().is_done(); }
  /// Nothing of it is left on any host.
  [[nodiscard]] bool is_restored() const;
  [[nodiscard]] std::size_t count(host::StepState state) const;
};

/// Host by host; the first failure or an interruption ends it, and all that was done is undone, on
/// the hosts before it too. With `confirm_within` it may fork: one thread, streams flushed.
[[nodiscard]] Result<Applied> apply(Transaction& transaction, const ApplyRequest& request);

/// What a rollback would undo, and the lock under which it is decided.
struct RollbackPlan {
  HostSet set;
  host::StateDirectory state;
  std::optional<host::StateLock> lock;            // none: there is no such directory
  std::optional<host::StoredJournal> journal;     // none: nothing to undo
  std::vector<host::ChangedSince> changed_since;  // by others: a rollback overwrites it
  bool needs_consent = false;  // it was kept, or changed since: not to be undone by accident
  bool takes_links_down = false;
};
enum class RollbackScope {
  kLast,     // the last apply that still is, confirmed or not
  kPending,  // only an apply that awaits its confirmation, was cut off, or was put back in part
};
/// An apply is undone as a whole: a failure where it changed hosts of a lab that the source leaves
/// out.
[[nodiscard]] Result<RollbackPlan> plan_rollback(const Source& source, const std::string& state,
                                                 const host::LockWait& wait,
                                                 RollbackScope scope = RollbackScope::kLast);
/// REQUIRES: a journal.
[[nodiscard]] Result<host::Rollback> roll_back(RollbackPlan& plan);

/// What became of an apply that nobody had ended.
struct Settled {
  std::string directory;
  std::optional<host::StoredJournal> journal;  // as it was found; none: nothing was open
  host::Rollback rollback;
  bool was_rolled_back = false;  // false: it was confirmed while this waited
};
/// Of this machine: rolls back what is not confirmed when its time is over, waiting until then,
/// what was cut off, and what an earlier rollback could not put back. Nothing else.
[[nodiscard]] Result<Settled> settle(const std::string& state);

enum class ConfirmState {
  kConfirmed,
  kNoApply,
  kKeptAlready,
  kTooLate,       // it was rolled back
  kUndoneInPart,  // the same, and some of it could not be undone
};
struct Confirmed {
  ConfirmState state = ConfirmState::kNoApply;
  std::string directory;
  host::Journal journal;  // of the last apply, where there is one
};
/// Keeps what an apply with `confirm_within` made. In a lab nothing ever awaits a confirmation.
/// REQUIRES: this machine or a lab.
[[nodiscard]] Result<Confirmed> confirm(const Source& source, const std::string& state,
                                        const host::LockWait& wait);
[[nodiscard]] std::string_view confirm_state_text(ConfirmState state);

}  // namespace weir::ops
