#include "tune/calibration/plan_json.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/name_policy.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostRows = 1'024;
constexpr std::size_t kMostRepeats = 100;

Result<std::int64_t> bounded(const JsonCursor& at, std::string_view key, std::int64_t low,
                             std::int64_t high) {
  WEIR_TRY(place, at.member(key));
  WEIR_TRY(number, place.integer());
  if (number < low || number > high)
    return place.wrong(fmt::format("a number from {} to {}", low, high));
  return number;
}

Result<std::string> name_at(const JsonCursor& at, NameKind kind) {
  WEIR_TRY(text, at.text());
  WEIR_TRY_STATUS(check_name(kind, text, at.pointer()));
  return text;
}

Result<std::vector<std::string>> names_at(const JsonCursor& at, std::string_view key,
                                          std::size_t most) {
  WEIR_TRY(list, at.member(key));
  WEIR_TRY_STATUS(list.expect_array());
  if (list.size() > most) return list.wrong(fmt::format("at most {} names", most));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    WEIR_TRY(name, name_at(list.at(i), NameKind::kHost));
    out.push_back(std::move(name));
  }
  return out;
}

Result<bool> flag_at(const JsonCursor& at, std::string_view key, bool fallback) {
  const auto place = at.find(key);
  if (!place) return fallback;
  return place->boolean();
}

Result<Trial> trial_from(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  Trial out;
  WEIR_TRY(id_at, at.member("id"));
  WEIR_TRY(id, name_at(id_at, NameKind::kWord));
  out.id = std::move(id);
  WEIR_TRY(kind_at, at.member("kind"));
  WEIR_TRY(kind_text, kind_at.text());
  const auto kind = parse_trial_kind(kind_text);
  if (!kind) return kind_at.wrong("latency, bandwidth, incast or join");
  out.kind = *kind;
  WEIR_TRY(senders, names_at(at, "senders", 64));
  out.senders = std::move(senders);
  WEIR_TRY(receiver_at, at.member("receiver"));
  WEIR_TRY(receiver, name_at(receiver_at, NameKind::kHost));
  out.receiver = std::move(receiver);
  if (const auto probe_at = at.find("probe")) {
    WEIR_TRY(probe, name_at(*probe_at, NameKind::kHost));
    out.probe = std::move(probe);
  }
  WEIR_TRY(qps, bounded(at, "qps", 1, 256));
  out.qps = static_cast<int>(qps);
  WEIR_TRY(size, bounded(at, "size_bytes", 1, std::int64_t{64} << 20U));
  out.size = Bytes::raw(size);
  if (at.find("depth")) {
    WEIR_TRY(depth, bounded(at, "depth", 1, 16'384));
    out.depth = static_cast<int>(depth);
  }
  WEIR_TRY(has_reaction_point, flag_at(at, "reaction_point", true));
  out.has_reaction_point = has_reaction_point;
  WEIR_TRY(is_level, flag_at(at, "level", false));
  out.is_level = is_level;
  WEIR_TRY(is_held_out, flag_at(at, "held_out", false));
  out.is_held_out = is_held_out;
  WEIR_TRY(seconds, bounded(at, out.kind == TrialKind::kJoin ? "joins" : "seconds", 1, 3'600));
  out.seconds = static_cast<int>(seconds);
  if (const auto purpose_at = at.find("purpose")) {
    WEIR_TRY(purpose, purpose_at->text());
    out.purpose = purpose.substr(0, 200);
  }
  return out;
}

Result<CalibrationPlan> plan_from(const JsonCursor& at) {
  CalibrationPlan out;
  WEIR_TRY(design_at, at.member("design"));
  WEIR_TRY(design, name_at(design_at, NameKind::kTitle));
  out.design = std::move(design);
  WEIR_TRY(rail, bounded(at, "rail", 0, 63));
  out.rail = static_cast<int>(rail);
  WEIR_TRY(repeats, bounded(at, "repeats", 2, kMostRepeats));
  out.repeats = static_cast<int>(repeats);
  WEIR_TRY(hosts, names_at(at, "hosts", 64));
  out.hosts = std::move(hosts);
  WEIR_TRY(trials, at.member("trials"));
  WEIR_TRY_STATUS(trials.expect_array());
  if (trials.size() > kMostRows) return trials.wrong("fewer trials");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    WEIR_TRY(trial, trial_from(trials.at(i)));
    if (out.find(trial.id) != nullptr) return trials.at(i).wrong("a name of its own");
    out.trials.push_back(std::move(trial));
  }
  return out;
}

Result<MeasuredStatistic> measured_from(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  MeasuredStatistic out;
  WEIR_TRY(trial_at, at.member("trial"));
  WEIR_TRY(trial, trial_at.text());
  out.trial = std::move(trial);
  WEIR_TRY(statistic_at, at.member("statistic"));
  WEIR_TRY(text, statistic_at.text());
  const auto statistic = parse_statistic(text);
  if (!statistic) return statistic_at.wrong("a statistic such as latency or mark_share");
  out.statistic = *statistic;
  WEIR_TRY(repeats, at.member("repeats"));
  WEIR_TRY_STATUS(repeats.expect_array());
  if (repeats.size() > kMostRepeats)
    return repeats.wrong(fmt::format("at most {} repeats", kMostRepeats));
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    WEIR_TRY(value, repeats.at(i).number());
    constexpr double kLargest = 1e12;
    if (!(value >= 0 && value <= kLargest)) return repeats.at(i).wrong("a number from 0 to 1e12");
    out.repeats.push_back(value);
  }
  return out;
}

}  // namespace

Json to_json(const Trial& trial) {
  Json out = {{"id", trial.id},
              {"kind", to_text(trial.kind)},
              {"senders", trial.senders},
              {"receiver", trial.receiver},
              {"probe", trial.probe.empty() ? Json(nullptr) : Json(trial.probe)},
              {"qps", trial.qps},
              {"size_bytes", trial.size.raw()},
              {"depth", trial.depth},
              {"reaction_point", trial.has_reaction_point},
              {"level", trial.is_level},
              {"held_out", trial.is_held_out},
              {trial.kind == TrialKind::kJoin ? "joins" : "seconds", trial.seconds},
              {"purpose", trial.purpose}};
  return out;
}

Json to_json(const CalibrationPlan& plan) {
  Json out = {{"schema", kManifestSchema}, {"design", plan.design}, {"rail", plan.rail},
              {"repeats", plan.repeats},   {"hosts", plan.hosts},   {"trials", Json::array()}};
  for (const Trial& trial : plan.trials)
    out["trials"].push_back(to_json(trial));
  return out;
}

Json to_json(const std::vector<MeasuredStatistic>& measured) {
  Json out = Json::array();
  for (const MeasuredStatistic& each : measured)
    out.push_back({{"trial", each.trial},
                   {"statistic", to_text(each.statistic)},
                   {"unit", unit_of(each.statistic)},
                   {"repeats", each.repeats}});
  return out;
}

Result<Manifest> manifest_from_text(std::string_view text) {
  WEIR_TRY(document, parse_json(text));
  const JsonCursor root(document);
  WEIR_TRY_STATUS(root.expect_object());
  WEIR_TRY(schema_at, root.member("schema"));
  WEIR_TRY(schema, schema_at.text());
  if (schema != kManifestSchema) return schema_at.wrong(fmt::format("\"{}\"", kManifestSchema));
  Manifest out;
  WEIR_TRY(plan, plan_from(root));
  out.plan = std::move(plan);
  const auto measured = root.find("measured");
  if (!measured) return out;
  WEIR_TRY_STATUS(measured->expect_array());
  if (measured->size() > kMostRows) return measured->wrong("fewer rows");
  for (std::size_t i = 0; i < measured->size(); ++i) {
    WEIR_TRY(row, measured_from(measured->at(i)));
    out.measured.push_back(std::move(row));
  }
  return out;
}

}  // namespace weir::tune
