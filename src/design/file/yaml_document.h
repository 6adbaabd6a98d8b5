#pragma once
// YAML text as a small tree in which every node knows its line and column.
//
// Built on libyaml's events (docs/decisions/0002). What a design file does not need is refused with
// a clear message rather than half supported: anchors and aliases (a file that means more than it
// shows), tags, several documents, keys that are not plain words. Duplicate keys are errors. Depth
// and size are bounded, so that no file can exhaust the machine.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_position.h"

namespace weir::design {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };
  Kind kind = Kind::kScalar;
  TextPosition at;
  std::string scalar;              // kScalar
  bool quoted = false;             // kScalar: "3" is text even where 3 is a number
  std::vector<YamlNode> items;     // kSequence
  std::vector<YamlEntry> entries;  // kMapping, in the order written, keys unique

  /// A scalar with no text: `key:` and nothing behind it.
  [[nodiscard]] bool is_empty() const {
    return kind == Kind::kScalar && !quoted &&
           (scalar.empty() || scalar == "~" || scalar == "null");
  }
};

struct YamlEntry {
  std::string key;
  TextPosition at;
  YamlNode value;
};

/// A message about a place in the file.
struct Diagnostic {
  TextPosition at;
  std::string message;
};

struct YamlDocument {
  YamlNode root;                   // an empty mapping when nothing could be read
  std::vector<Diagnostic> errors;  // empty = the text is good YAML
};

/// "a mapping", "a list", "the text 'x'", "nothing": for messages that say what was found.
[[nodiscard]] std::string describe_kind(const YamlNode&);

[[nodiscard]] YamlDocument parse_yaml(std::string_view text);

}  // namespace weir::design
