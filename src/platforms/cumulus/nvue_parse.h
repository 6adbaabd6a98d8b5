#pragma once
// Reading NVUE: `nv set` commands, or the tree of startup.yaml.
#include <string_view>

#include "platforms/common/platform.h"

namespace weir::platforms::nvue {

[[nodiscard]] bool looks_like(std::string_view text);
[[nodiscard]] Result<Parsed> parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms::nvue
