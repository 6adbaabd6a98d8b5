#include "diagnose/behaviour/preflight.h"

#include "base/testing.h"
#include "diagnose/core/made_case.h"
#include "finding/catalog.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

LonePair slow_pair() {
  return {.from = "gpu01", .to = "gpu09", .rail = 2, .rate = 12.1e9, .floor = 93.14e9};
}

TEST(PreflightFindings, ALoadThatDidNotFinishNamesItsPairsOnce) {
  COVERS("J1");
  finding::Judgement judgement;
  UnfinishedLoad load{.open = {{"gpu01", "gpu02"}, {"gpu01", "gpu02"}},
                      .notes = {"Completion with error"}};
  judge_unfinished(load, judgement);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].verdict, "Messages did not arrive: gpu01 to gpu02.");
  EXPECT_EQ(judgement.findings[0].evidence[0].line, "Completion with error");
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kFindings);
  // It is an error itself, and one is enough.
  judge_unfinished(load, judgement);
  EXPECT_EQ(judgement.findings.size(), 1U);

  finding::Judgement many;
  for (const char* to : {"b", "c", "d", "e", "f", "g"})
    load.open.emplace_back("a", to);
  judge_unfinished(load, many);
  EXPECT_EQ(many.findings[0].verdict,
            "Messages did not arrive: gpu01 to gpu02, a to b, a to c, a to d and 3 other pairs.");
}

TEST(PreflightFindings, PausesOfPrioritiesThatAreNotLossless) {
  COVERS("I25");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_prio3_pause", 7}, {"ethtool/rx_prio5_pause", 9}});
  const View view(Case{made.pieces(), nullptr, {}});
  finding::Judgement judgement;
  judge_other_pauses(view, PrioritySet::from_mask(0x08), judgement);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_TRUE(finding::is_raised(judgement.findings, "pfc.wrong_priority"));
  EXPECT_NE(judgement.findings[0].verdict.find("priority 5"), std::string::npos);
  finding::Judgement quiet;
  judge_other_pauses(view, PrioritySet::from_mask(0x28), quiet);
  EXPECT_FALSE(finding::is_raised(quiet.findings, "pfc.wrong_priority"));
  EXPECT_EQ(quiet.conclusion, finding::Conclusion::kHealthy);
}

TEST(PreflightFindings, FecIsWrongWhereItIsShownAndTheDesignSaysAnother) {
  COVERS("C4");
  evidence::Nic facts;
  NicView nic;
  nic.host = "gpu01";
  nic.device = "mlx5_0";
  nic.facts = &facts;
  const WantedFec wanted{.modes = {"RS", "LLRS"}, .why = "the design has fec: rs"};
  EXPECT_FALSE(wrong_fec(nic, wanted)) << "not shown";
  facts.link.fec = evidence::Fact<std::string>::of("Off");
  const auto wrong = wrong_fec(nic, wanted);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->verdict,
            "gpu01 mlx5_0: FEC is Off, expected RS or LLRS: the design has fec: rs.");
  EXPECT_FALSE(wrong_fec(nic, {.modes = {"RS"}, .why = ""})) << "left to the module";
  facts.link.fec = evidence::Fact<std::string>::of("LLRS");
  EXPECT_FALSE(wrong_fec(nic, wanted));
}

TEST(PreflightFindings, APathTooNarrowForThePacketsOfTheDesign) {
  COVERS("J1");
  const finding::Finding narrow = narrow_path({.from = "gpu01",
                                               .to = "gpu02",
                                               .rail = 1,
                                               .mtu = 9000_B,
                                               .where = {.host = "gpu02", .rail = "1"}});
  EXPECT_EQ(narrow.id, "mtu.mismatch");
  EXPECT_EQ(narrow.verdict,
            "Packets of 9KB do not pass undivided from gpu01 to gpu02 on rail 1; small ones do.");
  EXPECT_EQ(narrow.where.host, "gpu02");
}

TEST(PreflightFindings, ANicThatIsSlowWithItselfIsItsHost) {
  COVERS("J1");
  const std::vector<Loopback> nics = {
      {.host = "gpu01", .rail = 0, .rate = 90e9, .floor = 90e9},
      {.host = "gpu02", .rail = 0, .rate = 0, .floor = 90e9},
      {.host = "gpu03", .rail = 1, .rate = 20.5e9, .floor = 90e9},
  };
  finding::Judgement judgement;
  judge_loopbacks(nics, judgement);
  ASSERT_EQ(judgement.findings.size(), 1U) << "at its floor, and one that did not finish";
  EXPECT_EQ(judgement.findings[0].verdict,
            "gpu03 moves 20.5 Gb/s with itself, of at least 90.0 Gb/s: the host is slow, not the "
            "fabric.");
  EXPECT_EQ(judgement.findings[0].where.rail, "1");
  EXPECT_EQ(judgement.findings[0].severity, finding::Severity::kError);
  finding::Judgement healthy;
  judge_loopbacks(std::span(nics).first(1), healthy);
  EXPECT_EQ(healthy.conclusion, finding::Conclusion::kHealthy);
}

TEST(PreflightFindings, ASlowHostSaysWhichWayAndBesideWhom) {
  COVERS("J2");
  EXPECT_EQ(to_text(slow_pair()), "gpu01 to gpu09, rail 2, alone: 12.1 Gb/s of at least 93.1 Gb/s");
  finding::Judgement judgement;
  judge_slow_host("gpu09", slow_pair(), {"gpu01", "gpu03"}, judgement);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].verdict,
            "gpu09 is slow with both partners: alone with gpu01 and with gpu03 it receives 12.1 "
            "Gb/s of at least 93.1 Gb/s.");
  EXPECT_EQ(judgement.findings[0].evidence[0].line, to_text(slow_pair()));
  finding::Judgement sender;
  judge_slow_host("gpu01", slow_pair(), {"gpu09"}, sender);
  EXPECT_NE(sender.findings[0].verdict.find("it sends"), std::string::npos);
}

TEST(PreflightFindings, AHostThatHasAFindingGetsTheMeasurementWithIt) {
  COVERS("J2");
  finding::Judgement judgement;
  finding::Finding known = finding::make_finding("mtu.mismatch", "too small", {.host = "gpu09"});
  known.severity = finding::Severity::kWarning;
  judgement.findings = {known};
  judge_slow_host("gpu09", slow_pair(), {"gpu01"}, judgement);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].id, "mtu.mismatch");
  EXPECT_EQ(judgement.findings[0].severity, finding::Severity::kError);
  EXPECT_EQ(judgement.findings[0].evidence.back().line, to_text(slow_pair()));
  // A note about it is no cause.
  finding::Judgement noted;
  known.severity = finding::Severity::kInfo;
  noted.findings = {known};
  judge_slow_host("gpu09", slow_pair(), {"gpu01"}, noted);
  EXPECT_TRUE(finding::is_raised(noted.findings, "host.straggler"));
}

const LonePair kSlowWay = {
    .from = "gpu05", .to = "gpu01", .rail = 3, .rate = 100e9, .floor = 372e9};

TEST(PreflightFindings, NameTheNicAndWhatToTypeForIt) {
  COVERS("J2");
  const finding::Finding found =
      slow_nic({.host = "gpu05", .rail = 3, .device = "mlx5_3", .netdev = "rail3"}, kSlowWay,
               {"gpu01", "gpu02"}, 7);
  EXPECT_EQ(found.verdict,
            "gpu05 rail 3 (mlx5_3) is slow with both partners: alone with gpu01 and with gpu02 it "
            "sends 100.0 Gb/s of at least 372.0 Gb/s; 7 other rails of the host reached their "
            "floors in the same loads.");
  EXPECT_EQ(found.where.host, "gpu05");
  EXPECT_EQ(found.where.rail, "3");
  EXPECT_EQ(found.where.device, "mlx5_3");
  EXPECT_EQ(found.severity, finding::Severity::kError);
  ASSERT_FALSE(found.fix.empty());
  EXPECT_NE(found.fix.front().commands.front().find("/sys/class/infiniband/mlx5_3/device"),
            std::string::npos);
}

TEST(PreflightFindings, OfAPathSayNothingOfOtherHostsThatNobodyMeasured) {
  COVERS("J2");
  const finding::Finding found = slow_path(kSlowWay, "");
  EXPECT_EQ(found.verdict,
            "gpu05 to gpu01 is slow on rail 3, alone: 100.0 Gb/s of at least 372.0 Gb/s.");
  EXPECT_EQ(found.where.link, "gpu01 - gpu05");
  EXPECT_EQ(slow_path(kSlowWay, "; gpu05 reaches its floor with gpu02").verdict,
            "gpu05 to gpu01 is slow on rail 3, alone: 100.0 Gb/s of at least 372.0 Gb/s; gpu05 "
            "reaches its floor with gpu02.");
}

TEST(PreflightFindings, ASearchForALinkSaysAsMuchAsItFound) {
  COVERS("J2");
  const auto judged = [](const LinkSearch& search) {
    finding::Judgement judgement;
    judge_slow_link(search, judgement);
    judge_slow_link(search, judgement);
    EXPECT_EQ(judgement.findings.size(), 1U) << "said twice";
    return judgement.findings.front();
  };
  LinkSearch search{
      .rail = 0, .leaves = {"leaf1", "leaf2"}, .slow = 2, .tried = 9, .worst = slow_pair()};
  const finding::Finding path = judged(search);
  EXPECT_EQ(path.verdict,
            "A path between leaf1 and leaf2 is slow (2 of 9 pairs, tried one at a time).");
  EXPECT_EQ(path.where.link, "leaf1 - leaf2");

  search.faulty = {{.leaf = "leaf2", .uplinks = 8, .slow = 3, .tried = 4},
                   {.leaf = "leaf1", .uplinks = 8, .slow = 0, .tried = 5}};
  const finding::Finding leaf = judged(search);
  EXPECT_TRUE(leaf.verdict.starts_with("One of the 8 uplinks of leaf2 is slow: alone, 3 of 4"))
      << leaf.verdict;
  EXPECT_NE(leaf.verdict.find("0 of 5 pairs of leaf1"), std::string::npos) << leaf.verdict;
  EXPECT_EQ(leaf.where.switch_name, "leaf2");

  search.links = {"leaf1 swp9 - spine2 swp1"};
  search.switch_name = "leaf1";
  search.port = "swp9";
  const finding::Finding link = judged(search);
  EXPECT_TRUE(link.verdict.starts_with("A link is slow: leaf1 swp9 - spine2 swp1 carried every"))
      << link.verdict;
  EXPECT_EQ(link.where.port, "swp9");
  EXPECT_EQ(link.severity, finding::Severity::kError);
}

}  // namespace
}  // namespace weir::diagnose
