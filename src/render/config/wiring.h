#pragma once
// Every cable of the design: what is plugged into what, and with which cable.
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "platforms/common/platform.h"

namespace weir::render {

/// "csv": one row per cable. "ptm": the graph that ptmd compares with LLDP (topology.dot).
[[nodiscard]] std::vector<std::string_view> wiring_formats();

[[nodiscard]] platforms::ConfigFile wiring_table(const design::Intent& intent,
                                                 std::string_view format);

}  // namespace weir::render
