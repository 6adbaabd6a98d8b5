#pragma once
// Curves for a terminal, drawn with the dots of Braille characters: two columns and four rows of
// dots in each.
#include <cstddef>
#include <string>

#include "render/report/report.h"

namespace weir::render {

/// The panels below each other, `width` columns wide; names and peaks stand under each. Empty where
/// there is nothing to draw.
[[nodiscard]] std::string draw_braille(const Timeline& timeline, std::size_t width);

}  // namespace weir::render
