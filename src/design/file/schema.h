#pragma once
// The format of the design file, for editors (JSON Schema) and for people (a reference in
// Markdown).
#include <string>

#include "base/json_fwd.h"

namespace weir::design {

/// JSON Schema, draft 2020-12.
[[nodiscard]] Json design_schema();

/// docs/design-file.md: every key with its meaning, type and default.
[[nodiscard]] std::string design_reference();

}  // namespace weir::design
