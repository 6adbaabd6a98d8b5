// Hosts that stand out among others: sockets, a NIC that is stuck, and one host alone.
#include "base/testing.h"
#include "diagnose/core/made_case.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

std::vector<Count> over(std::uint64_t sockets, std::uint64_t rdma) {
  return {{"ethtool/tx_prio0_bytes", sockets},
          {"ethtool/rx_prio0_bytes", sockets},
          {"ethtool/tx_prio3_bytes", rdma},
          {"ethtool/rx_prio3_bytes", rdma},
          {"ethtool/tx_vport_rdma_unicast_bytes", rdma},
          {"ethtool/rx_vport_rdma_unicast_bytes", rdma}};
}

TEST(Sockets, AHostWithoutRdmaAmongOthersThatUseItFellBack) {
  COVERS("I24");
  MadeCase made;
  made.host("gpu01", over(80'000'000, 0));
  made.host("gpu02", over(40'000'000, 50'000'000));
  made.host("gpu03", over(1000, 90'000'000));
  EXPECT_EQ(made.said(), "nccl.socket_fallback");
  EXPECT_EQ(made.judge().findings.front().where.host, "gpu01");
}

TEST(Sockets, WhatEverybodyMovesThroughTheKernelIsNoJob) {
  COVERS("I24");
  MadeCase made;
  made.host("gpu01", over(1'000'000, 0));
  made.host("gpu02", over(900'000, 50'000'000));
  made.host("gpu03", over(1'100'000, 50'000'000));
  EXPECT_NE(made.said(), "nccl.socket_fallback");
}

TEST(Sockets, WithoutAnybodyWhoUsesRdmaItIsAGuess) {
  COVERS("I24");
  MadeCase made;
  for (const char* name : {"gpu01", "gpu02"})
    made.host(name, over(90'000'000, 0)).nics[0].link.speed = evidence::Fact<BitRate>::of(100_Gbps);
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& first = judgement.findings.front();
  EXPECT_EQ(first.id, "nccl.socket_fallback") << first.verdict;
  EXPECT_EQ(first.confidence, finding::Confidence::kLow);
  EXPECT_EQ(first.severity, finding::Severity::kInfo);
}

std::string said_of_pauses(std::uint64_t frames, std::uint64_t microseconds) {
  MadeCase made;
  evidence::Evidence& host = made.host(
      "gpu01",
      {{"ethtool/tx_prio3_pause", frames}, {"ethtool/tx_prio3_pause_duration", microseconds}});
  host.nics.back().link.speed = evidence::Fact<BitRate>::of(100_Gbps);
  return made.said();
}

TEST(Storm, PausesThatAreOnlyRenewedAreAStormAndTakenBackASlowReceiver) {
  COVERS("I1");
  EXPECT_EQ(said_of_pauses(30, 6000), "pfc.storm");
  EXPECT_EQ(said_of_pauses(3000, 6000), "receiver.slow");
}

/// A 400G NIC that takes 40G pauses its port nine tenths of the time, some microseconds each: as
/// long on average as a stuck one with a few pauses before. Its port counted each of them.
TEST(Storm, AReceiverThatReleasesItsPauseAgainAndAgainIsSlowHoweverLongItPauses) {
  COVERS("I1");
  const auto said = [](std::uint64_t begun) {
    MadeCase made;
    made.host("gpu01", {{"ethtool/tx_prio3_pause", 1950},
                        {"ethtool/tx_prio3_pause_duration", 9'010},
                        {"ethtool/rx_prio3_bytes", 50'000'000}})
        .nics.back()
        .link.speed = evidence::Fact<BitRate>::of(400_Gbps);
    made.port("swp1", "gpu01", "mlx5_0", {{"switch/prio3.pause_rx.transitions.events", begun}});
    return made.said();
  };
  EXPECT_EQ(said(1720), "receiver.slow");
  EXPECT_EQ(said(3), "pfc.storm");
}

TEST(Storm, ExplainsThatTheStuckHostSendsNoCnpsAndNotThatOthersSendNone) {
  COVERS("I1", "I11");
  const auto finds = [](bool is_stuck_host) {
    MadeCase made;
    const std::vector<Count> storm = {{"ethtool/tx_prio3_pause", 30},
                                      {"ethtool/tx_prio3_pause_duration", 9900}};
    std::vector<Count> silent = {{"hw_counters/np_cnp_sent", 0}};
    if (is_stuck_host) silent.insert(silent.end(), storm.begin(), storm.end());
    made.host("gpu01", silent).nics[0].link.speed = evidence::Fact<BitRate>::of(100_Gbps);
    if (!is_stuck_host)
      made.host("gpu02", storm).nics[0].link.speed = evidence::Fact<BitRate>::of(100_Gbps);
    std::vector<std::string> out;
    for (const finding::Finding& finding : made.judge().findings)
      if (finding.severity != finding::Severity::kInfo) out.push_back(finding.id);
    return out;
  };
  EXPECT_EQ(finds(true), std::vector<std::string>{"pfc.storm"});
  EXPECT_EQ(finds(false), (std::vector<std::string>{"pfc.storm", "np.disabled"}));
}

TEST(Beyond, AHostThatIsPausedIsNotCalledHealthyWhileNoSwitchWasSeen) {
  COVERS("I7");
  MadeCase quiet;
  quiet.host("gpu01");
  EXPECT_EQ(quiet.said(), "healthy");
  MadeCase paused;
  paused.host("gpu01", {{"ethtool/rx_prio3_pause", 50}, {"ethtool/rx_prio3_pause_duration", 800}});
  EXPECT_EQ(paused.said(), "inconclusive");
}

/// What is said of one host of a design, with no switch looked at.
finding::Judgement of_one_host(const std::vector<Count>& counts) {
  MadeCase made;
  evidence::Evidence& host = made.host("gpu01", counts);
  host.nics.back().link.neighbour = evidence::Fact<evidence::Neighbour>::of({"leaf7", "swp3"});
  const design::Intent intent;
  return diagnose({made.pieces(), &intent, {}});
}

TEST(OneHost, GuessesOfItsSwitchesAreSaidAsGuesses) {
  COVERS("I8", "I9", "I17", "D3");
  struct Row {
    std::string_view id;
    std::vector<Count> counts;
  };
  const Row rows[] = {
      {"routing.loop", {{"ethtool/rx_prio3_packets", 0}, {"ethtool/rx_prio3_bytes", 0}}},
      {"buffer.too_small",
       {{"ethtool/rx_prio3_pause", 50}, {"ethtool/rx_prio3_pause_duration", 800}}},
      {"headroom.too_small", {{"ethtool/rx_prio3_pause", 1}, {"hw_counters/out_of_sequence", 5}}},
      {"path.reordering", {{"hw_counters/packet_seq_err", 100}}},
      {"link.physical_errors", {{"hw_counters/packet_seq_err", 2}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.id);
    const finding::Judgement said = of_one_host(row.counts);
    ASSERT_FALSE(said.findings.empty());
    EXPECT_EQ(said.findings.front().id, row.id);
    EXPECT_EQ(said.findings.front().confidence, finding::Confidence::kLow);
  }
  EXPECT_EQ(of_one_host(rows[1].counts).findings.front().where.switch_name, "leaf7");
}

TEST(OneHost, IsNotGuessedAboutWhereEcnHadItsTurnOrTheHostItselfIsWrong) {
  COVERS("I8", "D3");
  EXPECT_EQ(of_one_host({}).conclusion, finding::Conclusion::kHealthy);
  EXPECT_NE(of_one_host({{"ethtool/rx_prio3_pause", 5},
                         {"ethtool/rx_prio3_pause_duration", 800},
                         {"hw_counters/rp_cnp_handled", 900}})
                .conclusion,
            finding::Conclusion::kFindings);
  const finding::Judgement answered =
      of_one_host({{"ethtool/rx_prio3_packets", 0}, {"ethtool/rx_vport_rdma_unicast_packets", 90}});
  for (const finding::Finding& finding : answered.findings)
    EXPECT_NE(finding.id, "routing.loop") << "the answers came in another priority";
  const finding::Judgement bad_cable =
      of_one_host({{"ethtool/rx_crc_errors_phy", 40}, {"hw_counters/out_of_sequence", 40}});
  ASSERT_EQ(bad_cable.findings.size(), 1U);
  EXPECT_EQ(bad_cable.findings.front().where.host, "gpu01");
}

bool is_named(const finding::Judgement& judgement, std::string_view id) {
  const bool is_there = std::any_of(
      judgement.findings.begin(), judgement.findings.end(), [&](const finding::Finding& finding) {
        return finding.id == id && finding.severity > finding::Severity::kInfo;
      });
  finding::note_shown(id, is_there);
  return is_there;
}

TEST(OneHost, PausesOnAPriorityThatTheMaskLeavesOut) {
  COVERS("I25");
  const auto judged = [](std::uint64_t pauses) {
    MadeCase made;
    made.host("gpu01", {{"ethtool/rx_prio4_pause", pauses}}).nics[0].qos.pfc =
        evidence::Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 3U));
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged(900), "pfc.multiple_priorities"));
  EXPECT_FALSE(is_named(judged(0), "pfc.multiple_priorities"));
}

TEST(OneHost, CountsOf8023xPause) {
  COVERS("C11");
  const auto judged = [](std::uint64_t global) {
    MadeCase made;
    made.host("gpu01", {{"ethtool/rx_global_pause", global}});
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged(500), "pause.global_on"));
  EXPECT_FALSE(is_named(judged(0), "pause.global_on"));
}

TEST(OneHost, SomeCnpsIgnoredIsNotHealthy) {
  COVERS("I13");
  const auto judged = [](std::uint64_t ignored) {
    MadeCase made;
    made.host("gpu01",
              {{"hw_counters/rp_cnp_handled", 16'000}, {"hw_counters/rp_cnp_ignored", ignored}});
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged(1'000), "rp.disabled")) << "5.9 %";
  EXPECT_FALSE(is_named(judged(25), "rp.disabled")) << "0.16 %";
}

TEST(OneHost, DisorderWithoutATimeoutIsReordering) {
  COVERS("I17");
  const auto judged = [](std::uint64_t timeouts) {
    MadeCase made;
    made.host("gpu01", {{"hw_counters/out_of_sequence", 80'000},
                        {"hw_counters/local_ack_timeout_err", timeouts}});
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged(0), "path.reordering"));
  EXPECT_FALSE(is_named(judged(40), "path.reordering")) << "loss runs into timers";
}

TEST(OneHost, ManyMarksOnAnIdleLineAndPausesWithoutCnps) {
  COVERS("I21", "I22");
  const auto judged = [](const std::vector<Count>& counts) {
    MadeCase made;
    made.host("gpu01", counts).nics[0].link.speed = evidence::Fact<BitRate>::of(400_Gbps);
    return made.judge();
  };
  // Ten milliseconds at 1 and at 300 Gbit/s.
  const Count cnps{"hw_counters/np_cnp_sent", 90'000};
  const Count marks{"hw_counters/np_ecn_marked_roce_packets", 100'000};
  EXPECT_TRUE(is_named(judged({marks, cnps, {"ethtool/rx_prio3_bytes", 1'250'000}}),
                       "ecn.thresholds_too_low"));
  EXPECT_FALSE(is_named(judged({marks, cnps, {"ethtool/rx_prio3_bytes", 375'000'000}}),
                        "ecn.thresholds_too_low"));
  const auto paused = [&](std::uint64_t handled) {
    return judged({{"ethtool/rx_prio3_pause", 400},
                   {"ethtool/rx_prio3_pause_duration", 3'000},
                   {"hw_counters/rp_cnp_handled", handled}});
  };
  EXPECT_TRUE(is_named(paused(3), "ecn.thresholds_too_high")) << "30 % paused, 3 CNPs";
  EXPECT_FALSE(is_named(paused(9'000), "ecn.thresholds_too_high"));
}

TEST(OneHost, CongestionControlThatIsNotDcqcn) {
  COVERS("C2");
  const auto judged = [](const std::string& algorithm) {
    MadeCase made;
    made.host("gpu01").nics[0].ecn.algorithm = evidence::Fact<std::string>::of(algorithm);
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged("rtt"), "cc.wrong_algorithm"));
  EXPECT_FALSE(is_named(judged("dcqcn"), "cc.wrong_algorithm"));
}

TEST(OneHost, MarksWhoseCnpsWereNotReadAreNotHealthy) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01");
  made.forget("np_cnp_sent");
  EXPECT_NE(made.judge().conclusion, finding::Conclusion::kHealthy);
}

TEST(OneHost, OneReadingOfSumsIsANote) {
  COVERS("D2");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_discards_phy", 812'000}, {"hw_counters/packet_seq_err", 37}});
  EXPECT_TRUE(is_named(made.judge(), "receiver.slow"));
  made.pieces()[0].snapshots.erase(made.pieces()[0].snapshots.begin());
  const finding::Judgement once = made.judge();
  EXPECT_FALSE(once.findings.empty());
  for (const finding::Finding& finding : once.findings)
    EXPECT_EQ(finding.severity, finding::Severity::kInfo) << finding.id;
}

TEST(Queues, AClassThatDropsMostOfItsPacketsIsStarved) {
  COVERS("D3");
  const auto judged = [](std::uint64_t dropped) {
    MadeCase made;
    made.host("gpu01");
    made.port("swp1", "gpu01", "eth0",
              {{"switch/queue3.tx.packets", 90'000},
               {"switch/queue0.tx.packets", 100},
               {"switch/queue0.drop_tail.packets", dropped}});
    return made.judge();
  };
  EXPECT_TRUE(is_named(judged(4'000), "class.starved"));
  EXPECT_FALSE(is_named(judged(10), "class.starved"));
}

/// Two rails of a host at 100G for two seconds, and what each sent.
finding::Judgement two_rails(std::uint64_t first, std::uint64_t second,
                             std::int64_t window_ns = 2'000'000'000) {
  MadeCase made;
  made.host("gpu01", {{"ethtool/tx_prio3_bytes", first}});
  MadeCase other;
  other.host("gpu01", {{"ethtool/tx_prio3_bytes", second}});
  evidence::Evidence& host = made.pieces()[0];
  host.nics.push_back(other.pieces()[0].nics[0]);
  host.nics.back().device = "mlx5_1";
  for (evidence::Nic& nic : host.nics)
    nic.link.speed = evidence::Fact<BitRate>::of(100_Gbps);
  for (std::size_t i = 0; i < 2; ++i) {
    const counters::PortCounters& from = other.pieces()[0].snapshots[i].nics[0];
    host.snapshots[i].nics.push_back({"mlx5_1", "eth1", from.driver(), from.samples().copy()});
  }
  host.snapshots[1].clock_ns = window_ns;
  return made.judge();
}

TEST(Rails, OneThatIsIdleBesideABusyOneIsANote) {
  COVERS("D3", "E2");
  constexpr std::uint64_t kBusy = 20'000'000'000;  // 80 Gb/s for two seconds
  const finding::Judgement idle = two_rails(kBusy, 1000);
  EXPECT_TRUE(finding::is_raised(idle.findings, "rail.unbalanced"));
  EXPECT_EQ(idle.count(finding::Severity::kWarning) + idle.count(finding::Severity::kError), 0U);
  EXPECT_FALSE(finding::is_raised(two_rails(kBusy, kBusy / 2).findings, "rail.unbalanced"));
  EXPECT_FALSE(finding::is_raised(two_rails(kBusy / 100, 0).findings, "rail.unbalanced"));
  EXPECT_FALSE(finding::is_raised(two_rails(80'000'000, 0, 10'000'000).findings, "rail.unbalanced"))
      << "a short test may be of one rail";
}

TEST(AtRest, CountersThatDoNotMoveSayNothing) {
  COVERS("D3");
  MadeCase made;
  std::vector<Count> zeros;
  for (const std::string_view key :
       {"ethtool/tx_prio0_bytes", "ethtool/tx_prio3_bytes", "ethtool/tx_prio3_packets",
        "ethtool/rx_prio3_bytes", "hw_counters/np_ecn_marked_roce_packets",
        "hw_counters/np_cnp_sent", "hw_counters/rp_cnp_handled"})
    zeros.push_back({key, 0});
  made.host("gpu01", zeros);
  const finding::Judgement judgement = made.judge();
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  EXPECT_TRUE(judgement.findings.empty());
  ASSERT_FALSE(judgement.unknown.empty());
  EXPECT_NE(judgement.unknown.front().reason.find("nothing moved in any class"), std::string::npos);
}

}  // namespace
}  // namespace weir::diagnose
