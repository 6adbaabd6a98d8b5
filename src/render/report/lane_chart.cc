#include "render/report/lane_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "render/report/svg_canvas.h"
#include "render/report/svg_chart.h"

namespace weir::render {
namespace {

constexpr double kChartWidth = 700;
constexpr double kNames = 150;
constexpr double kBars = kChartWidth - kNames - 14;
constexpr double kLane = 16;
constexpr double kGap = 4;
constexpr double kHead = 44;
constexpr double kFoot = 36;

struct Look {
  std::string_view name;
  std::string_view colour;
};
constexpr std::array<Look, 3> kLooks{
    {{"computing", "#2f6ea8"}, {"communication that is exposed", "#e8973a"}, {"idle", "#f3f5f7"}}};

/// Of one place of a lane: computing, communication, idle; together 1.
std::array<double, 3> shares_at(const Lane& lane, std::size_t place) {
  const double compute = std::clamp(lane.compute[place], 0.0, 1.0);
  const double exposed = std::clamp(lane.exposed[place], 0.0, 1.0 - compute);
  return {compute, exposed, 1.0 - compute - exposed};
}

/// Neighbouring places that look the same are one rectangle.
void draw_lane(SvgCanvas& canvas, const Lane& lane, double top) {
  const std::size_t count = lane.compute.size();
  canvas.rect({kNames, top, kBars, kLane}, kLooks[2].colour, {.colour = kGrid, .width = 0.6});
  for (std::size_t begin = 0; begin < count;) {
    const auto shares = shares_at(lane, begin);
    std::size_t end = begin + 1;
    const auto is_same = [&](std::size_t place) {
      const auto other = shares_at(lane, place);
      return std::abs(other[0] - shares[0]) < 0.01 && std::abs(other[1] - shares[1]) < 0.01;
    };
    while (end < count && is_same(end))
      ++end;
    const double x = kNames + kBars * static_cast<double>(begin) / static_cast<double>(count);
    const double width = kBars * static_cast<double>(end - begin) / static_cast<double>(count);
    double base = top + kLane;
    for (std::size_t what = 0; what < 2; ++what) {
      const double height = shares.at(what) * kLane;
      if (height < 0.2) continue;
      canvas.rect({x, base - height, width, height}, kLooks.at(what).colour,
                  {.colour = "none", .width = 0});
      base -= height;
    }
    begin = end;
  }
}

void draw_legend(SvgCanvas& canvas, double y) {
  double x = kNames;
  for (const Look& look : kLooks) {
    canvas.rect({x, y - 8, 12, 9}, look.colour, {.colour = kFaintInk, .width = 0.6});
    canvas.text({x + 17, y}, look.name, {.size = 10});
    x += 17 + text_width(look.name, 10) + 16;
  }
}

struct TimeScale {
  double microseconds = 1;
  std::string_view name = "µs";
};
TimeScale scale_for(double span_us) {
  if (span_us >= 2e6) return {1e6, "s"};
  if (span_us >= 2e3) return {1e3, "ms"};
  return {};
}

void draw_axis(SvgCanvas& canvas, const LaneChart& chart, double bottom) {
  const double span = chart.end_us - chart.begin_us;
  const TimeScale scale = scale_for(span);
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; ++i) {
    const double x = kNames + kBars * i / kTicks;
    canvas.line({x, bottom}, {x, bottom + 4}, {.colour = kFaintInk});
    canvas.text({x, bottom + 15},
                short_number((chart.begin_us + span * i / kTicks) / scale.microseconds),
                {.size = 10, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  }
  canvas.text({kNames + kBars / 2, bottom + 29},
              fmt::format("time since the start of the run, {}", scale.name),
              {.size = 10, .anchor = Anchor::kMiddle, .colour = kFaintInk});
}

/// Pale to dark: nothing, exposed communication, computing.
std::string_view letter_of(const std::array<double, 3>& shares) {
  if (shares[0] >= shares[1] && shares[0] >= shares[2]) return "\u2588";
  return shares[1] >= shares[2] ? "\u2592" : "\u00b7";
}

}  // namespace

double height_of(const LaneChart& chart) {
  return kHead + static_cast<double>(chart.lanes.size()) * (kLane + kGap) + kFoot;
}

std::string draw_lanes(const LaneChart& chart, std::string_view origin) {
  if (chart.lanes.empty()) return "";
  const double height = height_of(chart);
  SvgCanvas canvas(kChartWidth, height, fmt::format("{}, {}: {}", chart.title, origin, chart.note));
  canvas.text({12, 16}, chart.title, {.size = 11, .is_bold = true}, fmt::format(" ({})", origin));
  draw_legend(canvas, 34);
  double top = kHead;
  for (const Lane& lane : chart.lanes) {
    canvas.text({kNames - 6, top + kLane - 4}, fit_text(lane.label, 10, kNames - 14),
                {.size = 10, .anchor = Anchor::kEnd});
    draw_lane(canvas, lane, top);
    top += kLane + kGap;
  }
  for (const double mark : chart.marks_us) {
    const double x = kNames + kBars * (mark - chart.begin_us) / (chart.end_us - chart.begin_us);
    canvas.line({x, kHead - 4}, {x, top}, {.colour = kInk, .width = 1, .dashes = "3 2"});
  }
  draw_axis(canvas, chart, top);
  return std::move(canvas).finish();
}

std::string lanes_text(const LaneChart& chart, std::size_t width) {
  if (chart.lanes.empty()) return "";
  std::size_t names = 4;
  for (const Lane& lane : chart.lanes)
    names = std::max(names, display_width(lane.label));
  names = std::min<std::size_t>(names, 24);
  const std::size_t columns = std::max<std::size_t>(width, names + 22) - names - 2;
  std::string out = fmt::format("{}\n", chart.title);
  for (const Lane& lane : chart.lanes) {
    const Lane thin{lane.label, thin_out(lane.compute, columns, Merge::kMean),
                    thin_out(lane.exposed, columns, Merge::kMean)};
    const std::string label = fit_text(lane.label, 10, static_cast<double>(names) * 6);
    const std::size_t wide = display_width(label);
    out += std::string(names > wide ? names - wide : 0, ' ') + label + " \u2502";
    for (std::size_t i = 0; i < thin.compute.size(); ++i)
      out += letter_of(shares_at(thin, i));
    out += '\n';
  }
  const TimeScale scale = scale_for(chart.end_us - chart.begin_us);
  const std::string first = short_number(chart.begin_us / scale.microseconds);
  const std::string last = fmt::format("{} {}", short_number(chart.end_us / scale.microseconds),
                                       scale.name == "µs" ? "us" : scale.name);
  const std::size_t used = first.size() + last.size();
  const std::size_t drawn = std::min(columns, chart.lanes.front().compute.size());
  out += std::string(names + 2, ' ') + first + std::string(drawn > used ? drawn - used : 1, ' ') +
         last + "\n";
  return out + "\u2588 computing  \u2592 communication that is exposed  \u00b7 idle\n";
}

}  // namespace weir::render
