#include "cli/json/tune/tuning_json.h"

#include "base/json.h"
#include "cli/json/object.h"
#include "tune/table/moves.h"

namespace weir::cli {

void print_tuned_json(Context& context, const ops::Tuned& tuned) {
  Json object = tune::to_json(tuned.result);
  object["patch"] = tuned.patch;
  object["written"] = tuned.written;
  print_json(context, object);
}

void print_moves_json(Context& context, std::string_view name) {
  Json object = {{"schema", "weir/tune-moves/1"}, {"moves", Json::array()}};
  for (const tune::Move& move : tune::moves()) {
    if (!name.empty() && move.name != name) continue;
    object["moves"].push_back({{"name", move.name},
                               {"title", move.title},
                               {"knob", move.knob},
                               {"verdict", to_text(move.verdict)},
                               {"when", move.symptom},
                               {"works", move.condition},
                               {"price", move.price},
                               {"taught", move.taught},
                               {"wrong", move.wrong},
                               {"measured", move.measured}});
  }
  print_json(context, object);
}

void print_tune_knobs_json(Context& context) {
  Json object = {{"schema", "weir/tune-knobs/1"}, {"knobs", Json::array()}};
  for (const tune::Knob& knob : tune::knobs())
    object["knobs"].push_back({{"id", knob.id},
                               {"place", knob.place == tune::KnobPlace::kNic ? "nic" : "switch"},
                               {"meaning", knob.meaning},
                               {"price", knob.price},
                               {"peer_key", knob.peer_key}});
  print_json(context, object);
}

}  // namespace weir::cli
