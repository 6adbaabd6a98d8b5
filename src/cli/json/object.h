#pragma once
// What every --json output has in common. For the sources of this room; all others are free of the
// JSON library, which takes seconds to compile.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/json_fwd.h"
#include "cli/frame/command.h"
#include "finding/finding.h"

namespace weir::cli {

/// An object that begins with the verb's schema, "weir/calc-headroom/1", to be filled and printed.
[[nodiscard]] Json json_object(const Command&);

/// Writes the one object of a --json run. REQUIRES: an object whose first key is "schema".
void print_json(Context&, const Json& object);

/// A list of an object that may be long: its elements are made one after the other, as they are
/// printed. A fabric has thousands of hosts and findings.
struct LongList {
  std::string_view key;
  std::size_t size = 0;
  std::function<Json(std::size_t)> element;
};
/// REQUIRES: in the object the list is there, and empty.
void print_json(Context&, const Json& object, const LongList& list);

/// An object with the verdict and the fields that every verb that judges has.
[[nodiscard]] Json judged_object(const Command&, const finding::Judgement&,
                                 std::string_view verdict);
/// The same without the findings, for the verbs that may have one per NIC of a fabric …
[[nodiscard]] Json judged_heading(const Command&, const finding::Judgement&,
                                  std::string_view verdict);
/// … to be printed with them.
void print_judged(Context&, const Json& heading, const finding::Judgement&);

/// The value, or null.
[[nodiscard]] Json or_null(const std::optional<std::uint64_t>& value);
[[nodiscard]] Json or_null(const std::optional<std::int64_t>& value);
[[nodiscard]] Json or_null(const std::optional<double>& value);

}  // namespace weir::cli
