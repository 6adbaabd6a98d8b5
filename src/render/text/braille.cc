#include "render/text/braille.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "render/report/lane_chart.h"
#include "render/report/svg_chart.h"

namespace weir::render {
namespace {

constexpr std::size_t kRows = 5;      // characters: 20 dots
constexpr std::size_t kMargin = 8;    // columns of the scale
constexpr std::size_t kDotsDown = 4;  // in a character
constexpr std::size_t kDotsAcross = 2;

/// Dots of U+2800…, by row and column: the order is that of the standard, not of a raster.
constexpr std::array<std::array<unsigned char, kDotsAcross>, kDotsDown> kDots = {
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

class Raster {
 public:
  explicit Raster(std::size_t columns) : columns_(columns), cells_(columns * kRows, 0) {}

  [[nodiscard]] std::size_t width() const { return columns_ * kDotsAcross; }
  [[nodiscard]] static std::size_t height() { return kRows * kDotsDown; }

  /// Dots from one height to another in a column of dots; 0 is the bottom.
  void stroke(std::size_t x, std::size_t from, std::size_t to) {
    for (std::size_t y = std::min(from, to); y <= std::max(from, to); ++y) {
      const std::size_t down = height() - 1 - std::min(y, height() - 1);
      cells_[down / kDotsDown * columns_ + x / kDotsAcross] |=
          kDots.at(down % kDotsDown).at(x % kDotsAcross);
    }
  }

  [[nodiscard]] std::string row(std::size_t row) const {
    std::string text;
    for (std::size_t c = 0; c < columns_; ++c) {
      const unsigned cell = cells_[row * columns_ + c];
      // U+2800 + dots, in UTF-8.
      text += static_cast<char>(0xE2);
      text += static_cast<char>(0xA0 + (cell >> 6U));
      text += static_cast<char>(0x80 + (cell & 0x3FU));
    }
    return text;
  }

 private:
  std::size_t columns_;
  std::vector<unsigned char> cells_;
};

double largest(const Panel& panel) {
  double most = 0;
  for (const Curve& curve : panel.curves)
    for (const double value : curve.values)
      if (value > most) most = value;
  return most;
}

/// The values of each column of dots: the peak or mean of those whose time is in it, or the next
/// one where it has none. Values are of the interval that ends at their time.
std::vector<double> columns_of(const Curve& curve, const std::vector<double>& times, Merge merge,
                               std::size_t width) {
  std::vector<double> out;
  const double begin = std::min(0.0, times.front());
  const double step = std::max(times.back() - begin, 1e-9) / static_cast<double>(width);
  std::size_t next = 0;
  for (std::size_t x = 0; x < width; ++x) {
    const double end = begin + step * static_cast<double>(x + 1);
    double sum = 0;
    double most = 0;
    std::size_t count = 0;
    for (; next + 1 < times.size() && times[next] <= end; ++next) {
      if (std::isnan(curve.values[next])) continue;
      sum += curve.values[next];
      most = std::max(most, curve.values[next]);
      ++count;
    }
    out.push_back(count == 0              ? curve.values[next]
                  : merge == Merge::kPeak ? most
                                          : sum / static_cast<double>(count));
  }
  return out;
}

void draw_curve(const Curve& curve, const std::vector<double>& times, Merge merge, double scale,
                Raster& raster) {
  const std::vector<double> values = columns_of(curve, times, merge, raster.width());
  const auto top = static_cast<double>(Raster::height() - 1);
  std::optional<std::size_t> before;
  for (std::size_t x = 0; x < raster.width(); ++x) {
    if (std::isnan(values[x])) {
      before.reset();
      continue;
    }
    const double share = std::clamp(values[x] / scale, 0.0, 1.0);
    const auto y = static_cast<std::size_t>(std::lround(share * top));
    raster.stroke(x, before.value_or(y), y);
    before = y;
  }
}

std::string panel_text(const Panel& panel, const std::vector<double>& times, std::size_t columns) {
  const double scale = round_up(largest(panel));
  Raster raster(columns);
  const std::size_t shown = std::min(panel.curves.size(), kMostCurves);
  for (std::size_t i = 0; i < shown; ++i)
    draw_curve(panel.curves[i], times, panel.merge, scale, raster);
  std::string text = fmt::format("{}, {}\n", panel.title, panel.unit);
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::string label = row == 0           ? short_number(scale)
                              : row == kRows - 1 ? std::string("0")
                                                 : std::string();
    text += fmt::format("{:>{}} \u2502{}\n", label, kMargin - 2, raster.row(row));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) {
    double peak = 0;
    for (const double value : panel.curves[i].values)
      if (value > peak) peak = value;
    names.push_back(fmt::format("{} (peak {})", panel.curves[i].label, short_number(peak)));
  }
  if (panel.curves.size() > shown)
    names.push_back(fmt::format("{} more", panel.curves.size() - shown));
  return text + std::string(kMargin, ' ') + hang(join(names, ", "), columns, kMargin) + "\n";
}

std::string axis_text(const Timeline& timeline, std::size_t columns) {
  std::string first;
  std::string last;
  if (timeline.ticks.empty()) {
    first = "0";
    last = fmt::format("{} us", short_number(timeline.times_us.back()));
  } else {
    first = fmt::format("{}: {}", timeline.axis, timeline.ticks.front());
    last = timeline.ticks.back();
  }
  const std::size_t used = display_width(first) + display_width(last);
  const std::size_t gap = used < columns ? columns - used : 1;
  return std::string(kMargin, ' ') + first + std::string(gap, ' ') + last + "\n";
}

}  // namespace

std::string draw_braille(const Timeline& timeline, std::size_t width) {
  const std::string lanes = lanes_text(timeline.lanes, width);
  if (timeline.panels.empty() || timeline.times_us.empty()) return lanes;
  const std::size_t columns = std::max<std::size_t>(width, kMargin + 20) - kMargin;
  std::vector<std::string> parts;
  for (const Panel& panel : timeline.panels)
    parts.push_back(panel_text(panel, timeline.times_us, columns));
  return lanes + (lanes.empty() ? "" : "\n") + join(parts, "\n") + axis_text(timeline, columns);
}

}  // namespace weir::render
