#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/simulate/sim.h"
#include "sim/results/simulate_all.h"

namespace weir::ops {
namespace {

constexpr std::uint64_t kMostRuns = 100'000;  // more is a typing error

struct Variant {
  std::vector<std::string> settings;
  Fabric fabric;
};

/// "path=a,b" → "path=a", "path=b".
weir::Result<std::vector<std::string>> values_of(const std::string& sweep) {
  const auto equals = sweep.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == sweep.size())
    return parse_error(fmt::format("--sweep: expected path=value,value…, found '{}'", sweep));
  std::vector<std::string> settings;
  for (const std::string_view value : split(std::string_view(sweep).substr(equals + 1), ','))
    settings.push_back(fmt::format("{}={}", sweep.substr(0, equals), value));
  return settings;
}

/// Every value of each sweep with every value of the others, the last changing fastest.
weir::Result<std::vector<Variant>> points_of(const std::vector<std::string>& sweeps,
                                             const Fabric& fabric) {
  std::vector<std::vector<std::string>> combinations = {{}};
  for (const std::string& sweep : sweeps) {
    WEIR_TRY(values, values_of(sweep));
    std::vector<std::vector<std::string>> longer;
    for (const auto& combination : combinations)
      for (const std::string& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    combinations = std::move(longer);
    if (combinations.size() > kMostRuns)
      return invalid_error(fmt::format("--sweep: more than {} points", kMostRuns));
  }
  std::vector<Variant> points;
  for (auto& settings : combinations) {
    Variant point{std::move(settings), fabric};
    if (const weir::Status set = set_values(point.settings, point.fabric); !set)
      return set.error().within("--sweep");
    points.push_back(std::move(point));
  }
  return points;
}

/// Fills in the runs; the first error of any.
weir::Status execute(const RepeatRequest& request, const std::vector<Variant>& variants,
                     std::vector<SweepRun>& runs) {
  sim::Experiment experiment = request.experiment;
  experiment.sample_every = {};  // time series belong to one run
  std::mutex guard;
  std::size_t done = 0;
  const auto order = [&](std::size_t i) {
    sim::Experiment mine = experiment;
    mine.design = &variants[runs[i].point].fabric.design;
    mine.intent = variants[runs[i].point].fabric.intent;
    mine.seed = runs[i].seed;
    return mine;
  };
  return sim::simulate_all(
      runs.size(), request.jobs, order, [&](std::size_t i, const sim::Outcome& outcome) {
        SweepRun& run = runs[i];
        run.digest = outcome.results.digest;
        run.totals = outcome.results.totals;
        for (const sim::WorkloadResult& load : outcome.workloads)
          if (load.bus_bandwidth)
            run.bus_bandwidth =
                std::min(run.bus_bandwidth.value_or(*load.bus_bandwidth), *load.bus_bandwidth);
        run.is_finished = outcome.is_finished && run.totals.finished == run.totals.flows;
        const std::lock_guard lock(guard);
        tell(request.progress, static_cast<double>(++done) / static_cast<double>(runs.size()),
             fmt::format("{} of {} runs", done, runs.size()));
      });
}

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  Spread out;
  for (const double value : values)
    out.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    out.deviation += (value - out.mean) * (value - out.mean);
  out.deviation =
      values.size() < 2 ? 0 : std::sqrt(out.deviation / static_cast<double>(values.size() - 1));
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  return out;
}

double run_us(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

}  // namespace

RunSummary summary_of(const std::vector<SweepRun>& runs, std::optional<std::size_t> point) {
  RunSummary out;
  std::vector<double> mean, p99, pauses, marked, queues, bus;
  for (const SweepRun& run : runs) {
    if (point && run.point != *point) continue;
    ++out.runs;
    out.lossless += run.is_lossless() ? 1U : 0U;
    pauses.push_back(static_cast<double>(run.totals.pauses));
    marked.push_back(static_cast<double>(run.totals.marked));
    queues.push_back(static_cast<double>(run.totals.deepest_queue.raw()));
    if (run.bus_bandwidth) bus.push_back(*run.bus_bandwidth / 1e9);
    if (!run.is_finished) {
      ++out.unfinished;
      continue;
    }
    mean.push_back(run_us(run.totals.completion.mean));
    p99.push_back(run_us(run.totals.completion.p99));
  }
  out.mean_us = spread_of(mean);
  out.p99_us = spread_of(p99);
  out.pauses = spread_of(pauses);
  out.marked = spread_of(marked);
  out.queue_bytes = spread_of(queues);
  if (!bus.empty()) out.bus_gbps = spread_of(bus);
  return out;
}

Result<Repeated> simulate_many(const RepeatRequest& request) {
  WEIR_TRY(fabric, load_fabric(request.design));
  if (const weir::Status set = set_values(request.settings, fabric); !set)
    return bad_request(set.error().within("--set").what);
  WEIR_TRY(variants, or_bad_request(points_of(request.sweeps, fabric)));
  if (variants.size() * request.repeat > kMostRuns)
    return bad_request(fmt::format("{} points, {} times each: more than {} runs", variants.size(),
                                   request.repeat, kMostRuns));
  Repeated out{fabric.design.file, {}, {}};
  for (std::size_t point = 0; point < variants.size(); ++point) {
    out.points.push_back({variants[point].settings});
    for (std::uint64_t i = 0; i < request.repeat; ++i) {
      out.runs.emplace_back();
      out.runs.back().point = point;
      out.runs.back().seed = request.experiment.seed + i;
    }
  }
  WEIR_TRY_STATUS(or_bad_input(execute(request, variants, out.runs)));
  return out;
}

}  // namespace weir::ops
