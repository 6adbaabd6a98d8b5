#pragma once
// Texts of one switch that were taken at about the same moment, put together.
#include <vector>

#include "evidence/evidence.h"

namespace weir::readers {

/// Pieces of pasted text that speak of the same switches and count nothing twice become one: the
/// output of several commands is one look. A piece that counts something again stays apart: it is a
/// later moment. Other evidence is left as it is.
[[nodiscard]] std::vector<evidence::Evidence> merge_texts(std::vector<evidence::Evidence> pieces);

}  // namespace weir::readers
