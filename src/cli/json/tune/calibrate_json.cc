#include "cli/json/tune/calibrate_json.h"

#include <cmath>

#include "base/json.h"
#include "cli/json/object.h"
#include "design/file/words.h"
#include "tune/calibration/plan_json.h"

namespace weir::cli {
namespace {

/// Four digits are more than a fit knows, and the same in every build.
Json rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? Json(0.0) : Json(nullptr);
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

/// Below that nothing is seen of a direction; what is left is rounding.
Json singular(double value) {
  constexpr double kNothing = 0.01;
  return value < kNothing ? Json(0.0) : rounded(value);
}

Json unknown_json(const tune::FittedUnknown& each) {
  const tune::UnknownInfo& info = tune::info_of(each.unknown);
  return {{"key", info.key},
          {"meaning", info.meaning},
          {"unit", info.is_ratio ? "ratio" : "us"},
          {"state", tune::to_text(each.state)},
          {"value", rounded(each.value)},
          {"low", rounded(each.low)},
          {"high", rounded(each.high)}};
}

Json fit_json(const tune::FitResult& fit) {
  Json unknowns = Json::array();
  for (const tune::FittedUnknown& each : fit.unknowns)
    unknowns.push_back(unknown_json(each));
  Json unseen = Json::array();
  for (const tune::UnseenDirection& direction : fit.unseen) {
    Json parts = Json::array();
    for (const auto& [unknown, part] : direction.parts)
      parts.push_back({{"key", tune::info_of(unknown).key}, {"part", rounded(part)}});
    unseen.push_back({{"singular_value", singular(direction.singular_value)},
                      {"parts", std::move(parts)},
                      {"frozen", tune::info_of(direction.frozen).key}});
  }
  Json rows = Json::array();
  for (const tune::FitRow& row : fit.rows)
    rows.push_back({{"trial", row.trial},
                    {"statistic", tune::to_text(row.statistic)},
                    {"unit", tune::unit_of(row.statistic)},
                    {"held_out", row.is_held_out},
                    {"repeats", row.repeats},
                    {"measured", rounded(row.measured)},
                    {"low", rounded(row.low)},
                    {"high", rounded(row.high)},
                    {"simulated", rounded(row.simulated)},
                    {"sigma", rounded(row.sigma)},
                    {"within", row.is_within()}});
  Json scopes = Json::array();
  for (const tune::ScopeScore& score : fit.scopes)
    scopes.push_back(
        {{"scope", design::to_word(score.scope)}, {"chi_square", rounded(score.chi_square)}});
  Json singular_values = Json::array();
  for (const double value : fit.singular_values)
    singular_values.push_back(singular(value));
  return {{"calibrated", fit.is_calibrated},
          {"unknowns", std::move(unknowns)},
          {"unseen", std::move(unseen)},
          {"singular_values", std::move(singular_values)},
          {"cnp_scope", fit.cnp_scope ? Json(design::to_word(*fit.cnp_scope)) : Json(nullptr)},
          {"cnp_scopes", std::move(scopes)},
          {"rows", std::move(rows)},
          {"chi_square", rounded(fit.chi_square)},
          {"residual", rounded(fit.residual)},
          {"range",
           {{"fan_in", fit.range.fan_in},
            {"flows", fit.range.flows},
            {"rdma_mtu_bytes", fit.range.rdma_mtu.raw()},
            {"speed_bps", fit.range.speed.raw()}}},
          {"runs", fit.points}};
}

}  // namespace

void print_calibration_plan_json(Context& context, const Command& command,
                                 const ops::PlannedCalibration& planned, std::string_view verdict,
                                 const std::string& folder) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["seconds"] = planned.plan.seconds();
  object["manifest"] = tune::to_json(planned.plan);
  object["notes"] = planned.plan.notes;
  object["commands"] = Json::array();
  for (const tune::Trial& trial : planned.plan.trials)
    for (const tune::PlanCommand& line :
         tune::commands_of(planned.plan, trial, 1, planned.fabric.intent))
      object["commands"].push_back({{"trial", trial.id},
                                    {"host", line.where},
                                    {"command", line.text},
                                    {"background", line.is_background}});
  object["written"] = Json::array();
  if (!folder.empty())
    for (const ops::PlannedFile& file : planned.files)
      object["written"].push_back(folder + "/" + file.path);
  print_json(context, object);
}

void print_calibrated_json(Context& context, const Command& command,
                           const ops::Calibrated& calibrated) {
  Json object = json_object(command);
  object["verdict"] = calibrated.fit.reason;
  object.update(fit_json(calibrated.fit));
  object["measured"] = tune::to_json(calibrated.measured);
  object["patch"] = calibrated.patch;
  object["written"] = calibrated.written;
  Json notes = calibrated.fit.notes;
  for (const std::string& note : calibrated.notes)
    notes.push_back(note);
  object["notes"] = std::move(notes);
  print_json(context, object);
}

void print_twins_json(Context& context, const Command& command,
                      const std::vector<tune::Twin>& twins, std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["simulated"] = true;
  object["twins"] = Json::array();
  for (const tune::Twin& twin : twins) {
    Json rows = Json::array();
    for (const tune::TwinRow& row : twin.rows) {
      Json each = unknown_json(row.fitted);
      each["hidden"] = rounded(row.hidden);
      each["error"] = rounded(row.error());
      rows.push_back(std::move(each));
    }
    object["twins"].push_back(
        {{"seed", twin.seed},
         {"hosts", twin.hosts},
         {"speed_bps", twin.speed.raw()},
         {"design", twin.text},
         {"recovered", twin.is_recovered(0.10)},
         {"identified", twin.identified()},
         {"worst_error", rounded(twin.worst_error())},
         {"hidden_cnp_scope", design::to_word(twin.hidden_scope)},
         {"cnp_scope",
          twin.fit.cnp_scope ? Json(design::to_word(*twin.fit.cnp_scope)) : Json(nullptr)},
         {"unknowns", std::move(rows)},
         {"fit_verdict", twin.fit.reason}});
  }
  print_json(context, object);
}

}  // namespace weir::cli
