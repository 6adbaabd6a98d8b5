#pragma once
// Show outputs of systems that print tables, or JSON with `| json`. Apart from switch_show.h
// because of what JSON costs to compile.
#include <string_view>

#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "readers/switches/switch_show.h"

namespace weir::readers {

/// `reader` has read(Line) for the lines, read_json(Json) for what begins with the first brace
/// where that is a document, and finish().
template <class Reader>
Recognised read_show(std::string_view text, Reader reader) {
  const std::size_t brace = text.find('{');
  Json document;
  if (brace != std::string_view::npos)
    if (auto parsed = parse_json(text.substr(brace))) document = std::move(*parsed);
  for (const Line& line : lines_of(document.is_object() ? text.substr(0, brace) : text))
    reader.read(line);
  if (document.is_object()) reader.read_json(document);
  return std::move(reader).finish();
}

}  // namespace weir::readers
