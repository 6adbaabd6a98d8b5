#include "host/change/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "counters/reading.h"
#include "evidence/settings/row.h"

namespace weir::host {
namespace {

using design::NicIntent;
using evidence::Deviation;
using evidence::Nic;
using evidence::Setting;

/// What no driver shows, so that no rollback can put it back.
std::string_view not_restored(const Change& change, const Nic& found) {
  const bool is_marking =
      std::holds_alternative<SetTrust>(change) || std::holds_alternative<SetDscpMap>(change);
  if (!is_marking || !evidence::may_be_mlx5(found) || !found.qos.dscp_to_priority.is_known())
    return {};
  const auto& map = *found.qos.dscp_to_priority;
  if (std::all_of(map.begin(), map.end(), [](const auto& entry) { return entry.has_value(); }))
    return {};
  // host-interfaces 1.1: each deletion sets the firmware's own map of that code point to 0.
  return "code points without an entry: the firmware's own map of them cannot be read, and is 0 "
         "after a rollback";
}

class NicPlanner {
 public:
  NicPlanner(const Nic& found, const evidence::Host& host, const NicIntent& wanted,
             const design::Intent& intent, HostPlan& plan)
      : found_(found),
        host_(host),
        wanted_(wanted),
        intent_(intent),
        plan_(plan),
        rail_(std::to_string(wanted.rail)) {}

  void plan() {
    const std::vector<Deviation> all = evidence::deviations(found_, wanted_, intent_);
    const bool sets_mtu = std::any_of(all.begin(), all.end(), [](const Deviation& d) {
      return d.setting == Setting::kMtu && !d.missing;
    });
    for (const Deviation& deviation : all) {
      if (deviation.setting == Setting::kActiveMtu && sets_mtu) continue;  // follows from the MTU
      plan(deviation);
    }
  }

 private:
  void leave(const Deviation& deviation, std::string reason, bool is_unread = false) {
    plan_.left.push_back({wanted_.device, rail_, deviation, std::move(reason), is_unread});
  }

  void plan(const Deviation& deviation) {
    const Change& change = deviation.wanted;
    const std::string_view not_changed = evidence::row_of(deviation.setting).not_changed;
    // What the driver cannot do is said as such, whether or not it could be read.
    const std::string_view obstacle =
        not_changed.empty() ? obstacle_to(change, found_) : std::string_view();
    if (!obstacle.empty()) return leave(deviation, std::string(obstacle));
    if (deviation.missing && !is_shown_on_demand(deviation)) {
      return leave(deviation,
                   fmt::format("could not be read ({}), and what is not read is not changed",
                               counters::to_text(*deviation.missing)),
                   true);
    }
    if (!not_changed.empty()) return leave(deviation, std::string(not_changed));
    // The mode is right already, and another agent may still overrule it.
    if (deviation.setting == Setting::kDcbx && found_.qos.dcbx.is(evidence::DcbxMode::kOs))
      return leave(deviation, std::string(other_agent()));
    add(change);
    // Trust in DSCP begins with the driver's own map: write ours after it, whatever was there.
    if (deviation.setting == Setting::kTrust)
      if (const auto map = evidence::wanted_of(Setting::kDscpToPriority, found_, wanted_, intent_))
        add(*map);
  }

  /// RDMA-CM's defaults exist and are shown once their configfs directory is made.
  [[nodiscard]] bool is_shown_on_demand(const Deviation& deviation) const {
    if (deviation.setting != Setting::kCmTos || deviation.missing != evidence::Missing::kAbsent)
      return false;
    return host_.modules.is_known() && std::find(host_.modules->begin(), host_.modules->end(),
                                                 "rdma_cm") != host_.modules->end();
  }

  [[nodiscard]] std::string_view other_agent() const {
    if (found_.qos.firmware_lldp.is(true))
      return "the NIC's own LLDP agent may overrule it: switch it off (ethtool --set-priv-flags "
             "fw-lldp-agent off on Intel, mstconfig LLDP_NB_DCBX_P1=0 on NVIDIA)";
    return "the port is willing to follow the switch: switch that off in lldpad, or DCBX off on "
           "the switch";
  }

  /// Several deviations may have one change: the map's ranges, both halves of ECN.
  void add(const Change& change) {
    const Operation operation{wanted_.device, change};
    const bool is_planned =
        std::any_of(plan_.steps.begin(), plan_.steps.end(),
                    [&](const Step& step) { return step.operation == operation; });
    if (is_planned) return;
    plan_.steps.push_back({.operation = operation,
                           .rail = rail_,
                           .before = as_found(change, found_),
                           .commands = evidence::commands_for(change, found_),
                           .risk = risk_of(change),
                           .not_restored = not_restored(change, found_)});
  }

  const Nic& found_;
  const evidence::Host& host_;
  const NicIntent& wanted_;
  const design::Intent& intent_;
  HostPlan& plan_;
  std::string rail_;
};

/// After the NICs: the stack can grow when what it is on has.
void plan_tuning(const evidence::Evidence& found, const design::HostIntent& wanted,
                 const design::Intent& intent, HostPlan& plan) {
  for (const auto& [device, rail_number, deviation] :
       evidence::tuning_deviations(found, wanted, intent)) {
    const std::string rail = device.empty() ? "all" : std::to_string(rail_number);
    if (deviation.missing) {
      plan.left.push_back(
          {device, rail, deviation,
           fmt::format("could not be read ({})", counters::to_text(*deviation.missing)), true});
      continue;
    }
    const Change& change = deviation.wanted;
    const Nic* const nic = found.find_nic(device);
    plan.steps.push_back({.operation = {device, change},
                          .rail = rail,
                          .before = as_found(change, device, found),
                          .commands = evidence::commands_for(change, nic == nullptr ? Nic() : *nic),
                          .risk = risk_of(change)});
  }
}

}  // namespace

HostPlan plan_host(const evidence::Evidence& found, const design::HostIntent& wanted,
                   const design::Intent& intent) {
  HostPlan plan;
  plan.host = wanted.name;
  for (const NicIntent& nic : wanted.nics) {
    if (const Nic* device = found.find_nic(nic.device)) {
      NicPlanner(*device, found.host, nic, intent, plan).plan();
      continue;
    }
    const Deviation gone{.setting = Setting::kDevice,
                         .wanted = vocab::DevicePresent{nic.device, true},
                         .found = vocab::DevicePresent{nic.device, false},
                         .missing = std::nullopt,
                         .part = std::nullopt};
    plan.left.push_back({nic.device, std::to_string(nic.rail), gone,
                         std::string(evidence::row_of(Setting::kDevice).not_changed), false});
  }
  plan_tuning(found, wanted, intent, plan);
  return plan;
}

}  // namespace weir::host
