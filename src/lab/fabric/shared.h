#pragma once
// What a Lab shares with the hosts it handed out. Internal to this folder.
#include <functional>
#include <memory>
#include <optional>

#include "lab/fabric/lab.h"
#include "lab/fabric/state.h"
#include "lab/fabric/testbed.h"

namespace weir::lab {

/// The fabric at rest, and the evidence of the host that was observed last. Valid until a switch or
/// a fault changes, so that a series of changes to NICs, each read back, builds it only once.
struct Resting {
  Testbed bed;
  std::optional<std::uint32_t> host = {};
  evidence::Evidence shown = {};
};

struct Lab::Shared {
  Blueprint blueprint;
  State state;  // as last read or written
  Profiles profiles;
  std::optional<Resting> rest;           // made when first needed
  std::optional<Lock> held;              // between begin() and commit()
  bool is_dirty = false;                 // has changes that are not written yet
  std::function<void(double)> progress;  // report only

  /// Reads the state, applies `edit` and writes it, under the lock.
  [[nodiscard]] Status change(const std::function<Status(State&)>& edit);
  /// The same for an edit that changes nothing if it fails: between begin() and commit() it needs
  /// no copy of the state.
  [[nodiscard]] Status change_in_place(const std::function<Status(State&)>& edit);
  /// An error if the fabric cannot be simulated in this state.
  [[nodiscard]] Status check_fits(const State& next);
  [[nodiscard]] Result<const Testbed*> at_rest();
  [[nodiscard]] Result<const evidence::Evidence*> host_at_rest(std::uint32_t host);

  [[nodiscard]] Result<evidence::Evidence> observe_host(std::uint32_t host);
  [[nodiscard]] Result<counters::Snapshot> snapshot_host(std::uint32_t host);
  /// The counters of a host, or of all switches, from a bank.
  [[nodiscard]] Result<counters::Snapshot> host_counters(std::uint32_t host,
                                                         const CounterBank& bank);
  [[nodiscard]] Result<counters::Snapshot> switch_counters(const CounterBank& bank);
  [[nodiscard]] Status perform(std::uint32_t host, const host::Operation& operation);
  [[nodiscard]] Result<LoadOutcome> run_load(const Load& load);
};

/// Faults in the state (lab_faults.cc).
[[nodiscard]] Status add_fault(const Blueprint& blueprint, Profiles& profiles,
                               const std::string& text, State& state);
/// Clears every fault that `matches`; returns how many.
[[nodiscard]] Result<std::size_t> clear_faults(
    const std::function<bool(const FaultRecord&)>& matches, State& state);
/// Drops the faults whose settings have all been corrected on the NICs and switches.
void forget_repaired(State& state);

}  // namespace weir::lab
