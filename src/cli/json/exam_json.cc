#include "base/json.h"
#include "cli/json/developer_json.h"
#include "cli/json/diagnose_json.h"
#include "cli/json/object.h"
#include "evidence/json.h"
#include "finding/json.h"

namespace weir::cli {
namespace {

using lab::ExamReport;
using lab::ExamView;
using lab::ViewScore;

Json ratio(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json accuracy_json(const ViewScore& score) {
  const std::uint64_t all = score.faulty.runs + score.healthy.runs;
  Json out = {{"cause", ratio(score.faulty.cause, score.faulty.runs)},
              {"place", ratio(score.faulty.place, score.faulty.runs)},
              {"healthy", ratio(score.healthy.cause, score.healthy.runs)},
              {"inconclusive", ratio(score.faulty.inconclusive, score.faulty.runs)},
              {"called_healthy", ratio(score.faulty.called_healthy, score.faulty.runs)},
              {"confident_wrong",
               ratio(score.faulty.confident_wrong + score.healthy.confident_wrong, all)}};
  if (score.faulty.compared + score.healthy.compared > 0)
    out["outside_expectation"] = {
        {"broken", ratio(score.faulty.outside, score.faulty.compared)},
        {"healthy", ratio(score.healthy.outside, score.healthy.compared)}};
  return out;
}

Json view_json(const ViewScore& score) {
  Json out = accuracy_json(score);
  Json faults = Json::object();
  for (const auto& [name, tally] : score.by_fault)
    faults[name] = {{"runs", tally.runs},
                    {"cause", ratio(tally.cause, tally.runs)},
                    {"place", ratio(tally.place, tally.runs)}};
  out["by_fault"] = std::move(faults);
  Json confusion = Json::array();
  for (const auto& [pair, times] : score.wrong)
    confusion.push_back({{"fault", pair.first}, {"said", pair.second}, {"times", times}});
  out["confusion"] = std::move(confusion);
  return out;
}

}  // namespace

const ViewScore& score_of(const lab::ExamReport& report, lab::ExamView view) {
  return report.views.at(static_cast<std::size_t>(view));
}

std::string mark_text(const lab::Mark& mark) {
  if (mark.cause) return mark.place ? "right" : "right cause, wrong place";
  if (mark.inconclusive) return "inconclusive";
  return mark.confident_wrong ? "confident and wrong" : "wrong";
}

void print_exam_json(Context& context, const Command& command, const ExamReport& report,
                     std::string_view verdict) {
  Json object = json_object(command);
  const Json first = view_json(score_of(report, lab::kExamViews.front()));
  object["verdict"] = verdict;
  object["simulated"] = true;
  object["seeds"] = {{"first", report.first_seed},
                     {"last", report.last_seed},
                     {"counted", report.counted},
                     {"without_effect", report.uncounted},
                     {"redraws", report.redraws}};
  object["accuracy"] = {
      {"cause", first.at("cause")}, {"place", first.at("place")}, {"healthy", first.at("healthy")}};
  object["confident_wrong"] = first.at("confident_wrong");
  object["by_fault"] = first.at("by_fault");
  Json views = Json::object();
  for (const ExamView view : lab::kExamViews)
    views[std::string(lab::to_text(view))] = view_json(score_of(report, view));
  object["views"] = std::move(views);
  Json misses = Json::array();
  for (const lab::Miss& miss : report.misses)
    misses.push_back({{"seed", miss.seed},
                      {"view", lab::to_text(miss.view)},
                      {"fault", miss.fault},
                      {"said", miss.said},
                      {"replay", miss.replay}});
  object["misses"] = std::move(misses);
  print_json(context, object);
}

void print_replay_json(Context& context, const Command& command, const lab::ExamRun& run) {
  Json object = json_object(command);
  object["verdict"] = lab::name_of(run.question);
  object["simulated"] = true;
  object["seed"] = run.question.seed;
  object["counted"] = run.is_counted;
  object["design"] = run.question.text;
  object["workloads"] = run.question.workloads;
  object["faults"] = run.question.faults;
  object["witness"] = run.witness;
  Json views = Json::object();
  for (const ExamView view : lab::kExamViews) {
    const auto i = static_cast<std::size_t>(view);
    Json answer = finding::to_json(run.judgements.at(i));
    answer["mark"] = mark_text(run.marks.at(i));
    if (const auto& expected = run.expectations.at(i))
      answer["expectation"] = expectation_json(*expected);
    answer["evidence"] = Json::array();
    for (const evidence::Evidence& piece : run.evidence.at(i))
      answer["evidence"].push_back(evidence::to_json(piece));
    views[std::string(lab::to_text(view))] = std::move(answer);
  }
  object["views"] = std::move(views);
  print_json(context, object);
}

}  // namespace weir::cli
