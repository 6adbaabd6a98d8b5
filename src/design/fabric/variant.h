#pragma once
// A design under other values of some settings, and what follows from them.
#include <span>
#include <string>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"

namespace weir::design {

struct Variant {
  Design design;
  Intent intent;
};

/// Each setting is "path=value". Defaults that depend on them, and the intent, are derived anew.
[[nodiscard]] Result<Variant> with_values(const Design& design,
                                          std::span<const std::string> settings);

}  // namespace weir::design
