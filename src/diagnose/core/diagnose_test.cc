#include "diagnose/core/diagnose.h"

#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/join.h"
#include "diagnose/core/made_case.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

using evidence::Fact;

TEST(Diagnose, NothingSeenIsNotHealthy) {
  COVERS("D8");
  EXPECT_EQ(diagnose({}).conclusion, finding::Conclusion::kInconclusive);
  MadeCase idle;
  idle.host("gpu01", {{"ethtool/tx_prio3_bytes", 0}, {"ethtool/rx_prio3_bytes", 0}});
  const finding::Judgement judgement = idle.judge();
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_FALSE(judgement.unknown.empty());
  EXPECT_NE(judgement.unknown.back().reason.find("no traffic"), std::string::npos);
}

TEST(Diagnose, ACounterThatIsNotThereIsSaidAndNotTakenForZero) {
  COVERS("D8", "I11");
  MadeCase made;
  made.host("gpu01");
  made.forget("np_ecn_marked");
  made.forget("np_cnp_sent");
  const finding::Judgement judgement = made.judge();
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_EQ(judgement.unknown[0].check, "notification points");
}

TEST(Diagnose, ANumberThatUsesAll64BitsIsNeverNegative) {
  COVERS("D2", "I18");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_crc_errors_phy", 9'223'372'036'854'775'820U}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& first = judgement.findings.front();
  EXPECT_NE(first.verdict.find(" 9,223,372,036,854,775,820 "), std::string::npos) << first.verdict;
  EXPECT_NE(first.evidence.front().line.find("+9,223,372,036,854,775,820"), std::string::npos);
  EXPECT_FALSE(first.evidence.front().value.has_value()) << "it does not fit, and is not negative";
}

TEST(Diagnose, TheSameCaseGivesTheSameAnswer) {
  COVERS("I1");
  MadeCase made;
  for (const char* name : {"gpu01", "gpu02", "gpu03"})
    made.host(name, {{"hw_counters/np_cnp_sent", 0}, {"hw_counters/packet_seq_err", 1}});
  EXPECT_EQ(made.judge(), made.judge());
}

TEST(Diagnose, TheSameFaultEverywhereIsOneFinding) {
  COVERS("I11");
  MadeCase made;
  for (const char* name : {"gpu01", "gpu02", "gpu03", "gpu04", "gpu05", "gpu06"})
    made.host(name, {{"hw_counters/np_cnp_sent", 0}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_NE(judgement.findings[0].verdict.find("gpu02, gpu03"), std::string::npos)
      << judgement.findings[0].verdict;
  EXPECT_EQ(judgement.findings[0].where, finding::Where());
}

TEST(Diagnose, ACauseComesBeforeAnotherOnesSecondPlace) {
  COVERS("I1");
  MadeCase made;
  for (const char* name : {"gpu01", "gpu02", "gpu03"})
    made.host(name, {{"hw_counters/np_cnp_sent", 0}});
  made.host("gpu04").nics[0].qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kPcp);
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 4U);
  EXPECT_NE(judgement.findings[0].id, judgement.findings[1].id);
  EXPECT_EQ(judgement.findings[2].id, "np.disabled");
  EXPECT_EQ(judgement.findings[3].id, "np.disabled");
}

TEST(Diagnose, TheFixNamesTheDeviceAndItsPlatform) {
  COVERS("I14");
  MadeCase made;
  evidence::Nic& nic = made.host("gpu01").nics[0];
  nic.netdev = Fact<std::string>::of("ens1f0");
  nic.driver = Fact<std::string>::of("mlx5_core");
  nic.stack = Fact<evidence::Stack>::of(evidence::Stack::kOfed);
  nic.qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kPcp);
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  const std::vector<finding::Fix>& fix = judgement.findings[0].fix;
  ASSERT_FALSE(fix.empty());
  EXPECT_EQ(fix[0].platform, "mlx5-ofed");
  EXPECT_NE(fix[0].commands[0].find("ens1f0"), std::string::npos) << fix[0].commands[0];
  for (const finding::Fix& known : fix)
    EXPECT_NE(known.platform, "bnxt");
}

/// Whose driver it is was not read: either of the two may be, and no other vendor's.
TEST(Diagnose, TheFixesOfAnMlx5AreThoseOfMlx5) {
  COVERS("I14");
  MadeCase made;
  evidence::Nic& nic = made.host("gpu01").nics[0];
  nic.driver = Fact<std::string>::of("mlx5_core");
  nic.qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kPcp);
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  ASSERT_FALSE(judgement.findings[0].fix.empty());
  for (const finding::Fix& fix : judgement.findings[0].fix)
    for (const std::string_view other : {"bnxt", "ice", "ionic"})
      EXPECT_NE(fix.platform, other);
}

TEST(Diagnose, EveryRuleSpeaksInIdsOfTheCatalogue) {
  COVERS("I1");
  for (const Rule& rule : rules()) {
    EXPECT_FALSE(rule.what.empty());
    EXPECT_NE(rule.look, nullptr);
  }
  for (const Consequence& consequence : congestion_anywhere()) {
    const finding::CatalogEntry* entry = finding::find(consequence.id);
    ASSERT_NE(entry, nullptr) << consequence.id;
    EXPECT_EQ(entry->id, consequence.id);
  }
}

TEST(Join, SnapshotsOfOneHostBecomeItsWindow) {
  COVERS("D2");
  MadeCase made;
  made.host("gpu01");
  evidence::Evidence before = made.pieces()[0];
  evidence::Evidence after = made.pieces()[0];
  before.snapshots.pop_back();
  after.snapshots.erase(after.snapshots.begin());
  after.nics[0].link.mtu = Fact<Bytes>::of(9000_B);
  const std::vector<evidence::Evidence> joined = join_windows({after, before});
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].snapshots.size(), 2U);
  EXPECT_LT(joined[0].snapshots[0].clock_ns, joined[0].snapshots[1].clock_ns);
  EXPECT_TRUE(joined[0].nics[0].link.mtu.is_known());
}

TEST(Questions, AreAnsweredWithTheirCounters) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01");
  const std::vector<Question> questions = five_questions(View({made.pieces(), nullptr, {}}));
  ASSERT_EQ(questions.size(), 5U);
  EXPECT_EQ(questions[0].question, "Is DCQCN working?");
  EXPECT_EQ(questions[0].answer, Answer::kYes);
  EXPECT_FALSE(questions[0].lines.empty());
  EXPECT_EQ(questions[1].answer, Answer::kNo);
  EXPECT_TRUE(questions[1].is_good);
  EXPECT_EQ(questions[2].answer, Answer::kNo);
  EXPECT_EQ(questions[3].answer, Answer::kYes);
  EXPECT_EQ(questions[4].answer, Answer::kYes);
  made.forget("_phy");
  const Question blind = five_questions(View({made.pieces(), nullptr, {}}))[4];
  EXPECT_EQ(blind.answer, Answer::kUnknown);
  EXPECT_FALSE(blind.is_good);
}

TEST(Questions, WithoutMarksDcqcnWasNotTested) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/np_ecn_marked_roce_packets", 0},
                      {"hw_counters/np_cnp_sent", 0},
                      {"hw_counters/rp_cnp_handled", 0},
                      {"ethtool/rx_crc_errors_phy", 7}});
  const std::vector<Question> questions = five_questions(View({made.pieces(), nullptr, {}}));
  EXPECT_EQ(questions[0].answer, Answer::kNotNeeded);
  EXPECT_EQ(questions[4].answer, Answer::kNo);
}

TEST(Interpret, SaysWhoStoppedWhomAndForHowLong) {
  COVERS("D3", "D4");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_prio3_pause", 40}, {"ethtool/rx_prio3_pause_duration", 800}});
  const std::vector<Observation> seen = interpret(View({made.pieces(), nullptr, {}}));
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().counter, "nic.prio.pause_rx.microseconds");
  EXPECT_EQ(seen.front().severity, finding::Severity::kError);
  EXPECT_NE(seen.front().sentence().find("8 % of the window"), std::string::npos)
      << seen.front().sentence();
  EXPECT_NE(seen.front().sentence().find("the switch paused this NIC"), std::string::npos);
}

TEST(Interpret, PauseAboveOnePercentWarnsAndBelowItDoesNot) {
  COVERS("D3");
  for (const auto& [microseconds, severity] :
       {std::pair(90U, finding::Severity::kInfo), std::pair(200U, finding::Severity::kWarning),
        std::pair(600U, finding::Severity::kError)}) {
    MadeCase made;
    made.host("gpu01", {{"ethtool/rx_prio3_pause_duration", microseconds}});
    for (const Observation& observation : interpret(View({made.pieces(), nullptr, {}}))) {
      if (observation.counter == "nic.prio.pause_rx.microseconds") {
        EXPECT_EQ(observation.severity, severity) << microseconds;
      }
    }
  }
}

TEST(Diagnose, BitErrorsAtASwitchHaveTheCommandsOfItsSystem) {
  COVERS("I18");
  MadeCase made;
  made.host("gpu01");
  made.port("Ethernet352", "spine2", "Ethernet8", {{"switch/port.crc_error.packets", 356}});
  for (evidence::Evidence& piece : made.pieces())
    for (evidence::Switch& device : piece.switches)
      device.platform = Fact<std::string>::of("sonic");
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& found = judgement.findings.front();
  EXPECT_EQ(found.id, "link.physical_errors");
  ASSERT_FALSE(found.fix.empty());
  EXPECT_EQ(found.fix.front().platform, "sonic");
  EXPECT_EQ(found.fix.front().commands.back(),
            "show interfaces transceiver eeprom --dom Ethernet352");
  for (const finding::Fix& fix : found.fix)
    EXPECT_NE(fix.platform, "host");
}

/// One host of eight rails whose notification points are off.
TEST(Diagnose, AllRailsOfAHostAreInPlaceEvidenceAndFix) {
  COVERS("I11");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02");
  evidence::Evidence& host = made.host("gpu40");
  const evidence::Nic first = host.nics.front();
  host.nics.clear();
  for (unsigned rail = 0; rail < 8; ++rail) {
    evidence::Nic nic = first;
    nic.device = fmt::format("mlx5_{}", rail);
    nic.netdev = evidence::Fact<std::string>::of(fmt::format("rail{}", rail));
    nic.rail = evidence::Fact<unsigned>::of(rail);
    nic.ecn.np = evidence::Fact<PrioritySet>::of(PrioritySet());
    host.nics.push_back(nic);
  }
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& found = judgement.findings.front();
  EXPECT_EQ(found.id, "np.disabled");
  EXPECT_EQ(found.where.host, "gpu40");
  EXPECT_EQ(found.where.device, "mlx5_[0-7]");
  EXPECT_NE(found.verdict.find("Also at mlx5_[1-7]"), std::string::npos) << found.verdict;
  std::string seen;
  for (const finding::EvidenceLine& line : found.evidence)
    seen += line.source + "\n";
  std::string typed;
  for (const finding::Fix& fix : found.fix)
    for (const std::string& command : fix.commands)
      typed += command + "\n";
  for (unsigned rail = 0; rail < 8; ++rail) {
    EXPECT_NE(seen.find(fmt::format("mlx5_{}", rail)), std::string::npos) << rail << seen;
    EXPECT_NE(typed.find(fmt::format("rail{}", rail)), std::string::npos) << rail << typed;
  }
}

}  // namespace
}  // namespace weir::diagnose
