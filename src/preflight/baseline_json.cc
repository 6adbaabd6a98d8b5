#include <cmath>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/name_policy.h"
#include "finding/json.h"
#include "preflight/baseline.h"

namespace weir::preflight {
namespace {

constexpr std::string_view kBaselineSchema = "weir/baseline/1";
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

Json share_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json baseline_stage_json(const BaselineStage& stage) {
  Json measures = Json::array();
  for (const BaselineMeasure& measure : stage.measures) {
    Json each = to_json(measure.measure);
    each["spread_p50"] = share_or_null(measure.spread_p50);
    each["spread_tail"] = share_or_null(measure.spread_tail);
    measures.push_back(std::move(each));
  }
  Json counters = Json::array();
  for (const BaselineCounter& counter : stage.counters)
    counters.push_back({{"name", counter.name},
                        {"unit", unit_of_counters(stage.id)},
                        {"value", counter.value},
                        {"spread", share_or_null(counter.spread)}});
  return {{"number", number_of(stage.id)},
          {"name", row_of(stage.id).name},
          {"measures", std::move(measures)},
          {"counters", std::move(counters)}};
}

/// All but the digest.
Json body_of(const Baseline& baseline) {
  Json list = Json::array();
  for (const BaselineStage& stage : baseline.stages)
    list.push_back(baseline_stage_json(stage));
  return {{"schema", kBaselineSchema},
          {"name", baseline.name},
          {"made", baseline.made},
          {"tool", baseline.tool},
          {"runs", baseline.runs},
          {"identity", to_json(baseline.identity)},
          {"settings", to_json(baseline.settings)},
          {"stages", std::move(list)}};
}

std::string digest_of_body(const Json& body) {
  Digest digest;
  digest.add(body.dump(-1, ' ', false, Json::error_handler_t::replace));
  return digest.to_text();
}

Result<std::optional<double>> spread_at(const JsonCursor& at, std::string_view key) {
  const auto found = at.find(key);
  if (!found) return std::optional<double>();
  WEIR_TRY(value, found->number());
  if (!(value >= 0) || !std::isfinite(value)) return found->wrong("a share, not negative");
  return std::optional(value);
}

Result<BaselineMeasure> baseline_measure(const JsonCursor& at) {
  WEIR_TRY(measure, measure_from_json(at));
  WEIR_TRY(middle, spread_at(at, "spread_p50"));
  WEIR_TRY(tail, spread_at(at, "spread_tail"));
  return BaselineMeasure{std::move(measure), middle, tail};
}

Result<BaselineCounter> baseline_counter(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  WEIR_TRY(name_at, at.member("name"));
  WEIR_TRY(name, name_at.text());
  WEIR_TRY(value_at, at.member("value"));
  WEIR_TRY(value, value_at.number());
  WEIR_TRY(spread, spread_at(at, "spread"));
  return BaselineCounter{std::move(name), value, spread};
}

Result<BaselineStage> baseline_stage(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  BaselineStage out;
  WEIR_TRY(name_at, at.member("name"));
  WEIR_TRY(name, name_at.text());
  WEIR_TRY(id, parse_stage(name));
  out.id = id;
  WEIR_TRY(measures, at.member("measures"));
  WEIR_TRY_STATUS(measures.expect_array());
  for (std::size_t i = 0; i < measures.size(); ++i) {
    WEIR_TRY(measure, baseline_measure(measures.at(i)));
    out.measures.push_back(std::move(measure));
  }
  WEIR_TRY(counters, at.member("counters"));
  WEIR_TRY_STATUS(counters.expect_array());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    WEIR_TRY(counter, baseline_counter(counters.at(i)));
    out.counters.push_back(std::move(counter));
  }
  return out;
}

Result<std::string> baseline_field(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(member, at.member(key));
  return member.text();
}

Result<Baseline> baseline_body(const JsonCursor& at) {
  Baseline out;
  WEIR_TRY(name, baseline_field(at, "name"));
  WEIR_TRY_STATUS(check_name(NameKind::kWord, name, "/name"));
  out.name = std::move(name);
  WEIR_TRY(made, baseline_field(at, "made"));
  out.made = std::move(made);
  WEIR_TRY(tool, baseline_field(at, "tool"));
  out.tool = std::move(tool);
  WEIR_TRY(runs_at, at.member("runs"));
  WEIR_TRY(runs, runs_at.whole_number());
  out.runs = runs;
  WEIR_TRY(identity_at, at.member("identity"));
  WEIR_TRY(identity, identity_from_json(identity_at));
  out.identity = std::move(identity);
  WEIR_TRY(settings_at, at.member("settings"));
  WEIR_TRY(settings, settings_from_json(settings_at));
  out.settings = std::move(settings);
  WEIR_TRY(list, at.member("stages"));
  WEIR_TRY_STATUS(list.expect_array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    WEIR_TRY(stage, baseline_stage(list.at(i)));
    out.stages.push_back(std::move(stage));
  }
  return out;
}

Json difference_list(const std::vector<IdentityDifference>& list) {
  Json out = Json::array();
  for (const IdentityDifference& each : list)
    out.push_back({{"field", each.field}, {"was", each.was}, {"is", each.is}});
  return out;
}

}  // namespace

Json to_json(const Baseline& baseline) {
  const Json body = body_of(baseline);
  Json out = Json::object();
  for (const auto& [key, value] : body.items()) {
    out[key] = value;
    if (key == "name") out["digest"] = digest_of_body(body);
  }
  return out;
}

std::string baseline_text(const Baseline& baseline) {
  return to_json(baseline).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string digest_of(const Baseline& baseline) {
  return digest_of_body(body_of(baseline));
}

Result<Baseline> baseline_from_text(std::string_view text) {
  if (text.size() > kMostBytes) return parse_error("more than 64 MiB: no baseline");
  WEIR_TRY(document, parse_json(text));
  const JsonCursor at(document);
  WEIR_TRY_STATUS(at.expect_object());
  WEIR_TRY(schema, baseline_field(at, "schema"));
  if (schema != kBaselineSchema)
    return parse_error(
        fmt::format("/schema: expected \"{}\", found \"{}\"", kBaselineSchema, schema));
  WEIR_TRY(out, baseline_body(at));
  WEIR_TRY(digest, baseline_field(at, "digest"));
  const std::string found = digest_of(out);
  if (digest != found)
    return parse_error(fmt::format(
        "/digest: {} is not the digest of what the file holds ({}): it was changed after "
        "it was saved. Save it again from its runs",
        digest, found));
  return out;
}

Json to_json(const Comparison& comparison) {
  Json values = Json::array();
  for (const ComparedValue& value : comparison.values)
    values.push_back({{"stage", row_of(value.stage).name},
                      {"metric", value.metric},
                      {"subject", value.subject},
                      {"quantile", value.quantile},
                      {"unit", value.unit},
                      {"was", value.was},
                      {"is", value.is},
                      {"worse", value.worse},
                      {"limit", value.limit},
                      {"floor", value.floor ? Json(*value.floor) : Json(nullptr)},
                      {"change", to_text(value.change)},
                      {"judged", value.is_judged}});
  return {{"baseline", comparison.baseline},
          {"digest", comparison.digest},
          {"outcome", to_text(comparison.outcome())},
          {"regressions", comparison.regressions()},
          {"started", comparison.started},
          {"not_comparable", difference_list(comparison.unlike)},
          {"noted", difference_list(comparison.noted)},
          {"values", std::move(values)},
          {"missing", comparison.missing}};
}

}  // namespace weir::preflight
