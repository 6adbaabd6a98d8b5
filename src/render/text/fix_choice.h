#pragma once
// Which of a finding's fixes to show at its place.
#include <string>
#include <vector>

#include "finding/finding.h"

namespace weir::render {

struct ShownFixes {
  std::vector<finding::Fix> fixes;
  std::vector<std::string> others;  // further platforms in `weir explain`
};

/// All fixes of the finding itself; of the catalogue's fixes those for the place (design, host or
/// switch), or all where the place does not decide.
[[nodiscard]] ShownFixes fixes_for(const finding::Finding& finding);

}  // namespace weir::render
