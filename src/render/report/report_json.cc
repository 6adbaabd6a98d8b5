// The report as JSON, for programs: nothing is shortened.
#include "base/json.h"
#include "finding/json.h"
#include "render/report/report.h"

namespace weir::render {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json question_json(const Question& asked) {
  return {{"question", asked.question},
          {"answer", asked.answer == Answer::kYes         ? "yes"
                     : asked.answer == Answer::kNo        ? "no"
                     : asked.answer == Answer::kNotNeeded ? "not needed"
                                                          : "unknown"},
          {"good", asked.answer == Answer::kUnknown ? Json(nullptr) : Json(asked.is_good)},
          {"why", asked.why}};
}

Json step_json(const PlanStep& step) {
  Json fixes = Json::array();
  for (const finding::Fix& fix : step.fixes)
    fixes.push_back({{"platform", fix.platform}, {"commands", fix.commands}, {"note", fix.note}});
  return {{"problem", step.problem}, {"priority", step.priority}, {"what", step.what},
          {"where", step.where},     {"fix", std::move(fixes)},   {"retest", step.retest}};
}

Json timeline_json(const Timeline& timeline) {
  Json panels = Json::array();
  for (const Panel& panel : timeline.panels) {
    Json curves = Json::array();
    for (const Curve& curve : panel.curves)
      curves.push_back({{"label", curve.label}, {"values", curve.values}});
    panels.push_back({{"title", panel.title}, {"unit", panel.unit}, {"curves", std::move(curves)}});
  }
  return {{"times_us", timeline.times_us}, {"panels", std::move(panels)}, {"note", timeline.note}};
}

Json rail_json(const RailRow& row) {
  return {{"host", row.host},
          {"device", row.device},
          {"rail", or_null(row.rail)},
          {"sent_gbps", or_null(row.sent_gbps)},
          {"received_gbps", or_null(row.received_gbps)},
          {"paused_share", or_null(row.paused_share)},
          {"pausing_share", or_null(row.pausing_share)},
          {"marked", or_null(row.marked)},
          {"cnps_sent", or_null(row.cnps_sent)},
          {"cnps_handled", or_null(row.cnps_handled)},
          {"out_of_order", or_null(row.out_of_order)},
          {"discards", or_null(row.discards)}};
}

Json baseline_part_json(const BaselinePart& part) {
  Json rows = Json::array();
  for (const BaselineRow& row : part.rows)
    rows.push_back({{"what", row.what},
                    {"count", row.count},
                    {"p50", row.p50},
                    {"p99", row.p99},
                    {"p999", row.p999},
                    {"spread", row.spread},
                    {"now", row.now},
                    {"regressed", row.is_regressed},
                    {"trend", row.trend}});
  return {{"title", part.title},
          {"verdict", part.verdict},
          {"rows", std::move(rows)},
          {"settings", part.settings}};
}

}  // namespace

void add_report_json(Json& object, const Report& report) {
  object["title"] = report.title;
  object["verdict"] = report.verdict.empty() ? verdict_of(report.judgement) : report.verdict;
  object["summary_text"] = report.summary;
  object["simulated"] = report.is_simulated;
  object["subject"] = report.subject;
  object["source"] = report.source;
  object["time"] = report.time;
  object["tool"] = report.tool;
  object["numbers"] = Json::array();
  for (const KeyNumber& number : report.numbers)
    object["numbers"].push_back(
        {{"name", number.name}, {"value", number.value}, {"note", number.note}});
  object["questions"] = Json::array();
  for (const Question& question : report.questions)
    object["questions"].push_back(question_json(question));
  object["baseline"] = report.baseline ? baseline_part_json(*report.baseline) : Json(nullptr);
  object["measured"] = Json::array();
  for (const Measurement& measurement : report.measured)
    object["measured"].push_back({{"what", measurement.what},
                                  {"command", measurement.command},
                                  {"result", measurement.result}});
  object.update(finding::to_json(report.judgement));
  object["plan"] = Json::array();
  for (const PlanStep& step : plan_of(report))
    object["plan"].push_back(step_json(step));
  object["timeline"] = timeline_json(report.timeline);
  object["links"] = Json::array();
  for (const LinkLoad& load : report.loads)
    object["links"].push_back(
        {{"link", load.link}, {"up", or_null(load.up)}, {"down", or_null(load.down)}});
  object["rails"] = Json::array();
  for (const RailRow& row : report.rails)
    object["rails"].push_back(rail_json(row));
  object["notes"] = report.notes;
}

}  // namespace weir::render
