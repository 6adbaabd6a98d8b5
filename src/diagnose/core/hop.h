#pragma once
// A switch that was read, as the losslessness proof sees it (design/prove/prove.h).
#include <string>

#include "design/prove/prove.h"
#include "evidence/evidence.h"

namespace weir::diagnose {

/// `source` is the file it was read from. Ports stand in the order of the design; of one that was
/// not read nothing is known.
[[nodiscard]] design::Hop hop_of(const evidence::Switch& found, const design::SwitchIntent& wanted,
                                 std::string source);

}  // namespace weir::diagnose
