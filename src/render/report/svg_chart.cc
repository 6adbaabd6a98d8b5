#include "render/report/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"
#include "render/report/lane_chart.h"
#include "render/report/svg_canvas.h"

namespace weir::render {
namespace {

constexpr double kWidth = 700;
constexpr double kLeft = 50;
constexpr double kRight = 186;  // names of the curves
constexpr double kPanel = 54;   // height of the plot itself
constexpr double kTitle = 22;
constexpr double kAxis = 34;
constexpr double kNarrowest = 12;  // between two labels
constexpr double kSmall = 10;
constexpr std::size_t kMostPoints = 260;  // half a pixel more would not show

constexpr double kPlotWidth = kWidth - kLeft - kRight;

// Solid, long dashes, dots, dash-dot: told apart on a black-and-white print.
constexpr std::array<Stroke, kMostCurves> kStyles = {{
    {.colour = "#1b2530", .width = 1.6, .dashes = ""},
    {.colour = "#0b5fa5", .width = 1.5, .dashes = "7 3"},
    {.colour = "#b34700", .width = 1.7, .dashes = "1.5 2.5"},
    {.colour = "#5b3a9b", .width = 1.5, .dashes = "8 3 1.5 3"},
}};

/// The unit in which a span of microseconds reads well.
struct TimeUnit {
  double microseconds = 1;
  std::string_view name = "µs";
};
TimeUnit unit_for(double span_us) {
  if (span_us >= 2e6) return {1e6, "s"};
  if (span_us >= 2e3) return {1e3, "ms"};
  return {};
}

/// Steps between ticks are 1, 2, 2.5 or 5 times a power of ten.
double tick_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 2.5, 5.0})
    if (least <= step * power) return step * power;
  return 10 * power;
}

double peak_of(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values)
    if (value > most) most = value;
  return most;
}

class Drawing {
 public:
  Drawing(const Timeline& timeline, std::string_view origin, double height, std::string_view what)
      : timeline_(timeline),
        origin_(origin),
        begin_(std::min(0.0, timeline.times_us.front())),
        end_(std::max(timeline.times_us.back(), begin_ + 1e-9)),
        canvas_(kWidth, height, what) {}

  void panel(const Panel& panel, double top) {
    const double base = top + kTitle + kPanel;
    const double scale = scale_of(panel);
    title(panel, top);
    for (const double part : {0.0, 0.5, 1.0}) {
      const double y = base - part * kPanel;
      canvas_.line({kLeft, y}, {kLeft + kPlotWidth, y},
                   {.colour = part == 0 ? kFaintInk : kGrid, .width = part == 0 ? 1 : 0.8});
      canvas_.text({kLeft - 5, y + 3.5}, short_number(part * scale),
                   {.size = kSmall, .anchor = Anchor::kEnd, .colour = kFaintInk});
    }
    levels(panel, base, scale);
    const std::size_t shown = std::min(panel.curves.size(), kMostCurves);
    for (std::size_t i = shown; i-- > 0;)
      curve(panel.curves[i], panel.merge, base, scale, kStyles[i]);
    names(panel, top + kTitle + 4, shown);
  }

  /// The values of what was varied, one tick each.
  void tick_axis(double top, double bottom) {
    const auto count = static_cast<double>(timeline_.ticks.size());
    for (std::size_t i = 0; i < timeline_.ticks.size(); ++i) {
      const double x = x_of(timeline_.times_us[i]);
      canvas_.line({x, top}, {x, bottom}, {.colour = kGrid, .width = 0.6});
      canvas_.line({x, bottom}, {x, bottom + 4}, {.colour = kFaintInk});
      canvas_.text({x, bottom + 15},
                   fit_text(timeline_.ticks[i], kSmall, kPlotWidth / std::max(count - 1, 1.0) - 4),
                   {.size = kSmall, .anchor = Anchor::kMiddle, .colour = kFaintInk});
    }
    canvas_.text({kLeft + kPlotWidth / 2, bottom + 28}, timeline_.axis,
                 {.size = kSmall, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  }

  void time_axis(double top, double bottom) {
    if (!timeline_.ticks.empty()) return tick_axis(top, bottom);
    const TimeUnit unit = unit_for(end_ - begin_);
    const double step = tick_step((end_ - begin_) / unit.microseconds / 6);
    for (double at = std::ceil(begin_ / unit.microseconds / step) * step;
         at * unit.microseconds <= end_ * (1 + 1e-9); at += step) {
      const double x = x_of(at * unit.microseconds);
      canvas_.line({x, top}, {x, bottom}, {.colour = kGrid, .width = 0.6});
      canvas_.line({x, bottom}, {x, bottom + 4}, {.colour = kFaintInk});
      canvas_.text({x, bottom + 15}, short_number(at),
                   {.size = kSmall, .anchor = Anchor::kMiddle, .colour = kFaintInk});
    }
    canvas_.text({kLeft + kPlotWidth / 2, bottom + 28},
                 fmt::format("time since the start of the run, {}", unit.name),
                 {.size = kSmall, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  }

  [[nodiscard]] std::string finish() && { return std::move(canvas_).finish(); }

 private:
  [[nodiscard]] double x_of(double time_us) const {
    return kLeft + (time_us - begin_) / (end_ - begin_) * kPlotWidth;
  }

  static double scale_of(const Panel& panel) {
    double most = 0;
    for (const Curve& curve : panel.curves)
      most = std::max(most, peak_of(curve.values));
    // A level that is near is worth the room; one far above would flatten the curves.
    for (const Level& level : panel.levels)
      if (level.value <= most * 1.5) most = std::max(most, level.value);
    return round_up(most);
  }

  void title(const Panel& panel, double top) {
    canvas_.text({kLeft, top + kTitle - 6}, panel.title, {.size = 11, .is_bold = true},
                 fmt::format(", {} ({})", panel.unit, origin_));
  }

  void levels(const Panel& panel, double base, double scale) {
    double free = base - kNarrowest;  // labels must not stand on each other
    for (const Level& level : panel.levels) {
      const double y = base - level.value / scale * kPanel;
      if (level.value > scale || y > free) continue;
      free = y - kNarrowest;
      canvas_.line({kLeft, y}, {kLeft + kPlotWidth, y},
                   {.colour = kFaintInk, .width = 1, .dashes = "2 2"});
      canvas_.text({kLeft + 4, y - 3}, level.label,
                   {.size = kSmall, .colour = kFaintInk, .has_paper = true});
    }
  }

  void curve(const Curve& curve, Merge merge, double base, double scale, const Stroke& style) {
    WEIR_CHECK(curve.values.size() == timeline_.times_us.size());
    const std::vector<double> values = thin_out(curve.values, kMostPoints, merge);
    const std::vector<double> times = thin_out(timeline_.times_us, kMostPoints, Merge::kMean);
    std::vector<Point> points;
    points.reserve(values.size());
    const bool is_sparse = !timeline_.ticks.empty();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) continue;
      points.push_back({x_of(times[i]), base - std::max(0.0, values[i]) / scale * kPanel});
      if (is_sparse) canvas_.circle(points.back(), 2.2, style.colour, style);
    }
    canvas_.polyline(points, style);
  }

  /// Line style, name and peak, one under the other at the right.
  void names(const Panel& panel, double top, std::size_t shown) {
    const double left = kWidth - kRight + 10;
    double y = top;
    for (std::size_t i = 0; i < shown; ++i, y += 14.5) {
      const Curve& curve = panel.curves[i];
      const std::string peak = short_number(peak_of(curve.values));
      const double room = kWidth - left - 31 - text_width(", peak " + peak, kSmall);
      canvas_.line({left, y}, {left + 26, y}, kStyles[i]);
      canvas_.text({left + 31, y + 3.5},
                   fmt::format("{}, peak {}", fit_text(curve.label, kSmall, room), peak),
                   {.size = kSmall});
    }
    if (panel.curves.size() > shown)
      canvas_.text({left + 31, y + 3.5}, fmt::format("… {} more", panel.curves.size() - shown),
                   {.size = kSmall, .colour = kFaintInk});
  }

  const Timeline& timeline_;
  std::string_view origin_;
  double begin_;
  double end_;
  SvgCanvas canvas_;
};

std::string description_of(const Timeline& timeline, std::string_view origin) {
  std::string text =
      fmt::format("Curves over {}, {}:", timeline.ticks.empty() ? "time" : timeline.axis, origin);
  for (const Panel& panel : timeline.panels)
    for (const Curve& curve : panel.curves)
      text += fmt::format(" {} of {}, peak {} {};", panel.title, curve.label,
                          short_number(peak_of(curve.values)), panel.unit);
  return text;
}

}  // namespace

std::string as_svg_file(std::string drawing) {
  constexpr std::string_view kStart = "<svg ";
  if (!drawing.starts_with(kStart)) return drawing;
  const std::size_t end = drawing.find(">\n");
  drawing.insert(end + 2, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  drawing.insert(kStart.size(), "xmlns=\"http://www.w3.org/2000/svg\" ");
  return drawing;
}

namespace {

/// One drawing below the other.
std::string stacked(const std::string& top, double top_height, std::string bottom,
                    double bottom_height) {
  constexpr std::string_view kOpen = "<svg";
  bottom.insert(kOpen.size(), fmt::format(" y=\"{:.0f}\"", top_height));
  std::string out = SvgCanvas(kWidth, top_height + bottom_height, "steps").finish();
  const std::size_t end = out.rfind("</svg>");
  return out.insert(end, top + bottom);
}

std::string draw_panels(const Timeline& timeline, std::string_view origin);

}  // namespace

std::string draw_timeline(const Timeline& timeline, std::string_view origin) {
  std::string panels = draw_panels(timeline, origin);
  if (timeline.lanes.lanes.empty()) return panels;
  std::string lanes = draw_lanes(timeline.lanes, origin);
  if (panels.empty()) return lanes;
  const auto count = static_cast<double>(timeline.panels.size());
  return stacked(lanes, height_of(timeline.lanes), std::move(panels),
                 count * (kTitle + kPanel) + kAxis);
}

namespace {

std::string draw_panels(const Timeline& timeline, std::string_view origin) {
  if (timeline.panels.empty() || timeline.times_us.empty()) return "";
  const auto count = static_cast<double>(timeline.panels.size());
  const double bottom = count * (kTitle + kPanel);
  Drawing drawing(timeline, origin, bottom + kAxis, description_of(timeline, origin));
  drawing.time_axis(kTitle, bottom);
  double top = 0;
  for (const Panel& panel : timeline.panels) {
    drawing.panel(panel, top);
    top += kTitle + kPanel;
  }
  return std::move(drawing).finish();
}

}  // namespace

std::vector<double> thin_out(const std::vector<double>& values, std::size_t most, Merge merge) {
  WEIR_CHECK(most > 0);
  if (values.size() <= most) return values;
  std::vector<double> out;
  out.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / most);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / most);
    out.push_back(merge == Merge::kPeak
                      ? *std::max_element(begin, end)
                      : std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return out;
}

double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
    if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

std::string short_number(double value) {
  for (const auto& [limit, letter] : {std::pair{1e9, 'G'}, {1e6, 'M'}, {1e4, 'k'}})
    if (std::abs(value) >= limit)
      return fmt::format("{:.3g}{}", value / (letter == 'k' ? 1e3 : limit), letter);
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace weir::render
