#pragma once
// The JSON type of the project: keys keep the order in which they were written, so that output
// reads as intended and goldens are stable. Include it in .cc files only; headers use json_fwd.h.
#include <nlohmann/json.hpp>

namespace weir {
using Json = nlohmann::ordered_json;
}  // namespace weir
