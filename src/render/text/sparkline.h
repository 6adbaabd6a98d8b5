#pragma once
// A curve in one line of text.
#include <string>
#include <vector>

namespace weir::render {

/// One block character per value, from the least (lowest) to the most (highest); values that are
/// all alike within 1 % are a line at half height. At most `most` values, the last ones.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t most = 24);

}  // namespace weir::render
