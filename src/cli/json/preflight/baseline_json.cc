#include "cli/json/preflight/baseline_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json trend_json(const store::Trend& trend) {
  Json points = Json::array();
  for (const store::TrendPoint& point : trend.points)
    points.push_back({{"started", point.started}, {"p50", point.p50}, {"p99", point.p99}});
  return {{"stage", preflight::row_of(trend.stage).name},
          {"metric", trend.metric},
          {"unit", trend.unit},
          {"points", std::move(points)}};
}

Json saved_run_json(const store::RunRow& run) {
  return {{"started", run.started},      {"ended", run.ended}, {"design", run.design},
          {"digest", run.design_digest}, {"tool", run.tool},   {"verdict", run.verdict}};
}

Json baseline_entry_json(const ops::BaselineEntry& entry) {
  Json out = {{"name", entry.name}, {"problem", entry.problem}};
  if (!entry.baseline) {
    out["digest"] = nullptr;
    return out;
  }
  out["digest"] = preflight::digest_of(*entry.baseline);
  out["design"] = entry.baseline->identity.design;
  out["hosts"] = entry.baseline->identity.hosts;
  out["simulated"] = entry.baseline->identity.is_simulated;
  out["made"] = entry.baseline->made;
  out["runs"] = entry.baseline->runs;
  return out;
}

}  // namespace

void print_saved_json(Context& context, const Command& command, const ops::SavedBaseline& saved) {
  Json object = json_object(command);
  object["path"] = saved.path;
  object["name"] = saved.baseline.name;
  object["digest"] = preflight::digest_of(saved.baseline);
  object["runs"] = saved.baseline.runs;
  object["not_kept"] = saved.not_kept;
  print_json(context, object);
}

void print_baselines_json(Context& context, const Command& command, const ops::BaselineList& list) {
  Json object = json_object(command);
  object["baselines"] = Json::array();
  for (const ops::BaselineEntry& entry : list.entries)
    object["baselines"].push_back(baseline_entry_json(entry));
  object["runs"] = Json::array();
  for (const store::RunRow& run : list.runs)
    object["runs"].push_back(saved_run_json(run));
  print_json(context, object);
}

void print_baseline_json(Context& context, const Command& command,
                         const ops::ShownBaseline& shown) {
  Json object = json_object(command);
  object["baseline"] = preflight::to_json(shown.baseline);
  object["trends"] = Json::array();
  for (const store::Trend& trend : shown.trends)
    object["trends"].push_back(trend_json(trend));
  print_json(context, object);
}

void print_comparison_json(Context& context, const Command& command, const ops::ComparedRun& run,
                           std::string_view verdict) {
  Json object = judged_object(command, run.comparison.judgement, verdict);
  object.update(preflight::to_json(run.comparison));
  object["simulated"] = run.is_simulated;
  object["not_kept"] = run.not_kept;
  print_json(context, object);
}

void print_dropped_json(Context& context, const Command& command, std::string_view name) {
  Json object = json_object(command);
  object["dropped"] = name;
  print_json(context, object);
}

}  // namespace weir::cli
