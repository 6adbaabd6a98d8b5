#include "diagnose/core/convention.h"

namespace weir::diagnose {

design::NicIntent conventional_nic(const evidence::Nic& nic, const Convention& convention) {
  design::NicIntent out;
  out.device = nic.device;
  if (nic.netdev.is_known()) out.netdev = *nic.netdev;
  if (nic.rail.is_known()) out.rail = static_cast<int>(*nic.rail);
  out.trust = design::Trust::kDscp;
  out.dscp_to_priority.at(convention.dscp.value()) = convention.priority;
  out.dscp_to_priority.at(convention.cnp_dscp.value()) = convention.cnp_priority;
  out.pfc.insert(convention.priority);
  out.ecn_np = out.pfc;
  out.ecn_rp = out.pfc;
  out.cnp_dscp = convention.cnp_dscp;
  out.cnp_priority = convention.cnp_priority;
  out.traffic_class = tos_byte(convention.dscp, Ecn::kEct0);
  out.rdma_cm_tos = out.traffic_class;
  return out;
}

design::Intent conventional_intent(std::span<const evidence::Evidence> evidence,
                                   const Convention& convention) {
  design::Intent intent;
  for (const evidence::Evidence& piece : evidence) {
    if (piece.nics.empty()) continue;
    design::HostIntent host;
    host.name = piece.provenance.host;
    for (const evidence::Nic& nic : piece.nics)
      host.nics.push_back(conventional_nic(nic, convention));
    intent.nic_count += host.nics.size();
    intent.hosts.push_back(std::move(host));
  }
  return intent;
}

bool is_mapped_to(std::span<const evidence::Evidence> evidence, Dscp dscp, Priority priority) {
  for (const evidence::Evidence& host : evidence) {
    for (const evidence::Nic& nic : host.nics) {
      if (!nic.qos.dscp_to_priority.is_known()) continue;
      const auto& to = nic.qos.dscp_to_priority->at(dscp.value());
      if (to && *to == priority) return true;
    }
  }
  return false;
}

Dscp code_point_for(Priority priority, std::span<const evidence::Evidence> evidence) {
  const Dscp usual = Convention().dscp;
  if (is_mapped_to(evidence, usual, priority)) return usual;
  for (unsigned dscp = 0; dscp < Dscp::kLimit; ++dscp)
    if (dscp / 8 != priority.value() && is_mapped_to(evidence, Dscp::of(dscp), priority))
      return Dscp::of(dscp);
  const Dscp of_octet = Dscp::of(priority.value() * 8 + 2);
  return is_mapped_to(evidence, of_octet, priority) ? of_octet : usual;
}

}  // namespace weir::diagnose
