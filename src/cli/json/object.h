#pragma once
// What every --json output has in common. For the sources of this room; all others are free of the
// JSON library, which takes seconds to compile.
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json_fwd.h"
#include "cli/frame/command.h"
#include "finding/finding.h"

namespace weir::cli {

/// An object that begins with the verb's schema, "weir/calc-headroom/1", to be filled and printed.
[[nodiscard]] Json json_object(const Command&);

/// The same with the verdict, and the fields that every verb that judges has.
[[nodiscard]] Json judged_object(const Command&, const finding::Judgement&,
                                 std::string_view verdict);

/// Writes the one object of a --json run. REQUIRES: an object whose first key is "schema".
void print_json(Context&, const Json& object);

/// The value, or null.
[[nodiscard]] Json or_null(const std::optional<std::uint64_t>& value);
[[nodiscard]] Json or_null(const std::optional<std::int64_t>& value);
[[nodiscard]] Json or_null(const std::optional<double>& value);

}  // namespace weir::cli
