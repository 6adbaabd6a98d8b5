#pragma once
// JSON with the line of every value: for documents that people write and tools must complain about.
//
// The project's Json type forgets where a value stood. A switch's configuration is read with this
// instead, so that an audit can say "leaf1.json:212". Members keep their order; a key that comes
// twice is kept twice, because what a loader makes of it is the reader's to say.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir {

struct JsonNode {
  enum class Kind { kNull, kBoolean, kNumber, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  int line = 0;                   // from 1: where the value begins; for a member, where its key is
  std::string key;                // of a member of an object
  std::string text;               // of a text, and of a number or boolean as it was written
  std::vector<JsonNode> items;    // of an array
  std::vector<JsonNode> members;  // of an object, in order

  [[nodiscard]] bool is_object() const { return kind == Kind::kObject; }
  [[nodiscard]] bool is_array() const { return kind == Kind::kArray; }
  /// A text, a number or a boolean: what has a `text`.
  [[nodiscard]] bool is_scalar() const {
    return kind == Kind::kText || kind == Kind::kNumber || kind == Kind::kBoolean;
  }
  /// The last member of that name, as JSON readers take it; nullptr where there is none.
  [[nodiscard]] const JsonNode* find(std::string_view name) const;
  /// "an object", "a text" …: for messages.
  [[nodiscard]] std::string_view what() const;
};

/// Errors read "FILE:LINE: expected …, found …". Nesting deeper than 64 is refused.
[[nodiscard]] Result<JsonNode> parse_json_lines(std::string_view text, std::string_view file);

}  // namespace weir
