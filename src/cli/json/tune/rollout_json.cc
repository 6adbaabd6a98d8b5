#include "cli/json/tune/rollout_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json change_interval_json(const tune::Change& change) {
  // One pair gives no interval, and infinity is no JSON.
  const bool has_interval = change.pairs >= 2;
  return {{"mean", change.mean},
          {"low", has_interval ? Json(change.low) : Json(nullptr)},
          {"high", has_interval ? Json(change.high) : Json(nullptr)},
          {"pairs", change.pairs},
          {"p_t", change.p_t},
          {"p_wilcoxon", change.p_wilcoxon}};
}

Json metric_json(const tune::MetricOutcome& outcome) {
  const tune::MetricInfo& info = tune::info_of(outcome.metric);
  return {{"metric", info.name},
          {"unit", info.unit},
          {"pairs", outcome.pairs},
          {"before", outcome.before},
          {"after", outcome.after},
          {"change", outcome.change ? change_interval_json(*outcome.change) : Json(nullptr)},
          {"blocks_above_zero",
           {{"before", outcome.before_moved},
            {"after", outcome.after_moved},
            {"fisher_p", outcome.fisher_p}}},
          {"pairs_needed", or_null(outcome.pairs_needed)},
          {"verdict", tune::to_text(outcome.verdict)}};
}

Json node_change_json(const tune::NodeChange& node) {
  Json live = nullptr;
  if (node.live != nullptr)
    live = {{"where", node.live->where},
            {"effect", tune::to_text(node.live->effect)},
            {"verified", node.live->is_verified},
            {"persistence", node.live->persistence},
            {"trap", node.live->trap},
            {"source", node.live->source}};
  return {{"node", node.node},         {"host", node.is_host},   {"ports", node.ports},
          {"commands", node.commands}, {"undo", node.undo},      {"notes", node.notes},
          {"why_none", node.why_none}, {"live", std::move(live)}};
}

Json part_json(const tune::RolloutPart& part) {
  Json nodes = Json::array();
  for (const tune::NodeChange& node : part.nodes)
    nodes.push_back(node_change_json(node));
  return {{"knob", part.change.knob},
          {"from", part.change.from},
          {"to", part.change.to},
          {"design_settings", part.settings},
          {"nodes", std::move(nodes)}};
}

Json rollout_step_json(const tune::RolloutStep& step) {
  Json out = {{"name", step.name},
              {"place", tune::to_text(step.place)},
              {"window", step.needs_window()},
              {"void", step.is_void()},
              {"order", step.why_order},
              {"forecast", nullptr},
              {"stages", Json::array()},
              {"parts", Json::array()}};
  if (step.forecast)
    out["forecast"] = {{"change", change_interval_json(step.forecast->objective)},
                       {"basis", step.forecast->basis},
                       {"exact", step.forecast->is_exact}};
  for (const tune::CanaryStage& stage : step.stages)
    out["stages"].push_back({{"stage", stage.name},
                             {"hosts", stage.hosts},
                             {"switches", stage.switches},
                             {"rule", stage.rule}});
  for (const tune::RolloutPart& part : step.parts)
    out["parts"].push_back(part_json(part));
  return out;
}

Json counter_spread_json(const tune::Spread& spread) {
  return {{"mean", spread.mean}, {"min", spread.least}, {"max", spread.most}};
}

}  // namespace

void print_rollout_json(Context& context, const Command& command,
                        const ops::PlannedRollout& planned, std::string_view verdict,
                        const std::string& folder) {
  const tune::RolloutPlan& plan = planned.plan;
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = plan.design;
  object["objective"] = tune::to_text(plan.objective);
  object["gain"] = change_interval_json(plan.gain);
  object["preflight"] = plan.preflight;
  object["steps"] = Json::array();
  for (const tune::RolloutStep& step : plan.steps)
    object["steps"].push_back(rollout_step_json(step));
  object["predicted"] = Json::array();
  for (const tune::CounterForecast& row : plan.counters)
    object["predicted"].push_back({{"workload", row.workload},
                                   {"counter", row.counter},
                                   {"unit", row.unit},
                                   {"before", counter_spread_json(row.start)},
                                   {"after", counter_spread_json(row.chosen)}});
  object["criteria"] = Json::array();
  for (const tune::Criterion& criterion : plan.criteria)
    object["criteria"].push_back({{"id", criterion.id}, {"rule", criterion.rule}});
  object["blocks"] = {{"order", "A B B A"}, {"pairs", tune::kLeastPairs}, {"minutes", 5}};
  object["after"] = plan.after;
  object["notes"] = plan.notes;
  object["files"] = Json::array();
  for (const ops::RolloutFile& file : planned.files)
    object["files"].push_back(folder.empty() ? file.path : folder + "/" + file.path);
  object["written"] = !folder.empty();
  print_json(context, object);
}

void print_judged_json(Context& context, const Command& command, const tune::Judged& judged,
                       std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["decision"] = tune::to_text(judged.verdict);
  object["reason"] = judged.reason;
  object["pairs"] = judged.pairs;
  object["goal"] = judged.goal ? Json(tune::info_of(*judged.goal).name) : Json(nullptr);
  object["loss_checked"] = judged.is_loss_checked();
  object["metrics"] = Json::array();
  for (const tune::MetricOutcome& outcome : judged.metrics)
    object["metrics"].push_back(metric_json(outcome));
  object["criteria"] = Json::array();
  for (const tune::Criterion& criterion : judged.criteria)
    object["criteria"].push_back({{"id", criterion.id},
                                  {"rule", criterion.rule},
                                  {"state", tune::to_text(criterion.state)},
                                  {"text", criterion.text}});
  object["prediction"] = nullptr;
  if (judged.prediction)
    object["prediction"] = {
        {"origin", judged.prediction->origin},
        {"change", change_interval_json(judged.prediction->change)},
        {"as_predicted", judged.is_as_predicted ? Json(*judged.is_as_predicted) : Json(nullptr)}};
  object["notes"] = judged.notes;
  object["simulated"] = judged.is_simulated;
  print_json(context, object);
}

}  // namespace weir::cli
