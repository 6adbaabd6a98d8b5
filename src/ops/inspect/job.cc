#include "ops/inspect/job.h"

#include "base/file.h"
#include "diagnose/job/job.h"
#include "ops/source/fabric.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {

Result<JudgedJob> judge_job(const JobRequest& request) {
  // A log of a thousand ranks is large; what is beyond this is something else.
  constexpr std::size_t kLargestLog = std::size_t{1} << 30U;
  JudgedJob out;
  for (const std::string& path : request.files) {
    WEIR_TRY(text, or_bad_input(read_file(path, kLargestLog)));
    readers::append(out.job, readers::read_job(text, path));
  }
  std::vector<evidence::Evidence> hosts;
  for (const std::string& path : request.hosts) {
    WEIR_TRY(read, or_bad_input(read_snapshot_file(path)));
    std::move(read.begin(), read.end(), std::back_inserter(hosts));
  }
  diagnose::JobCase subject{out.job, nullptr, hosts, request.thresholds};
  Fabric fabric;
  if (!request.design.empty()) {
    WEIR_TRY(loaded, load_fabric(request.design));
    fabric = std::move(loaded);
    subject.intent = &fabric.intent;
    subject.nccl = &fabric.design.nccl;
  }
  out.judgement = diagnose::judge_job(subject);
  return out;
}

}  // namespace weir::ops
