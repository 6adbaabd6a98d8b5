#pragma once
// JSON as text in one line. Bytes that are not UTF-8 are replaced: a host or a driver may show any,
// JSON may not hold them.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace weir {

[[nodiscard]] std::string json_in_one_line(const Json& value);

/// The same at the end of `out`. Numbers, booleans and plain texts, which are nearly all of a large
/// document, do not go through the library's serializer.
void append_json(const Json& value, std::string& out);
void append_json_text(std::string_view text, std::string& out);

/// As people read it: a member or element per line, two blanks per level. `level` is that of the
/// line it begins in.
void append_json_lines(const Json& value, std::size_t level, std::string& out);

}  // namespace weir
