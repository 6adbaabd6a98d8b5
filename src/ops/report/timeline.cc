// Time series of a run, from CSV to the panels of a report.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "ops/report/report_input.h"

namespace weir::ops {
namespace {

using render::Curve;
using render::Merge;
using render::Panel;

constexpr std::size_t kPortsShown = 3;
constexpr double kMegabyte = 1e6;
constexpr std::string_view kWholeFabric = "whole fabric";

struct PortName {
  std::string node;
  std::string port;
  auto operator<=>(const PortName&) const = default;
};

struct PortSeries {
  std::vector<double> rate;    // Gb/s
  std::vector<double> queue;   // bytes
  std::vector<double> paused;  // us of the interval
};

weir::Result<double> number_of(std::string_view text, std::size_t line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return parse_error(fmt::format("line {}: expected a number, found '{}'", line, text));
  return value;
}

/// Rows of a CSV text with the header that is expected; `each` gets the cells and the line.
template <class Each>
weir::Status for_each_row(std::string_view text, std::string_view header, Each each) {
  const std::size_t columns = split(header, ',').size();
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (number == 1 && line != header)
      return parse_error(fmt::format("line 1: expected '{}', found '{}'", header, line));
    if (number == 1 || line.empty()) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != columns)
      return parse_error(
          fmt::format("line {}: expected {} columns, found {}", number, columns, cells.size()));
    WEIR_TRY_STATUS(each(cells, number));
  }
  return {};
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum;
}

double peak(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

class PortTable {
 public:
  weir::Status read(const std::string& text) {
    const weir::Status good = for_each_row(
        text, "time_us,node,port,tx_gbps,queue_bytes,paused_us",
        [&](const std::vector<std::string_view>& cells, std::size_t line) -> weir::Status {
          WEIR_TRY(time, number_of(cells[0], line));
          if (times_.empty() || time > times_.back()) times_.push_back(time);
          PortSeries& series = ports_[{std::string(cells[1]), std::string(cells[2])}];
          WEIR_TRY(rate, number_of(cells[3], line));
          WEIR_TRY(queue, number_of(cells[4], line));
          WEIR_TRY(paused, number_of(cells[5], line));
          for (auto [values, value] :
               {std::pair(&series.rate, rate), {&series.queue, queue}, {&series.paused, paused}}) {
            values->resize(times_.size(), 0);  // a port that rested has no line
            values->back() = value;
          }
          return {};
        });
    for (auto& [name, series] : ports_)
      for (std::vector<double>* values : {&series.rate, &series.queue, &series.paused})
        values->resize(times_.size(), 0);
    return good;
  }

  [[nodiscard]] const std::vector<double>& times() const { return times_; }

  /// The ports with the most, at most three; none where all have nothing.
  template <class Weight>
  [[nodiscard]] std::vector<const std::pair<const PortName, PortSeries>*> top(
      Weight weight, bool only_switches) const {
    std::vector<const std::pair<const PortName, PortSeries>*> all;
    for (const auto& entry : ports_)
      if (weight(entry.second) > 0 && !(only_switches && is_nic(entry.first)))
        all.push_back(&entry);
    std::stable_sort(all.begin(), all.end(), [&](const auto* a, const auto* b) {
      return weight(a->second) > weight(b->second);
    });
    all.resize(std::min(all.size(), kPortsShown));
    return all;
  }

  [[nodiscard]] std::vector<const PortSeries*> nics() const {
    std::vector<const PortSeries*> all;
    for (const auto& [name, series] : ports_)
      if (is_nic(name)) all.push_back(&series);
    return all;
  }

 private:
  static bool is_nic(const PortName& name) { return name.node.find(':') != std::string::npos; }

  std::vector<double> times_;
  std::map<PortName, PortSeries> ports_;
};

/// "gpu01:mlx5_0" and "leaf1", 3 as a person names them; the intent knows a switch port's own name.
std::string label_of(const PortName& name, const design::Intent* intent) {
  if (const auto colon = name.node.find(':'); colon != std::string::npos)
    return name.node.substr(0, colon) + " " + name.node.substr(colon + 1);
  const auto number = parse_u64(name.port);
  if (intent != nullptr && number)
    for (const design::SwitchIntent& sw : intent->switches)
      if (sw.name == name.node && *number < sw.ports.size())
        return name.node + " " + sw.ports[*number].name;
  return name.node + " port " + name.port;
}

void add_levels(Panel& panel, double unit, const design::Intent* intent) {
  if (intent == nullptr || intent->switches.empty() || intent->switches.front().ports.empty())
    return;
  const design::WredIntent& wred = intent->switches.front().ports.front().wred;
  if (!wred.ecn) return;
  panel.levels.push_back({"marking begins", static_cast<double>(wred.min.raw()) / unit});
  panel.levels.push_back({"all marked", static_cast<double>(wred.max.raw()) / unit});
}

Panel queue_panel(const PortTable& table, const design::Intent* intent) {
  const auto top = table.top([](const PortSeries& series) { return peak(series.queue); }, true);
  const bool is_large = !top.empty() && peak(top.front()->second.queue) >= 2 * kMegabyte;
  const double unit = is_large ? kMegabyte : 1e3;
  Panel panel{.title = "Fullest queue of a switch port", .unit = is_large ? "MB" : "KB"};
  for (const auto* entry : top) {
    Curve curve{.label = label_of(entry->first, intent), .values = entry->second.queue};
    for (double& value : curve.values)
      value /= unit;
    panel.curves.push_back(std::move(curve));
  }
  add_levels(panel, unit, intent);
  return panel;
}

Panel pause_panel(const PortTable& table, const design::Intent* intent) {
  Panel panel{.title = "Stood paused", .unit = "% of the interval", .merge = Merge::kMean};
  const auto& times = table.times();
  for (const auto* entry :
       table.top([](const PortSeries& series) { return total(series.paused); }, false)) {
    Curve curve{.label = label_of(entry->first, intent), .values = entry->second.paused};
    for (std::size_t i = 0; i < curve.values.size(); ++i)
      // A pause is counted when it is renewed: an interval may hold some of the one before.
      curve.values[i] =
          std::min(100.0, curve.values[i] * 100 / (times[i] - (i == 0 ? 0 : times[i - 1])));
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

/// Mean, least and most over several series at each time; a series is absent where it is NaN.
std::vector<Curve> envelope(const std::vector<const std::vector<double>*>& series,
                            std::size_t times) {
  if (series.empty()) return {};
  Curve mean{.label = fmt::format("mean of {}", series.size())};
  Curve least{.label = "slowest"};
  Curve most{.label = "fastest"};
  for (std::size_t t = 0; t < times; ++t) {
    double sum = 0;
    double low = 0;
    double high = 0;
    std::size_t count = 0;
    for (const std::vector<double>* values : series) {
      const double value = (*values)[t];
      if (std::isnan(value)) continue;
      low = count == 0 ? value : std::min(low, value);
      high = std::max(high, value);
      sum += value;
      ++count;
    }
    mean.values.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
    least.values.push_back(low);
    most.values.push_back(high);
  }
  if (series.size() == 1) return {std::move(mean)};
  return {std::move(mean), std::move(least), std::move(most)};
}

Panel rate_panel(const PortTable& table) {
  Panel panel{.title = "Sent by NICs", .unit = "Gb/s", .merge = Merge::kMean};
  std::vector<const std::vector<double>*> series;
  for (const PortSeries* nic : table.nics())
    series.push_back(&nic->rate);
  panel.curves = envelope(series, table.times().size());
  return panel;
}

/// Rates that DCQCN allowed, from the first to the last delivery of each queue pair. Where it
/// delivered nothing for a while it has no line: it keeps its last rate.
weir::Result<Panel> reaction_panel(const std::string& text, const std::vector<double>& times) {
  std::map<std::string, std::vector<double>> pairs;
  WEIR_TRY_STATUS(for_each_row(
      text, "time_us,qp,source,target,rate_gbps,delivered_gbps",
      [&](const std::vector<std::string_view>& cells, std::size_t line) -> weir::Status {
        WEIR_TRY(time, number_of(cells[0], line));
        WEIR_TRY(rate, number_of(cells[4], line));
        const auto at = std::lower_bound(times.begin(), times.end(), time);
        if (at == times.end()) return {};
        std::vector<double>& values = pairs[std::string(cells[1])];
        values.resize(static_cast<std::size_t>(at - times.begin()) + 1,
                      values.empty() ? rate : values.back());
        values.back() = rate;
        return {};
      }));
  Panel panel{.title = "Rate that DCQCN allows a flow", .unit = "Gb/s", .merge = Merge::kMean};
  std::vector<const std::vector<double>*> series;
  for (auto& [name, values] : pairs) {
    values.resize(times.size(), std::numeric_limits<double>::quiet_NaN());
    series.push_back(&values);
  }
  panel.curves = envelope(series, times.size());
  return panel;
}

// ---- what a lab kept ----

Panel panel_for(lab::Measure measure) {
  switch (measure) {
    case lab::Measure::kQueue: return {.title = "Fullest queue of a port", .unit = "KB"};
    case lab::Measure::kPauseTime:
      return {.title = "Paused time", .unit = "µs per interval", .merge = Merge::kMean};
    case lab::Measure::kCnps:
      return {.title = "CNPs sent", .unit = "per interval", .merge = Merge::kMean};
    case lab::Measure::kRate:
      return {.title = "Rate of all NICs of the rail", .unit = "Gb/s", .merge = Merge::kMean};
    case lab::Measure::kDrops: return {.title = "Packets dropped", .unit = "per interval"};
    case lab::Measure::kMarks:
      return {.title = "Packets marked", .unit = "per interval", .merge = Merge::kMean};
  }
  WEIR_UNREACHABLE("every measure has a panel");
}

/// The curves of one measure that are not flat at zero; queues in the unit that reads well.
Panel kept_panel(const lab::RunRecord& run, lab::Measure measure, const design::Intent& intent) {
  Panel panel = panel_for(measure);
  for (const lab::Curve& kept : run.curves)
    if (kept.measure == measure && peak(kept.values) > 0)
      panel.curves.push_back(
          {kept.where.empty() ? std::string(kWholeFabric) : kept.where, kept.values});
  std::stable_sort(panel.curves.begin(), panel.curves.end(),
                   [](const Curve& a, const Curve& b) { return peak(a.values) > peak(b.values); });
  if (measure != lab::Measure::kQueue || panel.curves.empty()) return panel;
  // The fabric's fullest queue is that of some port at any time: it would only cover the ports'.
  if (panel.curves.size() > 1)
    std::erase_if(panel.curves, [](const Curve& curve) { return curve.label == kWholeFabric; });
  const bool is_large = peak(panel.curves.front().values) >= 2 * kMegabyte;
  const double unit = is_large ? kMegabyte : 1e3;
  if (is_large) panel.unit = "MB";
  for (Curve& curve : panel.curves)
    for (double& value : curve.values)
      value /= unit;
  add_levels(panel, unit, &intent);
  return panel;
}

}  // namespace

render::Timeline timeline_of(const lab::RunRecord& run, const design::Intent& intent) {
  render::Timeline timeline;
  for (const Duration time : run.times)
    timeline.times_us.push_back(static_cast<double>(time.raw()) / 1e6);
  std::vector<std::string> quiet;
  for (const auto& [measure, nothing] : {std::pair(lab::Measure::kQueue, "no queue held anything"),
                                         {lab::Measure::kPauseTime, "nothing stood paused"},
                                         {lab::Measure::kCnps, "no CNP was sent"},
                                         {lab::Measure::kRate, "nothing was sent"},
                                         {lab::Measure::kDrops, "nothing was dropped"}}) {
    Panel panel = kept_panel(run, measure, intent);
    if (panel.curves.empty())
      quiet.emplace_back(nothing);
    else
      timeline.panels.push_back(std::move(panel));
  }
  if (!quiet.empty()) timeline.note = fmt::format("Not drawn: {}.", join(quiet, ", "));
  return timeline;
}

weir::Result<render::Timeline> timeline_from_csv(const std::string& ports, const std::string& rates,
                                                 const design::Intent* intent) {
  render::Timeline timeline;
  PortTable table;
  if (ports.empty()) return timeline;
  if (const weir::Status good = table.read(ports); !good) return good.error().within("ports.csv");
  timeline.times_us = table.times();
  std::vector<std::string> quiet;
  const auto add = [&](Panel panel, std::string_view nothing) {
    if (panel.curves.empty())
      quiet.emplace_back(nothing);
    else
      timeline.panels.push_back(std::move(panel));
  };
  add(queue_panel(table, intent), "No queue of a switch port ever held anything.");
  add(pause_panel(table, intent), "No port stood paused at any time.");
  add(rate_panel(table), "No NIC sent anything.");
  if (!rates.empty()) {
    auto panel = reaction_panel(rates, timeline.times_us);
    if (!panel) return panel.error().within("rates.csv");
    add(std::move(*panel), "No flow delivered anything.");
  }
  quiet.emplace_back("A run of weir sim does not record CNPs over time.");
  timeline.note = join(quiet, " ");
  return timeline;
}

}  // namespace weir::ops
