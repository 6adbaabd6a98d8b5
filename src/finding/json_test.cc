#include "finding/json.h"

#include <string>

#include "base/json.h"
#include "base/rng.h"
#include "base/testing.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

Judgement example() {
  Finding finding = make_finding("dscp.unmarked", "97 % of the bytes left in priority 0");
  finding.where.host = "gpu07";
  finding.where.rail = "3";
  finding.evidence = {{"gpu07: ethtool -S eth3", "tx_prio0_bytes", "port.prio.tx.bytes", 97},
                      {"job.sh", "no NCCL_IB_TC", "", std::nullopt}};
  finding.confidence = Confidence::kHigh;
  finding.fix = {{"nccl", {"export NCCL_IB_TC=106"}, "In job.sh."}};
  Judgement judgement;
  judgement.findings = {finding};
  judgement.unknown = {
      {"ecn", "debugfs is not mounted", "mount -t debugfs none /sys/kernel/debug"}};
  judgement.related = {{"pfc.storm", "words in common: storm"}};
  judgement.next = {"weir verify -- ./job.sh"};
  judgement.conclusion = Conclusion::kFindings;
  return judgement;
}

TEST(FindingJson, HasTheFieldsThatOtherProgramsRelyOnAndOnlyKnownPlaces) {
  COVERS("I14");
  const Json expected = Json::parse(R"({
    "conclusion": "findings",
    "findings": [{
      "id": "dscp.unmarked",
      "aliases": ["verify.prio_delta", "lint.env_vs_design", "TC_UNMARKED"],
      "severity": "error",
      "verdict": "97 % of the bytes left in priority 0",
      "where": {"host": "gpu07", "rail": "3"},
      "evidence": [
        {"source": "gpu07: ethtool -S eth3", "line": "tx_prio0_bytes",
         "counter": "port.prio.tx.bytes", "value": 97},
        {"source": "job.sh", "line": "no NCCL_IB_TC", "counter": null, "value": null}],
      "confidence": "high",
      "fix": [{"platform": "nccl", "commands": ["export NCCL_IB_TC=106"], "note": "In job.sh."}],
      "rows": ["D3", "E2", "E3", "I14"]}],
    "unknown": [{"check": "ecn", "reason": "debugfs is not mounted",
                 "how": "mount -t debugfs none /sys/kernel/debug",
                 "required": true}],
    "next": ["weir verify -- ./job.sh"],
    "related": [{"id": "pfc.storm", "aliases": ["switch.pause_propagation", "PFC_PROPAGATION"],
                 "why": "words in common: storm"}],
    "summary": {"errors": 1, "warnings": 0, "infos": 0, "unknown": 1}
  })");
  EXPECT_EQ(to_json(example()).dump(2), expected.dump(2)) << "the order of the keys counts too";
}

TEST(FindingJson, AFindingWithoutFixesShowsTheCataloguesAndAFilePlaceItsLine) {
  Where where;
  where.file = "fabric.yaml";
  where.position = {12, 7};
  const Json json = to_json(make_finding("trust.mixed", "leaf1 trusts pcp", where));
  EXPECT_EQ(json["where"].dump(), R"({"file":"fabric.yaml","line":12,"column":7})");
  EXPECT_EQ(json["fix"].size(), find("trust.mixed")->fix.size());
  EXPECT_EQ(json["fix"][0]["commands"][0], "trust: dscp");
}

std::string random_text(RandomStream& random) {
  static constexpr std::string_view kPieces[] = {"swp", "7", " ", "\"", "\\", "\n", "µ", "{", "a"};
  std::string text;
  for (std::uint64_t i = random.below(6); i > 0; --i)
    text += kPieces[random.below(std::size(kPieces))];
  return text;
}

std::vector<std::string> random_list(RandomStream& random) {
  std::vector<std::string> list(random.below(3));
  for (std::string& item : list)
    item = random_text(random);
  return list;
}

Where random_where(RandomStream& random) {
  Where where;
  where.file = random_text(random);
  if (random.below(2) == 0) {
    where.position = {1 + static_cast<int>(random.below(1000)),
                      1 + static_cast<int>(random.below(90))};
  }
  for (const auto name : {&Where::host, &Where::rail, &Where::device, &Where::switch_name,
                          &Where::port, &Where::priority, &Where::link})
    where.*name = random_text(random);
  return where;
}

Finding random_finding(RandomStream& random) {
  const auto entries = catalog();
  Finding finding = make_finding(entries[random.below(entries.size())].id, random_text(random),
                                 random_where(random));
  finding.severity = static_cast<Severity>(random.below(3));
  finding.confidence = static_cast<Confidence>(random.below(4));
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    EvidenceLine seen{random_text(random), random_text(random), random_text(random), std::nullopt};
    if (random.below(2) == 0) seen.value = static_cast<std::int64_t>(random.next());
    finding.evidence.push_back(std::move(seen));
  }
  for (std::uint64_t i = 1 + random.below(2); i > 0; --i)  // none would become the catalogue's
    finding.fix.push_back({random_text(random), random_list(random), random_text(random)});
  return finding;
}

TEST(FindingJson, ReadsBackWhatItWrote) {
  constexpr std::uint64_t kSeed = 20260;
  for (std::uint64_t round = 0; round < 200; ++round) {
    RandomStream random(kSeed, round, 0);
    Judgement judgement;
    for (std::uint64_t i = random.below(4); i > 0; --i)
      judgement.findings.push_back(random_finding(random));
    for (std::uint64_t i = random.below(3); i > 0; --i)
      judgement.unknown.push_back({random_text(random), random_text(random), random_text(random)});
    judgement.related.push_back({"pfc.storm", random_text(random)});
    judgement.next = random_list(random);
    judgement.conclusion = static_cast<Conclusion>(random.below(4));
    const Json through_text = Json::parse(to_json(judgement).dump());
    const auto back = judgement_from_json(through_text);
    ASSERT_TRUE(back.has_value()) << "seed " << kSeed << " round " << round << ": "
                                  << back.error().what;
    EXPECT_EQ(*back, judgement) << "seed " << kSeed << " round " << round << "\n"
                                << through_text.dump(2);
  }
}

TEST(FindingJson, AnUnknownKeyIsIgnoredBecauseTheFormatMayGrow) {
  Json json = to_json(example());
  json["tomorrow"] = 1;
  json["findings"][0]["where"]["rack"] = "r7";
  const auto back = judgement_from_json(json);
  ASSERT_TRUE(back.has_value()) << back.error().what;
  EXPECT_EQ(*back, example());
}

/// The error for `example()` with one change.
template <class Change>
std::string error_after(const Change& change) {
  Json json = to_json(example());
  change(json);
  const auto back = judgement_from_json(json);
  return back.has_value() ? "no error" : back.error().what;
}

TEST(FindingJson, AnErrorNamesThePlaceWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(error_after([](Json& j) { j = Json::array(); }),
            "judgement: expected an object, found []");
  EXPECT_EQ(error_after([](Json& j) { j.erase("next"); }), "next: missing");
  EXPECT_EQ(error_after([](Json& j) { j["conclusion"] = "fine"; }),
            "conclusion: 'fine' is not a word of this field");
  EXPECT_EQ(error_after([](Json& j) { j["findings"][0]["severity"] = 3; }),
            "findings[0].severity: expected a text, found 3");
  EXPECT_EQ(error_after([](Json& j) { j["findings"][0]["id"] = "dscp.unmarkt"; }),
            "findings[0].id: 'dscp.unmarkt' is not a finding id; did you mean 'dscp.unmarked'?");
  EXPECT_EQ(error_after([](Json& j) { j["findings"][0]["evidence"][1]["value"] = 1.5; }),
            "findings[0].evidence[1].value: expected a whole number of 64 bits, found 1.5");
  EXPECT_EQ(error_after(
                [](Json& j) { j["findings"][0]["evidence"][0]["value"] = 18446744073709551615U; }),
            "findings[0].evidence[0].value: expected a whole number of 64 bits, found "
            "18446744073709551615");
  EXPECT_EQ(error_after([](Json& j) { j["findings"][0]["where"]["line"] = -1; }),
            "findings[0].where.line: expected a number from 1, found -1");
  EXPECT_EQ(error_after([](Json& j) { j["findings"][0]["fix"][0]["commands"] = "x"; }),
            "findings[0].fix[0].commands: expected a list, found \"x\"");
}

}  // namespace
}  // namespace weir::finding
