#include "host/change/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "counters/reading.h"

namespace weir::host {
namespace {

using design::NicIntent;
using evidence::Deviation;
using evidence::Nic;
using evidence::Setting;

SetDscpMap wanted_map(const NicIntent& wanted) {
  SetDscpMap map;
  std::copy(wanted.dscp_to_priority.begin(), wanted.dscp_to_priority.end(), map.priority.begin());
  return map;
}

SetScheduling wanted_shares(const NicIntent& wanted) {
  const evidence::TcScheduling scheduling = evidence::wanted_scheduling(wanted);
  return {.tsa = scheduling.tsa, .percent = scheduling.percent};
}

/// No ring is longer than the NIC allows.
SetRings wanted_rings(const NicIntent& wanted, const Nic& found) {
  const auto length = static_cast<unsigned>(wanted.ring);
  const auto within = [&](const evidence::Fact<unsigned>& limit) {
    return limit.is_known() ? std::min(length, *limit) : length;
  };
  return {.rx = within(found.rings.rx_max), .tx = within(found.rings.tx_max)};
}

/// ECN that is on for more priorities than the design asks for does no harm and stays.
SetEcn wanted_ecn(const NicIntent& wanted, const Nic& found) {
  const auto with = [](PrioritySet asked, const evidence::Fact<PrioritySet>& now) {
    if (!now.is_known()) return asked;
    return PrioritySet::from_mask(static_cast<std::uint8_t>(asked.mask() | now->mask()));
  };
  return {.np = with(wanted.ecn_np, found.ecn.np), .rp = with(wanted.ecn_rp, found.ecn.rp)};
}

/// The change that mends a deviation; nullopt where the setting is not ours to change.
std::optional<Change> mending(const Deviation& deviation, const NicIntent& wanted, const Nic& found,
                              const design::Intent& intent) {
  switch (deviation.setting) {
    case Setting::kGlobalPause: return SetGlobalPause{wanted.global_pause, wanted.global_pause};
    case Setting::kDcbx: return SetDcbx{evidence::DcbxMode::kOs};
    case Setting::kTrust:
      return SetTrust{wanted.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp
                                                           : evidence::TrustMode::kPcp};
    case Setting::kDscpToPriority: return wanted_map(wanted);
    case Setting::kPriorityToTc: return SetPriorityToTc{wanted.priority_to_tc};
    case Setting::kScheduling: return wanted_shares(wanted);
    case Setting::kMtu: return SetMtu{wanted.mtu};
    case Setting::kRings: return wanted_rings(wanted, found);
    case Setting::kCableLength: return SetCableLength{wanted.cable};
    case Setting::kCmTos: return SetCmTos{wanted.rdma_cm_tos};
    case Setting::kTrafficClass: return SetTrafficClass{wanted.traffic_class};
    case Setting::kCnpMarking: return SetCnpMarking{wanted.cnp_dscp, wanted.cnp_priority};
    case Setting::kKnob: {
      const auto value = intent.dcqcn.find(deviation.item);
      if (value == intent.dcqcn.end()) return std::nullopt;
      return SetKnob{value->first, value->second};
    }
    case Setting::kEcnNp:
    case Setting::kEcnRp: return wanted_ecn(wanted, found);
    case Setting::kPfc: return SetPfc{wanted.pfc};
    case Setting::kStackMtu:
    case Setting::kIrqAffinity:
    case Setting::kSysctl:  // tuning_change() has them
    case Setting::kLinkUp:
    case Setting::kSpeed:
    case Setting::kGidV2:
    case Setting::kTcMaxRate:
    case Setting::kActiveMtu: return std::nullopt;
  }
  WEIR_UNREACHABLE("every setting is handled");
}

/// Why a setting without a change stays as it is.
std::string_view out_of_reach(Setting setting) {
  switch (setting) {
    case Setting::kLinkUp: return "check the cable, the optics and the switch port";
    case Setting::kSpeed: return "check the cable and the speed set on the switch port";
    case Setting::kGidV2: return "give the interface its address; the GID follows";
    case Setting::kTcMaxRate: return "somebody limited this class: mlnx_qos -r takes it off";
    case Setting::kStackMtu:
    case Setting::kIrqAffinity:
    case Setting::kSysctl: return "change it by hand";
    case Setting::kActiveMtu: return "follows from the MTU of both ends once the link is up again";
    case Setting::kGlobalPause:
    case Setting::kDcbx:
    case Setting::kTrust:
    case Setting::kDscpToPriority:
    case Setting::kPriorityToTc:
    case Setting::kScheduling:
    case Setting::kMtu:
    case Setting::kRings:
    case Setting::kCableLength:
    case Setting::kCmTos:
    case Setting::kTrafficClass:
    case Setting::kCnpMarking:
    case Setting::kKnob:
    case Setting::kEcnNp:
    case Setting::kEcnRp:
    case Setting::kPfc: break;
  }
  return "the design names no value for it";
}

/// What no driver shows, so that nobody can put it back.
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
    const bool mends_mtu = std::any_of(all.begin(), all.end(), [](const Deviation& d) {
      return d.setting == Setting::kMtu && !d.missing;
    });
    for (const Deviation& deviation : all) {
      if (deviation.setting == Setting::kActiveMtu && mends_mtu) continue;  // the MTU mends it
      mend(deviation);
    }
  }

 private:
  void leave(const Deviation& deviation, std::string reason, bool is_unread = false) {
    plan_.left.push_back({wanted_.device, rail_, deviation, std::move(reason), is_unread});
  }

  void mend(const Deviation& deviation) {
    const std::optional<Change> change = mending(deviation, wanted_, found_, intent_);
    // What the driver cannot do is said as such, whether or not it could be read.
    const std::string_view obstacle = change ? obstacle_to(*change, found_) : std::string_view();
    if (!obstacle.empty()) return leave(deviation, std::string(obstacle));
    if (deviation.missing && !is_shown_on_demand(deviation)) {
      return leave(deviation,
                   fmt::format("could not be read ({}), and what is not read is not changed",
                               counters::to_text(*deviation.missing)),
                   true);
    }
    if (!change) return leave(deviation, std::string(out_of_reach(deviation.setting)));
    // The system decides already, and still somebody else may: not a matter of the mode.
    if (deviation.setting == Setting::kDcbx && found_.qos.dcbx.is(evidence::DcbxMode::kOs))
      return leave(deviation, std::string(other_agent()));
    add(*change);
    // Trust in DSCP begins with the driver's own map (host-interfaces 1.1): write ours after it,
    // whatever was there.
    const auto* trust = std::get_if<SetTrust>(&*change);
    if (trust != nullptr && trust->trust == evidence::TrustMode::kDscp) add(wanted_map(wanted_));
  }

  /// RDMA-CM's defaults are there as soon as somebody makes configfs show them.
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
                           .commands = commands_for(operation, found_),
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

/// nullopt where it could not be read.
std::optional<Change> tuning_change(const evidence::TuningDeviation& one,
                                    const evidence::Evidence& found,
                                    const design::HostIntent& wanted) {
  const Deviation& deviation = one.deviation;
  if (deviation.missing) return std::nullopt;
  if (deviation.setting == Setting::kSysctl) return SetSysctl{deviation.item, deviation.expected};
  const Nic* const nic = found.find_nic(one.device);
  WEIR_CHECK(nic != nullptr);
  if (deviation.setting == Setting::kIrqAffinity) return SetIrqNodes{{*nic->pcie.numa_node}};
  const auto intent = std::find_if(wanted.nics.begin(), wanted.nics.end(),
                                   [&](const NicIntent& n) { return n.device == one.device; });
  return SetStackMtu{intent->mtu};
}

/// After the NICs: the stack can grow when what it stands on has.
void plan_tuning(const evidence::Evidence& found, const design::HostIntent& wanted,
                 const design::Intent& intent, HostPlan& plan) {
  for (const auto& one : evidence::tuning_deviations(found, wanted, intent)) {
    const std::string rail = one.device.empty() ? "all" : std::to_string(one.rail);
    const std::optional<Change> change = tuning_change(one, found, wanted);
    if (!change) {
      plan.left.push_back(
          {one.device, rail, one.deviation,
           fmt::format("could not be read ({})", counters::to_text(*one.deviation.missing)), true});
      continue;
    }
    const Operation operation{one.device, *change};
    const Nic* const nic = found.find_nic(one.device);
    plan.steps.push_back({.operation = operation,
                          .rail = rail,
                          .before = as_found(*change, one.device, found),
                          .commands = commands_for(operation, nic == nullptr ? Nic() : *nic),
                          .risk = risk_of(*change)});
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
    const Deviation gone{.setting = Setting::kLinkUp,
                         .item = "",
                         .expected = fmt::format("RDMA device {}", nic.device),
                         .found = "no such device",
                         .missing = std::nullopt};
    plan.left.push_back({nic.device, std::to_string(nic.rail), gone,
                         "check that the NIC is there (lspci) and that its driver is loaded",
                         false});
  }
  plan_tuning(found, wanted, intent, plan);
  return plan;
}

}  // namespace weir::host
