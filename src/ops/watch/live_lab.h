#pragma once
// A load that runs in a lab again and again while it is watched, so that its counters move as those
// of a fabric at work do.
//
// The simulator is slower than the fabric: a step is a short piece of simulated time, chosen so
// that it takes a third of the time between two looks. Each step begins the load anew. The lab's
// files change as after any load: other verbs see the same counters, and a fault that they add is
// in the next step.
#include <string>
#include <vector>

#include "lab/fabric/lab.h"
#include "ops/source/failure.h"
#include "units/quantity.h"

namespace weir::ops {

struct LabStep {
  Duration simulated;  // of the fabric's time
  Duration clock;      // the lab's, after it
  std::vector<std::string> faults;
};

class LiveLab {
 public:
  /// `load` as `weir sim --workload` takes it. `pace` is the time between two steps.
  [[nodiscard]] static Result<LiveLab> open(std::string directory, const std::string& load,
                                            Duration pace);

  /// Runs a piece of the load. A failure where the lab is gone or its fabric cannot run it.
  [[nodiscard]] Result<LabStep> step();
  [[nodiscard]] const std::string& load() const { return load_.command; }

 private:
  LiveLab(std::string directory, lab::Load load, Duration pace)
      : directory_(std::move(directory)), load_(std::move(load)), pace_(pace) {}

  std::string directory_;
  lab::Load load_;
  Duration pace_;
};

}  // namespace weir::ops
