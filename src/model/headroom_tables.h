#pragma once
// The published numbers behind model/headroom.h: the list of models and the vendors' rows. Internal
// to the headroom calculator; use headroom_models() and headroom_rows().
#include <span>

#include "model/headroom.h"

namespace weir::model::tables {

[[nodiscard]] std::span<const HeadroomModelInfo> models();
[[nodiscard]] std::span<const HeadroomRow> rows(HeadroomModel);
[[nodiscard]] std::span<const HeadroomRow> folklore();

}  // namespace weir::model::tables
