#pragma once
// The result of a tuning as a plan for the fabric, and the files of each step.
#include <string>
#include <vector>

#include "ops/source/failure.h"
#include "tune/rollout/rollout.h"

namespace weir::ops {

struct RolloutRequest {
  std::string result;       // directory of `weir tune --out`, or its tune.json
  std::string design = {};  // empty: the one that the result names
  std::string node = {};    // only what is done on this host or switch; empty: all
};

struct RolloutFile {
  std::string path;  // "01-wred.min/leaf1.patch.json"
  std::string text;
};

struct PlannedRollout {
  tune::RolloutPlan plan;
  std::vector<RolloutFile> files;  // designs of the steps, scripts of hosts, changes of switches
};

[[nodiscard]] Result<PlannedRollout> plan_rollout(const RolloutRequest& request);

}  // namespace weir::ops
