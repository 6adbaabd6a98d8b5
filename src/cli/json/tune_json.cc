#include "cli/json/tune_json.h"

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

}  // namespace

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
