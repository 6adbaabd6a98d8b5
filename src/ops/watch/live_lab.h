#pragma once
// A load that goes on in a lab while it is watched, so that its ports do what those of a fabric at
// work do.
//
// The simulator is slower than the fabric: between two looks it runs for a third of the time, and
// never further than real time. How much simulated time that was is in the step. Other verbs see
// the counters in the lab's files, a little later; what they change, a fault for instance, is in
// the next step.
#include <string>
#include <vector>

#include "lab/fabric/live_load.h"
#include "ops/source/failure.h"
#include "ops/watch/ports.h"
#include "units/quantity.h"

namespace weir::ops {

struct LabStep {
  Duration simulated;  // of the fabric's time
  Duration clock;      // the lab's, after it
  std::vector<std::string> faults;
  std::vector<WatchedPort> ports;  // with what they did in this step
  /// How often others changed the lab, and up to which of these the lab's files show a load.
  std::uint64_t changes = 0;
  std::uint64_t shown_changes = 0;
};

class LiveLab {
 public:
  /// `load` as `weir sim --workload` takes it. `pace` is the time between two steps.
  [[nodiscard]] static Result<LiveLab> open(const std::string& directory, const std::string& load,
                                            Duration pace);
  /// A load that keeps every NIC of a fabric of so many hosts busy, and that a machine can keep.
  [[nodiscard]] static std::string usual_load(std::size_t hosts);

  /// Runs a piece of the load. A failure where the lab is gone or its fabric cannot run it.
  [[nodiscard]] Result<LabStep> step();
  [[nodiscard]] const std::string& load() const { return command_; }

 private:
  LiveLab(std::string command, lab::LiveLoad load, Duration pace)
      : command_(std::move(command)), load_(std::move(load)), pace_(pace) {}

  std::string command_;
  lab::LiveLoad load_;
  Duration pace_;
  std::vector<WatchedPort> ports_;  // of the present network
};

}  // namespace weir::ops
