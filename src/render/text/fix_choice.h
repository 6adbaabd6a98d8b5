#pragma once
// Which of a finding's fixes to show at its place.
#include <span>
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

/// `fixes` of the first of `alike`, with the commands for the other rails of one host: that of the
/// first finding that names a host.
[[nodiscard]] std::vector<finding::Fix> with_other_rails(
    std::vector<finding::Fix> fixes, std::span<const finding::Finding* const> alike);

}  // namespace weir::render
