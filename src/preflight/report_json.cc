#include <fmt/format.h>

#include "base/json.h"
#include "finding/json.h"
#include "preflight/report.h"

namespace weir::preflight {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

Json stage_json(const StageResult& stage) {
  Json measures = Json::array();
  for (const Measure& measure : stage.measures)
    measures.push_back(to_json(measure));
  Json out = {{"number", number_of(stage.id)},
              {"name", row_of(stage.id).name},
              {"state", to_text(stage.state)},
              {"why", stage.why},
              {"budget", stage.budget},
              {"took_us", stage.took.raw() / kPicosecondsPerMicrosecond},
              {"measures", std::move(measures)},
              {"notes", stage.notes},
              {"totals", stage.totals ? diagnose::to_json(*stage.totals) : Json(nullptr)}};
  out.update(finding::to_json(stage.judgement));
  return out;
}

Result<double> number_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(member, at.member(key));
  return member.number();
}

Result<std::string> text_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(member, at.member(key));
  return member.text();
}

Result<bool> boolean_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(member, at.member(key));
  return member.boolean();
}

Result<std::vector<std::string>> texts_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(list, at.member(key));
  WEIR_TRY_STATUS(list.expect_array());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonCursor element = list.at(i);
    WEIR_TRY(text, element.text());
    out.push_back(std::move(text));
  }
  return out;
}

Result<StageResult> stage_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  StageResult out;
  WEIR_TRY(name, text_at(at, "name"));
  WEIR_TRY(id, parse_stage(name));
  out.id = id;
  WEIR_TRY(state_text, text_at(at, "state"));
  const std::optional<State> state = parse_state(state_text);
  if (!state) return at.wrong("a state of a stage");
  out.state = *state;
  WEIR_TRY(why, text_at(at, "why"));
  out.why = std::move(why);
  WEIR_TRY(budget, text_at(at, "budget"));
  out.budget = std::move(budget);
  WEIR_TRY(took_at, at.member("took_us"));
  WEIR_TRY(took, took_at.whole_number());
  constexpr std::uint64_t kLongest = 1'000'000'000'000;  // 11 days, in microseconds
  if (took > kLongest) return took_at.wrong("a time of at most 11 days");
  out.took = Duration::raw(static_cast<std::int64_t>(took) * kPicosecondsPerMicrosecond);
  WEIR_TRY(notes, texts_at(at, "notes"));
  out.notes = std::move(notes);
  WEIR_TRY(measures, at.member("measures"));
  WEIR_TRY_STATUS(measures.expect_array());
  for (std::size_t i = 0; i < measures.size(); ++i) {
    WEIR_TRY(measure, measure_from_json(measures.at(i)));
    out.measures.push_back(std::move(measure));
  }
  if (const auto totals_at = at.find("totals")) {
    WEIR_TRY(totals, diagnose::totals_from_json(*totals_at));
    out.totals = totals;
  }
  WEIR_TRY(judgement, finding::judgement_from_json(at.value()));
  out.judgement = std::move(judgement);
  return out;
}

}  // namespace

Json to_json(const Measure& measure) {
  const Distribution& values = measure.values;
  return {
      {"metric", measure.metric}, {"subject", measure.subject},
      {"unit", measure.unit},     {"better", to_text(measure.better)},
      {"count", values.count},    {"min", values.least},
      {"p50", values.p50},        {"p95", values.p95},
      {"p99", values.p99},        {"p999", values.p999},
      {"max", values.most},       {"floor", measure.floor ? Json(*measure.floor) : Json(nullptr)}};
}

Json to_json(const Identity& identity) {
  Json out = {{"design", identity.design},
              {"digest", identity.digest},
              {"simulated", identity.is_simulated},
              {"quick", identity.is_quick},
              {"hosts", identity.hosts},
              {"drivers", identity.drivers},
              {"firmwares", identity.firmwares},
              {"kernels", identity.kernels},
              {"speeds", identity.speeds},
              {"mtus", identity.mtus},
              {"switch_systems", identity.switches}};
  // Left out and not null: the digest of a baseline that does not say stays as it was.
  if (identity.perftest) out["perftest"] = *identity.perftest;
  if (identity.collective) out["collective"] = *identity.collective;
  if (identity.thresholds) out["thresholds"] = *identity.thresholds;
  return out;
}

Json to_json(const std::vector<SettingFact>& settings) {
  Json list = Json::array();
  for (const SettingFact& fact : settings)
    list.push_back({{"setting", fact.setting}, {"values", fact.values}});
  return list;
}

Json to_json(const Report& report) {
  Json list = Json::array();
  for (const StageResult& stage : report.stages)
    list.push_back(stage_json(stage));
  Json lost = Json::array();
  for (const LostHost& host : report.lost)
    lost.push_back({{"host", host.name}, {"stage", row_of(host.stage).name}, {"why", host.why}});
  const Failing failing = failing_of(report);
  return {{"decision", to_text(report.verdict())},
          {"identity", to_json(report.identity)},
          {"tool", report.tool},
          {"started", report.started},
          {"ended", report.ended},
          {"settings", to_json(report.settings)},
          {"unseen", report.unseen},
          {"lost", std::move(lost)},
          {"failing",
           {{"hosts", failing.hosts},
            {"rails", failing.rails},
            {"switches", failing.switches},
            {"links", failing.links}}},
          {"stages", std::move(list)}};
}

Result<Measure> measure_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  Measure out;
  WEIR_TRY(metric, text_at(at, "metric"));
  out.metric = std::move(metric);
  if (const auto subject_at = at.find("subject")) {
    WEIR_TRY(subject, subject_at->text());
    out.subject = std::move(subject);
  }
  WEIR_TRY(unit, text_at(at, "unit"));
  out.unit = std::move(unit);
  WEIR_TRY(better, text_at(at, "better"));
  if (better != "more" && better != "less") return at.wrong("\"better\" to be more or less");
  out.better = better == "more" ? Better::kMore : Better::kLess;
  WEIR_TRY(count_at, at.member("count"));
  WEIR_TRY(count, count_at.whole_number());
  out.values.count = count;
  const auto read = [&](std::string_view key, double& into) -> Status {
    WEIR_TRY(value, number_at(at, key));
    into = value;
    return {};
  };
  WEIR_TRY_STATUS(read("min", out.values.least));
  WEIR_TRY_STATUS(read("p50", out.values.p50));
  WEIR_TRY_STATUS(read("p95", out.values.p95));
  WEIR_TRY_STATUS(read("p99", out.values.p99));
  WEIR_TRY_STATUS(read("p999", out.values.p999));
  WEIR_TRY_STATUS(read("max", out.values.most));
  if (const auto floor_at = at.find("floor")) {
    WEIR_TRY(value, floor_at->number());
    out.floor = value;
  }
  return out;
}

Result<Identity> identity_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  Identity out;
  WEIR_TRY(design, text_at(at, "design"));
  out.design = std::move(design);
  WEIR_TRY(digest, text_at(at, "digest"));
  out.digest = std::move(digest);
  WEIR_TRY(simulated, boolean_at(at, "simulated"));
  out.is_simulated = simulated;
  WEIR_TRY(quick, boolean_at(at, "quick"));
  out.is_quick = quick;
  WEIR_TRY(hosts_at, at.member("hosts"));
  WEIR_TRY(hosts, hosts_at.whole_number());
  out.hosts = hosts;
  const auto read = [&](std::string_view key, std::vector<std::string>& into) -> Status {
    WEIR_TRY(list, texts_at(at, key));
    into = std::move(list);
    return {};
  };
  WEIR_TRY_STATUS(read("drivers", out.drivers));
  WEIR_TRY_STATUS(read("firmwares", out.firmwares));
  WEIR_TRY_STATUS(read("kernels", out.kernels));
  WEIR_TRY_STATUS(read("speeds", out.speeds));
  WEIR_TRY_STATUS(read("mtus", out.mtus));
  if (at.find("switch_systems")) WEIR_TRY_STATUS(read("switch_systems", out.switches));
  for (const auto& [key, into] :
       {std::pair("perftest", &out.perftest), {"collective", &out.collective}}) {
    if (!at.find(key)) continue;
    WEIR_TRY(text, text_at(at, key));
    *into = std::move(text);
  }
  if (at.find("thresholds")) WEIR_TRY_STATUS(read("thresholds", out.thresholds.emplace()));
  return out;
}

Result<std::vector<SettingFact>> settings_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_array());
  std::vector<SettingFact> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const JsonCursor element = at.at(i);
    WEIR_TRY_STATUS(element.expect_object());
    WEIR_TRY(setting, text_at(element, "setting"));
    WEIR_TRY(values, texts_at(element, "values"));
    out.push_back({std::move(setting), std::move(values)});
  }
  return out;
}

namespace {

Result<std::vector<LostHost>> lost_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_array());
  std::vector<LostHost> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const JsonCursor element = at.at(i);
    WEIR_TRY_STATUS(element.expect_object());
    LostHost host;
    WEIR_TRY(name, text_at(element, "host"));
    host.name = std::move(name);
    WEIR_TRY(stage_name, text_at(element, "stage"));
    WEIR_TRY(stage, parse_stage(stage_name));
    host.stage = stage;
    WEIR_TRY(why, text_at(element, "why"));
    host.why = std::move(why);
    out.push_back(std::move(host));
  }
  return out;
}

}  // namespace

Result<Report> report_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  Report out = empty_report();
  WEIR_TRY(identity_at, at.member("identity"));
  WEIR_TRY(identity, identity_from_json(identity_at));
  out.identity = std::move(identity);
  WEIR_TRY(tool, text_at(at, "tool"));
  out.tool = std::move(tool);
  // Times, settings and counts: not in files of earlier versions.
  for (const auto& [key, into] : {std::pair("started", &out.started), {"ended", &out.ended}}) {
    if (!at.find(key)) continue;
    WEIR_TRY(text, text_at(at, key));
    *into = std::move(text);
  }
  if (const auto settings_at = at.find("settings")) {
    WEIR_TRY(settings, settings_from_json(*settings_at));
    out.settings = std::move(settings);
  }
  if (at.find("unseen")) {
    WEIR_TRY(unseen, texts_at(at, "unseen"));
    out.unseen = std::move(unseen);
  }
  if (const auto lost_at = at.find("lost")) {
    WEIR_TRY(lost, lost_from_json(*lost_at));
    out.lost = std::move(lost);
  }
  WEIR_TRY(list, at.member("stages"));
  WEIR_TRY_STATUS(list.expect_array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    WEIR_TRY(stage, stage_from_json(list.at(i)));
    out.stages.at(number_of(stage.id)) = std::move(stage);
  }
  return out;
}

}  // namespace weir::preflight
