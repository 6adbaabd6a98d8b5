#pragma once
// The design as it takes effect: every setting, written or not, and for each default its reason.
// What it prints is a design file again, and loads to the same design.
#include <string>

#include "design/file/fabric.h"

namespace weir::design {

[[nodiscard]] std::string effective_text(const Design& design);

/// The same without comments: equal for equal designs, whatever their files are called and wherever
/// a value comes from.
[[nodiscard]] std::string effective_values(const Design& design);

}  // namespace weir::design
