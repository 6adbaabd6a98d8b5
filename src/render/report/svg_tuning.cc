// The figures of a tuning.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "render/report/svg_canvas.h"
#include "render/report/svg_chart.h"
#include "render/report/tuning_page.h"

namespace weir::render {
namespace {

constexpr double kFigureWidth = 700;
constexpr double kLabelWidth = 210;
constexpr double kValueWidth = 170;
constexpr double kRowHeight = 30;
constexpr double kFigureText = 11;
constexpr double kNoteText = 9.5;
constexpr std::string_view kBarFill = "#0b5fa5";
constexpr std::string_view kEstimateFill = "#9cc4e8";  // its interval is drawn over it
constexpr std::string_view kPaleFill = "#d5dbe1";

std::string percent_word(double change) {
  return fmt::format("{:+.1f} %", change * 100);
}

std::string tick_word(double change) {
  return change == 0 ? "0 %" : fmt::format("{:+.3g} %", change * 100);
}

/// A scale from the least to the most value with zero on it; an interval without end is cut.
class ChangeScale {
 public:
  ChangeScale(double from, double to) : from_(from), to_(to) {}
  void take(const Estimate& estimate) {
    constexpr double kMost = 2;  // +200 %
    least_ = std::min({least_, estimate.mean, std::max(estimate.low, -1.0)});
    most_ = std::max({most_, estimate.mean, std::min(estimate.high, kMost)});
  }
  void settle() {
    if (most_ - least_ < 0.001) most_ = least_ + 0.001;
    step_ = round_up((most_ - least_) / 5);
    least_ = std::floor(least_ / step_ + 1e-9) * step_;
    most_ = std::ceil(most_ / step_ - 1e-9) * step_;
  }
  [[nodiscard]] double at(double change) const {
    const double part = (std::clamp(change, least_, most_) - least_) / (most_ - least_);
    return from_ + part * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    for (double tick = least_; tick <= most_ + step_ / 2; tick += step_)
      out.push_back(std::abs(tick) < step_ / 1e6 ? 0 : tick);
    return out;
  }

 private:
  double from_;
  double to_;
  double least_ = 0;
  double most_ = 0;
  double step_ = 1;
};

void draw_label(SvgCanvas& canvas, double y, const std::string& label, const std::string& note) {
  const double middle = y + kRowHeight / 2;
  canvas.text({kLabelWidth - 8, note.empty() ? middle + 4 : middle - 1},
              fit_text(label, kFigureText, kLabelWidth - 8),
              {.size = kFigureText, .anchor = Anchor::kEnd});
  if (!note.empty())
    canvas.text({kLabelWidth - 8, middle + 10}, fit_text(note, kNoteText, kLabelWidth - 8),
                {.size = kNoteText, .anchor = Anchor::kEnd, .colour = kFaintInk});
}

std::string described(std::string_view what, const std::vector<std::string>& parts) {
  std::string out(what);
  for (const std::string& part : parts)
    out += "; " + part;
  return out;
}

}  // namespace

std::string to_text(const Estimate& estimate) {
  if (estimate.low == estimate.high) return percent_word(estimate.mean);
  return fmt::format("{} ({:+.1f} to {:+.1f})", percent_word(estimate.mean), estimate.low * 100,
                     estimate.high * 100);
}

std::string draw_estimates(const std::vector<EstimateRow>& rows, const std::string& what) {
  if (rows.empty()) return "";
  constexpr double kFigureTop = 20;
  const double bottom = kFigureTop + kRowHeight * static_cast<double>(rows.size());
  std::vector<std::string> parts;
  ChangeScale scale(kLabelWidth, kFigureWidth - kValueWidth);
  for (const EstimateRow& row : rows) {
    scale.take(row.value);
    parts.push_back(row.label + " " + to_text(row.value));
  }
  scale.settle();
  SvgCanvas canvas(kFigureWidth, bottom + 8, described(what, parts));
  for (const double tick : scale.ticks()) {
    const bool is_zero = tick == 0;
    canvas.line({scale.at(tick), kFigureTop - 4}, {scale.at(tick), bottom},
                {.colour = is_zero ? kInk : kGrid, .width = is_zero ? 1.2 : 0.8});
    canvas.text({scale.at(tick), kFigureTop - 8}, tick_word(tick),
                {.size = kNoteText, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  }
  double y = kFigureTop;
  for (const EstimateRow& row : rows) {
    const double middle = y + kRowHeight / 2;
    draw_label(canvas, y, row.label, row.note);
    const double zero = scale.at(0);
    const double end = scale.at(row.value.mean);
    canvas.rect({std::min(zero, end), y + 8, std::abs(end - zero), kRowHeight - 16}, kEstimateFill,
                {.width = 0});
    const double low = scale.at(row.value.low);
    const double high = scale.at(row.value.high);
    canvas.line({low, middle}, {high, middle}, {.width = 1.6});
    for (const double edge : {low, high})
      canvas.line({edge, middle - 5}, {edge, middle + 5}, {.width = 1.6});
    canvas.text({kFigureWidth - kValueWidth + 12, middle + 4}, to_text(row.value),
                {.size = kFigureText});
    y += kRowHeight;
  }
  return std::move(canvas).finish();
}

std::string draw_trade_off(const std::vector<TradeOffPoint>& points, const std::string& what) {
  if (points.empty()) return "";
  constexpr double kLeftEdge = 62;
  constexpr double kRightEdge = 660;
  constexpr double kFigureTop = 16;
  constexpr double kBottom = 196;
  std::vector<std::string> parts;
  ChangeScale scale(kBottom, kFigureTop);
  for (const TradeOffPoint& point : points) {
    scale.take(point.value);
    parts.push_back(point.limit + ": " + to_text(point.value));
  }
  scale.settle();
  SvgCanvas canvas(kFigureWidth, kBottom + 54, described(what, parts));
  for (const double tick : scale.ticks()) {
    const double y = scale.at(tick);
    canvas.line({kLeftEdge, y}, {kRightEdge, y},
                {.colour = tick == 0 ? kInk : kGrid, .width = tick == 0 ? 1.2 : 0.8});
    canvas.text({kLeftEdge - 6, y + 3.5}, tick_word(tick),
                {.size = kNoteText, .anchor = Anchor::kEnd, .colour = kFaintInk});
  }
  const double room = (kRightEdge - kLeftEdge) / static_cast<double>(points.size());
  std::vector<Point> line;
  for (std::size_t i = 0; i < points.size(); ++i)
    line.push_back(
        {kLeftEdge + room * (static_cast<double>(i) + 0.5), scale.at(points[i].value.mean)});
  canvas.polyline(line, {.colour = kBarFill, .width = 1.8});
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point at = line[i];
    const double low = scale.at(points[i].value.low);
    const double high = scale.at(points[i].value.high);
    canvas.line({at.x, low}, {at.x, high}, {.width = 1.4});
    for (const double edge : {low, high})
      canvas.line({at.x - 5, edge}, {at.x + 5, edge}, {.width = 1.4});
    canvas.circle(at, points[i].is_marked ? 6 : 3.5, points[i].is_marked ? kPaper : kBarFill,
                  {.colour = kBarFill, .width = points[i].is_marked ? 2.4 : 1});
    if (points[i].is_marked)
      canvas.text({at.x + 10, at.y - 7}, "knee", {.size = kFigureText, .is_bold = true});
    canvas.text({at.x, kBottom + 15}, points[i].limit,
                {.size = kFigureText, .anchor = Anchor::kMiddle});
    canvas.text({at.x, kBottom + 28}, fit_text(points[i].note, kNoteText, room - 4),
                {.size = kNoteText, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  }
  canvas.text({(kLeftEdge + kRightEdge) / 2, kBottom + 47},
              "a port may be paused for at most this share of the time",
              {.size = kFigureText, .anchor = Anchor::kMiddle, .colour = kFaintInk});
  return std::move(canvas).finish();
}

std::string draw_ranking(const std::vector<RankRow>& rows) {
  double most = 0;
  std::vector<std::string> parts;
  for (const RankRow& row : rows) {
    most = std::max(most, row.effect + row.spread);
    parts.push_back(fmt::format("{} {:.2g} %", row.label, row.effect * 100));
  }
  if (rows.empty() || most <= 0) return "";
  constexpr double kRow = 21;
  const double height = kRow * static_cast<double>(rows.size());
  SvgCanvas canvas(kFigureWidth, height + 6,
                   described("Influence of each knob on the objective", parts));
  const double scale = (kFigureWidth - kValueWidth - kLabelWidth) / most;
  double y = 0;
  for (const RankRow& row : rows) {
    const double middle = y + kRow / 2;
    canvas.text(
        {kLabelWidth - 8, middle + 4}, fit_text(row.label, kFigureText, kLabelWidth - 8),
        {.size = kFigureText, .anchor = Anchor::kEnd, .colour = row.is_inert ? kFaintInk : kInk});
    canvas.rect({kLabelWidth, y + 5, row.effect * scale, kRow - 10},
                row.is_inert ? kPaleFill : kBarFill, {.width = 0});
    if (row.spread > 0)
      canvas.line({kLabelWidth + row.effect * scale, middle},
                  {kLabelWidth + (row.effect + row.spread) * scale, middle},
                  {.width = 1.2, .dashes = "3 2"});
    canvas.text({kFigureWidth - kValueWidth + 12, middle + 4},
                row.is_inert
                    ? "does nothing here"
                    : fmt::format("{:.2g} %, spread {:.2g} %", row.effect * 100, row.spread * 100),
                {.size = kFigureText, .colour = row.is_inert ? kFaintInk : kInk});
    y += kRow;
  }
  return std::move(canvas).finish();
}

std::string draw_before_after(const BeforeAfter& panel) {
  double most = 0;
  std::vector<std::string> parts;
  for (const BeforeAfter::Row& row : panel.rows) {
    most = std::max({most, row.before, row.after});
    parts.push_back(fmt::format("{}: {}, then {}", row.label, row.before_text, row.after_text));
  }
  if (panel.rows.empty()) return "";
  constexpr double kFigureTop = 20;
  const double height = kFigureTop + kRowHeight * static_cast<double>(panel.rows.size()) + 4;
  SvgCanvas canvas(kFigureWidth, height, described(panel.title, parts));
  canvas.text({kLabelWidth, 12}, panel.title, {.size = kFigureText, .is_bold = true});
  const double scale = most > 0 ? (kFigureWidth - kValueWidth - kLabelWidth) / most : 0;
  double y = kFigureTop;
  for (const BeforeAfter::Row& row : panel.rows) {
    draw_label(canvas, y, row.label, "");
    constexpr double kBar = 9;
    canvas.rect({kLabelWidth, y + 5, row.before * scale, kBar}, kPaper,
                {.colour = kFaintInk, .width = 1.2});
    canvas.rect({kLabelWidth, y + 5 + kBar + 2, row.after * scale, kBar}, kBarFill,
                {.colour = kBarFill, .width = 1.2});
    canvas.text({kFigureWidth - kValueWidth + 12, y + 13}, row.before_text,
                {.size = kNoteText, .colour = kFaintInk});
    canvas.text({kFigureWidth - kValueWidth + 12, y + 25}, row.after_text, {.size = kFigureText});
    y += kRowHeight;
  }
  canvas.line({kLabelWidth, kFigureTop}, {kLabelWidth, height - 4}, {.colour = kInk, .width = 1.2});
  return std::move(canvas).finish();
}

}  // namespace weir::render
