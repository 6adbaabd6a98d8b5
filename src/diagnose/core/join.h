#pragma once
// Pieces of evidence put together: snapshots of the same host, taken one after the other, are one
// case with a window.
#include <vector>

#include "evidence/evidence.h"

namespace weir::diagnose {

/// One evidence per host (and one for what belongs to no host), in the order in which they first
/// come; facts of the latest, snapshots of all in the order of their clocks.
[[nodiscard]] std::vector<evidence::Evidence> join_windows(std::vector<evidence::Evidence> pieces);

}  // namespace weir::diagnose
