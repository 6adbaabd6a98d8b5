#pragma once
// Which of a finding's fixes to show at its place.
#include <string>
#include <vector>

#include "finding/finding.h"

namespace weir::render {

struct ShownFixes {
  std::vector<finding::Fix> fixes;
  std::vector<std::string> others;  // platforms that `weir explain` has besides
};

/// Fixes of the finding itself are all shown; of the catalogue's those that belong to the place
/// (design, host or switch), or all where the place tells nothing.
[[nodiscard]] ShownFixes fixes_for(const finding::Finding& finding);

}  // namespace weir::render
