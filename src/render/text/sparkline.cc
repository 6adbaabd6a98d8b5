#include "render/text/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace weir::render {

std::string sparkline(const std::vector<double>& values, std::size_t most) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kAlike = 0.01;
  const std::size_t first = values.size() > most ? values.size() - most : 0;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  if (begin == values.end()) return {};
  const auto [low, high] = std::minmax_element(begin, values.end());
  const double range = *high - *low;
  const bool is_flat = range <= kAlike * std::abs(*high);
  std::string out;
  for (auto at = begin; at != values.end(); ++at) {
    const double share = is_flat ? 0.5 : (*at - *low) / range;
    const auto level = static_cast<std::size_t>(share * (kBlocks.size() - 1) + 0.5);
    out += kBlocks.at(std::min(level, kBlocks.size() - 1));
  }
  return out;
}

}  // namespace weir::render
