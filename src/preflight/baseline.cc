#include "preflight/baseline.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::preflight {
namespace {

constexpr double kBytesPerGigabyte = 1e9;
constexpr double kPicosecondsInSecond = 1e12;

struct CounterName {
  std::string_view name;
  std::optional<std::uint64_t> diagnose::Totals::*amount;
};
constexpr CounterName kCounters[] = {
    {"pauses", &diagnose::Totals::pauses},
    {"marked", &diagnose::Totals::marks},
    {"cnps", &diagnose::Totals::cnps},
    {"lossless_drops", &diagnose::Totals::dropped},
    {"sequence_errors", &diagnose::Totals::loss_signs},
    {"out_of_sequence", &diagnose::Totals::disordered},
    {"timeouts", &diagnose::Totals::timeouts},
    {"watchdog", &diagnose::Totals::watchdog},
};

/// The tail that is worse: the least of what should be much, the far end of what should be little.
double tail_of(const Measure& measure) {
  if (measure.better == Better::kMore) return measure.values.least;
  return measure.values.count < kValuesForP99 ? measure.values.most : measure.values.p99;
}

/// The sample standard deviation as a share of the mean; none of fewer than two.
std::optional<double> spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  double sum = 0;
  for (const double value : values)
    sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return mean == 0 ? 0 : deviation / std::abs(mean);
}

const Measure* find_measure(const StageResult& stage, const Measure& like) {
  const auto found = std::find_if(stage.measures.begin(), stage.measures.end(), [&](const auto& m) {
    return m.metric == like.metric && m.subject == like.subject;
  });
  return found == stage.measures.end() ? nullptr : &*found;
}

/// None where a run lacks it.
std::optional<BaselineMeasure> measure_of(const Measure& first,
                                          const std::vector<const StageResult*>& runs) {
  std::vector<const Measure*> all;
  for (const StageResult* const run : runs) {
    const Measure* const found = find_measure(*run, first);
    if (found == nullptr || found->values.count == 0) return std::nullopt;
    all.push_back(found);
  }
  const auto values = [&](const std::function<double(const Measure&)>& take) {
    std::vector<double> out;
    for (const Measure* const each : all)
      out.push_back(take(*each));
    return out;
  };
  const auto median = [&](double Distribution::*member) {
    return median_of(values([&](const Measure& each) { return each.values.*member; }));
  };
  BaselineMeasure out{.measure = first};
  out.measure.values = {.count = first.values.count,
                        .least = median(&Distribution::least),
                        .p50 = median(&Distribution::p50),
                        .p95 = median(&Distribution::p95),
                        .p99 = median(&Distribution::p99),
                        .p999 = median(&Distribution::p999),
                        .most = median(&Distribution::most)};
  out.spread_p50 = spread_of(values([](const Measure& each) { return each.values.p50; }));
  out.spread_tail = spread_of(values(tail_of));
  return out;
}

std::vector<BaselineCounter> counters_of_runs(const std::vector<const StageResult*>& runs) {
  std::vector<BaselineCounter> out;
  for (const BaselineCounter& first : counters_of(*runs.front())) {
    std::vector<double> values;
    for (const StageResult* const run : runs)
      for (const BaselineCounter& other : counters_of(*run))
        if (other.name == first.name) values.push_back(other.value);
    if (values.size() != runs.size()) continue;
    out.push_back({first.name, median_of(values), spread_of(values)});
  }
  return out;
}

Status check_runs(const std::vector<Report>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (const StageResult* const failed = runs[i].failed())
      return invalid_error(
          fmt::format("run {} has a red flag in stage {} ({}): what is not good is no baseline",
                      i + 1, number_of(failed->id), row_of(failed->id).name));
    if (!runs[i].lost.empty())
      return invalid_error(
          fmt::format("run {} lost {} in stage {} ({}): its later stages are not of all hosts",
                      i + 1, runs[i].lost.front().name, number_of(runs[i].lost.front().stage),
                      row_of(runs[i].lost.front().stage).name));
    const auto unlike = differences(runs.front().identity, runs[i].identity);
    if (unlike.empty()) continue;
    return invalid_error(fmt::format("run {} is of another fabric than run 1: {} was {}, is {}",
                                     i + 1, unlike.front().field, unlike.front().was,
                                     unlike.front().is));
  }
  return {};
}

}  // namespace

const BaselineStage* Baseline::find(StageId id) const {
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const BaselineStage& stage) { return stage.id == id; });
  return found == stages.end() ? nullptr : &*found;
}

std::string_view unit_of_counters(StageId id) {
  return id == StageId::kIdle ? "per second" : "per GB";
}

std::vector<BaselineCounter> counters_of(const StageResult& stage) {
  std::vector<BaselineCounter> out;
  if (!stage.totals) return out;
  const double amount =
      stage.id == StageId::kIdle
          ? static_cast<double>(stage.totals->window.raw()) / kPicosecondsInSecond
          : static_cast<double>(stage.totals->sent_bytes.value_or(0)) / kBytesPerGigabyte;
  if (amount <= 0) return out;
  for (const CounterName& counter : kCounters)
    if (const auto& value = (*stage.totals).*counter.amount)
      out.push_back({std::string(counter.name), static_cast<double>(*value) / amount, {}});
  return out;
}

Result<Baseline> make_baseline(std::string name, const std::vector<Report>& runs) {
  WEIR_CHECK(!runs.empty());
  WEIR_TRY_STATUS(check_runs(runs));
  Baseline out{.name = std::move(name),
               .identity = runs.front().identity,
               .tool = runs.back().tool,
               .made = runs.back().ended,
               .runs = runs.size(),
               .settings = runs.back().settings,
               .stages = {}};
  for (const Report& run : runs) {  // what one of them does not say is not known of all
    if (!run.identity.perftest) out.identity.perftest.reset();
    if (!run.identity.collective) out.identity.collective.reset();
    if (!run.identity.thresholds) out.identity.thresholds.reset();
  }
  for (const StageRow& row : stages()) {
    std::vector<const StageResult*> same;
    for (const Report& run : runs) {
      const StageResult& stage = run.stages.at(number_of(row.id));
      if (stage.state == State::kPassed) same.push_back(&stage);
    }
    if (same.size() != runs.size()) continue;
    BaselineStage stage{.id = row.id, .measures = {}, .counters = counters_of_runs(same)};
    for (const Measure& measure : same.front()->measures)
      if (auto found = measure_of(measure, same)) stage.measures.push_back(std::move(*found));
    if (!stage.measures.empty() || !stage.counters.empty()) out.stages.push_back(std::move(stage));
  }
  if (out.stages.empty())
    return invalid_error(
        "no stage with a measurement passed in every run: there is nothing to remember");
  return out;
}

}  // namespace weir::preflight
