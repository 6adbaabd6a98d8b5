#pragma once
// What more rights, or a second try, could still find out: the missing facts and
// counters of a piece of evidence as gaps, in words. What a driver does not have is no gap.
#include <vector>

#include "evidence/evidence.h"

namespace weir::evidence {

/// Of permission and error alone, one for each place and reason: facts of a NIC that share a source
/// are one gap. In the order of the evidence.
[[nodiscard]] std::vector<Gap> gaps_of(const Evidence& evidence);

}  // namespace weir::evidence
