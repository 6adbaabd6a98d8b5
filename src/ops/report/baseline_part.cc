#include "ops/report/baseline_part.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace weir::ops {
namespace {

std::vector<double> trend_of(const std::vector<store::Trend>& trends, preflight::StageId stage,
                             const std::string& metric) {
  std::vector<double> out;
  for (const store::Trend& trend : trends)
    if (trend.stage == stage && trend.metric == metric)
      for (const store::TrendPoint& point : trend.points)
        out.push_back(point.p50);
  return out;
}

render::BaselineRow row_of(preflight::StageId stage, const preflight::BaselineMeasure& each,
                           const std::vector<store::Trend>& trends,
                           const store::LastComparison* last) {
  const preflight::Measure& measure = each.measure;
  const auto text = [&](double value) { return preflight::value_text(measure, value); };
  render::BaselineRow row{
      .what = fmt::format("{}: {}", preflight::row_of(stage).name, measure.metric),
      .count = std::to_string(measure.values.count),
      .p50 = text(measure.values.p50),
      .p99 = text(measure.values.p99),
      .p999 = text(measure.values.p999),
      .spread = each.spread_p50 ? fmt::format("{:.1f} %", 100 * *each.spread_p50) : "?",
      .now = {},
      .is_regressed = false,
      .trend = trend_of(trends, stage, measure.metric)};
  if (last == nullptr) return row;
  for (const store::DeviationRow& value : last->rows) {
    if (value.stage != stage || value.metric != measure.metric || !value.subject.empty()) continue;
    if (value.quantile == "p50") row.now = fmt::format("{:+.1f} %", 100 * value.worse);
    row.is_regressed = row.is_regressed || value.is_regression;
  }
  return row;
}

}  // namespace

Result<render::BaselinePart> baseline_part(const BaselinePlace& place, const std::string& name) {
  WEIR_TRY(shown, show_baseline(place, name));
  const preflight::Identity& identity = shown.baseline.identity;
  render::BaselinePart out;
  out.title =
      fmt::format("{}: {}, {}{}, {}, made {} by {}", name, identity.design,
                  counted(static_cast<std::size_t>(identity.hosts), "host"),
                  identity.is_simulated ? " (simulated)" : "", counted(shown.baseline.runs, "run"),
                  shown.baseline.made, shown.baseline.tool);
  std::vector<store::LastComparison> all;
  if (file_exists(history_path(place.directory))) {
    WEIR_TRY(found, or_bad_input(last_comparisons(place)));
    all = std::move(found);
  }
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.baseline == name; });
  const store::LastComparison* const last = found == all.end() ? nullptr : &*found;
  if (last != nullptr)
    out.verdict =
        fmt::format("The last run that was compared, of {}: {}.", last->started, last->outcome);
  for (const preflight::BaselineStage& stage : shown.baseline.stages)
    for (const preflight::BaselineMeasure& measure : stage.measures)
      if (measure.measure.subject.empty())
        out.rows.push_back(row_of(stage.id, measure, shown.trends, last));
  for (const preflight::SettingFact& fact : shown.baseline.settings)
    out.settings.push_back(fmt::format("{}: {}", fact.setting, join(fact.values, ", ")));
  return out;
}

}  // namespace weir::ops
