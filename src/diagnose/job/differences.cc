// A rank that differs from the others in what should be equal everywhere.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// Variables that belong to the rank, not to the job.
bool is_per_rank(std::string_view name) {
  return name == "NCCL_HOSTID" || name == "NCCL_SOCKET_IFNAME" || name == "NCCL_DEBUG_FILE" ||
         name == "NCCL_COMM_ID" || name == "NCCL_TOPO_FILE" || name == "NCCL_TOPO_DUMP_FILE" ||
         name == "NCCL_GRAPH_DUMP_FILE";
}

/// What one rank says of one thing.
struct Saying {
  const readers::NcclProcess* process;
  std::string value;
  readers::Cited at;
};

/// Reports the ranks that differ from the majority.
void compare(std::string_view what, const std::vector<Saying>& sayings, JobFindings& out) {
  std::map<std::string, std::size_t> counts;
  for (const Saying& saying : sayings)
    ++counts[saying.value];
  if (counts.size() < 2) return;
  const auto usual =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const Saying& known : sayings) {
    if (known.value == usual->first) continue;
    out.add("job.rank_differs",
            fmt::format("{}: {} has {}, the other {} {}.", what, known.process->name(),
                        known.value.empty() ? "none" : known.value,
                        usual->second == 1 ? "rank has" : fmt::format("{} have", usual->second),
                        usual->first.empty() ? "none" : usual->first),
            known.at);
  }
}

std::string device_names(const readers::NcclProcess& process) {
  std::vector<std::string> names;
  for (const readers::NcclDevice& device : process.devices)
    names.push_back(device.name);
  return join(names, ",");
}

/// Whether a rank's log shows its start, where NCCL prints the variables it took. A rank that logs
/// warnings only (NCCL_DEBUG=WARN, or a log cut off) does not say what it did not set.
bool shows_start(const readers::Job& job, const readers::NcclProcess& process) {
  if (process.network || process.devices_at.line != 0) return true;
  const std::string name = process.host + ":" + process.pid;
  return std::any_of(job.variables.begin(), job.variables.end(),
                     [&](const readers::JobVariable& item) { return item.process == name; });
}

void compare_variables(const readers::Job& job, JobFindings& out) {
  std::set<std::string> names;
  for (const readers::JobVariable& variable : job.variables)
    if (!variable.process.empty() && !is_per_rank(variable.name)) names.insert(variable.name);
  for (const std::string& name : names) {
    std::vector<Saying> sayings;
    for (const readers::NcclProcess& process : job.processes) {
      if (!shows_start(job, process)) continue;
      Saying saying{&process, "", process.network_at};
      for (const readers::JobVariable& item : job.variables) {
        const bool is_here = item.name == name && item.process == process.host + ":" + process.pid;
        if (is_here) saying = {&process, item.value, item.at};
      }
      sayings.push_back(std::move(saying));
    }
    compare(name, sayings, out);
  }
}

}  // namespace

void judge_differences(const JobCase& subject, JobFindings& out) {
  if (subject.job.processes.size() < 2) return;
  compare_variables(subject.job, out);
  std::vector<Saying> networks;
  std::vector<Saying> versions;
  std::vector<Saying> devices;
  for (const readers::NcclProcess& process : subject.job.processes) {
    if (process.network) networks.push_back({&process, *process.network, process.network_at});
    if (!process.version.empty())
      versions.push_back({&process, process.version, process.network_at});
    if (process.devices_at.line != 0)
      devices.push_back({&process, device_names(process), process.devices_at});
  }
  compare("network", networks, out);
  compare("NCCL version", versions, out);
  compare("devices", devices, out);
}

}  // namespace weir::diagnose
