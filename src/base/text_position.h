#pragma once
// A place in a text that a person wrote: what every message about it must name.
#include <string>

namespace weir {

struct TextPosition {
  int line = 0;    // from 1; 0 = no particular place (a default, a command-line value)
  int column = 0;  // from 1

  [[nodiscard]] bool is_known() const { return line > 0; }
  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

/// "fabric.yaml:12:7", or the file alone where the place is not known.
[[nodiscard]] inline std::string to_text(const std::string& file, TextPosition at) {
  if (!at.is_known()) return file;
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace weir
