// Completions with an error, events of the device, messages of the verbs library: what they mean.
#include <array>

#include <fmt/format.h>

#include "diagnose/job/rules.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// ibv_wc_status (infiniband/verbs.h) by number, in words, and the fault it points at.
struct Status {
  unsigned status;
  std::string_view name;
  std::string_view words;
  std::string_view id;  // empty: a consequence of another failure
};
constexpr auto kStatuses = std::to_array<Status>({
    {1, "IBV_WC_LOC_LEN_ERR", "message longer than the posted receive", "app.protocol_error"},
    {2, "IBV_WC_LOC_QP_OP_ERR", "the NIC rejected the request as malformed", "app.protocol_error"},
    {4, "IBV_WC_LOC_PROT_ERR", "memory is not, or no longer, registered", "app.protocol_error"},
    {5, "IBV_WC_WR_FLUSH_ERR", "flushed after an earlier failure of the connection", ""},
    {9, "IBV_WC_REM_INV_REQ_ERR", "the peer rejected the request as invalid", "app.protocol_error"},
    {10, "IBV_WC_REM_ACCESS_ERR", "remote key or address not permitted by the peer",
     "app.protocol_error"},
    {11, "IBV_WC_REM_OP_ERR", "the peer could not execute the request", "app.protocol_error"},
    {12, "IBV_WC_RETRY_EXC_ERR",
     "no acknowledgement after all retries: the peer died, or packets or acknowledgements are lost",
     "transport.retries_exhausted"},
    {13, "IBV_WC_RNR_RETRY_EXC_ERR", "the peer had no receive posted after all RNR retries",
     "app.receives_too_few"},
    {21, "IBV_WC_GENERAL_ERR", "the NIC gave no reason", "transport.retries_exhausted"},
});

const Status* status_of(unsigned number) {
  for (const Status& status : kStatuses)
    if (status.status == number) return &status;
  return nullptr;
}

/// Up to 2.12 NCCL printed completions in the short form, and up to 2.20 it used GID index 0.
bool used_default_gid(const JobCase& subject, const readers::NcclProcess& process,
                      const readers::NcclFailure& failure) {
  const bool is_old = failure.is_short_form ||
                      (!process.version.empty() && readers::version_before(process.version, 2, 21));
  return is_old && !subject.job.sets("NCCL_IB_GID_INDEX") && process.queue_pairs.empty();
}

void judge_completion(const JobCase& subject, const readers::NcclProcess& process,
                      const readers::NcclFailure& failure, JobFindings& out) {
  const Status* status = status_of(*failure.status);
  if (status == nullptr || status->id.empty()) return;
  const std::string device = failure.device.empty() ? "" : " on " + failure.device;
  const std::string peer = failure.peer.empty() ? "" : fmt::format(" (peer {})", failure.peer);
  auto& found = out.add(
      status->id,
      fmt::format("{} ({}){}{}: {}.", status->name, status->status, device, peer, status->words),
      failure.at);
  if (status->status != 12) return;
  found.confidence = finding::Confidence::kMedium;  // what it points at is open
  if (!used_default_gid(subject, process, failure)) return;
  auto& gid = out.add("gid.not_routable",
                      "Data never arrived, and this NCCL uses GID index 0 unless NCCL_IB_GID_INDEX "
                      "is set: usually RoCE v1 or link-local.",
                      failure.at);
  gid.confidence = finding::Confidence::kHigh;
}

void judge_event(const readers::NcclProcess& process, const readers::NcclFailure& failure,
                 JobFindings& out) {
  const bool is_link = failure.event.find("port error") != std::string::npos ||
                       failure.event.find("port active") != std::string::npos ||
                       failure.event.find("link") != std::string::npos;
  const bool is_gid = failure.event.find("GID table change") != std::string::npos;
  const bool is_access = failure.event.find("access violation") != std::string::npos ||
                         failure.event.find("invalid request") != std::string::npos;
  const std::string device = !failure.device.empty() ? failure.device
                             : process.host.empty()
                                 ? std::string("a NIC that the log does not name")
                                 : fmt::format("a NIC of {}", process.host);
  if (is_link) {
    finding::Finding& found =
        out.add("link.flapping", fmt::format("The link of {} went down while the job ran.", device),
                failure.at);
    found.where.host = process.host;
    found.where.device = failure.device;
  } else if (is_gid) {
    out.add("gid.changed", fmt::format("The GID table of {} changed while the job ran.", device),
            failure.at);
  } else if (is_access) {
    out.add("app.protocol_error",
            fmt::format("{} rejected a request of the application: {}.", device, failure.event),
            failure.at);
  }
}

/// A message of a library and the fault it names with certainty.
struct Phrase {
  std::string_view first;
  std::string_view second;  // also in the line; may be empty
  std::string_view id;
  std::string_view verdict;
};
constexpr auto kPhrases = std::to_array<Phrase>({
    {"ibv_reg_mr", "Cannot allocate memory", "limits.memlock_low",
     "Memory registration failed: the memlock limit is too low (ulimit -l)."},
    {"ncclIbRoceGetVersionNum", "", "gid.sparse",
     "NCCL stopped at an empty entry of the GID table."},
    {"gid_attrs/types", "fail", "gid.sparse",
     "An entry of the GID table could not be read: the table has empty entries."},
    {"No suitable GID", "", "gid.wrong_family",
     "The device has no GID of the type that the library needs."},
    {"onnection closed by remote peer", "", "peer.dead",
     "The other end closed its connection: its process or host ended first; read its log."},
    {"GID is NULL", "", "gid.not_routable",
     "The library found no usable GID: set its index explicitly."},
});

void judge_messages(const readers::Job& job, JobFindings& out) {
  for (const readers::JobMessage& message : job.messages) {
    for (const Phrase& phrase : kPhrases) {
      const bool has_first = message.at.text.find(phrase.first) != std::string::npos;
      if (has_first && message.at.text.find(phrase.second) != std::string::npos)
        out.add(phrase.id, std::string(phrase.verdict), message.at);
    }
  }
}

/// A limit that the job gives itself.
void judge_memlock(const JobCase& subject, JobFindings& out) {
  for (const readers::MemlockLimit& limit : subject.job.memlock) {
    if (!limit.bytes || *limit.bytes >= subject.thresholds.least_memlock) continue;
    auto& found = out.add(
        "limits.memlock_low",
        fmt::format("The job limits locked memory to {}: RDMA registers more, expected unlimited.",
                    to_text(Bytes::raw(static_cast<std::int64_t>(*limit.bytes)))),
        limit.at);
    const bool is_container = limit.at.text.find("--ulimit") != std::string::npos;
    found.fix = {{"any", {is_container ? "--ulimit memlock=-1" : "ulimit -l unlimited"}, ""}};
  }
}

}  // namespace

std::string explain_completion(unsigned status) {
  const Status* known = status_of(status);
  return known == nullptr ? "" : fmt::format("{}: {}", known->name, known->words);
}

void judge_failures(const JobCase& subject, JobFindings& out) {
  for (const readers::NcclProcess& process : subject.job.processes) {
    for (const readers::NcclFailure& failure : process.failures) {
      if (failure.status) {
        judge_completion(subject, process, failure, out);
      } else {
        judge_event(process, failure, out);
      }
    }
  }
  judge_messages(subject.job, out);
  judge_memlock(subject, out);
}

}  // namespace weir::diagnose
