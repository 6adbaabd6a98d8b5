#pragma once
// What the user left out, each value with the reference it comes from.
#include "design/file/fabric.h"

namespace weir::design {

/// Fills every setting that was not written. Idempotent.
void fill_defaults(Design& design);

}  // namespace weir::design
