// Deviations of one NIC as findings: several deviations of one fault are one finding.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/fixes.h"
#include "diagnose/validate/parts.h"
#include "diagnose/validate/validate.h"
#include "evidence/settings/row.h"
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

/// The DSCPs of RDMA and CNPs make it an error; another wrong one is a warning.
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

/// The NIC computes its headroom from the length: what may be too small is the headroom.
Fault cable_fault(const evidence::Nic& nic, const design::NicIntent& wanted) {
  const auto headroom = receive_headroom(nic, wanted);
  const bool is_enough = *nic.qos.cable_length >= wanted.cable ||
                         (headroom && wanted.xoff_need.raw() > 0 && *headroom >= wanted.xoff_need);
  if (is_enough) return {"config.differs", Severity::kInfo};
  return {"headroom.too_small", Severity::kWarning};
}

Fault fault_of(const Deviation& deviation, const evidence::Nic& nic,
               const design::NicIntent& wanted) {
  const evidence::SettingRow& row = evidence::row_of(deviation.setting);
  // What some settings mean depends on more than that they differ.
  if (deviation.setting == Setting::kGlobalPause && wanted.global_pause) return {"config.differs"};
  if (deviation.setting == Setting::kDcbx) return dcbx_fault(nic);
  if (deviation.setting == Setting::kDscpToPriority) return map_fault(nic, wanted);
  if (deviation.setting == Setting::kPriorityToTc) return class_fault(nic, wanted);
  if (deviation.setting == Setting::kCableLength) return cable_fault(nic, wanted);
  // The kernel's default. NCCL, UCX and perftest without -R set their own byte; without a design
  // (no speed is wanted) nobody said that anything connects by RDMA-CM.
  if (deviation.setting == Setting::kCmTos && wanted.speed.raw() == 0 &&
      nic.rdma.cm_tos->value() == 0)
    return {"dscp.unmarked", Severity::kInfo};
  if (deviation.setting == Setting::kCmTos) return tos_fault(*nic.rdma.cm_tos, wanted);
  if (deviation.setting == Setting::kTrafficClass)
    return tos_fault(*nic.rdma.traffic_class, wanted);
  if (deviation.setting == Setting::kPfc) return pfc_fault(nic, wanted);
  // It has one that is routed, of another address.
  if (deviation.setting == Setting::kGidV2 && usable_gid(nic))
    return {"config.differs", Severity::kWarning};
  const bool shares_priority = nic.ecn.cnp_priority.is(Priority::of(rdma_priority(wanted)));
  if (deviation.setting == Setting::kCnpMarking && shares_priority)
    return {"cnp.shares_rdma_priority"};
  return {row.finding, row.severity};
}

std::string how_to_read(Setting setting, const evidence::Nic& nic) {
  const bool is_in_firmware = setting == Setting::kEcnNp || setting == Setting::kEcnRp;
  if (is_in_firmware && nic.stack.is(evidence::Stack::kInbox)) {
    return "the kernel's own driver does not show it; mlxconfig -d <pci> q ROCE_CC_PRIO_MASK_P1 "
           "has what the next boot sets; as root";
  }
  return std::string(evidence::row_of(setting).how_to_read);
}

std::string reason(Missing why) {
  switch (why) {
    case Missing::kAbsent: return std::string(kNotRead);
    case Missing::kUnsupported: return "not supported by the driver";
    case Missing::kPermission: return "permission denied";
    case Missing::kError: return "read failed";
  }
  WEIR_UNREACHABLE("every reason has a text");
}

/// One finding per fault; settings without a fault of their own get one each.
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

/// Everything a NIC does not support is one finding; usual with Soft-RoCE and virtual functions.
void add_inability(const std::string& place, const finding::Where& where, const evidence::Nic& nic,
                   const Deviation& deviation, NicFindings& out) {
  const bool is_virtual = nic.is_virtual.is(true);
  const bool is_software = evidence::driver_of(nic) == counters::Driver::kRxe;
  finding::Finding& finding =
      finding_of(out, {is_virtual ? "k8s.qos_on_vf" : "platform.cannot"}, deviation.setting, where);
  if (finding.verdict.empty()) {
    finding.verdict = fmt::format("{} ({}{}) has no DCB: traffic classes and PFC cannot be set{}.",
                                  place, nic.netdev.is_known() ? *nic.netdev : nic.device,
                                  is_virtual ? ", a virtual function" : "",
                                  is_software ? "; Soft-RoCE is for tests only" : "");
    if (is_software) finding.severity = Severity::kWarning;
  }
  finding::EvidenceLine line;
  line.source = place;
  line.line = fmt::format("{}: expected {}, found not supported", evidence::subject_of(deviation),
                          evidence::text_of(deviation).expected);
  finding.evidence.push_back(std::move(line));
}

/// None of these settings exists on InfiniBand; a design that wants RoCE on it is wrong.
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
  std::vector<std::vector<evidence::SettingValue>> changes;  // of each finding
  for (const Deviation& deviation : evidence::deviations(nic, wanted, intent)) {
    if (evidence::cannot_be_wrong(deviation, nic)) continue;
    if (deviation.missing == Missing::kUnsupported && is_essential(deviation.setting)) {
      add_inability(place, where, nic, deviation, out);
      continue;
    }
    if (deviation.missing) {
      out.unknown.push_back({fmt::format("{}: {}", place, evidence::subject_of(deviation)),
                             reason(*deviation.missing), how_to_read(deviation.setting, nic)});
      continue;
    }
    const Fault fault = fault_of(deviation, nic, wanted);
    finding::Finding& finding = finding_of(out, fault, deviation.setting, where);
    // A note and an error of one fault are an error.
    finding.severity =
        std::max(finding.severity, fault.severity.value_or(finding::find(fault.id)->severity));
    changes.resize(out.findings.size());
    changes[static_cast<std::size_t>(&finding - out.findings.data())].push_back(deviation.wanted);
    const evidence::DeviationText words = evidence::text_of(deviation);
    const std::string text = fmt::format(
        "{}: expected {}, found {}", evidence::subject_of(deviation), words.expected, words.found);
    if (finding.verdict.empty()) finding.verdict = fmt::format("{} {}.", place, text);
    finding::EvidenceLine line;
    line.source = place;
    line.line = text;
    finding.evidence.push_back(std::move(line));
  }
  changes.resize(out.findings.size());
  for (std::size_t i = 0; i < out.findings.size(); ++i)
    fit_fixes(nic, changes[i], out.findings[i]);
  return out;
}

}  // namespace weir::diagnose
