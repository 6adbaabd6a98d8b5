#include "cli/json/design_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "design/file/templates.h"

namespace weir::cli {
namespace {

using design::Chain;
using design::FailureWalk;
using design::Proven;

Json chain_json(const Chain& chain) {
  Json steps = Json::array();
  for (const design::ChainStep& step : chain.steps)
    steps.push_back({{"place", step.place}, {"what", step.what}});
  Json json = {{"class", to_text(chain.kind)},
               {"proven", to_text(chain.proven)},
               {"from", chain.from},
               {"to", chain.to},
               {"steps", std::move(steps)}};
  if (chain.proven == Proven::kHolds) return json;
  json["id"] = chain.id;
  json["reason"] = chain.reason;
  json["places"] = chain.places;
  return json;
}

Json broken_json(const design::Broken& broken, const design::Intent& intent,
                 const design::SwitchGraph& graph) {
  Json list = Json::array();
  for (const std::uint32_t edge : broken.edges)
    list.push_back({{"link", Json::array({intent.switches[graph.edges[edge].a].name,
                                          intent.switches[graph.edges[edge].b].name})}});
  for (const std::uint32_t node : broken.switches)
    list.push_back({{"switch", intent.switches[node].name}});
  return list;
}

Json routing_json(const FailureWalk& walk, const design::Intent& intent) {
  const design::SwitchGraph graph = switch_graph(intent);
  Json json = {{"acyclic", walk.deadlocks.empty()}, {"by_structure", walk.by_structure},
               {"failures", walk.failures},         {"scenarios", walk.scenarios},
               {"by_symmetry", walk.by_symmetry},   {"cycle", Json::array()},
               {"broken", Json::array()},           {"parting", walk.cutting},
               {"cut_off", Json::array()}};
  if (!walk.deadlocks.empty()) {
    const design::Deadlock& first = walk.deadlocks.front();
    json["broken"] = broken_json(first.broken, intent, graph);
    for (const design::Buffer& buffer : first.cycle)
      json["cycle"].push_back({{"from", intent.switches[buffer.from].name},
                               {"to", intent.switches[buffer.to].name},
                               {"priority", buffer.priority}});
  } else if (walk.cutting > 0) {
    json["broken"] = broken_json(walk.first_cut, intent, graph);
  }
  json["isolated"] = Json::array();
  for (const std::uint32_t host : walk.isolated)
    json["isolated"].push_back(intent.hosts[host].name);
  json["isolated_by"] = Json::array();
  for (const std::uint32_t node : walk.isolated_by)
    json["isolated_by"].push_back(intent.switches[node].name);
  for (const design::CutOff& pair : walk.first_cut_off)
    json["cut_off"].push_back(
        {{"from", intent.switches[pair.from].name}, {"to", intent.switches[pair.to].name}});
  return json;
}

}  // namespace

void print_linted_json(Context& context, const Command& command, const ops::Linted& linted,
                       std::string_view verdict, bool with_effective) {
  const design::Intent& intent = linted.fabric.intent;
  Json object = judged_object(command, linted.judgement, verdict);
  object["design"] = linted.fabric.design.file;
  object["hosts"] = intent.hosts.size();
  object["switches"] = intent.switches.size();
  object["links"] = intent.links.size();
  if (with_effective) object["effective"] = linted.effective;
  print_json(context, object);
}

void print_proved_json(Context& context, const Command& command, const ops::Proved& proved,
                       std::string_view verdict) {
  Json object = judged_object(command, proved.judgement, verdict);
  object["design"] = proved.fabric.design.file;
  object["lossless"] = proved.proof.holds();
  object["paths"] = proved.proof.paths;
  object["hops_checked"] = proved.proof.hops_checked;
  object["chains"] = Json::array();
  for (const Chain& chain : proved.proof.chains)
    object["chains"].push_back(chain_json(chain));
  object["routing"] = routing_json(proved.walk, proved.fabric.intent);
  print_json(context, object);
}

void print_templates_json(Context& context, const Command& command) {
  Json object = json_object(command);
  for (const design::Template& entry : design::templates())
    object["templates"].push_back({{"name", entry.name}, {"summary", entry.summary}});
  print_json(context, object);
}

void print_new_design_json(Context& context, const Command& command, const ops::NewDesign& made,
                           const std::string& path) {
  Json object = json_object(command);
  if (made.template_name.empty()) {
    object["hosts"] = made.hosts;
    object["rails"] = made.rails;
    object["open"] = made.open;
  } else {
    object["template"] = made.template_name;
  }
  if (path.empty()) {
    object["text"] = made.text;
  } else {
    object["file"] = path;
  }
  print_json(context, object);
}

}  // namespace weir::cli
