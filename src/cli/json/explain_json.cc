#include "cli/json/explain_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "counters/catalog.h"
#include "finding/json.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::cli {
namespace {

Json to_json(const finding::CatalogEntry& entry) {
  Json fixes = Json::array();
  for (const finding::CatalogFix& fix : entry.fix)
    fixes.push_back({{"platform", fix.platform}, {"commands", fix.commands}, {"note", fix.note}});
  return {{"id", entry.id},           {"title", entry.title}, {"severity", to_text(entry.severity)},
          {"aliases", entry.aliases}, {"rows", entry.rows},   {"phase", entry.phase},
          {"why", entry.why},         {"fix", fixes},         {"sources", entry.sources}};
}

Json to_json(const counters::Counter& counter) {
  Json names = Json::array();
  for (const counters::RawName& name : counters::names_of(counter)) {
    names.push_back({{"driver", to_text(name.driver)},
                     {"place", to_text(name.place)},
                     {"name", name.pattern},
                     {"bits", name.bits},
                     {"unit", to_text(name.unit.value_or(counter.unit))}});
  }
  return {{"id", counter.id},
          {"kind", to_text(counter.kind)},
          {"unit", to_text(counter.unit)},
          {"meaning", counter.meaning},
          {"normal", counter.normal},
          {"climbing", counter.climbing},
          {"caveat", counter.caveat},
          {"rows", counter.rows},
          {"names", names}};
}

Json to_json(const design::NicKnob& knob) {
  return {{"name", knob.name},
          {"debugfs", knob.debugfs},
          {"mlxconfig", knob.mlxconfig},
          {"side", knob.is_notification_point ? "notification_point" : "reaction_point"},
          {"range", design::range_text(knob)},
          {"default", design::knob_text(knob, knob.fallback)},
          {"meaning", knob.meaning},
          {"trap", knob.trap},
          {"source", knob.source}};
}

Json to_json(const readers::VariableMeaning& variable) {
  return {{"name", variable.name},         {"what", variable.what},    {"values", variable.values},
          {"default", variable.fallback},  {"since", variable.since},  {"trap", variable.trap},
          {"findings", variable.findings}, {"source", variable.source}};
}

}  // namespace

void print_tos_json(Context& context, const Command& command,
                    const std::vector<ops::TosReading>& all, std::string_view verdict) {
  Json object = json_object(command);
  Json readings = Json::array();
  for (const ops::TosReading& reading : all) {
    const Dscp dscp = dscp_of(reading.tos);
    Json entry;
    entry["as"] = reading.as == ops::ReadAs::kDscp ? "dscp" : "tos";
    entry["dscp"] = dscp.value();
    entry["ecn"] = to_text(ecn_of(reading.tos));
    entry["tos"] = reading.tos.value();
    entry["tos_hex"] = fmt::format("0x{:02x}", reading.tos.value());
    if (const std::string_view name = dscp_name(dscp); !name.empty()) entry["name"] = name;
    readings.push_back(std::move(entry));
  }
  object["verdict"] = verdict;
  object["readings"] = std::move(readings);
  print_json(context, object);
}

void print_table_json(Context& context, const Command& command, const ops::TableTopic& table) {
  Json object = json_object(command);
  object["name"] = table.name;
  object["table"] = table.text();
  print_json(context, object);
}

void print_related_json(Context& context, const Command& command, const std::string& words,
                        const std::vector<finding::Related>& related) {
  Json object = json_object(command);
  object["name"] = words;
  object["related"] = Json::array();
  for (const finding::Related& offered : related)
    object["related"].push_back(finding::to_json(offered));
  print_json(context, object);
}

void print_symptoms_json(Context& context, const Command& command, const std::string& words,
                         const std::vector<const finding::SymptomRow*>& rows) {
  Json object = json_object(command);
  object["name"] = words;
  object["symptoms"] = Json::array();
  for (const finding::SymptomRow* row : rows) {
    object["symptoms"].push_back({{"row", row->row},
                                  {"symptom", row->symptom},
                                  {"cause", row->cause},
                                  {"findings", finding::findings_of(*row)}});
  }
  print_json(context, object);
}

void print_meaning_json(Context& context, const Command& command, const std::string& name,
                        const ops::Meaning& meaning) {
  Json object = json_object(command);
  object["name"] = name;
  if (meaning.finding != nullptr) object["finding"] = to_json(*meaning.finding);
  if (meaning.counter) {
    object["counter"] = to_json(*meaning.counter->match.counter);
    object["counter"]["word"] = meaning.counter->word;
  }
  if (meaning.knob != nullptr) object["knob"] = to_json(*meaning.knob);
  if (meaning.variable != nullptr) object["variable"] = to_json(*meaning.variable);
  if (meaning.phantom != nullptr) {
    object["knob"] = {{"name", meaning.phantom->name},
                      {"exists", false},
                      {"real", meaning.phantom->real},
                      {"instead", meaning.phantom->instead}};
  }
  print_json(context, object);
}

void print_topics_json(Context& context, const Command& command) {
  Json object = json_object(command);
  object["findings"] = Json::array();
  for (const finding::CatalogEntry& entry : finding::catalog()) {
    object["findings"].push_back({{"id", entry.id},
                                  {"severity", to_text(entry.severity)},
                                  {"title", entry.title},
                                  {"rows", entry.rows}});
  }
  object["counters"] = Json::array();
  for (const counters::Counter& counter : counters::catalog())
    object["counters"].push_back({{"id", counter.id}, {"unit", to_text(counter.unit)}});
  object["knobs"] = Json::array();
  for (const design::NicKnob& knob : design::nic_knobs())
    object["knobs"].push_back({{"name", knob.name}, {"range", design::range_text(knob)}});
  object["variables"] = Json::array();
  for (const readers::VariableMeaning& variable : readers::variable_meanings())
    object["variables"].push_back({{"name", variable.name}, {"what", variable.what}});
  print_json(context, object);
}

}  // namespace weir::cli
