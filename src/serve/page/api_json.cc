#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "diagnose/core/pause_tree.h"
#include "finding/catalog.h"
#include "finding/json.h"
#include "serve/page/api.h"
#include "sim/fault/fault.h"

namespace weir::serve {
namespace {

using diagnose::PauseEnd;
using diagnose::PauseRoot;
using diagnose::PauseStep;

std::string name_of(const PagePort& port) {
  return fmt::format("{} {}", port.device, port.name);
}

std::string towards(const Topology& topology, const PagePort& port) {
  if (port.peer) return topology[*port.peer].device;
  return port.neighbour.empty() ? "an unknown neighbour" : port.neighbour;
}

std::string percent(const Frame& frame, Quantity quantity, std::size_t port) {
  const auto share = value_of(quantity, frame.cell(quantity, port));
  return share ? fmt::format("{:.3g} % of the time", *share * 100) : "for an unknown time";
}

std::string root_sentence(const Frame& frame, const Topology& topology, const PauseRoot& root) {
  const PagePort& port = topology[root.port];
  switch (root.kind) {
    case PauseEnd::kHost:
      return fmt::format("{} does not take in what arrives: it paused its switch {}{}.",
                         name_of(port), percent(frame, Quantity::kPausing, root.port),
                         root.is_inferred ? " (inferred: switches are not watched)" : "");
    case PauseEnd::kQueue:
      return fmt::format("{} to {}: more arrives for this port than it sends; it is not paused.",
                         name_of(port), towards(topology, port));
    case PauseEnd::kCircle:
      return fmt::format("A circle of pauses through {}: no port of it can send first.",
                         name_of(port));
    case PauseEnd::kUnseen:
      return fmt::format("{} is paused by {}, whose ports are not watched.", name_of(port),
                         towards(topology, port));
  }
  return {};
}

Json root_json(const Frame& frame, const Topology& topology, const PauseRoot& root) {
  return {{"kind", diagnose::to_text(root.kind)},
          {"port", root.port},
          {"inferred", root.is_inferred},
          {"text", root_sentence(frame, topology, root)}};
}

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

Json step_json(const Frame& frame, const Topology& topology, const PauseStep& step) {
  Json out = {
      {"port", step.port},
      {"by", step.by ? Json(*step.by) : Json(nullptr)},
      {"paused", or_null(value_of(Quantity::kPause, frame.cell(Quantity::kPause, step.port)))},
      {"because", Json::array()}};
  for (const PauseStep& next : step.because)
    out["because"].push_back(step_json(frame, topology, next));
  if (step.root) out["root"] = root_json(frame, topology, *step.root);
  return out;
}

std::vector<diagnose::PausePort> pauses_of(const Frame& frame, const Topology& topology) {
  std::vector<diagnose::PausePort> out;
  out.reserve(topology.size());
  for (std::size_t at = 0; at < topology.size(); ++at) {
    const auto value = [&](Quantity quantity) {
      return value_of(quantity, frame.cell(quantity, at));
    };
    out.push_back({.device = topology[at].device,
                   .tier = topology[at].tier,
                   .peer = topology[at].peer,
                   .paused = value(Quantity::kPause),
                   .pausing = value(Quantity::kPausing),
                   .marks = value(Quantity::kMarks),
                   .used = value(Quantity::kSent)});
  }
  return out;
}

}  // namespace

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json topology_json(const PageInfo& info, const Feed::State& state) {
  Json out = {{"schema", "weir/page/1"},
              {"version", state.topology_version},
              {"weir", info.version},
              {"mode", info.mode},
              {"title", info.title},
              {"source", info.source},
              {"design", info.design},
              {"simulated", info.is_simulated},
              {"load", info.load},
              {"interval_ms", info.interval_ms},
              {"pause_limit", info.thresholds.pause_warning},
              {"devices", Json::array()},
              {"ports", Json::array()}};
  if (!state.topology) return out;
  std::map<std::string_view, std::size_t> devices;
  for (const PagePort& port : *state.topology) {
    const auto [at, is_new] = devices.try_emplace(port.device, devices.size());
    if (is_new) out["devices"].push_back({port.device, port.tier});
    // device, name, rail, peer, speed in Gb/s, the neighbour's name where it is not watched
    out["ports"].push_back(
        {at->second, port.name, port.rail ? Json(*port.rail) : Json(nullptr),
         port.peer ? Json(*port.peer) : Json(nullptr),
         port.speed ? Json(static_cast<double>(port.speed->raw()) / 1e9) : Json(nullptr),
         port.peer ? std::string() : port.neighbour});
  }
  return out;
}

Json frame_json(const Frame& frame, std::uint64_t topology_version,
                const std::vector<Quantity>& quantities) {
  Json out = {{"number", frame.number},   {"time", frame.unix_ms},
              {"clock", frame.clock},     {"topology", topology_version},
              {"highest", Json::array()}, {"cells", Json::object()}};
  for (std::size_t i = 0; i < kQuantities; ++i)
    out["highest"].push_back(frame.highest(static_cast<Quantity>(i)));
  for (const Quantity quantity : quantities) {
    const auto at = static_cast<std::size_t>(quantity);
    out["cells"][std::string(kQuantityNames[at])] =
        base64(frame.cells.data() + at * frame.ports, frame.ports);
  }
  return out;
}

Json event_json(const PageEvent& event) {
  return {{"number", event.number},
          {"time", event.unix_ms},
          {"kind", event.kind},
          {"severity", event.severity},
          {"text", event.text},
          {"id", event.id},
          {"port", event.port ? Json(*event.port) : Json(nullptr)}};
}

Json findings_json(const Judged* judged) {
  if (judged == nullptr) return {{"judged", nullptr}, {"findings", Json::array()}};
  Json out = finding::to_json(judged->judgement);
  out["judged"] = static_cast<std::int64_t>(judged->unix_seconds * 1000);
  for (std::size_t i = 0; i < judged->judgement.findings.size(); ++i)
    out["findings"][i]["place"] = finding::to_text(judged->judgement.findings[i].where);
  return out;
}

Json follow_json(const Frame& frame, const Topology& topology, std::size_t from,
                 const finding::Thresholds& limits) {
  const auto tree = diagnose::follow_pause(pauses_of(frame, topology), from, limits);
  Json out = {{"from", from},
              {"number", frame.number},
              {"is_paused", tree.has_value()},
              {"roots", Json::array()},
              {"victims", Json::array()}};
  if (!tree) return out;
  for (const PauseRoot& root : tree->roots)
    out["roots"].push_back(root_json(frame, topology, root));
  constexpr std::size_t kMostVictims = 200;
  const std::size_t shown = std::min(tree->victims.size(), kMostVictims);
  for (std::size_t i = 0; i < shown; ++i)
    out["victims"].push_back(tree->victims[i]);
  out["victim_count"] = tree->victims.size();
  out["tree"] = step_json(frame, topology, tree->first);
  return out;
}

Json explain_json(std::string_view id) {
  const finding::CatalogEntry* entry = finding::find(id);
  if (entry == nullptr) return nullptr;
  Json out = {
      {"id", entry->id},   {"title", entry->title}, {"severity", finding::to_text(entry->severity)},
      {"why", entry->why}, {"fix", Json::array()},  {"sources", Json::array()}};
  for (const finding::CatalogFix& fix : entry->fix) {
    const finding::Platform* platform = finding::find_platform(fix.platform);
    Json commands = Json::array();
    for (const std::string_view command : fix.commands)
      commands.push_back(command);
    out["fix"].push_back({{"platform", platform != nullptr ? platform->title : fix.platform},
                          {"commands", std::move(commands)},
                          {"note", fix.note}});
  }
  for (const std::string_view source : entry->sources)
    out["sources"].push_back(source);
  return out;
}

Json fault_types_json() {
  Json out = Json::array();
  for (const sim::FaultType& type : sim::fault_types())
    out.push_back({{"name", type.name},
                   {"summary", type.summary},
                   {"needs_place", type.needs_place},
                   {"at", type.place == sim::FaultPlace::kHosts      ? "host"
                          : type.place == sim::FaultPlace::kSwitches ? "switch"
                                                                     : "link"}});
  return out;
}

}  // namespace weir::serve
