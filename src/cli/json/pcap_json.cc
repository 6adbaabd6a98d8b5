#include "cli/json/pcap_json.h"

#include "base/json.h"
#include "cli/json/object.h"
#include "wire/analysis_json.h"

namespace weir::cli {

void print_captured_json(Context& context, const Command& command, const ops::Captured& captured,
                         std::size_t most_flows) {
  const wire::Expectation& expectation = captured.expectation;
  Json object = judged_object(command, captured.verdict.judgement, captured.verdict.headline);
  object["source"] = captured.source.name;
  object["design"] = expectation.is_design() ? Json(expectation.source) : Json(nullptr);
  object.update(wire::to_json(*captured.first, most_flows));
  object["walk_back"] = wire::to_json(captured.verdict.walk);
  if (captured.join) {
    object["second"] = wire::to_json(*captured.second, most_flows);
    object["second"]["source"] = captured.second_source.name;
    object["joined"] =
        wire::to_json(*captured.join, captured.source.name, captured.second_source.name);
  }
  print_json(context, object);
}

}  // namespace weir::cli
