#pragma once
// The names and other texts of a design: each becomes a word of scripts, units, environments and
// switch configurations, so each is held to base/untrusted/name_policy.h where the file is read.
#include <vector>

#include "design/file/fabric.h"
#include "design/file/load.h"

namespace weir::design {

/// Of what is written in the file; with the place.
void check_names(const Design& design, std::vector<Diagnostic>& errors);

}  // namespace weir::design
