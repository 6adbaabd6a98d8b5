// GPUDirect RDMA: does data go from GPU to NIC, or through host memory, and why?
#include <fmt/format.h>

#include "base/untrusted/quote.h"
#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// The job's own limit on the distance: LOC, 0 or a shorter one than the hardware has.
const readers::JobVariable* own_limit(const readers::Job& job) {
  for (const readers::JobVariable& variable : job.variables) {
    // NCCL_IB_GDR_LEVEL and NCCL_IB_CUDA_SUPPORT are not read since 2.4.0: they limit nothing.
    if (variable.name != "NCCL_NET_GDR_LEVEL") continue;
    if (variable.value == "0" || variable.value == "LOC") return &variable;
  }
  return nullptr;
}

std::string reason_of(const readers::Job& job, const readers::NcclProcess& process,
                      const readers::NcclGpuDirect& line) {
  if (const readers::JobVariable* limit = own_limit(job))
    return fmt::format("{}={} disables it", limit->name, limit->value);
  if (line.reason == "no module") return "the kernel module (nvidia_peermem) is not loaded";
  if (line.reason.starts_with("distance"))
    return fmt::format("GPU and NIC are too far apart ({})", line.reason);
  // NCCL up to 2.22 looked for the module under its old name only.
  if (!process.version.empty() && readers::version_before(process.version, 2, 23))
    return fmt::format(
        "neither nvidia_peermem nor dma-buf is in use; NCCL {} knows the module "
        "only as nv_peer_mem",
        process.version);
  return "neither nvidia_peermem nor dma-buf is in use";
}

/// Undoes the job's own limit: nothing on the host needs a change.
finding::Fix without_limit(const readers::JobVariable& limit) {
  return {"nccl",
          {export_line(limit.name, "PXB")},
          fmt::format("in place of {}={}, or remove the line: NCCL selects the distance itself",
                      limit.name, limit.value)};
}

/// By NCCL's own lines. True if GPUDirect is off.
bool judge_lines(const readers::Job& job, const readers::NcclProcess& process, JobFindings& out) {
  bool is_off = false;
  for (const readers::NcclGpuDirect& line : process.gpu_direct) {
    if (line.is_on || line.network != "IB") continue;
    is_off = true;
    const bool is_far = line.reason.starts_with("distance") && own_limit(job) == nullptr;
    auto& found =
        out.add(is_far ? "pcie.gpu_far" : "gdr.off",
                fmt::format("GPUDirect RDMA is off: {}.", reason_of(job, process, line)), line.at);
    if (const readers::JobVariable* limit = own_limit(job)) found.fix = {without_limit(*limit)};
  }
  return is_off;
}

void judge_channels(const readers::NcclProcess& process, JobFindings& out) {
  for (const readers::NcclChannel& channel : process.channels) {
    if (!channel.is_rdma() || channel.is_gpu_direct()) continue;
    out.add("gdr.off",
            "Channels go over RDMA without GPUDirect (no /GDRDMA): every byte is copied through "
            "host memory.",
            channel.at);
    return;
  }
}

}  // namespace

void judge_gpu_direct(const JobCase& subject, JobFindings& out) {
  for (const readers::NcclProcess& process : subject.job.processes) {
    if (process.network && *process.network == "Socket") continue;  // says enough
    if (!judge_lines(subject.job, process, out)) judge_channels(process, out);
  }
  if (!subject.job.processes.empty()) return;
  if (const readers::JobVariable* limit = own_limit(subject.job)) {
    auto& found = out.add("gdr.off",
                          fmt::format("{}={} turns GPUDirect RDMA off.", limit->name, limit->value),
                          limit->at);
    found.fix = {without_limit(*limit)};
  }
}

}  // namespace weir::diagnose
