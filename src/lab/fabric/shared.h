#pragma once
// What a Lab and the hosts it handed out work on together. Internal to this folder.
#include <functional>
#include <memory>
#include <optional>

#include "lab/fabric/lab.h"
#include "lab/fabric/state.h"
#include "lab/fabric/testbed.h"

namespace weir::lab {

/// The fabric at rest, and what the host that was looked at last shows then: the same until a
/// switch or a fault changes, so that changes on its NICs, read back one by one, do not count all
/// of its ports anew.
struct Resting {
  Testbed bed;
  std::optional<std::uint32_t> host = {};
  evidence::Evidence shown = {};
};

struct Lab::Shared {
  Blueprint blueprint;
  State state;  // as last read or written
  Profiles profiles;
  std::optional<Resting> rest;           // made when somebody looks
  std::optional<Lock> held;              // between begin() and commit()
  bool is_dirty = false;                 // something is not written yet
  std::function<void(double)> progress;  // report only

  /// The lab as its file has it now, changed by `edit` and written. The lock is held meanwhile.
  [[nodiscard]] Status change(const std::function<Status(State&)>& edit);
  /// The same for an edit that changes nothing where it fails: between begin() and commit() it
  /// needs no copy of the state.
  [[nodiscard]] Status change_in_place(const std::function<Status(State&)>& edit);
  [[nodiscard]] Result<const Testbed*> at_rest();
  [[nodiscard]] Result<const evidence::Evidence*> host_at_rest(std::uint32_t host);

  [[nodiscard]] Result<evidence::Evidence> observe_host(std::uint32_t host);
  [[nodiscard]] Result<counters::Snapshot> snapshot_host(std::uint32_t host);
  /// The counters of a host, or of all switches, as a bank has them.
  [[nodiscard]] Result<counters::Snapshot> host_counters(std::uint32_t host,
                                                         const CounterBank& bank);
  [[nodiscard]] Result<counters::Snapshot> switch_counters(const CounterBank& bank);
  [[nodiscard]] Status perform(std::uint32_t host, const host::Operation& operation);
  [[nodiscard]] Result<LoadOutcome> run_load(const Load& load);
};

/// Faults in the state (lab_faults.cc).
[[nodiscard]] Status add_fault(const Blueprint& blueprint, Profiles& profiles,
                               const std::string& text, State& state);
/// Every fault that `matches`; gives how many.
[[nodiscard]] Result<std::size_t> clear_faults(
    const std::function<bool(const FaultRecord&)>& matches, State& state);
/// Takes off the list what somebody has put right on the NICs and switches themselves.
void forget_repaired(State& state);

}  // namespace weir::lab
