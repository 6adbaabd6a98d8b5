#pragma once
// JSON that another program or person wrote: bounded in depth, linear in time, an error with its
// place.
//
// The library's own parser nests without a limit, so that 80,000 brackets end the process when they
// are freed, and it looks through all members of an object before it adds one. This one refuses
// what is deeper than any document of ours and adds without looking.
#include <cstddef>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace weir {

inline constexpr std::size_t kJsonDepth = 64;  // what Weir writes has a dozen levels

/// Errors read "line 3: expected …, found …": kParse, or kInvalid for JSON that is too deep. Of a
/// key that comes twice the last value counts.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

}  // namespace weir
