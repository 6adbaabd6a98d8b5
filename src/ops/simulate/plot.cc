// Curves of simulated runs: over time, or over what was swept.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "ops/report/report_input.h"
#include "ops/simulate/sim.h"
#include "ops/simulate/step_lanes.h"

namespace weir::ops {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// "wred.min=150KB" is "150KB" where the axis says what is swept.
std::string value_part(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  return equals == std::string::npos ? setting : setting.substr(equals + 1);
}

std::string path_part(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}

/// Places of the points along the axis, and in which curve each is.
struct SweepAxis {
  std::vector<std::string> ticks;
  std::vector<std::string> curves;
  struct Place {
    std::size_t tick = 0;
    std::size_t curve = 0;
  };
  std::vector<Place> places;  // of each point, or of each run where nothing is swept
};

std::size_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

SweepAxis axis_of(const Repeated& repeated) {
  SweepAxis axis;
  for (const SweepPoint& point : repeated.points) {
    const std::vector<std::string> others(point.settings.begin() + 1, point.settings.end());
    const std::string curve = others.empty() ? "mean of the runs" : join(others, ", ");
    axis.places.push_back(
        {index_in(axis.ticks, value_part(point.settings.front())), index_in(axis.curves, curve)});
  }
  return axis;
}

struct SweepMeasure {
  std::string title;
  std::string unit;
  double (*value)(const RunSummary& summary);
};

double finished_p99(const RunSummary& summary) {
  return summary.unfinished == summary.runs ? kNothing : summary.p99_us.mean;
}

render::Panel panel_over(const SweepAxis& axis, const std::vector<RunSummary>& summaries,
                         const SweepMeasure& measure) {
  render::Panel panel{measure.title, measure.unit, render::Merge::kMean, {}, {}};
  for (const std::string& name : axis.curves)
    panel.curves.push_back({name, std::vector<double>(axis.ticks.size(), kNothing)});
  for (std::size_t i = 0; i < summaries.size(); ++i)
    panel.curves[axis.places[i].curve].values[axis.places[i].tick] = measure.value(summaries[i]);
  return panel;
}

/// Where the time of each step went.
render::Timeline steps_timeline(const sim::Outcome& outcome) {
  render::Timeline out;
  if (!outcome.rank_times.empty())
    out.lanes = lanes_of(outcome.rank_times.front(), outcome.sim->network());
  const auto load =
      std::find_if(outcome.workloads.begin(), outcome.workloads.end(),
                   [](const sim::WorkloadResult& result) { return sim::has_steps(result.kind); });
  // Curves over a handful of steps say no more than their lanes.
  if (load == outcome.workloads.end() || load->steps.size() <= kStepsDrawn) return out;
  const auto milliseconds = [](Duration time) { return static_cast<double>(time.raw()) / 1e9; };
  render::Panel step{load->label + ": time of a step", "ms", render::Merge::kPeak, {}, {}};
  step.curves = {{"step", {}}, {"compute", {}}, {"exposed communication", {}}};
  render::Panel late{
      load->label + ": straggler after the median", "us", render::Merge::kPeak, {}, {}};
  late.curves = {{"straggler", {}}};
  for (const sim::StepResult& result : load->steps) {
    out.times_us.push_back(static_cast<double>(result.begin.since_start().raw()) / 1e6);
    step.curves[0].values.push_back(milliseconds(result.time()));
    step.curves[1].values.push_back(milliseconds(result.compute));
    step.curves[2].values.push_back(milliseconds(result.exposed()));
    late.curves[0].values.push_back(milliseconds(result.late) * 1e3);
  }
  out.panels = {std::move(step), std::move(late)};
  out.note = "Steps alone; --sample adds queues, rates and pauses, and simulates every step.";
  return out;
}

}  // namespace

Result<render::Timeline> plot_of(const Simulated& simulated) {
  if (!simulated.outcome.samples) return steps_timeline(simulated.outcome);
  const sim::Sampler& samples = *simulated.outcome.samples;
  const sim::Sim& sim = *simulated.outcome.sim;
  return or_bad_input(
      timeline_from_csv(samples.ports_csv(sim), samples.rates_csv(sim), &simulated.fabric->intent));
}

render::Timeline plot_of(const Repeated& repeated) {
  SweepAxis axis;
  std::vector<RunSummary> summaries;
  render::Timeline out;
  const bool is_swept = !repeated.points.empty() && !repeated.points.front().settings.empty();
  if (is_swept) {
    axis = axis_of(repeated);
    out.axis = path_part(repeated.points.front().settings.front());
    for (std::size_t p = 0; p < repeated.points.size(); ++p)
      summaries.push_back(summary_of(repeated.runs, p));
  } else {
    out.axis = "seed";
    axis.curves = {"each run"};
    for (const SweepRun& run : repeated.runs) {
      axis.places.push_back({axis.ticks.size(), 0});
      axis.ticks.push_back(std::to_string(run.seed));
      summaries.push_back(summary_of({run}, std::nullopt));
    }
  }
  for (std::size_t i = 0; i < axis.ticks.size(); ++i)
    out.times_us.push_back(static_cast<double>(i));
  out.ticks = axis.ticks;
  out.panels.push_back(panel_over(axis, summaries, {"Completion time, p99", "us", finished_p99}));
  out.panels.push_back(panel_over(axis, summaries, {"Deepest queue", "KB", [](const auto& summary) {
                                                      return summary.queue_bytes.mean / 1e3;
                                                    }}));
  const bool has_bus =
      std::any_of(summaries.begin(), summaries.end(),
                  [](const RunSummary& summary) { return summary.bus_gbps.has_value(); });
  if (has_bus)
    out.panels.push_back(
        panel_over(axis, summaries, {"Bus bandwidth", "Gb/s", [](const auto& summary) {
                                       return summary.bus_gbps ? summary.bus_gbps->mean : kNothing;
                                     }}));
  out.panels.push_back(panel_over(axis, summaries, {"Pauses", "per run", [](const auto& summary) {
                                                      return summary.pauses.mean;
                                                    }}));
  return out;
}

}  // namespace weir::ops
