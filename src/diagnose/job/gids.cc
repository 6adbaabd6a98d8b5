// The GID that a job's packets will carry as their source: routable, and the same choice
// everywhere.
#include <algorithm>

#include <fmt/format.h>

#include "base/untrusted/quote.h"
#include "diagnose/job/rules.h"
#include "evidence/address.h"

namespace weir::diagnose {
namespace {

const evidence::Gid* gid_at(const evidence::Nic& nic, long index) {
  if (!nic.rdma.gids.is_known()) return nullptr;
  for (const evidence::Gid& gid : *nic.rdma.gids)
    if (static_cast<long>(gid.index) == index) return &gid;
  return nullptr;
}

std::string name_of(const evidence::Evidence& host, const evidence::Nic& nic) {
  return host.provenance.host.empty() ? nic.device : host.provenance.host + " " + nic.device;
}

void judge_on_host(const readers::JobVariable& variable, long index, const evidence::Evidence& host,
                   JobFindings& out) {
  for (const evidence::Nic& nic : host.nics) {
    if (!nic.rdma.gids.is_known()) {
      out.unknown(fmt::format("{}: GID {}", name_of(host, nic), index), "not read",
                  "weir show on the host, as root", true);
      continue;
    }
    const evidence::Gid* gid = gid_at(nic, index);
    if (gid == nullptr) {
      out.add("gid.index_differs",
              fmt::format("{}={}: {} has no GID at index {}.", variable.name, index,
                          name_of(host, nic), index),
              variable.at);
    } else if (gid->type != evidence::GidType::kRoceV2 || evidence::is_link_local(gid->gid)) {
      out.add("gid.not_routable",
              fmt::format("{}={}: on {} this is {} ({}{}).", variable.name, index,
                          name_of(host, nic), gid->gid, to_text(gid->type),
                          evidence::is_link_local(gid->gid) ? ", link-local" : ""),
              variable.at);
    }
  }
}

void judge_log(const readers::NcclProcess& process, JobFindings& out) {
  for (const readers::NcclQueuePair& pair : process.queue_pairs) {
    if (evidence::is_link_local(pair.gid)) {
      out.add("gid.not_routable",
              fmt::format(
                  "The queue pairs use GID {} at index {}, which is link-local and not routable.",
                  pair.gid, pair.gid_index),
              pair.at);
    }
  }
}

/// A transfer that got no answer, from a link-local address.
void judge_unanswered(const readers::NcclProcess& process, JobFindings& out) {
  constexpr unsigned kTimeoutStatus = 12;
  for (const readers::NcclFailure& failure : process.failures) {
    if (failure.status != kTimeoutStatus || !evidence::is_link_local(failure.local_gid)) continue;
    out.add("gid.not_routable",
            fmt::format("A transfer from GID {} got no answer: the address is link-local and does "
                        "not pass a router.",
                        failure.local_gid),
            failure.at);
    return;
  }
}

bool has_remote_channel(const readers::NcclProcess& process) {
  return std::any_of(
      process.channels.begin(), process.channels.end(),
      [](const readers::NcclChannel& channel) { return channel.via.starts_with("NET/IB"); });
}

/// Up to 2.20 NCCL took index 0 unless told otherwise: usually RoCE v1 and link-local.
void judge_default(const JobCase& subject, const readers::NcclProcess& process, JobFindings& out) {
  if (process.version.empty() || !readers::version_before(process.version, 2, 21)) return;
  if (subject.job.sets("NCCL_IB_GID_INDEX") || !process.queue_pairs.empty()) return;
  for (const readers::NcclDevice& device : process.devices) {
    if (!device.is_roce) continue;
    auto& found =
        out.add("gid.not_routable",
                fmt::format("NCCL {} uses GID index 0 unless NCCL_IB_GID_INDEX is set, and the log "
                            "does not show it set: usually RoCE v1 and link-local.",
                            process.version),
                process.devices_at);
    found.severity = finding::Severity::kWarning;
    found.confidence = finding::Confidence::kMedium;
    // Ranks on other hosts were reached with whatever index was used; a piece of a log without a
    // failure shows neither.
    const bool is_reached = process.is_connected && has_remote_channel(process);
    if (is_reached || process.failures.empty()) {
      found.verdict = fmt::format(
          "Which GID index NCCL {} used the log does not show: its default is 0, usually RoCE v1 "
          "and link-local.{}",
          process.version, is_reached ? " The ranks reached each other." : "");
      found.severity = finding::Severity::kInfo;
      found.confidence = finding::Confidence::kLow;
    }
    return;
  }
}

/// Index 0 is the default GID, which the kernel makes from the MAC address: link-local, and of RoCE
/// v1 where the NIC has both. Source: roce_gid_mgmt.c, the reserved entries of default GIDs.
void judge_index_zero(const JobCase& subject, const readers::JobVariable& variable,
                      JobFindings& out) {
  auto& found = out.add("gid.not_routable",
                        fmt::format("{}=0 is the default GID of the NIC: link-local, on most NICs "
                                    "RoCE v1, not routable.",
                                    variable.name),
                        variable.at);
  found.confidence = finding::Confidence::kHigh;
  // Within one subnet RoCE v1 can work; a design says that it is RoCE v2.
  if (subject.intent == nullptr) found.severity = finding::Severity::kWarning;
  found.fix = {{"nccl",
                {shell_line({"unset", variable.name})},
                "NCCL 2.21 and later selects RoCE v2 itself; for an older one take the index of a "
                "RoCE v2 address from show_gids"}};
}

}  // namespace

void judge_gids(const JobCase& subject, JobFindings& out) {
  for (const readers::JobVariable& variable : subject.job.variables) {
    if (variable.name != "NCCL_IB_GID_INDEX" && variable.name != "UCX_IB_GID_INDEX") continue;
    const auto index = job_number(variable.value);
    if (!index || *index < 0) continue;
    for (const evidence::Evidence& host : subject.hosts)
      judge_on_host(variable, *index, host, out);
    if (subject.hosts.empty() && *index == 0) {
      judge_index_zero(subject, variable, out);
    } else if (subject.hosts.empty()) {
      out.unknown(fmt::format("{}={}", variable.name, *index),
                  "the address at an index differs between hosts",
                  "weir job --host EVIDENCE (weir snapshot or weir bundle on each host)");
    }
  }
  for (const readers::NcclProcess& process : subject.job.processes) {
    judge_log(process, out);
    judge_unanswered(process, out);
    judge_default(subject, process, out);
  }
}

}  // namespace weir::diagnose
