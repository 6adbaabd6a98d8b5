#pragma once
// A design and its flows as files of the HPCC simulator: what that simulator can show of them. The
// same files run in its semantics here (parse_hpcc) and in ns-3 itself.
//
// It knows one NIC per host, one link between two nodes, one priority group, one size of buffer,
// and its own buffer thresholds. So every NIC is a host; a switch with several links to each of the
// switches below it becomes as many switches (planes); all other classes are left out.
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/variant.h"
#include "sim/peer/hpcc.h"
#include "sim/workload/flow.h"

namespace weir::sim {

/// `flows` are those of a run of this design, in any order. The error says what the peer cannot
/// show. REQUIRES: at least one flow.
[[nodiscard]] Result<HpccFiles> hpcc_files_of(const design::Variant& fabric,
                                              const std::vector<Flow>& flows, Duration stop);

}  // namespace weir::sim
