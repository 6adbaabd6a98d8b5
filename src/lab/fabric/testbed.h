#pragma once
// The fabric of a lab as it is set now, ready to run: state -> intent -> network -> simulation.
//
// Three layers of intent, in this order: the design with its switches as they are set (profiles,
// factory, faults of switches), the settings of the NICs, and the faults that no setting shows. A
// load and an observation at rest use the same set-up, so that what is observed is what runs.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "lab/fabric/lab.h"
#include "lab/fabric/state.h"
#include "sim/engine/sim.h"
#include "sim/fault/fault.h"
#include "sim/workload/workload.h"

namespace weir::lab {

/// Intents of the design with other buffer profiles, derived when first needed.
class Profiles {
 public:
  [[nodiscard]] Result<const design::Intent*> with(const Blueprint& blueprint,
                                                   const std::string& profile);

 private:
  std::map<std::string, design::Intent> intents_;
};

/// The present settings: of switches by their state and faults, of NICs by their settings.
[[nodiscard]] Result<design::Intent> present_intent(const Blueprint& blueprint, const State& state,
                                                    Profiles& profiles, const Job& job);

struct Testbed {
  design::Intent intent;  // what the network was made from
  sim::Placement placement;
  std::vector<sim::FaultAction> actions;
  std::vector<std::string> notes;
  std::unique_ptr<sim::Workloads> load;
  std::unique_ptr<sim::Sim> sim;
};
/// `threads`: at most; 0: as many as help. No result depends on it.
[[nodiscard]] Result<Testbed> set_up(const Blueprint& blueprint, const State& state,
                                     Profiles& profiles, const Load& load, unsigned threads = 1);

/// The same without a load, at its first moment: what is broken from the start is broken in it.
/// Every NIC counts pauses of every priority, whatever its PFC settings (which decide what it
/// shows), so that one such bed can be used until a switch or a fault changes.
[[nodiscard]] Result<Testbed> set_up_at_rest(const Blueprint& blueprint, const State& state,
                                             Profiles& profiles);

/// How a load is simulated. No result depends on it.
struct Speed {
  unsigned threads = 0;  // as for set_up()
  bool replays = true;   // steps that repeat are not simulated again (docs/replay.md)
};
struct TestbedRun {
  Testbed bed;
  LoadOutcome outcome;
  RunRecord record;
  Time end;
  std::uint64_t replayed = 0;  // steps
};
[[nodiscard]] Result<TestbedRun> run(const Blueprint& blueprint, const State& state,
                                     Profiles& profiles, const Load& load,
                                     const std::function<void(double)>& progress,  // report only
                                     Speed speed = {});

}  // namespace weir::lab
