// Hosts that stand out among others: sockets, a NIC that is stuck, and one host alone.
#include "base/testing.h"
#include "diagnose/core/made_case.h"

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

}  // namespace
}  // namespace weir::diagnose
