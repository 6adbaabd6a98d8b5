#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "finding/json.h"
#include "ops/report/report_input.h"
#include "ops/source/snapshot_file.h"
#include "units/format.h"

namespace weir::ops {
namespace {

/// A number at a path of keys, or nullopt: the format may grow and shrink.
std::optional<double> number_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* at = &json;
  for (const char* key : keys) {
    if (!at->is_object()) return std::nullopt;
    const auto found = at->find(key);
    if (found == at->end()) return std::nullopt;
    at = &*found;
  }
  return at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A number of a file may be anything; beyond 64 bits it is the end of them.
std::int64_t whole(double number) {
  constexpr double kEnd = 9e18;
  return static_cast<std::int64_t>(std::clamp(std::isnan(number) ? 0 : number, -kEnd, kEnd));
}

std::string count_text(double count) {
  return with_thousands(whole(count));
}

std::string time_text(double us) {
  return approximate(Duration::raw(whole(us * 1e6)));
}

void add_number(render::Report& report, std::string name, std::optional<std::string> value,
                std::string note = "") {
  if (value) report.numbers.push_back({std::move(name), std::move(*value), std::move(note)});
}

void add_sim_numbers(const Json& json, render::Report& report) {
  const auto time = [&](std::initializer_list<const char*> keys) {
    const auto us = number_at(json, keys);
    return us ? std::optional(time_text(*us)) : std::nullopt;
  };
  const auto count = [&](std::initializer_list<const char*> keys) {
    const auto number = number_at(json, keys);
    return number ? std::optional(count_text(*number)) : std::nullopt;
  };
  add_number(report, "Lossless drops", count({"lossless_drops"}),
             number_at(json, {"lossless_drops"}).value_or(0) == 0 ? "as it must be" : "must be 0");
  add_number(report, "Completion, median", time({"flows", "fct_us", "p50"}));
  add_number(report, "Completion, p99", time({"flows", "fct_us", "p99"}),
             fmt::format("slowdown {:.1f} at p99",
                         number_at(json, {"flows", "slowdown", "p99"}).value_or(0)));
  add_number(report, "Pauses", count({"pfc", "pauses"}),
             time({"pfc", "pause_us"}).value_or("?") + " in all");
  add_number(report, "Packets marked", count({"ecn", "marked"}),
             fmt::format("{:.1f} % of all", number_at(json, {"ecn", "share"}).value_or(0) * 100));
  add_number(report, "CNPs sent", count({"cnp", "sent"}),
             count({"cnp", "handled"}).value_or("?") + " handled");
}

std::string workload_text(const Json& load) {
  std::string text = fmt::format("{} ranks, {} of {} messages completed, median {}, p99 {}",
                                 number_at(load, {"ranks"}).value_or(0),
                                 count_text(number_at(load, {"completed"}).value_or(0)),
                                 count_text(number_at(load, {"messages"}).value_or(0)),
                                 time_text(number_at(load, {"fct_us", "p50"}).value_or(0)),
                                 time_text(number_at(load, {"fct_us", "p99"}).value_or(0)));
  if (const auto bus = number_at(load, {"bus_bps"}))
    text += fmt::format(", bus bandwidth {:.1f} Gb/s", *bus / 1e9);
  return text;
}

void add_sim_story(const Json& json, ReportInput& input) {
  render::Report& report = input.report;
  report.is_simulated = true;
  report.source = fmt::format("weir sim, seed {:.0f}, digest {}",
                              number_at(json, {"seed"}).value_or(0), text_at(json, "digest"));
  add_sim_numbers(json, report);
  for (const Json& load : json.value("workloads", Json::array())) {
    if (!load.is_object()) continue;
    input.workloads.push_back(text_at(load, "label"));
    report.measured.push_back(
        {.what = text_at(load, "label"), .command = "", .result = workload_text(load)});
  }
  for (const Json& fault : json.value("faults", Json::array()))
    if (fault.is_object())
      report.measured.push_back({.what = "broken on purpose",
                                 .command = text_at(fault, "fault"),
                                 .result = "the fabric had a simulated fault:"});
  for (const Json& note : json.value("notes", Json::array()))
    if (note.is_string()) report.notes.push_back("Not simulated: " + note.get<std::string>());
  if (const std::string file = text_at(json, "design"); !file.empty()) input.design_file = file;
}

weir::Status add_sim(const Json& json, ReportInput& input) {
  WEIR_TRY(pieces, read_simulation(json));
  std::move(pieces.begin(), pieces.end(), std::back_inserter(input.evidence));
  add_sim_story(json, input);
  return {};
}

weir::Status add_text(const std::string& text, const std::string& file, ReportInput& input) {
  auto parsed = parse_json(text);
  if (!parsed && parsed.error().code == ErrorCode::kInvalid) return parsed.error();
  const Json json = parsed ? std::move(*parsed) : Json();
  if (is_simulation(json)) return add_sim(json, input);
  if (json.is_object() && json.contains("findings")) {
    WEIR_TRY(judgement, finding::judgement_from_json(json));
    input.judgements.push_back(std::move(judgement));
    const auto simulated = json.find("simulated");
    if (simulated != json.end() && simulated->is_boolean() && simulated->get<bool>())
      input.report.is_simulated = true;
    return {};
  }
  WEIR_TRY(pieces, read_snapshot_text(text, file));
  for (evidence::Evidence& piece : pieces)
    input.evidence.push_back(std::move(piece));
  return {};
}

}  // namespace

weir::Status add_report_file(const std::string& path, ReportInput& input) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const std::string file = is_folder ? path + "/sim.json" : path;
  WEIR_TRY(text, read_file(file, kLargestResults));
  if (const weir::Status added = add_text(text, file, input); !added) {
    const bool is_named = added.error().what.starts_with(file);
    return is_named ? added.error() : added.error().within(file);
  }
  if (is_folder) input.curves_folder = path;
  return {};
}

}  // namespace weir::ops
