#include "evidence/schema.h"

#include "base/json.h"
#include "base/testing.h"
#include "evidence/drawn_evidence.h"
#include "evidence/json.h"
#include "finding/json.h"

namespace weir::evidence {
namespace {

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  ADD_FAILURE() << "a type the schemas do not use: " << type;
  return false;
}

/// Every 64-bit number of either sign; the JSON library compares them as signed.
Int128 exact(const Json& number) {
  return number.is_number_unsigned() ? Int128{number.get<std::uint64_t>()}
                                     : Int128{number.get<std::int64_t>()};
}

bool has_one_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  for (const Json& type : types) {
    if (has_type(value, type.get<std::string>())) return true;
  }
  return false;
}

/// The keywords our schemas use, and no others: a keyword it does not know fails the test.
class Validator {
 public:
  /// Empty where `value` is valid, else the pointer of the first thing that is not.
  static std::string check(const Json& schema, const Json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items()) {
      const std::string wrong = keyword_fails(keyword, rule, schema, value, at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  static std::string keyword_fails(const std::string& keyword, const Json& rule, const Json& schema,
                                   const Json& value, const std::string& at) {
    const std::string wrong = at + ": " + keyword;
    if (keyword == "type") return has_one_type(value, rule) ? "" : wrong;
    if (keyword == "const") return value == rule ? "" : wrong;
    if (keyword == "enum") return contains(rule, value) ? "" : wrong;
    if (keyword == "minimum") return !value.is_number() || exact(value) >= exact(rule) ? "" : wrong;
    if (keyword == "maximum") return !value.is_number() || exact(value) <= exact(rule) ? "" : wrong;
    if (keyword == "minItems") return !value.is_array() || value.size() >= exact(rule) ? "" : wrong;
    if (keyword == "maxItems") return !value.is_array() || value.size() <= exact(rule) ? "" : wrong;
    if (keyword == "required") return has_all(value, rule) ? "" : wrong;
    if (keyword == "items") return items(rule, value, at);
    if (keyword == "properties") return members(rule, value, at);
    if (keyword == "additionalProperties") return others(rule, schema, value, at);
    if (keyword == "oneOf") return matches(rule, value, at) == 1 ? "" : wrong;
    const bool is_note = keyword == "description" || keyword == "title" || keyword == "$schema" ||
                         keyword == "$id" || keyword == "uniqueItems";
    return is_note ? "" : "a keyword the test does not know: " + keyword;
  }
  static bool contains(const Json& list, const Json& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }
  static bool has_all(const Json& value, const Json& keys) {
    return !value.is_object() || std::all_of(keys.begin(), keys.end(), [&](const Json& key) {
      return value.contains(key.get<std::string>());
    });
  }
  static std::string items(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_array()) return "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string wrong = check(rule, value[i], at + "/" + std::to_string(i));
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  static std::string members(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_object()) return "";
    for (const auto& [key, schema] : rule.items()) {
      if (!value.contains(key)) continue;
      const std::string wrong = check(schema, value[key], at + "/" + key);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  static std::string others(const Json& rule, const Json& schema, const Json& value,
                            const std::string& at) {
    for (const auto& [key, member] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(key)) continue;
      const std::string wrong = check(rule, member, at + "/" + key);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  static int matches(const Json& rules, const Json& value, const std::string& at) {
    int count = 0;
    for (const Json& rule : rules)
      count += check(rule, value, at).empty() ? 1 : 0;
    return count;
  }
};

std::string check(std::string_view name, const Json& value) {
  return Validator::check(schema(name), value, "");
}

/// The keys of `value` that the schema does not describe, by their pointers.
void find_undescribed(const Json& schema, const Json& value, const std::string& at,
                      std::vector<std::string>& out) {
  if (value.is_array()) {
    for (const Json& item : value)
      find_undescribed(schema.at("items"), item, at, out);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const auto properties = schema.find("properties");
    if (properties != schema.end() && properties->contains(key)) {
      find_undescribed(properties->at(key), member, at + "/" + key, out);
    } else if (schema.contains("additionalProperties")) {
      find_undescribed(schema.at("additionalProperties"), member, at + "/*", out);
    } else {
      out.push_back(at + "/" + key);
    }
  }
}

std::vector<std::string> undescribed(const Json& schema, const Json& value) {
  std::vector<std::string> keys;
  find_undescribed(schema, value, "", keys);
  return keys;
}

TEST(Schema, EveryDrawnEvidenceIsValidAndFullyDescribed) {
  COVERS("C1", "G8");
  const Json rules = schema("evidence");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Json drawn = to_json(draw_evidence(seed));
    EXPECT_EQ(Validator::check(rules, drawn, ""), "");
    EXPECT_EQ(undescribed(rules, drawn), std::vector<std::string>{});
  }
}

TEST(Schema, EverySnapshotIsValid) {
  COVERS("D1");
  std::uint64_t seed = 1;
  while (draw_evidence(seed).snapshots.empty())
    ++seed;
  const Evidence drawn = draw_evidence(seed);
  for (const counters::Snapshot& snapshot : drawn.snapshots)
    EXPECT_EQ(check("snapshot", counters::to_json(snapshot)), "");
}

TEST(Schema, AJudgementIsValid) {
  finding::Judgement judgement;
  EXPECT_EQ(check("judgement", finding::to_json(judgement)), "");
  finding::Finding finding;
  finding.id = "dscp.tos_confusion";
  finding.verdict = "traffic_class is 26 on mlx5_0, which is DSCP 6";
  finding.where.host = "gpu07";
  finding.where.file = "fabric.yaml";
  finding.where.position = {12, 7};
  finding.evidence.push_back({"snapshot", "tx_prio0_bytes grew", "nic.prio.tx.bytes", 5});
  finding.evidence.push_back({"fabric.yaml", "tc: 26", "", std::nullopt});
  finding.fix.push_back({"host", {"echo 106"}, ""});
  judgement.findings.push_back(finding);
  judgement.unknown.push_back({"pfc", "no privilege", "run as root"});
  judgement.next.emplace_back("weir explain dscp.tos_confusion");
  finding::settle(judgement);
  const Json out = finding::to_json(judgement);
  EXPECT_EQ(check("judgement", out), "");
  EXPECT_EQ(undescribed(schema("judgement"), out), std::vector<std::string>{});
}

TEST(Schema, WhatIsWrongIsRefused) {
  const Json rules = schema("evidence");
  const auto wrong = [&rules](const Json& value) { return Validator::check(rules, value, ""); };
  const Json good = to_json(draw_evidence(3));
  EXPECT_EQ(wrong(good), "");
  Json bad = good;
  bad["schema"] = "weir/evidence/2";
  EXPECT_EQ(wrong(bad), "/schema: const");
  bad = good;
  bad.erase("provenance");
  EXPECT_EQ(wrong(bad), ": required");
  bad = good;
  bad["nics"] = Json::parse(R"([{"device": "mlx5_0", "port": 1, "qos": {"pfc": {"value": [9]}}}])");
  EXPECT_EQ(wrong(bad), "/nics/0/qos/pfc/value/0: maximum");
  bad["nics"][0]["qos"]["pfc"] = Json::parse(R"({"value": [3], "missing": "absent"})");
  EXPECT_EQ(wrong(bad), "/nics/0/qos/pfc: oneOf");
  bad["nics"][0]["qos"]["pfc"] = Json::parse(R"({"missing": "zero"})");
  EXPECT_EQ(wrong(bad), "/nics/0/qos/pfc/missing: enum");
  const Json counters = Json::parse(
      R"({"schema": "weir/snapshot/1", "time": "", "clock_ns": 0, "nics": [
          {"device": "", "netdev": "", "driver": "",
           "counters": {"ethtool/x": {"id": null, "unit": null}}}]})");
  EXPECT_EQ(check("snapshot", counters), "/nics/0/counters/ethtool/x: oneOf");
}

TEST(Schema, EveryNameHasASchemaThatNamesItsDraft) {
  for (const std::string_view name : schema_names()) {
    const Json rules = schema(name);
    EXPECT_EQ(rules["$schema"], "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(rules["$id"], "urn:weir/" + std::string(name) + "/1");
    EXPECT_EQ(rules["type"], "object");
  }
  EXPECT_EQ(schema_names().size(), 3U);
}

}  // namespace
}  // namespace weir::evidence
