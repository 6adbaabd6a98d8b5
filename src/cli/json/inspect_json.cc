#include "cli/json/inspect_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "evidence/json.h"

namespace weir::cli {
namespace {

Json shown_host_json(const evidence::Evidence& host, const ops::ShownHost& shown) {
  evidence::Evidence facts = host;
  facts.snapshots.clear();
  Json list = Json::array();
  for (std::size_t i = 0; i < shown.wrong.size(); ++i) {
    for (const evidence::Deviation& deviation : shown.wrong[i]) {
      const evidence::DeviationText words = evidence::text_of(deviation);
      list.push_back({{"device", host.nics[i].device},
                      {"setting", evidence::to_text(deviation.setting)},
                      {"item", words.item},
                      {"usual", words.expected},
                      {"found", words.found}});
    }
  }
  Json object = {{"host", host.provenance.host},
                 {"simulated", host.provenance.simulated},
                 {"wrong", std::move(list)}};
  Json document = evidence::to_json(facts);
  for (auto& [key, value] : document.items())
    if (key != "schema" && key != "host") object[key] = std::move(value);
  return object;
}

void add_facts(const Json& json, const std::string& name, std::vector<FactRow>& rows) {
  if (!json.is_object()) return;
  const bool is_known = json.contains("value");
  if (json.contains("source") && (is_known || json.contains("missing"))) {
    const Json& value = is_known ? json.at("value") : json.at("missing");
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    rows.push_back(
        {name,
         is_known ? text : fmt::format("({}: {})", text, json.at("source").get<std::string>())});
    return;
  }
  for (const auto& [key, value] : json.items())
    add_facts(value, name.empty() ? key : fmt::format("{}.{}", name, key), rows);
}

}  // namespace

std::vector<FactGroup> all_facts(const evidence::Evidence& host) {
  std::vector<FactGroup> groups;
  const std::string& name = host.provenance.host;
  const auto add = [&](std::string title, const Json& json) {
    groups.push_back({std::move(title), {}});
    add_facts(json, "", groups.back().rows);
  };
  const Json document = evidence::to_json(host);
  add(name, document.at("host"));
  for (const Json& nic : document.at("nics"))
    add(fmt::format("{} {}", name, nic.at("device").get<std::string>()), nic);
  for (const Json& gpu : document.at("gpus"))
    add(fmt::format("{} GPU {}", name, gpu.at("index").get<unsigned>()), gpu);
  for (const Json& pair : document.at("distances"))
    add(fmt::format("{} {} and GPU {}", name, pair.at("nic").get<std::string>(),
                    pair.at("gpu").get<unsigned>()),
        pair);
  return groups;
}

void print_shown_json(Context& context, const Command& command, const ops::Shown& shown,
                      std::string_view verdict, const std::vector<std::string>& next) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["hosts"] = Json::array();
  object["unknown_settings"] = shown.unread();
  object["unseen"] = shown.seen.unseen;
  object["next"] = next;
  print_json(context, object, {"hosts", shown.hosts.size(), [&](std::size_t at) {
                                 return shown_host_json(shown.seen.hosts[at], shown.hosts[at]);
                               }});
}

void print_checked_json(Context& context, const Command& command, const ops::Checked& checked,
                        std::string_view verdict) {
  Json object = judged_heading(command, checked.judgement, verdict);
  object["hosts"] = checked.seen.hosts.size();
  object["simulated"] = checked.seen.is_simulated();
  print_judged(context, object, checked.judgement);
}

void print_validated_json(Context& context, const Command& command, const ops::Validated& validated,
                          std::string_view verdict, const std::optional<std::string>& drain) {
  const ops::Observation& seen = validated.seen;
  Json object = judged_heading(command, validated.judgement, verdict);
  object["design"] = validated.fabric.design.file;
  object["hosts"] = seen.hosts.size();
  object["not_in_design"] = validated.not_in_design;
  object["switches"] = seen.switches ? seen.switches->switches.size() : 0;
  object["simulated"] = seen.is_simulated();
  if (drain) object["drain"] = *drain;
  print_judged(context, object, validated.judgement);
}

}  // namespace weir::cli
