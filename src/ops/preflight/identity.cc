// Which fabric a preflight is of, and how its NICs are set: what two runs are compared by.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "evidence/deviation.h"
#include "ops/preflight/bench.h"
#include "units/format.h"
#include "vocab/switch_systems.h"

namespace weir::ops {
namespace {

/// QoS and MTU: what a baseline remembers of the settings.
constexpr vocab::Setting kRemembered[] = {
    vocab::Setting::kGlobalPause,  vocab::Setting::kDcbx,
    vocab::Setting::kTrust,        vocab::Setting::kDscpToPriority,
    vocab::Setting::kPriorityToTc, vocab::Setting::kScheduling,
    vocab::Setting::kMtu,          vocab::Setting::kActiveMtu,
    vocab::Setting::kCmTos,        vocab::Setting::kTrafficClass,
    vocab::Setting::kCnpMarking,   vocab::Setting::kEcnNp,
    vocab::Setting::kEcnRp,        vocab::Setting::kPfc};

void add_name(std::vector<std::string>& list, std::string name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(std::move(name));
}

void add_facts(const evidence::Evidence& host, preflight::Identity& out) {
  if (host.host.kernel.is_known()) add_name(out.kernels, *host.host.kernel);
  for (const evidence::Nic& nic : host.nics) {
    if (nic.firmware.is_known()) add_name(out.firmwares, *nic.firmware);
    if (!nic.driver.is_known()) continue;
    add_name(out.drivers, nic.driver_version.is_known()
                              ? fmt::format("{} {}", *nic.driver, *nic.driver_version)
                              : *nic.driver);
  }
}

/// As the switches show it; a system that no switch showed is the design's.
void add_switches(const Bench& bench, const Observation& seen, preflight::Identity& out) {
  for (const design::SwitchIntent& wanted : bench.intent().switches) {
    std::string text(vocab::kSwitchSystems.at(static_cast<std::size_t>(wanted.system)).name);
    if (seen.switches)
      for (const evidence::Switch& device : seen.switches->switches)
        if (device.name == wanted.name && device.version.is_known()) text += " " + *device.version;
    add_name(out.switches, std::move(text));
  }
}

void add_settings(const evidence::Nic& nic, const design::NicIntent& wanted,
                  const design::Intent& intent,
                  std::map<vocab::Setting, std::vector<std::string>>& out) {
  for (const vocab::Setting setting : kRemembered) {
    const auto like = evidence::wanted_of(setting, nic, wanted, intent);
    if (!like) continue;
    if (const auto found = evidence::as_found(*like, nic))
      add_name(out[setting], evidence::value_text(*found));
  }
}

/// "pair_floor=90%", of those that are not the default.
std::vector<std::string> changed_thresholds(const finding::Thresholds& thresholds) {
  std::vector<std::string> out;
  for (const finding::ThresholdInfo& info : finding::threshold_table()) {
    std::string value = finding::value_text(info, thresholds);
    if (value != finding::value_text(info, {}))
      out.push_back(fmt::format("{}={}", info.name, std::move(value)));
  }
  return out;
}

/// Loads of a lab are its own: neither perftest nor a collective of the user runs there.
void add_asked(const PreflightRequest& request, preflight::Identity& out) {
  out.perftest = out.is_simulated ? std::string() : join(request.perftest, " ");
  out.collective = out.is_simulated ? std::string() : request.collective;
  out.thresholds = changed_thresholds(request.thresholds);
}

}  // namespace

preflight::Identity identity_of(const Bench& bench, const Observation& seen) {
  preflight::Identity out;
  out.design = bench.design().name.value();
  Digest digest;
  digest.add(design::effective_text(bench.design()));
  out.digest = digest.to_text();
  out.is_simulated = bench.is_lab();
  out.is_quick = bench.request().is_quick;
  add_asked(bench.request(), out);
  out.hosts = seen.hosts.size();
  for (const evidence::Evidence& host : seen.hosts)
    add_facts(host, out);
  for (const design::HostIntent& host : bench.intent().hosts)
    for (const design::NicIntent& nic : host.nics) {
      add_name(out.speeds, to_text(nic.speed));
      add_name(out.mtus, fmt::format("{}, RDMA {}", to_text(nic.mtu), to_text(nic.rdma_mtu)));
    }
  add_switches(bench, seen, out);
  for (std::vector<std::string>* list :
       {&out.drivers, &out.firmwares, &out.kernels, &out.speeds, &out.mtus, &out.switches})
    std::sort(list->begin(), list->end());
  return out;
}

std::vector<preflight::SettingFact> settings_of(const Bench& bench, const Observation& seen) {
  std::map<vocab::Setting, std::vector<std::string>> found;
  for (const evidence::Evidence& host : seen.hosts) {
    const design::HostIntent* const wanted = find_host(bench.intent(), host.provenance.host);
    if (wanted == nullptr) continue;
    for (const design::NicIntent& nic : wanted->nics)
      if (const evidence::Nic* const there = host.find_nic(nic.device))
        add_settings(*there, nic, bench.intent(), found);
  }
  std::vector<preflight::SettingFact> out;
  for (auto& [setting, values] : found) {
    std::sort(values.begin(), values.end());
    out.push_back({std::string(vocab::to_text(setting)), std::move(values)});
  }
  return out;
}

}  // namespace weir::ops
