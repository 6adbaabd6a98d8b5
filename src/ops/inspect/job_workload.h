#pragma once
// From a training script to a workload of the simulator.
#include <cstdint>
#include <string>
#include <vector>

#include "ops/source/fabric.h"

namespace weir::ops {

struct JobWorkloadRequest {
  std::vector<std::string> files;
  std::string with;  // "of=70B,tp=8": over what the files say
};

/// A parameter of the workload, and where it is from.
struct WorkloadChoice {
  std::string name;
  std::string value;
  std::string source;  // "train.sbatch:12", "--with", "computed: …"
};

struct JobWorkload {
  std::string workload;    // "model,tp=8,…": what `weir sim -w` takes
  std::uint64_t gpus = 0;  // 0: the script does not say
  std::vector<WorkloadChoice> choices;
  std::vector<std::string> open;  // sentences: what was not found and has a default
};
[[nodiscard]] Result<JobWorkload> job_workload(const JobWorkloadRequest& request);

}  // namespace weir::ops
