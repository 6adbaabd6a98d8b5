#pragma once
// What a Lab shares with the hosts it handed out. Internal to this folder.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lab/fabric/lab.h"
#include "lab/fabric/state.h"
#include "lab/fabric/testbed.h"
#include "sim/results/results_evidence.h"

namespace weir::lab {

/// The fabric at rest, and the evidence of the host that was observed last. Valid until a switch or
/// a fault changes, so that a series of changes to NICs, each read back, builds it only once.
class Resting {
 public:
  explicit Resting(Testbed bed)
      : bed_(std::move(bed)), source_(bed_.intent, bed_.placement, *bed_.sim, Time()) {}
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;

  [[nodiscard]] const Testbed& bed() const { return bed_; }
  [[nodiscard]] const evidence::Evidence& host(std::uint32_t host);
  [[nodiscard]] const evidence::Evidence& switches();
  /// What a NIC shows of its counters: pause counters exist only for priorities with PFC.
  [[nodiscard]] counters::PortCounters shown(const counters::PortCounters& all, PrioritySet pfc);

 private:
  struct Part {
    counters::SharedLayout layout;
    std::vector<std::uint32_t> positions;
  };
  Testbed bed_;
  sim::EvidenceSource source_;
  std::optional<std::uint32_t> host_;
  evidence::Evidence host_evidence_;
  std::optional<evidence::Evidence> switches_;
  std::map<std::pair<const counters::Layout*, std::uint8_t>, Part> parts_;
};

struct Lab::Shared {
  Blueprint blueprint;
  State state;  // as last read or written
  Profiles profiles;
  std::unique_ptr<Resting> rest;         // made when first needed
  std::optional<Lock> held;              // between begin() and commit()
  bool is_dirty = false;                 // has changes that are not written yet
  std::function<void(double)> progress;  // report only
  struct Looked {
    const Resting* rest = nullptr;
    std::uint32_t host = 0;
    std::uint32_t rail = 0;
    NicSettings settings;
    evidence::Evidence seen;
  };
  Looked looked;  // the last that facts_of_nic() gave

  /// Reads the state, applies `edit` and writes it, under the lock.
  [[nodiscard]] Status change(const std::function<Status(State&)>& edit);
  /// The same for an edit that changes nothing if it fails: between begin() and commit() it needs
  /// no copy of the state.
  [[nodiscard]] Status change_in_place(const std::function<Status(State&)>& edit);
  /// An error if the fabric cannot be simulated in this state.
  [[nodiscard]] Status check_fits(const State& next);
  [[nodiscard]] Result<Resting*> at_rest();

  [[nodiscard]] Result<evidence::Evidence> observe_host(std::uint32_t host);
  /// Without counters; of all of the host, or of what is in the scope.
  [[nodiscard]] Result<evidence::Evidence> facts_of_host(std::uint32_t host,
                                                         const host::Scope* scope);
  /// Of one device. A change is looked at right before it and right after it: the second look is
  /// also the first of the next change.
  [[nodiscard]] Result<evidence::Evidence> facts_of_nic(std::uint32_t host, std::uint32_t rail);
  void add_nic_facts(std::uint32_t host, std::uint32_t rail, const Resting& resting,
                     const evidence::Nic& shown, evidence::Evidence& out) const;
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
