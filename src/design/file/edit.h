#pragma once
// Values put into a design file, everything else of it left as its owner wrote it: comments, order,
// blank lines.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::design {

struct ValueEdit {
  std::string path;     // "wred.min": a section and a key of it
  std::string value;    // as the file writes it
  std::string comment;  // goes on a line of its own above; empty: none
};

/// The text with those values. A key that is there gets the new value, another is added to its
/// section, a section that is not there comes at the end. Nothing else is changed. The error names
/// the place that has a form which is not edited (a section that is no mapping, a value over
/// several lines). REQUIRES: `text` is a design that loads.
[[nodiscard]] Result<std::string> edited(std::string_view text,
                                         const std::vector<ValueEdit>& edits);

/// The edits as lines to type, by section.
[[nodiscard]] std::string lines_of(const std::vector<ValueEdit>& edits);

}  // namespace weir::design
