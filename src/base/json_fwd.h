#pragma once
// `Json` as a name, for headers: the library's own header is large.
#include <nlohmann/json_fwd.hpp>

namespace weir {
using Json = nlohmann::ordered_json;
}  // namespace weir
