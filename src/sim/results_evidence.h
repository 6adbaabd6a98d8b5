#pragma once
// A simulated host or fabric as an observer would have written it down. See results.h.
#include "design/intent.h"
#include "evidence/evidence.h"
#include "sim/placement.h"
#include "sim/sim.h"

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
