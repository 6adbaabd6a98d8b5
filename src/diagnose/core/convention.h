#pragma once
// What a NIC should be where no design says it: the usual convention of RoCEv2 fabrics.
#include <span>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "units/qos_code.h"

namespace weir::diagnose {

/// RDMA on DSCP 26 and priority 3, PFC on that priority alone, trust dscp, ECN on both sides, CNPs
/// on DSCP 48 and priority 6: what every vendor's RoCE guide ends in.
struct Convention {
  Dscp dscp = Dscp::of(26);
  Priority priority = Priority::of(3);
  Dscp cnp_dscp = Dscp::of(48);
  Priority cnp_priority = Priority::of(6);
};

/// Asks for nothing that is a matter of the site: speed, MTU, rings, cables, addresses, shares and
/// DCQCN values stay open. Every other code point is best effort, or where vendors put it.
[[nodiscard]] design::NicIntent conventional_nic(const evidence::Nic& nic,
                                                 const Convention& convention = {});

/// The hosts of the evidence with all their RDMA NICs; no switches and no links.
[[nodiscard]] design::Intent conventional_intent(std::span<const evidence::Evidence> evidence,
                                                 const Convention& convention = {});

/// A code point that NICs map to this priority, where nobody says which one RDMA uses: the usual
/// one, one that an operator moved there, or that of the octet (34 for 4, as 26 for 3). The usual
/// one where no map was read or none leads there.
[[nodiscard]] Dscp code_point_for(Priority priority, std::span<const evidence::Evidence> evidence);

/// A NIC maps this code point to this priority.
[[nodiscard]] bool is_mapped_to(std::span<const evidence::Evidence> evidence, Dscp dscp,
                                Priority priority);

}  // namespace weir::diagnose
