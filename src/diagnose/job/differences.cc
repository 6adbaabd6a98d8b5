// One rank that is not like the others: what should be equal everywhere, compared.
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

/// Names the fewest that differ from the most; nothing where all agree or where it is a tie of all.
void compare(std::string_view what, const std::vector<Saying>& sayings, JobFindings& out) {
  std::map<std::string, std::size_t> counts;
  for (const Saying& one : sayings)
    ++counts[one.value];
  if (counts.size() < 2) return;
  const auto usual =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const Saying& one : sayings) {
    if (one.value == usual->first) continue;
    out.add("job.rank_differs",
            fmt::format("{}: {} has {}, the other {} {}.", what, one.process->name(),
                        one.value.empty() ? "none" : one.value,
                        usual->second == 1 ? "rank has" : fmt::format("{} have", usual->second),
                        usual->first.empty() ? "none" : usual->first),
            one.at);
  }
}

std::string device_names(const readers::NcclProcess& process) {
  std::vector<std::string> names;
  for (const readers::NcclDevice& device : process.devices)
    names.push_back(device.name);
  return join(names, ",");
}

void compare_variables(const readers::Job& job, JobFindings& out) {
  std::set<std::string> names;
  for (const readers::JobVariable& one : job.variables)
    if (!one.process.empty() && !is_per_rank(one.name)) names.insert(one.name);
  for (const std::string& name : names) {
    std::vector<Saying> sayings;
    for (const readers::NcclProcess& process : job.processes) {
      Saying saying{&process, "", process.network_at};
      for (const readers::JobVariable& one : job.variables) {
        const bool is_here = one.name == name && one.process == process.host + ":" + process.pid;
        if (is_here) saying = {&process, one.value, one.at};
      }
      sayings.push_back(std::move(saying));
    }
    compare(name, sayings, out);
  }
}

}  // namespace

void judge_differences(const JobCase& of, JobFindings& out) {
  if (of.job.processes.size() < 2) return;
  compare_variables(of.job, out);
  std::vector<Saying> networks;
  std::vector<Saying> versions;
  std::vector<Saying> devices;
  for (const readers::NcclProcess& process : of.job.processes) {
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
