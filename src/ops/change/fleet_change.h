#pragma once
// A rollback or a confirmation on many hosts: the weir of each does it, all side by side. No
// waves: what is undone or kept was applied in waves already, and there is nothing to try first.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/source/failure.h"
#include "ops/source/hosts.h"

namespace weir::ops {

enum class FleetVerb {
  kRollback,         // the last apply of each host, confirmed or not
  kRollbackPending,  // only where one awaits its confirmation, was cut off or put back in part
  kConfirm,
};

enum class FleetHostState {
  kDone,      // rolled back, or confirmed
  kKept,      // of a confirmation: it was confirmed before
  kNothing,   // there is nothing to roll back, or to confirm
  kTooLate,   // of a confirmation: it was rolled back already
  kInPart,    // some of it could not be undone, by this rollback or before a confirmation
  kFailed,    // its weir could not do it, or is not there
  kNoAnswer,  // not reached, or no usable answer: nobody here knows whether it was done
  kNotAsked,  // interrupted before its turn
};

struct FleetHostAnswer {
  std::string host = {};
  FleetHostState state = FleetHostState::kNotAsked;
  std::string detail = {};  // why, in one line
  std::size_t changes = 0;  // undone
  bool is_kept = false;     // of a confirmation: the last apply is, now or already before
};
/// "rolled back", "kept already", "no answer".
[[nodiscard]] std::string_view state_text(FleetVerb verb, FleetHostState state);

struct FleetChange {
  FleetVerb verb = FleetVerb::kRollback;
  std::vector<FleetHostAnswer> hosts;  // in the order of the fleet

  [[nodiscard]] std::size_t count(FleetHostState state) const;
  [[nodiscard]] std::size_t changes() const;
  /// The last apply of every host is confirmed, now or already before.
  [[nodiscard]] bool is_kept() const;
  /// Those in one of these states.
  [[nodiscard]] std::vector<std::string> names(const std::vector<FleetHostState>& states) const;
};

/// After an interruption no further host is asked; those that were are waited for: an undoing is
/// not interrupted. A failure where nothing can be run on the hosts.
[[nodiscard]] Result<FleetChange> change_fleet(const FleetSource& fleet, FleetVerb verb,
                                               const std::function<bool()>& is_interrupted);

/// What weir rollback --json or weir confirm --json printed on a host, and its status. Bounded and
/// checked: a host may print anything.
[[nodiscard]] FleetHostAnswer read_rollback_answer(int status, std::string_view output,
                                                   std::string_view errors);
[[nodiscard]] FleetHostAnswer read_confirm_answer(int status, std::string_view output,
                                                  std::string_view errors);

}  // namespace weir::ops
