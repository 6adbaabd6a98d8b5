#pragma once
// Many names in few words: "gpu[01-16]" for sixteen of them.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Names that differ in their last number only become one pattern, runs as ranges: "gpu[01-03,07]";
/// a name without a number is listed as it is; patterns are separated by commas. In the order in
/// which people list names, each name once. design::expand_names() reads it back.
[[nodiscard]] std::string compact_names(std::span<const std::string> names);

/// What compact_names() made short. Text that is no pattern is a name.
[[nodiscard]] std::vector<std::string> expand_compact(std::string_view names);

/// Whether one of expand_compact(names) is `name`.
[[nodiscard]] bool names_include(std::string_view names, std::string_view name);

/// Ports for a reader: compact_names() where that is short, else first, last and how many:
/// "Ethernet0 to Ethernet252 (64 ports)".
[[nodiscard]] std::string ports_text(std::span<const std::string> ports);

}  // namespace weir
