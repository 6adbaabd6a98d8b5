#include "cli/json/record_json.h"

#include "base/json.h"
#include "cli/json/object.h"
#include "ops/source/snapshot_file.h"
#include "render/text/delta_text.h"

namespace weir::cli {
namespace {

Json port_delta_json(const counters::PortDelta& port, std::int64_t elapsed, bool is_nic) {
  Json deltas = Json::object();
  for (const counters::Delta& delta : port.deltas) {
    Json entry = {{"id", nullptr},
                  {"change", counters::to_text(delta.change)},
                  {"amount", nullptr},
                  {"per_second", nullptr}};
    if (delta.match) entry["id"] = delta.match.counter->id;
    if (delta.amount) {
      entry["amount"] = *delta.amount;
      if (elapsed > 0)
        entry["per_second"] =
            static_cast<double>(*delta.amount) * 1e9 / static_cast<double>(elapsed);
    }
    if (delta.at_least) entry["at_least"] = *delta.at_least;
    deltas[delta.key()] = std::move(entry);
  }
  Json object = {{"device", port.device}, {"netdev", port.netdev}, {"deltas", std::move(deltas)}};
  if (is_nic) object["pauses"] = render::pause_sentences(port, elapsed);
  return object;
}

Json pair_json(const ops::HostDiff& pair) {
  Json facts = Json::array();
  for (const evidence::FactChange& change : pair.facts)
    facts.push_back({{"where", change.where},
                     {"fact", change.fact},
                     {"before", change.before},
                     {"after", change.after}});
  Json object = {{"name", pair.name},     {"facts", std::move(facts)},
                 {"elapsed_ns", nullptr}, {"problem", pair.problem},
                 {"nics", Json::array()}, {"switch_ports", Json::array()}};
  if (!pair.counters) return object;
  object["elapsed_ns"] = pair.counters->elapsed_ns;
  object["appeared"] = pair.counters->appeared;
  object["vanished"] = pair.counters->vanished;
  for (const counters::PortDelta& nic : pair.counters->nics)
    object["nics"].push_back(port_delta_json(nic, pair.counters->elapsed_ns, true));
  for (const counters::PortDelta& port : pair.counters->switch_ports)
    object["switch_ports"].push_back(port_delta_json(port, pair.counters->elapsed_ns, false));
  return object;
}

}  // namespace

void write_snapshot_json(const Command& command, const ops::Observation& seen,
                         std::string_view verdict, const PieceSink& put) {
  Json heading = json_object(command);
  heading["verdict"] = verdict;
  heading["unseen"] = seen.unseen;
  ops::write_snapshot(heading, seen.pieces(), put);
}

void print_diff_json(Context& context, const Command& command, const ops::Diff& diff,
                     std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["simulated"] = diff.is_simulated;
  object["hosts"] = Json::array();
  object["unpaired"] = diff.unpaired;
  print_json(context, object, {"hosts", diff.hosts.size(), [&](std::size_t at) {
                                 return pair_json(diff.hosts[at]);
                               }});
}

void print_bundle_json(Context& context, const Command& command, const ops::Bundled& bundled,
                       const std::string& path, std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["file"] = path;
  object["host"] = bundled.seen.provenance.host;
  object["pseudonyms"] = bundled.has_pseudonyms;
  object["looks"] = bundled.looks;
  object["nics"] = bundled.seen.nics.size();
  object["bytes"] = bundled.text.size();
  object["withheld"] = bundled.withheld;
  if (!path.empty()) return print_json(context, object);
  object["leaving"] = Json::array();
  for (const host::Leaving& item : bundled.leaving)
    object["leaving"].push_back({{"kind", item.kind}, {"name", item.name}, {"bytes", item.bytes}});
  print_json(context, object);
}

void print_fleet_bundle_json(Context& context, const Command& command,
                             const ops::FleetBundles& made, const std::string& directory,
                             std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["file"] = directory;
  object["hosts"] = made.written;
  object["unseen"] = made.unseen;
  print_json(context, object);
}

}  // namespace weir::cli
