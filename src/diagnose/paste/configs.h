#pragma once
// Pieces of switch configurations in a pasted text → evidence. A piece shows a part: what it states
// is taken, what the system would default to is not.
#include <vector>

#include "evidence/evidence.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

/// One per piece that a platform's parser understands and that states something.
[[nodiscard]] std::vector<evidence::Evidence> pasted_configs(const readers::Paste& paste);

}  // namespace weir::diagnose
