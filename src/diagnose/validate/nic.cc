// Deviations of one NIC as findings: several deviations of one fault are one finding.
#include <algorithm>

#include <fmt/format.h>

#include "design/tables/nic_knobs.h"
#include "diagnose/core/fixes.h"
#include "diagnose/validate/parts.h"
#include "evidence/deviation.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using evidence::Deviation;
using evidence::Setting;
using finding::Severity;

struct Fault {
  std::string_view id;
  std::optional<Severity> severity = {};  // the catalogue's where empty
};

unsigned rdma_priority(const design::NicIntent& wanted) {
  return wanted.dscp_to_priority.at(dscp_of(wanted.traffic_class).value()).value();
}

/// Code points of RDMA and of CNPs decide; a wrong one beside them is untidy.
Fault map_fault(const evidence::Nic& nic, const design::NicIntent& wanted) {
  const auto is_right = [&](Dscp dscp) {
    const auto found = nic.qos.dscp_to_priority->at(dscp.value());
    return found && *found == wanted.dscp_to_priority.at(dscp.value());
  };
  const bool matters = !is_right(dscp_of(wanted.traffic_class)) || !is_right(wanted.cnp_dscp);
  return {"dscp.nic_map_wrong", matters ? Severity::kError : Severity::kWarning};
}

Fault pfc_fault(const evidence::Nic& nic, const design::NicIntent& wanted) {
  const PrioritySet found = *nic.qos.pfc;
  const Priority rdma = Priority::of(rdma_priority(wanted));
  if (wanted.pfc.contains(rdma) && found.count() == 0) return {"pfc.off"};
  if (wanted.pfc.contains(rdma) && !found.contains(rdma)) return {"pfc.wrong_priority"};
  const bool has_more = (found.mask() & static_cast<unsigned>(~wanted.pfc.mask() & 0xFF)) != 0;
  return {has_more ? "pfc.multiple_priorities" : "config.differs"};
}

Fault tos_fault(std::optional<TosByte> found, const design::NicIntent& wanted) {
  const bool is_dscp = found && found->value() == dscp_of(wanted.traffic_class).value();
  return {is_dscp ? "dscp.tos_confusion" : "dscp.unmarked"};
}

Fault dcbx_fault(const evidence::Nic& nic) {
  const bool has_agent =
      nic.qos.dcbx.is(evidence::DcbxMode::kFirmware) || nic.qos.firmware_lldp.is(true);
  return {has_agent ? "dcbx.two_agents" : "dcbx.willing"};
}

Fault class_fault(const evidence::Nic& nic, const design::NicIntent& wanted) {
  const auto& map = *nic.qos.priority_to_tc;
  const unsigned rdma = rdma_priority(wanted);
  for (unsigned p = 0; p < 8; ++p) {
    if (p == rdma || wanted.priority_to_tc.at(p) == wanted.priority_to_tc.at(rdma)) continue;
    if (map.at(p) == map.at(rdma)) return {"class.shared_queue"};
  }
  return {"config.differs", Severity::kWarning};
}

Fault fault_of(const Deviation& deviation, const evidence::Nic& nic,
               const design::NicIntent& wanted) {
  switch (deviation.setting) {
    case Setting::kLinkUp:
    case Setting::kSpeed: return {"link.degraded"};
    case Setting::kGidV2: return {"gid.not_routable"};
    case Setting::kGlobalPause: return {wanted.global_pause ? "config.differs" : "pause.global_on"};
    case Setting::kDcbx: return dcbx_fault(nic);
    case Setting::kTrust: return {"trust.not_dscp"};
    case Setting::kDscpToPriority: return map_fault(nic, wanted);
    case Setting::kPriorityToTc: return class_fault(nic, wanted);
    case Setting::kScheduling: return {"config.differs", Severity::kWarning};
    case Setting::kTcMaxRate: return {"shaper.on_rdma_path"};
    case Setting::kMtu:
    case Setting::kActiveMtu: return {"mtu.mismatch"};
    case Setting::kStackMtu:
    case Setting::kIrqAffinity:
    case Setting::kSysctl:
    case Setting::kRings: return {"host.tcp_untuned"};
    case Setting::kCableLength:
      return {"headroom.too_small",
              *nic.qos.cable_length < wanted.cable ? Severity::kWarning : Severity::kInfo};
    case Setting::kCmTos: return tos_fault(*nic.rdma.cm_tos, wanted);
    case Setting::kTrafficClass: return tos_fault(*nic.rdma.traffic_class, wanted);
    case Setting::kCnpMarking:
      return {nic.ecn.cnp_priority.is(Priority::of(rdma_priority(wanted)))
                  ? "cnp.shares_rdma_priority"
                  : "config.differs"};
    case Setting::kKnob: return {"config.differs", Severity::kWarning};
    case Setting::kEcnNp: return {"np.disabled"};
    case Setting::kEcnRp: return {"rp.disabled"};
    case Setting::kPfc: return pfc_fault(nic, wanted);
  }
  WEIR_UNREACHABLE("every setting has a fault");
}

std::string subject(const Deviation& deviation) {
  const std::string setting(evidence::to_text(deviation.setting));
  return deviation.item.empty() ? setting : fmt::format("{} {}", setting, deviation.item);
}

std::string how_to_read(Setting setting, const evidence::Nic& nic) {
  const bool is_in_firmware = setting == Setting::kEcnNp || setting == Setting::kEcnRp;
  if (is_in_firmware && nic.stack.is(evidence::Stack::kInbox)) {
    return "the kernel's own driver does not show it; mlxconfig -d <pci> q ROCE_CC_PRIO_MASK_P1 "
           "has what the next boot sets; as root";
  }
  switch (setting) {
    case Setting::kTrust:
    case Setting::kDscpToPriority:
    case Setting::kPriorityToTc:
    case Setting::kScheduling:
    case Setting::kTcMaxRate:
    case Setting::kDcbx:
    case Setting::kPfc:
    case Setting::kCableLength: return "mlnx_qos -i <netdev>, or dcb -j … show; as root";
    case Setting::kCnpMarking:
    case Setting::kKnob:
    case Setting::kEcnNp:
    case Setting::kEcnRp:
      return "/sys/class/net/<netdev>/ecn (vendor driver) or debugfs cc_params; as root";
    case Setting::kTrafficClass:
    case Setting::kCmTos: return "/sys/class/infiniband/<device>/tc and configfs; as root";
    case Setting::kIrqAffinity:
    case Setting::kSysctl: return "/proc/irq, sysctl -a";
    case Setting::kRings:
    case Setting::kGlobalPause: return "ethtool -g <netdev>, ethtool -a <netdev>";
    case Setting::kLinkUp:
    case Setting::kSpeed:
    case Setting::kStackMtu:
    case Setting::kMtu: return "ip link show <netdev>, ethtool <netdev>";
    case Setting::kGidV2:
    case Setting::kActiveMtu: return "rdma link show; /sys/class/infiniband/<device>/ports/1/gids";
  }
  WEIR_UNREACHABLE("every setting has a way to be read");
}

std::string reason(Missing why) {
  switch (why) {
    case Missing::kAbsent: return "was not read, or is not there";
    case Missing::kUnsupported: return "the driver has no such setting";
    case Missing::kPermission: return "may not be read by this user";
    case Missing::kError: return "reading it failed";
  }
  WEIR_UNREACHABLE("every reason has a text");
}

/// One finding a fault; settings that have no fault of their own are apart from each other.
finding::Finding& finding_of(NicFindings& out, const Fault& fault, Setting setting,
                             const finding::Where& where) {
  for (std::size_t i = 0; i < out.findings.size(); ++i) {
    const bool is_same = fault.id != "config.differs" || out.first_setting[i] == setting;
    if (out.findings[i].id == fault.id && is_same) return out.findings[i];
  }
  out.first_setting.push_back(setting);
  out.findings.push_back(finding::make_finding(fault.id, "", where));
  if (fault.severity) out.findings.back().severity = *fault.severity;
  return out.findings.back();
}

/// Without these there is no lossless class: a driver that lacks them fails the design.
bool is_essential(Setting setting) {
  return setting == Setting::kTrust || setting == Setting::kDscpToPriority ||
         setting == Setting::kPriorityToTc || setting == Setting::kScheduling ||
         setting == Setting::kPfc;
}

/// All that a NIC cannot do is one finding; Soft-RoCE and virtual functions are known for it.
void add_inability(const std::string& place, const finding::Where& where, const evidence::Nic& nic,
                   const Deviation& deviation, NicFindings& out) {
  const bool is_virtual = nic.is_virtual.is(true);
  const bool is_software = evidence::driver_of(nic) == counters::Driver::kRxe;
  finding::Finding& finding =
      finding_of(out, {is_virtual ? "k8s.qos_on_vf" : "platform.cannot"}, deviation.setting, where);
  if (finding.verdict.empty()) {
    finding.verdict = fmt::format(
        "{} cannot do what is asked: {} {} no DCB, so nothing sets its classes and PFC{}.", place,
        nic.netdev.is_known() ? *nic.netdev : nic.device,
        is_virtual ? "is a virtual function with" : "has",
        is_software ? "; Soft-RoCE is for tests" : "");
    if (is_software) finding.severity = Severity::kWarning;
  }
  finding::EvidenceLine line;
  line.source = place;
  line.line =
      fmt::format("{}: expected {}, found no such setting", subject(deviation), deviation.expected);
  finding.evidence.push_back(std::move(line));
}

/// Nothing of this project's settings exists there; a design that wants RoCE on it is wrong.
void add_infiniband(const std::string& place, const finding::Where& where,
                    const design::NicIntent& wanted, NicFindings& out) {
  const bool has_design = wanted.speed.raw() > 0;
  finding::Finding finding = finding::make_finding(
      "link.infiniband",
      fmt::format("{} is InfiniBand{}: PFC, ECN and DSCP do not apply; credits make it lossless. "
                  "What applies: service levels and virtual lanes of the subnet manager, adaptive "
                  "routing, SHARP.",
                  place, has_design ? ", expected Ethernet" : ""),
      where);
  finding.severity = has_design ? Severity::kError : Severity::kInfo;
  out.first_setting.push_back(Setting::kLinkUp);
  out.findings.push_back(std::move(finding));
}

}  // namespace

NicFindings validate_nic(const std::string& host, const evidence::Nic& nic,
                         const design::NicIntent& wanted, const design::Intent& intent) {
  NicFindings out;
  finding::Where where;
  where.host = host;
  where.rail = std::to_string(wanted.rail);
  where.device = nic.device;
  const std::string place = fmt::format("{} {}", host, nic.device);
  if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) {
    add_infiniband(place, where, wanted, out);
    return out;
  }
  for (const Deviation& deviation : evidence::deviations(nic, wanted, intent)) {
    if (evidence::cannot_be_wrong(deviation, nic)) continue;
    if (deviation.missing == Missing::kUnsupported && is_essential(deviation.setting)) {
      add_inability(place, where, nic, deviation, out);
      continue;
    }
    if (deviation.missing) {
      out.unknown.push_back({fmt::format("{}: {}", place, subject(deviation)),
                             reason(*deviation.missing), how_to_read(deviation.setting, nic)});
      continue;
    }
    const Fault fault = fault_of(deviation, nic, wanted);
    finding::Finding& finding = finding_of(out, fault, deviation.setting, where);
    const std::string text = fmt::format("{}: expected {}, found {}", subject(deviation),
                                         deviation.expected, deviation.found);
    if (finding.verdict.empty()) finding.verdict = fmt::format("{} {}.", place, text);
    finding::EvidenceLine line;
    line.source = place;
    line.line = text;
    finding.evidence.push_back(std::move(line));
  }
  for (finding::Finding& finding : out.findings)
    fit_fixes(&nic, finding);
  return out;
}

}  // namespace weir::diagnose
