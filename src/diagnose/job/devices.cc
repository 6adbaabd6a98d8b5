// Which NICs a job will use: NCCL_IB_HCA as NCCL matches it, against the devices that exist.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "design/prove/islands.h"
#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// `^=mlx5_0:1,mlx5_1`: as NCCL reads it. A caret excludes, an equals sign requires exact names.
struct DeviceList {
  bool excludes = false;
  bool is_exact = false;
  struct Entry {
    std::string name;
    std::optional<long> port;
  };
  std::vector<Entry> entries;
};

DeviceList parse_list(std::string_view text) {
  DeviceList list;
  if (text.starts_with('^')) {
    list.excludes = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    list.is_exact = true;
    text.remove_prefix(1);
  }
  for (const std::string_view piece : split(text, ',')) {
    const auto colon = piece.find(':');
    DeviceList::Entry entry;
    entry.name = trim(piece.substr(0, colon));
    if (colon != std::string_view::npos) entry.port = job_number(piece.substr(colon + 1));
    if (!entry.name.empty()) list.entries.push_back(std::move(entry));
  }
  return list;
}

bool takes(const DeviceList& list, const DeviceList::Entry& entry, std::string_view device) {
  return list.is_exact ? device == entry.name : device.starts_with(entry.name);
}

/// Device names by host: from hosts that were observed, else from the design's first host.
std::vector<std::string> devices_of(const JobCase& subject) {
  std::set<std::string> names;
  for (const evidence::Evidence& host : subject.hosts)
    for (const evidence::Nic& nic : host.nics)
      names.insert(nic.device);
  if (names.empty() && subject.intent != nullptr && !subject.intent->hosts.empty()) {
    for (const design::NicIntent& nic : subject.intent->hosts.front().nics)
      names.insert(nic.device);
  }
  return {names.begin(), names.end()};
}

/// A network interface's name, where NCCL wants an RDMA device: ib0, eth2, ens1f0np0, bond0.
bool looks_like_interface(std::string_view name) {
  for (const std::string_view prefix : {"ib", "eth", "en", "bond", "lo", "br", "wl", "docker"}) {
    if (!name.starts_with(prefix) || name.starts_with("ibp") || name.find("rdma") == 0) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (prefix == "en"
            ? rest.starts_with('s') || rest.starts_with('p') || rest.starts_with('o')
            : !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos)
      return true;
  }
  return false;
}

void judge_entry(const readers::JobVariable& variable, const DeviceList& list,
                 const DeviceList::Entry& entry, const std::vector<std::string>& devices,
                 JobFindings& out) {
  if (entry.port == 0) {
    out.add("nccl.hca_unknown",
            fmt::format("{}: port 0 of {} does not exist, ports start at 1.", variable.name,
                        entry.name),
            variable.at);
  }
  if (devices.empty()) {
    if (!looks_like_interface(entry.name)) return;
    auto& found = out.add("nccl.hca_unknown",
                          fmt::format("{} names {}, a network interface: it expects RDMA devices "
                                      "(mlx5_0) and will match none.",
                                      variable.name, entry.name),
                          variable.at);
    found.confidence = finding::Confidence::kHigh;
    return;
  }
  std::vector<std::string> taken;
  for (const std::string& device : devices)
    if (takes(list, entry, device)) taken.push_back(device);
  if (taken.empty()) {
    out.add("nccl.hca_unknown",
            fmt::format("{} names {}, which does not exist (devices: {}).", variable.name,
                        entry.name, join(devices, ", ")),
            variable.at);
  } else if (taken.size() > 1 && std::count(taken.begin(), taken.end(), entry.name) == 1) {
    auto& found = out.add("nccl.hca_prefix",
                          fmt::format("{}: {} also matches {}, since NCCL matches prefixes.",
                                      variable.name, entry.name, join(taken, ", ")),
                          variable.at);
    found.fix = {{"nccl",
                  {fmt::format("export {}=={}", variable.name, std::string(trim(variable.value)))},
                  "the leading equals sign requires exact names"}};
  }
}

std::size_t count_taken(const DeviceList& list, const std::vector<std::string>& devices) {
  return static_cast<std::size_t>(
      std::count_if(devices.begin(), devices.end(), [&](const std::string& device) {
        const bool is_named =
            std::any_of(list.entries.begin(), list.entries.end(),
                        [&](const auto& entry) { return takes(list, entry, device); });
        return is_named != list.excludes;
      }));
}

std::size_t rails_of(const JobCase& subject) {
  std::size_t rails = 0;
  if (subject.intent != nullptr)
    for (const design::HostIntent& host : subject.intent->hosts)
      rails = std::max(rails, host.nics.size());
  return rails;
}

void judge_count(const JobCase& subject, const readers::JobVariable& variable,
                 const DeviceList& list, const std::vector<std::string>& devices,
                 JobFindings& out) {
  const std::size_t rails = rails_of(subject) > 0 ? rails_of(subject) : devices.size();
  if (rails == 0) return;
  const std::size_t taken = devices.empty() ? list.entries.size() : count_taken(list, devices);
  if (taken == 0 || taken >= rails || (devices.empty() && list.excludes)) return;
  auto& found = out.add("nccl.hca_list_short",
                        fmt::format("{}={} uses {} of {} rails: the others stay idle.",
                                    variable.name, variable.value, taken, rails),
                        variable.at);
  if (!devices.empty())
    found.fix = {{"nccl", {fmt::format("export {}=={}", variable.name, join(devices, ","))}, ""}};
}

void judge_opened(const JobCase& subject, JobFindings& out) {
  const std::size_t rails = rails_of(subject);
  for (const readers::NcclProcess& process : subject.job.processes) {
    if (process.devices.empty() || process.devices.size() >= rails) continue;
    out.add("nccl.hca_list_short",
            fmt::format("NCCL opened {} devices; the design has {} rails per host.",
                        process.devices.size(), rails),
            process.devices_at);
  }
}

void judge_cross_nic(const JobCase& subject, JobFindings& out) {
  if (subject.intent == nullptr || subject.intent->hosts.empty()) return;
  const auto islands = design::islands(*subject.intent);
  const bool is_isolated = std::any_of(
      subject.intent->hosts.begin(), subject.intent->hosts.end(),
      [&](const auto& host) { return design::has_isolated_rails(*subject.intent, host, islands); });
  if (!is_isolated) return;
  for (const readers::JobVariable& variable : subject.job.variables) {
    const bool crosses = variable.name == "NCCL_CROSS_NIC" && variable.value != "0";
    const bool no_pxn = variable.name == "NCCL_PXN_DISABLE" && variable.value == "1";
    if (!crosses && !no_pxn) continue;
    auto& found = out.add(
        "rail.cross_rail_unreachable",
        fmt::format("{}={} lets the job connect rails that have no common switch in the design.",
                    variable.name, variable.value),
        variable.at);
    found.fix = {{"nccl", {"export NCCL_CROSS_NIC=0", "unset NCCL_PXN_DISABLE"}, ""}};
  }
}

}  // namespace

void judge_devices(const JobCase& subject, JobFindings& out) {
  const std::vector<std::string> devices = devices_of(subject);
  for (const readers::JobVariable& variable : subject.job.variables) {
    if (variable.name != "NCCL_IB_HCA") continue;
    const DeviceList list = parse_list(variable.value);
    for (const DeviceList::Entry& entry : list.entries)
      if (!list.excludes) judge_entry(variable, list, entry, devices, out);
    if (!out.has("nccl.hca_unknown")) judge_count(subject, variable, list, devices, out);
    if (devices.empty()) {
      out.unknown("devices of NCCL_IB_HCA", "no host and no design to compare with",
                  "weir job --host EVIDENCE, or --design D");
    }
  }
  judge_opened(subject, out);
  judge_cross_nic(subject, out);
}

}  // namespace weir::diagnose
