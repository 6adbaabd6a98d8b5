#pragma once
// Chakra traces of all ranks as one graph.
//
// What the n-th collective of a group is, its members agree on by its place in their own order; a
// send and a receive belong together by sender, receiver, tag and place. A GPU computes one node at
// a time, in the order of the trace as far as its dependencies allow it.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/workload/collective.h"
#include "sim/workload/workload_spec.h"

namespace weir::sim {

/// The error names the file, the node and what does not fit. `notes`: what is not simulated.
[[nodiscard]] Result<Program> chakra_program(const WorkloadSpec& spec,
                                             const std::vector<std::uint32_t>& host,
                                             std::vector<std::string>& notes);

}  // namespace weir::sim
