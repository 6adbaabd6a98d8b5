#include "lab/fabric/run_record_json.h"

#include <array>

#include "base/json.h"

namespace weir::lab {
namespace {

constexpr std::array kMeasures = {Measure::kQueue, Measure::kPauseTime, Measure::kCnps,
                                  Measure::kRate,  Measure::kDrops,     Measure::kMarks};

Result<std::vector<std::string>> read_texts(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_array());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    WEIR_TRY(text, at.at(i).text());
    out.push_back(text);
  }
  return out;
}

Result<Curve> read_curve(const JsonCursor& at, std::size_t samples) {
  WEIR_TRY_STATUS(at.expect_object());
  Curve curve;
  WEIR_TRY(measure_at, at.member("measure"));
  WEIR_TRY(word, measure_at.text());
  bool is_known = false;
  for (const Measure measure : kMeasures) {
    if (to_text(measure) != word) continue;
    curve.measure = measure;
    is_known = true;
  }
  if (!is_known) return measure_at.wrong("a measure");
  WEIR_TRY(where_at, at.member("where"));
  WEIR_TRY(where, where_at.text());
  curve.where = where;
  WEIR_TRY(values, at.member("values"));
  WEIR_TRY_STATUS(values.expect_array());
  if (values.size() != samples) return values.wrong("one value per sample");
  for (std::size_t i = 0; i < samples; ++i) {
    WEIR_TRY(value, values.at(i).number());
    curve.values.push_back(value);
  }
  return curve;
}

}  // namespace

std::string_view to_text(Measure measure) {
  switch (measure) {
    case Measure::kQueue: return "queue_bytes";
    case Measure::kPauseTime: return "pause_us";
    case Measure::kCnps: return "cnps";
    case Measure::kRate: return "rate_gbps";
    case Measure::kDrops: return "drops";
    case Measure::kMarks: return "marks";
  }
  WEIR_UNREACHABLE("every measure has a word");
}

Json to_json(const RunRecord& record) {
  Json object = {{"command", record.command},
                 {"load", record.load},
                 {"seed", record.seed},
                 {"change", record.change ? Json(*record.change) : Json(nullptr)},
                 {"begin_ps", record.begin.raw()},
                 {"elapsed_ps", record.elapsed.raw()},
                 {"is_finished", record.is_finished},
                 {"notes", record.notes},
                 {"times_ps", Json::array()},
                 {"curves", Json::array()}};
  for (const Duration time : record.times)
    object["times_ps"].push_back(time.raw());
  for (const Curve& curve : record.curves)
    object["curves"].push_back(
        {{"measure", to_text(curve.measure)}, {"where", curve.where}, {"values", curve.values}});
  return object;
}

Result<RunRecord> run_record_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  RunRecord out;
  WEIR_TRY(command_at, at.member("command"));
  WEIR_TRY(command, command_at.text());
  out.command = command;
  WEIR_TRY(load_at, at.member("load"));
  WEIR_TRY(load, load_at.whole_number());
  out.load = load;
  WEIR_TRY(seed_at, at.member("seed"));
  WEIR_TRY(seed, seed_at.whole_number());
  out.seed = seed;
  if (const auto change_at = at.find("change"); change_at && !change_at->value().is_null()) {
    WEIR_TRY(change, change_at->whole_number());
    out.change = change;
  }
  WEIR_TRY(begin_at, at.member("begin_ps"));
  WEIR_TRY(begin, begin_at.integer());
  out.begin = Duration::raw(begin);
  WEIR_TRY(elapsed_at, at.member("elapsed_ps"));
  WEIR_TRY(elapsed, elapsed_at.integer());
  out.elapsed = Duration::raw(elapsed);
  WEIR_TRY(finished_at, at.member("is_finished"));
  WEIR_TRY(is_finished, finished_at.boolean());
  out.is_finished = is_finished;
  WEIR_TRY(notes_at, at.member("notes"));
  WEIR_TRY(notes, read_texts(notes_at));
  out.notes = std::move(notes);
  WEIR_TRY(times, at.member("times_ps"));
  WEIR_TRY_STATUS(times.expect_array());
  for (std::size_t i = 0; i < times.size(); ++i) {
    WEIR_TRY(time, times.at(i).integer());
    out.times.push_back(Duration::raw(time));
  }
  WEIR_TRY(curves, at.member("curves"));
  WEIR_TRY_STATUS(curves.expect_array());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    WEIR_TRY(curve, read_curve(curves.at(i), out.times.size()));
    out.curves.push_back(std::move(curve));
  }
  return out;
}

}  // namespace weir::lab
