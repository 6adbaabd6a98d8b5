#pragma once
// The environment, script or log of a job, judged.
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/thresholds.h"
#include "ops/source/failure.h"
#include "readers/job/job.h"

namespace weir::ops {

struct JobRequest {
  std::vector<std::string> files;       // - is standard input
  std::string design = {};              // empty: none
  std::vector<std::string> hosts = {};  // snapshots or bundles of hosts of the job
  finding::Thresholds thresholds = {};
};

struct JudgedJob {
  readers::Job job;
  finding::Judgement judgement;
};

[[nodiscard]] Result<JudgedJob> judge_job(const JobRequest& request);

}  // namespace weir::ops
