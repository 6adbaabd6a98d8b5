#pragma once
// The names that standards give to DSCP values.
#include <optional>
#include <string_view>

#include "units/qos_code.h"

namespace weir {

/// "AF31" for 26, "CS3" for 24, "EF" for 46, "DF" for 0; empty where a value has no name.
[[nodiscard]] std::string_view dscp_name(Dscp dscp);

/// The value of a name, in capitals or not; also "BE" and "CS0" for the default, 0.
[[nodiscard]] std::optional<Dscp> dscp_named(std::string_view name);

}  // namespace weir
