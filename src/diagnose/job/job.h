#pragma once
// A job judged by what it says (E2): its environment, its script, its log, held against the design
// and against what its hosts have. A pure function; readers/job/job.h reads the text.
//
// A finding cites the line that shows it. What would need the design or a host that was not given
// is not guessed: it is listed as unknown.
#include <span>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/job/job.h"

namespace weir::diagnose {

struct JobCase {
  const readers::Job& job;
  const design::Intent* intent = nullptr;          // where there is a design
  std::span<const evidence::Evidence> hosts = {};  // where hosts were observed
  finding::Thresholds thresholds = {};
  const design::Nccl* nccl = nullptr;  // the design's values for jobs, where there is a design
  bool has_some_devices = false;       // the hosts may have more devices than were observed
};

/// Conclusion: healthy, findings, or inconclusive where the job says nothing that could be judged.
[[nodiscard]] finding::Judgement judge_job(const JobCase&);

/// "rank 3 got no answer from its peer: …": ibv_wc_status in words. Empty for an unknown status.
[[nodiscard]] std::string explain_completion(unsigned status);

}  // namespace weir::diagnose
