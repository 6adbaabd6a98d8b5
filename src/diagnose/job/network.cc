// Does the job use RDMA at all, and only where it should?
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// The variable by which a job disables RDMA.
const readers::JobVariable* refusal(const readers::Job& job) {
  for (const readers::JobVariable& variable : job.variables) {
    if (variable.name == "NCCL_IB_DISABLE" && job_number(variable.value).value_or(0) != 0)
      return &variable;
    if (variable.name == "NCCL_NET" && variable.value == "Socket") return &variable;
  }
  return nullptr;
}

/// Every process of the log says which network it uses, and it is RDMA.
bool all_use_rdma(const readers::Job& job) {
  bool is_said = false;
  for (const readers::NcclProcess& process : job.processes) {
    if (!process.network) continue;
    if (*process.network != "IB") return false;
    is_said = true;
  }
  return is_said;
}

std::string why_sockets(const readers::Job& job, const readers::NcclProcess& process) {
  const readers::JobVariable* list = job.find("NCCL_IB_HCA");
  if (process.found_no_device && list != nullptr)
    return fmt::format("no RDMA device matched NCCL_IB_HCA={}", list->value);
  if (process.found_no_device) return "NCCL found no RDMA device";
  return "the log does not say why";
}

void judge_sockets(const readers::Job& job, JobFindings& out) {
  for (const readers::NcclProcess& process : job.processes) {
    if (!process.network || *process.network != "Socket") continue;
    auto& found = out.add("nccl.socket_fallback",
                          fmt::format("NCCL runs over TCP: {}.", why_sockets(job, process)),
                          process.network_at);
    if (process.found_no_device) out.cite(found, process.no_device_at);
    if (process.devices_at.line != 0) out.cite(found, process.devices_at);
  }
}

void judge_forced_rdma(const readers::Job& job, JobFindings& out) {
  for (const readers::JobMessage& message : job.messages) {
    if (message.at.text.find("Failed to initialize any NET plugin") == std::string::npos) continue;
    out.add("nccl.socket_fallback", "NCCL may use RDMA only and found no device: the job stops.",
            message.at);
  }
}

bool says_gloo(std::string_view text) {
  for (const std::string_view phrase :
       {"init_process_group(\"gloo\"", "init_process_group('gloo'", "backend=\"gloo\"",
        "backend='gloo'", "--backend gloo", "--backend=gloo", "--dist-backend gloo",
        "--dist-backend=gloo", "dist_backend: gloo", "Using backend config: {'cpu': 'gloo', 'cuda'",
        "[c10d] Using backend gloo", "TORCH_DISTRIBUTED_BACKEND=gloo"})
    if (text.find(phrase) != std::string_view::npos) return true;
  return false;
}

void judge_backend(const readers::Job& job, JobFindings& out) {
  for (const readers::JobMessage& message : job.messages) {
    if (!says_gloo(message.at.text)) continue;
    out.add("job.gloo_backend", "The job uses Gloo: GPU data goes through host memory and TCP.",
            message.at);
  }
  const readers::JobVariable* backend = job.find("TORCH_DISTRIBUTED_BACKEND");
  if (backend != nullptr && backend->value == "gloo")
    out.add("job.gloo_backend", "The job uses Gloo: GPU data goes through host memory and TCP.",
            backend->at);
}

/// Ranks of one machine that talk over the network. Ranks configured to act as different
/// machines (NCCL_HOSTID) are as they should be.
void judge_intra_node(const readers::Job& job, JobFindings& out) {
  std::map<unsigned, std::string> machine_of;
  for (const readers::NcclProcess& process : job.processes) {
    if (process.rank && !process.host.empty())
      machine_of[*process.rank] =
          process.host_id.empty() ? process.host : process.host + "/" + process.host_id;
  }
  const auto is_off = [&](std::string_view name) {
    const readers::JobVariable* variable = job.find(name);
    return variable != nullptr && variable->value == "1";
  };
  for (const readers::NcclProcess& process : job.processes) {
    for (const readers::NcclChannel& channel : process.channels) {
      const auto from = machine_of.find(channel.from);
      const auto to = machine_of.find(channel.to);
      const bool is_known = from != machine_of.end() && to != machine_of.end();
      if (!is_known || channel.from == channel.to || from->second != to->second) continue;
      if (!channel.is_network()) continue;
      const std::string cause = is_off("NCCL_P2P_DISABLE") && is_off("NCCL_SHM_DISABLE")
                                    ? ": NCCL_P2P_DISABLE and NCCL_SHM_DISABLE are set"
                                    : "";
      out.add("nccl.intra_node_network",
              fmt::format("Ranks on one host ({}) communicate over the network{}.", process.host,
                          cause),
              channel.at);
    }
  }
}

/// One host is all there is: loopback reaches everybody.
bool is_on_one_host(const readers::Job& job) {
  if (job.nodes == 1U) return true;
  return !job.processes.empty() &&
         std::all_of(job.processes.begin(), job.processes.end(),
                     [&](const auto& item) { return item.host == job.processes.front().host; });
}

/// NCCL connects its ranks over this interface first; over loopback no other host is reached.
void judge_interface(const readers::Job& job, JobFindings& out) {
  if (is_on_one_host(job)) return;
  for (const readers::JobVariable& variable : job.variables) {
    if (variable.name != "NCCL_SOCKET_IFNAME" && variable.name != "GLOO_SOCKET_IFNAME") continue;
    const NameList list = parse_name_list(variable.value);
    const auto is_loopback = [&](const NameList::Entry& entry) { return list.takes(entry, "lo"); };
    const auto count = std::count_if(list.entries.begin(), list.entries.end(), is_loopback);
    if (list.excludes || count == 0) continue;
    const bool is_only = static_cast<std::size_t>(count) == list.entries.size();
    auto& found = out.add("nccl.socket_loopback",
                          is_only ? fmt::format("{}={} selects loopback: ranks on other hosts "
                                                "cannot connect.",
                                                variable.name, variable.value)
                                  : fmt::format("{}={} also selects loopback, which reaches no "
                                                "other host.",
                                                variable.name, variable.value),
                          variable.at);
    if (!is_only) found.severity = finding::Severity::kWarning;
  }
}

}  // namespace

void judge_network(const JobCase& subject, JobFindings& out) {
  if (const readers::JobVariable* off = refusal(subject.job)) {
    auto& found =
        out.add("nccl.ib_disabled",
                fmt::format("{}={}: the job disables RDMA, including RoCE.", off->name, off->value),
                off->at);
    for (const readers::NcclProcess& process : subject.job.processes)
      if (process.network) out.cite(found, process.network_at);
    if (off->process.empty() && all_use_rdma(subject.job)) {
      found.severity = finding::Severity::kInfo;
      found.verdict = fmt::format(
          "{}={} is named, and the run of the log uses RDMA: it was not set "
          "there.",
          off->name, off->value);
    }
  } else {
    judge_sockets(subject.job, out);
    judge_forced_rdma(subject.job, out);
  }
  judge_backend(subject.job, out);
  judge_interface(subject.job, out);
  judge_intra_node(subject.job, out);
}

}  // namespace weir::diagnose
