// Which NICs a job will use: NCCL_IB_HCA as NCCL matches it, against the devices that exist.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/prove/islands.h"
#include "diagnose/job/rules.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {
namespace {

/// Known by the name of an RDMA device. A text may name a NIC by its interface, or not at all.
bool is_named_device(const evidence::Nic& nic) {
  return nic.device != readers::kUnnamedNic && !nic.netdev.is(nic.device);
}

/// Device names by host: from hosts that were observed, else from the design's first host.
std::vector<std::string> devices_of(const JobCase& subject) {
  std::set<std::string> names;
  for (const evidence::Evidence& host : subject.hosts)
    for (const evidence::Nic& nic : host.nics)
      if (is_named_device(nic)) names.insert(nic.device);
  // What the library opened is there, whether a listing shows it or not.
  if (!names.empty())
    for (const readers::NcclProcess& process : subject.job.processes)
      for (const readers::NcclDevice& device : process.devices)
        names.insert(device.name);
  if (names.empty() && subject.intent != nullptr && !subject.intent->hosts.empty()) {
    for (const design::NicIntent& nic : subject.intent->hosts.front().nics)
      names.insert(nic.device);
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const std::string& a, const std::string& b) { return natural_order(a, b) < 0; });
  return sorted;
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

/// A list that takes exactly what there is: no fix names a device that does not exist.
finding::Fix all_devices(std::string_view variable, const std::vector<std::string>& devices) {
  return {"nccl",
          {export_line(variable, "=" + join(devices, ","))},
          "the leading equals sign requires exact names"};
}

/// The same devices by exact names, without those that do not exist.
finding::Fix exact_devices(const readers::JobVariable& variable, const NameList& list,
                           const std::vector<std::string>& devices) {
  std::vector<std::string> wanted;
  for (const NameList::Entry& entry : list.entries)
    if (std::count(devices.begin(), devices.end(), entry.name) == 1) wanted.push_back(entry.name);
  const bool is_whole = wanted.size() == list.entries.size();
  return all_devices(variable.name, is_whole ? wanted : devices);
}

/// "mlx5_1" takes mlx5_10 and mlx5_11: not as a family ("mlx5_"), but because a number goes on.
bool is_cut_number(std::string_view name, const std::vector<std::string>& taken) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_digit(name.back()) &&
         std::any_of(taken.begin(), taken.end(), [&](const std::string& device) {
           return device.size() > name.size() && is_digit(device[name.size()]);
         });
}

void judge_without_devices(const readers::JobVariable& variable, const NameList::Entry& entry,
                           JobFindings& out) {
  if (!looks_like_interface(entry.name)) return;
  auto& found = out.add("nccl.hca_unknown",
                        fmt::format("{} names {}, a network interface: it expects RDMA devices "
                                    "(mlx5_0) and will match none.",
                                    variable.name, entry.name),
                        variable.at);
  found.confidence = finding::Confidence::kHigh;
}

void judge_entry(const readers::JobVariable& variable, const NameList& list,
                 const NameList::Entry& entry, const std::vector<std::string>& devices,
                 JobFindings& out) {
  if (entry.port == 0) {
    auto& found = out.add("nccl.hca_unknown",
                          fmt::format("{}: port 0 of {} does not exist, ports start at 1.",
                                      variable.name, entry.name),
                          variable.at);
    if (!devices.empty()) found.fix = {exact_devices(variable, list, devices)};
  }
  if (devices.empty()) return judge_without_devices(variable, entry, out);
  std::vector<std::string> taken;
  for (const std::string& device : devices)
    if (list.takes(entry, device)) taken.push_back(device);
  const bool exists = std::count(taken.begin(), taken.end(), entry.name) == 1;
  if (taken.empty()) return;  // judge_missing() names them all
  if (!exists && is_cut_number(entry.name, taken)) {
    auto& found = out.add("nccl.hca_prefix",
                          fmt::format("{}: {} does not exist, and matches {}, since NCCL matches "
                                      "prefixes.",
                                      variable.name, entry.name, join(taken, ", ")),
                          variable.at);
    found.fix = {all_devices(variable.name, devices)};
  } else if (exists && taken.size() > 1) {
    auto& found = out.add("nccl.hca_prefix",
                          fmt::format("{}: {} also matches {}, since NCCL matches prefixes.",
                                      variable.name, entry.name, join(taken, ", ")),
                          variable.at);
    found.fix = {exact_devices(variable, list, devices)};
  }
}

/// "mlx5_3" where there is a "mlx5_0": named by the same driver.
bool is_sister_name(std::string_view name, const std::vector<std::string>& devices) {
  const std::string_view stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
  return stem.size() < name.size() &&
         std::any_of(devices.begin(), devices.end(), [&](std::string_view device) {
           return stem == device.substr(0, device.find_last_not_of("0123456789") + 1);
         });
}

/// Names that match no device, in one finding. Where some devices only are known, others of their
/// kind may be there too.
void judge_missing(const JobCase& subject, const readers::JobVariable& variable,
                   const NameList& list, const std::vector<std::string>& devices,
                   JobFindings& out) {
  // A text without devices: those of the design may be another host's.
  const bool are_designed =
      subject.has_some_devices &&
      std::none_of(subject.hosts.begin(), subject.hosts.end(), [](const evidence::Evidence& host) {
        return std::any_of(host.nics.begin(), host.nics.end(), is_named_device);
      });
  if (are_designed) return;
  std::vector<std::string> missing;
  for (const NameList::Entry& entry : list.entries) {
    const bool is_there =
        std::any_of(devices.begin(), devices.end(),
                    [&](const std::string& device) { return list.takes(entry, device); });
    const bool may_be = subject.has_some_devices && is_sister_name(entry.name, devices);
    if (!is_there && !may_be) missing.push_back(entry.name);
  }
  if (missing.empty()) return;
  auto& found = out.add(
      "nccl.hca_unknown",
      fmt::format("{} names {}, which {} not exist (devices: {}).", variable.name,
                  join(missing, ", "), missing.size() == 1 ? "does" : "do", join(devices, ", ")),
      variable.at);
  found.fix = {all_devices(variable.name, devices)};
}

std::size_t count_taken(const NameList& list, const std::vector<std::string>& devices) {
  return static_cast<std::size_t>(
      std::count_if(devices.begin(), devices.end(), [&](const std::string& device) {
        const bool is_named =
            std::any_of(list.entries.begin(), list.entries.end(),
                        [&](const auto& entry) { return list.takes(entry, device); });
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

/// How many rails a host has only the design says, of another host than the job's perhaps.
bool is_only_designed(const JobCase& subject) {
  return subject.has_some_devices && rails_of(subject) > 0;
}

/// Without a design: a bond beside single ports is for storage or the host's own traffic, not a
/// rail.
std::vector<std::string> rails_among(const std::vector<std::string>& devices,
                                     const NameList& list) {
  const auto is_bond_name = [](std::string_view name) {
    return name.find("bond") != std::string_view::npos;
  };
  const bool names_bond =
      std::any_of(list.entries.begin(), list.entries.end(),
                  [&](const NameList::Entry& entry) { return is_bond_name(entry.name); });
  std::vector<std::string> out = devices;
  if (!names_bond) std::erase_if(out, is_bond_name);
  return out;
}

void judge_count(const JobCase& subject, const readers::JobVariable& variable, const NameList& list,
                 const std::vector<std::string>& all, JobFindings& out) {
  const std::vector<std::string> devices = subject.intent == nullptr ? rails_among(all, list) : all;
  const std::size_t rails = rails_of(subject) > 0 ? rails_of(subject) : devices.size();
  if (rails == 0) return;
  const std::size_t taken = devices.empty() ? list.entries.size() : count_taken(list, devices);
  if (taken == 0 || taken >= rails || (devices.empty() && list.excludes)) return;
  auto& found = out.add("nccl.hca_list_short",
                        fmt::format("{}={} uses {} of {} rails: the others stay idle.",
                                    variable.name, variable.value, taken, rails),
                        variable.at);
  if (is_only_designed(subject)) found.severity = finding::Severity::kInfo;
  if (!devices.empty()) found.fix = {all_devices(variable.name, devices)};
}

void judge_opened(const JobCase& subject, JobFindings& out) {
  const std::size_t rails = rails_of(subject);
  for (const readers::NcclProcess& process : subject.job.processes) {
    if (process.devices.empty() || process.devices.size() >= rails) continue;
    auto& found = out.add("nccl.hca_list_short",
                          fmt::format("NCCL opened {} devices; the design has {} rails per host.",
                                      process.devices.size(), rails),
                          process.devices_at);
    if (is_only_designed(subject)) found.severity = finding::Severity::kInfo;
    found.fix = {all_devices("NCCL_IB_HCA", devices_of(subject))};
  }
}

/// An RDMA device over a bond: mlx5 and irdma put "bond" into its name; else the host shows it.
bool is_bond(const JobCase& subject, std::string_view device) {
  if (device.find("bond") != std::string_view::npos) return true;
  for (const evidence::Evidence& host : subject.hosts) {
    const evidence::Nic* nic = host.find_nic(device);
    if (nic == nullptr || !nic->link.layers.is_known()) continue;
    if (std::any_of(nic->link.layers->begin(), nic->link.layers->end(),
                    [](const evidence::Layer& layer) { return layer.kind == "bond"; }))
      return true;
  }
  return false;
}

/// The bonded device that the job uses, and where it says so.
std::optional<std::pair<std::string, readers::Cited>> bond_in_use(const JobCase& subject) {
  for (const readers::NcclProcess& process : subject.job.processes)
    for (const readers::NcclDevice& device : process.devices)
      if (is_bond(subject, device.name)) return std::pair(device.name, process.devices_at);
  const readers::JobVariable* list = subject.job.find("NCCL_IB_HCA");
  if (list == nullptr) return std::nullopt;
  const NameList names = parse_name_list(list->value);
  if (names.excludes) return std::nullopt;
  for (const NameList::Entry& entry : names.entries)
    if (is_bond(subject, entry.name)) return std::pair(entry.name, list->at);
  return std::nullopt;
}

/// One queue pair uses one member of a bond, and NCCL opens one per connection by default.
void judge_bonds(const JobCase& subject, JobFindings& out) {
  const auto bond = bond_in_use(subject);
  if (!bond) return;
  constexpr std::string_view kPairs = "NCCL_IB_QPS_PER_CONNECTION";
  const readers::JobVariable* pairs = subject.job.find(kPairs);
  if (pairs == nullptr && (subject.job.sets(kPairs) || !subject.job.sourced.empty())) return;
  for (const evidence::Evidence& host : subject.hosts) {
    if (pairs != nullptr || !host.host.nccl_conf.is_known()) continue;
    for (const evidence::NamedText& known : *host.host.nccl_conf)
      if (known.name == kPairs && known.value != "1") return;
  }
  if (pairs != nullptr && job_number(pairs->value).value_or(2) != 1) return;
  auto& found =
      out.add("lag.too_few_qps",
              fmt::format("{} is a bond and {} is {}: a connection uses one of its members.",
                          bond->first, kPairs, pairs == nullptr ? "not set (1)" : "1"),
              pairs == nullptr ? bond->second : pairs->at);
  found.confidence = pairs == nullptr ? finding::Confidence::kMedium : finding::Confidence::kHigh;
}

/// Rails meet at the spines, and the design keeps rings on their rail: then a ring that changes
/// rails crosses the spines at every step. 2 (NCCL's default) lets NCCL choose.
void judge_rings(const JobCase& subject, JobFindings& out) {
  if (subject.nccl == nullptr || *subject.nccl->cross_nic || rails_of(subject) < 2) return;
  for (const readers::JobVariable& variable : subject.job.variables) {
    if (variable.name != "NCCL_CROSS_NIC" || variable.value != "1") continue;
    auto& found =
        out.add("rail.rings_cross",
                "NCCL_CROSS_NIC=1 lets rings change rails; in the design a ring stays on its rail "
                "(nccl: { cross_nic: false }).",
                variable.at);
    found.fix = {{"nccl", {"export NCCL_CROSS_NIC=0"}, ""}};
  }
}

void judge_cross_nic(const JobCase& subject, JobFindings& out) {
  if (subject.intent == nullptr || subject.intent->hosts.empty()) return;
  const auto islands = design::islands(*subject.intent);
  const bool is_isolated = std::any_of(
      subject.intent->hosts.begin(), subject.intent->hosts.end(),
      [&](const auto& host) { return design::has_isolated_rails(*subject.intent, host, islands); });
  if (!is_isolated) return judge_rings(subject, out);
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
    const NameList list = parse_name_list(variable.value);
    for (const NameList::Entry& entry : list.entries)
      if (!list.excludes) judge_entry(variable, list, entry, devices, out);
    if (!list.excludes && !devices.empty()) judge_missing(subject, variable, list, devices, out);
    if (!out.has("nccl.hca_unknown")) judge_count(subject, variable, list, devices, out);
    if (devices.empty()) {
      out.unknown("devices of NCCL_IB_HCA", "no host and no design to compare with",
                  "weir job --host EVIDENCE, or --design DESIGN");
    }
  }
  judge_opened(subject, out);
  judge_bonds(subject, out);
  judge_cross_nic(subject, out);
}

}  // namespace weir::diagnose
