#include "evidence/schema.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "counters/reading.h"
#include "evidence/json.h"
#include "finding/finding.h"

namespace weir::evidence {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"evidence", "judgement", "snapshot"};

Json text(std::string_view help) {
  return {{"type", "string"}, {"description", help}};
}

Json object(Json properties, std::vector<std::string> required) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

Json list_of(Json items, std::string_view help) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", help}};
}

Json document(std::string_view name, std::string_view title, Json properties,
              std::vector<std::string> required) {
  const std::string id = "weir/" + std::string(name) + "/1";
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "urn:" + id},
              {"title", title}};
  Json body = object(std::move(properties), std::move(required));
  out.update(body);
  return out;
}

Json missing_schema() {
  Json names = Json::array();
  for (const Missing why :
       {Missing::kAbsent, Missing::kUnsupported, Missing::kPermission, Missing::kError})
    names.push_back(counters::to_text(why));
  return {{"type", "string"}, {"enum", std::move(names)}};
}

// ---- snapshot ----

Json sample_schema() {
  Json out = object(
      {{"id", {{"type", Json::array({"string", "null"})}, {"description", "of the catalogue"}}},
       {"unit", {{"type", Json::array({"string", "null"})}, {"description", "of the value"}}},
       {"number",
        {{"type", "integer"}, {"minimum", 0}, {"description", "priority, queue, lane or ring"}}},
       {"value", {{"type", "integer"}, {"minimum", 0}, {"description", "as the driver shows it"}}},
       {"missing", missing_schema()}},
      {"id", "unit"});
  out["oneOf"] = Json::array(
      {{{"required", Json::array({"value"})}}, {{"required", Json::array({"missing"})}}});
  return out;
}

Json port_schema() {
  return object({{"device", text("RDMA device; a switch's name")},
                 {"netdev", text("network device; a switch's port")},
                 {"driver", text("kernel driver; \"switch\" for a switch")},
                 {"counters",
                  {{"type", "object"},
                   {"description", "by place and raw name: \"hw_counters/np_cnp_sent\""},
                   {"additionalProperties", sample_schema()}}}},
                {"device", "netdev", "driver", "counters"});
}

Json snapshot_properties() {
  return {{"schema", {{"const", "weir/snapshot/1"}}},
          {"time", text("when, RFC 3339 in UTC")},
          {"clock_ns",
           {{"type", "integer"}, {"description", "a clock that only goes forward, nanoseconds"}}},
          {"nics", list_of(port_schema(), "one for each RDMA port")},
          {"switch_ports", list_of(port_schema(), "one for each switch port, where any was seen")}};
}

// ---- judgement ----

Json where_schema() {
  Json properties = {{"file", text("a text that a person wrote")},
                     {"line", {{"type", "integer"}, {"minimum", 1}}},
                     {"column", {{"type", "integer"}, {"minimum", 1}}}};
  for (const char* key : {"host", "rail", "device", "switch", "port", "priority", "link"})
    properties[key] = {{"type", "string"}};
  return object(std::move(properties), {});
}

template <class Enum>
Json words(std::initializer_list<Enum> values) {
  Json names = Json::array();
  for (const Enum value : values)
    names.push_back(finding::to_text(value));
  return {{"type", "string"}, {"enum", std::move(names)}};
}

Json observation_schema() {
  return object({{"source", text("a file, a command, a host's snapshot")},
                 {"line", text("the text as observed, or a sentence")},
                 {"counter",
                  {{"type", Json::array({"string", "null"})}, {"description", "of the catalogue"}}},
                 {"value", {{"type", Json::array({"integer", "null"})}}}},
                {"source", "line", "counter", "value"});
}

Json fix_schema() {
  return object({{"platform", text("where to type it")},
                 {"commands", list_of({{"type", "string"}}, "one line per command")},
                 {"note", text("what to know before")}},
                {"platform", "commands", "note"});
}

Json finding_schema() {
  using finding::Confidence;
  using finding::Severity;
  const Json texts = {{"type", "string"}};
  return object(
      {{"id", text("names the fault; never changes its meaning")},
       {"aliases", list_of(texts, "other names of the same fault")},
       {"severity", words({Severity::kInfo, Severity::kWarning, Severity::kError})},
       {"verdict", text("what is wrong here, with the numbers")},
       {"where", where_schema()},
       {"evidence", list_of(observation_schema(), "what supports it")},
       {"confidence",
        words({Confidence::kLow, Confidence::kMedium, Confidence::kHigh, Confidence::kCertain})},
       {"fix", list_of(fix_schema(), "what to do, the case at hand first")},
       {"rows", list_of(texts, "rows of the mission")}},
      {"id", "aliases", "severity", "verdict", "where", "evidence", "confidence", "fix", "rows"});
}

Json judgement_properties() {
  using finding::Conclusion;
  const Json count = {{"type", "integer"}, {"minimum", 0}};
  return {{"schema", text("of the command that judged: \"weir/lint/1\"")},
          {"conclusion", words({Conclusion::kHealthy, Conclusion::kFindings, Conclusion::kNotFabric,
                                Conclusion::kInconclusive})},
          {"findings", list_of(finding_schema(), "most important first")},
          {"unknown", list_of(object({{"check", text("what could not be looked at")},
                                      {"reason", text("why")},
                                      {"how", text("how to get the answer")},
                                      {"required", {{"type", "boolean"}}}},
                                     {"check", "reason", "how"}),
                              "never counted as passed")},
          {"next", list_of({{"type", "string"}}, "commands worth typing now")},
          {"related",
           list_of(object({{"id", text("a finding to read about")},
                           {"aliases", list_of({{"type", "string"}}, "other names of it")},
                           {"why", text("the words that suggest it")}},
                          {"id", "aliases", "why"}),
                   "findings that may be relevant, suggested by words alone; never counted")},
          {"summary",
           object({{"errors", count}, {"warnings", count}, {"infos", count}, {"unknown", count}},
                  {"errors", "warnings", "infos", "unknown"})}};
}

}  // namespace

std::span<const std::string_view> schema_names() {
  return kNames;
}

Json schema(std::string_view name) {
  if (name == "evidence") {
    Json properties = evidence_properties();
    properties["snapshots"] =
        list_of(object(snapshot_properties(), {"nics"}), "counters, in order of time");
    return document(name, "What was observed about a host or a fabric", std::move(properties),
                    {"schema", "provenance", "host", "nics", "gpus", "distances", "switches",
                     "gaps", "snapshots"});
  }
  if (name == "judgement") {
    return document(name, "What every judging command prints", judgement_properties(),
                    {"conclusion", "findings", "unknown", "next", "summary"});
  }
  if (name == "snapshot") {
    return document(name, "Counters of ports at one moment", snapshot_properties(),
                    {"schema", "time", "clock_ns", "nics"});
  }
  WEIR_UNREACHABLE("the caller asks for one of schema_names()");
}

}  // namespace weir::evidence
