#pragma once
// A simulated host or fabric as an observer would have written it down. See results.h.
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"

namespace weir::sim {

struct EvidenceSource {
  const design::Intent& intent;
  const Placement& placement;
  const Sim& sim;
  Time end;  // of the observation
};

[[nodiscard]] evidence::Evidence host_evidence(const EvidenceSource& source, std::uint32_t host);
[[nodiscard]] evidence::Evidence switch_evidence(const EvidenceSource& source);

}  // namespace weir::sim
