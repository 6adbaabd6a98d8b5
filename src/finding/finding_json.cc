#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "finding/catalog.h"
#include "finding/json.h"

namespace weir::finding {
namespace {

// ---- out ----

constexpr std::array kWhereNames = {
    std::pair{"host", &Where::host},     std::pair{"rail", &Where::rail},
    std::pair{"device", &Where::device}, std::pair{"switch", &Where::switch_name},
    std::pair{"port", &Where::port},     std::pair{"priority", &Where::priority},
    std::pair{"link", &Where::link},
};

Json where_json(const Where& where) {
  Json out = Json::object();
  if (!where.file.empty()) out["file"] = where.file;
  if (where.position.is_known()) {
    out["line"] = where.position.line;
    out["column"] = where.position.column;
  }
  for (const auto& [key, member] : kWhereNames)
    if (!(where.*member).empty()) out[key] = where.*member;
  return out;
}

Json evidence_json(const EvidenceLine& seen) {
  Json out = {
      {"source", seen.source}, {"line", seen.line}, {"counter", nullptr}, {"value", nullptr}};
  if (!seen.counter.empty()) out["counter"] = seen.counter;
  if (seen.value) out["value"] = *seen.value;
  return out;
}

Json fix_json(const Fix& fix) {
  return {{"platform", fix.platform}, {"commands", fix.commands}, {"note", fix.note}};
}

template <class List, class Function>
Json list_json(const List& list, const Function& known) {
  Json out = Json::array();
  for (const auto& item : list)
    out.push_back(known(item));
  return out;
}

// ---- in ----

Error wrong(const std::string& place, std::string_view expected, const Json& found) {
  constexpr std::size_t kShown = 40;
  std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return parse_error(place + ": expected " + std::string(expected) + ", found " + text);
}

std::string member(const std::string& place, std::string_view key) {
  return place.empty() ? std::string(key) : place + "." + std::string(key);
}

/// nullptr where the key is absent or null.
const Json* find_key(const Json& object, std::string_view key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

Result<std::string> read_text(const Json& object, std::string_view key, const std::string& place) {
  const Json* value = find_key(object, key);
  if (value == nullptr) return parse_error(member(place, key) + ": missing");
  if (!value->is_string()) return wrong(member(place, key), "a text", *value);
  return value->get<std::string>();
}

Result<std::string> read_text_or_empty(const Json& object, std::string_view key,
                                       const std::string& place) {
  if (find_key(object, key) == nullptr) return std::string();
  return read_text(object, key, place);
}

Result<std::optional<std::int64_t>> read_integer(const Json& object, std::string_view key,
                                                 const std::string& place) {
  const Json* value = find_key(object, key);
  if (value == nullptr) return std::optional<std::int64_t>();
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= kLargest);
  if (!fits) return wrong(member(place, key), "a whole number of 64 bits", *value);
  return std::optional(value->get<std::int64_t>());
}

Result<int> read_position(const Json& object, std::string_view key, const std::string& place) {
  WEIR_TRY(value, read_integer(object, key, place));
  if (!value) return 0;
  if (*value < 1 || *value > std::numeric_limits<int>::max()) {
    return parse_error(member(place, key) + ": expected a number from 1, found " +
                       std::to_string(*value));
  }
  return static_cast<int>(*value);
}

/// Reads each item of the list at `key` with `one(item, place)`.
template <class T, class Function>
Result<std::vector<T>> read_list(const Json& object, std::string_view key, const std::string& place,
                                 const Function& known) {
  const std::string here = member(place, key);
  const Json* list = find_key(object, key);
  if (list == nullptr) return parse_error(here + ": missing");
  if (!list->is_array()) return wrong(here, "a list", *list);
  std::vector<T> out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_TRY(item, known((*list)[i], here + "[" + std::to_string(i) + "]"));
    out.push_back(std::move(item));
  }
  return out;
}

/// An enumerator by its word.
template <class Function>
auto read_word(const Json& object, std::string_view key, const std::string& place,
               const Function& parse) -> Result<typename decltype(parse(""))::value_type> {
  WEIR_TRY(text, read_text(object, key, place));
  const auto value = parse(text);
  if (!value)
    return parse_error(member(place, key) + ": '" + text + "' is not a word of this field");
  return *value;
}

Result<std::string> text_from(const Json& json, const std::string& place) {
  if (!json.is_string()) return wrong(place, "a text", json);
  return json.get<std::string>();
}

Result<Where> where_from(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "an object", json);
  Where where;
  WEIR_TRY(file, read_text_or_empty(json, "file", place));
  WEIR_TRY(line, read_position(json, "line", place));
  WEIR_TRY(column, read_position(json, "column", place));
  where.file = std::move(file);
  where.position = {line, column};
  for (const auto& [key, name] : kWhereNames) {
    WEIR_TRY(text, read_text_or_empty(json, key, place));
    where.*name = std::move(text);
  }
  return where;
}

Result<EvidenceLine> evidence_from(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "an object", json);
  WEIR_TRY(source, read_text(json, "source", place));
  WEIR_TRY(line, read_text(json, "line", place));
  WEIR_TRY(counter, read_text_or_empty(json, "counter", place));
  WEIR_TRY(value, read_integer(json, "value", place));
  return EvidenceLine{std::move(source), std::move(line), std::move(counter), value};
}

Result<Fix> fix_from(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "an object", json);
  WEIR_TRY(platform, read_text(json, "platform", place));
  WEIR_TRY(commands, read_list<std::string>(json, "commands", place, text_from));
  WEIR_TRY(note, read_text_or_empty(json, "note", place));
  return Fix{std::move(platform), std::move(commands), std::move(note)};
}

Result<Unknown> unknown_from(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "an object", json);
  WEIR_TRY(check, read_text(json, "check", place));
  WEIR_TRY(reason, read_text(json, "reason", place));
  WEIR_TRY(how, read_text(json, "how", place));
  const Json* const required = find_key(json, "required");  // absent: written before there was one
  const bool is_required = required == nullptr || !required->is_boolean() || required->get<bool>();
  return Unknown{std::move(check), std::move(reason), std::move(how), is_required};
}

Result<std::string> read_id(const Json& object, const std::string& place) {
  WEIR_TRY(id, read_text(object, "id", place));
  const CatalogEntry* entry = find(id);
  if (entry != nullptr && entry->id == id) return id;
  std::vector<std::string> ids;
  for (const CatalogEntry& candidate : catalog())
    ids.emplace_back(candidate.id);
  return parse_error(member(place, "id") + ": '" + id + "' is not a finding id" +
                     did_you_mean(id, ids));
}

Result<Related> related_from(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place, "an object", json);
  WEIR_TRY(id, read_id(json, place));
  WEIR_TRY(why, read_text(json, "why", place));
  return Related{std::move(id), std::move(why)};
}

Result<Finding> finding_at(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong(place.empty() ? "finding" : place, "an object", json);
  WEIR_TRY(id, read_id(json, place));
  WEIR_TRY(severity, read_word(json, "severity", place, parse_severity));
  WEIR_TRY(verdict, read_text(json, "verdict", place));
  const Json* where = find_key(json, "where");
  if (where == nullptr) return parse_error(member(place, "where") + ": missing");
  WEIR_TRY(at, where_from(*where, member(place, "where")));
  WEIR_TRY(evidence, read_list<EvidenceLine>(json, "evidence", place, evidence_from));
  WEIR_TRY(confidence, read_word(json, "confidence", place, parse_confidence));
  WEIR_TRY(fix, read_list<Fix>(json, "fix", place, fix_from));
  return Finding{std::move(id),       severity,   std::move(verdict), std::move(at),
                 std::move(evidence), confidence, std::move(fix)};
}

}  // namespace

Json to_json(const Finding& finding) {
  const CatalogEntry* entry = find(finding.id);
  Json out;
  out["id"] = finding.id;
  out["aliases"] = entry == nullptr ? Json::array() : Json(entry->aliases);
  out["severity"] = to_text(finding.severity);
  out["verdict"] = finding.verdict;
  out["where"] = where_json(finding.where);
  out["evidence"] = list_json(finding.evidence, evidence_json);
  out["confidence"] = to_text(finding.confidence);
  out["fix"] = list_json(fixes_of(finding), fix_json);
  out["rows"] = entry == nullptr ? Json::array() : Json(entry->rows);
  return out;
}

Json to_json(const Related& related) {
  const CatalogEntry* entry = find(related.id);
  return {{"id", related.id},
          {"aliases", entry == nullptr ? Json::array() : Json(entry->aliases)},
          {"why", related.why}};
}

Json to_json(const Judgement& judgement) {
  Json out = json_without_findings(judgement);
  out["findings"] =
      list_json(judgement.findings, [](const Finding& finding) { return to_json(finding); });
  return out;
}

Json json_without_findings(const Judgement& judgement) {
  Json out;
  out["conclusion"] = to_text(judgement.conclusion);
  out["findings"] = Json::array();
  out["unknown"] = list_json(judgement.unknown, [](const Unknown& unknown) {
    return Json{{"check", unknown.check},
                {"reason", unknown.reason},
                {"how", unknown.how},
                {"required", unknown.is_required}};
  });
  out["next"] = judgement.next;
  out["related"] =
      list_json(judgement.related, [](const Related& related) { return to_json(related); });
  out["summary"] = {{"errors", judgement.count(Severity::kError)},
                    {"warnings", judgement.count(Severity::kWarning)},
                    {"infos", judgement.count(Severity::kInfo)},
                    {"unknown", judgement.unknown.size()}};
  return out;
}

Result<Judgement> judgement_from_json(const Json& json) {
  if (!json.is_object()) return wrong("judgement", "an object", json);
  WEIR_TRY(conclusion, read_word(json, "conclusion", "", parse_conclusion));
  WEIR_TRY(findings, read_list<Finding>(json, "findings", "", finding_at));
  WEIR_TRY(unknown, read_list<Unknown>(json, "unknown", "", unknown_from));
  WEIR_TRY(next, read_list<std::string>(json, "next", "", text_from));
  Judgement out{std::move(findings), std::move(unknown), std::move(next), conclusion, {}};
  if (find_key(json, "related") == nullptr) return out;  // written before there were any
  WEIR_TRY(related, read_list<Related>(json, "related", "", related_from));
  out.related = std::move(related);
  return out;
}

}  // namespace weir::finding
