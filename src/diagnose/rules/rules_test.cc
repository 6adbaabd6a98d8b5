// Every rule on cases made by hand: what makes it speak, and what must not.
#include "base/testing.h"
#include "diagnose/core/made_case.h"

namespace weir::diagnose {
namespace {

using evidence::Fact;
using evidence::TrustMode;

TEST(Rules, CongestionWithMarksAndCnpsIsHealthy) {
  COVERS("I8", "D3");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"ethtool/rx_prio3_pause", 40}, {"ethtool/rx_prio3_pause_duration", 40}});
  EXPECT_EQ(made.said(), "healthy");
}

TEST(Rules, AHostThatPausesItsSwitchIsTheSlowReceiver) {
  COVERS("I1", "D4");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"ethtool/tx_prio3_pause", 900}, {"ethtool/tx_prio3_pause_duration", 4000}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "receiver.slow");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
  EXPECT_EQ(judgement.findings.front().severity, finding::Severity::kError);
  EXPECT_NE(judgement.findings.front().verdict.find("40 %"), std::string::npos)
      << judgement.findings.front().verdict;
}

TEST(Rules, APauseNowAndThenIsNoSlowReceiver) {
  COVERS("I1");
  MadeCase made;
  made.host("gpu01", {{"ethtool/tx_prio3_pause", 4}, {"ethtool/tx_prio3_pause_duration", 50}});
  EXPECT_EQ(made.said(), "healthy");  // 0.5 % of the window
}

TEST(Rules, TheSwitchPortTellsOfAHostThatNobodyCouldLookAt) {
  COVERS("I1");
  MadeCase made;
  made.host("gpu01");
  made.port("swp1", "gpu01", "mlx5_0");
  made.port("swp2", "gpu02", "mlx5_0",
            {{"switch/prio3.pause_rx.frames", 70},
             {"switch/prio3.pause_rx.microseconds", 9900},
             {"switch/queue3.tx.bytes", 10'000}});
  // Without a design or evidence of gpu02 nothing says that it is a host.
  EXPECT_EQ(made.said(), "healthy");
  made.host("gpu02", {});
  for (counters::Snapshot& snapshot : made.pieces().back().snapshots)
    snapshot.nics.clear();
  EXPECT_EQ(made.said(), "pfc.storm");
}

TEST(Rules, TheFirstCauseTakesWhatFollowsFromIt) {
  COVERS("I1");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/out_of_sequence", 30}});
  made.host("gpu02", {{"ethtool/tx_prio3_pause", 900}, {"ethtool/tx_prio3_pause_duration", 4000}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "receiver.slow");
  EXPECT_NE(judgement.findings.front().evidence.back().line.find("consequence: "),
            std::string::npos);
}

TEST(Rules, MarksWithoutCnpsAreASilentReceiver) {
  COVERS("I11");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"hw_counters/np_cnp_sent", 0}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "np.disabled");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

TEST(Rules, AHandfulOfMarksProvesNothing) {
  COVERS("I11");
  MadeCase made;
  made.host("gpu01",
            {{"hw_counters/np_ecn_marked_roce_packets", 3}, {"hw_counters/np_cnp_sent", 0}});
  EXPECT_EQ(made.said(), "healthy");
}

TEST(Rules, CnpsThatNobodyHandlesAreADeafSender) {
  COVERS("I12");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/rp_cnp_handled", 0}, {"hw_counters/rp_cnp_ignored", 300}});
  EXPECT_EQ(made.said(), "rp.disabled");
  MadeCase quiet;
  quiet.host("gpu01", {{"hw_counters/rp_cnp_handled", 0}});
  EXPECT_EQ(quiet.said(), "inconclusive") << "its CNPs went to senders that were not read";
}

TEST(Rules, ANicThatTrustsPcpIsNamedByItsSetting) {
  COVERS("I14");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"ethtool/tx_prio0_bytes", 50'000'000}, {"ethtool/tx_prio3_bytes", 0}})
      .nics[0]
      .qos.trust = Fact<TrustMode>::of(TrustMode::kPcp);
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "trust.not_dscp");
  EXPECT_EQ(judgement.findings.front().confidence, finding::Confidence::kCertain);
}

TEST(Rules, ADscpTypedAsTrafficClassIsCalledThat) {
  COVERS("I14", "A3");
  MadeCase made;
  made.host("gpu01").nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(26_tos);
  EXPECT_EQ(made.said(), "dscp.tos_confusion");
  MadeCase other;
  other.host("gpu01").nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(0_tos);
  EXPECT_EQ(other.said(), "dscp.unmarked");
  MadeCase right;
  right.host("gpu01").nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(104_tos);
  EXPECT_EQ(right.said(), "healthy");
}

TEST(Rules, CountersAloneTellMarkingFromTrust) {
  COVERS("I14");
  const std::vector<Count> in_priority_0 = {{"ethtool/tx_prio0_bytes", 50'000'000},
                                            {"ethtool/tx_prio0_packets", 12'000},
                                            {"ethtool/tx_prio3_bytes", 0}};
  MadeCase unmarked;
  unmarked.host("gpu01");
  unmarked.host("gpu02", in_priority_0);
  unmarked.port("swp2", "gpu02", "mlx5_0",
                {{"switch/prio0.rx.bytes", 50'000'000}, {"switch/prio3.rx.bytes", 0}});
  EXPECT_EQ(unmarked.said(), "dscp.unmarked");
  MadeCase marked;
  marked.host("gpu01");
  marked.host("gpu02", in_priority_0);
  marked.port("swp2", "gpu02", "mlx5_0",
              {{"switch/prio0.rx.bytes", 0}, {"switch/prio3.rx.bytes", 50'000'000}});
  EXPECT_EQ(marked.said(), "trust.not_dscp");
}

TEST(Rules, TrafficThatNobodyCanNameIsNotCalledHealthy) {
  COVERS("I14");
  MadeCase made;
  made.host("gpu01", {{"ethtool/tx_prio0_bytes", 50'000'000},
                      {"ethtool/tx_prio3_bytes", 0},
                      {"ethtool/rx_prio3_bytes", 0}});
  EXPECT_EQ(made.said(), "inconclusive");
}

TEST(Rules, WhatTheNicDoesNotCountAsRdmaIsNotMarkedWrong) {
  COVERS("I14");
  const auto said = [](std::uint64_t rdma) {
    MadeCase made;
    made.host("gpu01");
    made.host("gpu02", {{"ethtool/tx_prio0_bytes", 50'000'000},
                        {"ethtool/tx_prio3_bytes", 0},
                        {"ethtool/tx_vport_rdma_unicast_bytes", rdma}});
    return made.said();
  };
  EXPECT_EQ(said(0), "healthy");
  EXPECT_EQ(said(50'000'000), "dscp.unmarked");
}

TEST(Rules, ASwitchThatPutsRdmaElsewhereIsNamed) {
  COVERS("I14", "I15");
  MadeCase made;
  made.host("gpu01");
  made.port("swp1", "gpu01", "mlx5_0",
            {{"switch/prio0.rx.bytes", 50'000'000}, {"switch/prio3.rx.bytes", 0}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "dscp.unmapped_hop");
  EXPECT_EQ(judgement.findings.front().where.switch_name, "leaf1");
}

TEST(Rules, PfcOnAnotherPriorityExplainsTheDropsOfTheSwitch) {
  COVERS("I15", "I3");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02").nics[0].qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 4U));
  made.port("swp2", "gpu02", "mlx5_0",
            {{"switch/prio3.pause_tx.frames", 100}, {"switch/pg3.drop_headroom.packets", 12}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "pfc.wrong_priority");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

TEST(Rules, DropsDespitePausesAreTooLittleHeadroom) {
  COVERS("I3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/packet_seq_err", 5}, {"ethtool/rx_prio3_pause", 100}});
  made.port("swp1", "gpu01", "mlx5_0",
            {{"switch/prio3.pause_tx.frames", 100}, {"switch/pg3.drop_headroom.packets", 12}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "headroom.too_small");
  EXPECT_EQ(judgement.findings.front().where.port, "swp1");
}

TEST(Rules, PfcOnMorePrioritiesIsFoundByItsCounters) {
  COVERS("I25");
  MadeCase made;
  // mlx5 shows pause counters only of priorities with PFC.
  made.host("gpu01", {{"ethtool/rx_prio4_pause", 0}});
  EXPECT_EQ(made.said(), "pfc.multiple_priorities");
}

TEST(Rules, ARefusalOfLongPacketsIsAnMtuMismatch) {
  COVERS("I16");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"ethtool/rx_oversize_pkts_phy", 44}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "mtu.mismatch");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

TEST(Rules, OneMtuThatDiffersFromTheOthersIsAMismatch) {
  COVERS("I16");
  MadeCase made;
  for (const char* name : {"gpu01", "gpu02", "gpu03"})
    made.host(name).nics[0].link.mtu = Fact<Bytes>::of(9000_B);
  EXPECT_EQ(made.said(), "healthy");
  made.pieces()[1].nics[0].link.mtu = Fact<Bytes>::of(1500_B);
  EXPECT_EQ(made.said(), "mtu.mismatch");
}

TEST(Rules, PausesWithoutMarksAreMarkingTooLate) {
  COVERS("I22");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_prio3_pause", 400}});
  made.port("swp1", "gpu01", "mlx5_0",
            {{"switch/prio3.pause_tx.frames", 400}, {"switch/queue3.ecn_marked.packets", 2}});
  EXPECT_EQ(made.said(), "ecn.thresholds_too_high");
}

TEST(Rules, MarkingFromAThousandBytesOnIsTooEarly) {
  COVERS("I2");
  MadeCase made;
  made.host("gpu01");
  evidence::SwitchPort& port = made.port("swp1", "gpu01", "mlx5_0");
  port.queues.emplace_back();
  port.queues[0].queue = 3_queue;
  port.queues[0].ecn = Fact<bool>::of(true);
  port.queues[0].ecn_min = Fact<Bytes>::of(1000_B);
  EXPECT_EQ(made.said(), "ecn.thresholds_too_low");
  made.pieces()[1].switches[0].ports[0].queues[0].ecn_min = Fact<Bytes>::of(25000_B);
  EXPECT_EQ(made.said(), "healthy");
  made.pieces()[1].switches[0].ports[0].queues[0].ecn_min = Fact<Bytes>::of(64'000'000_B);
  EXPECT_EQ(made.said(), "ecn.thresholds_too_high");
}

TEST(Rules, PausesThatBeginAtOneUplinkAreACollision) {
  COVERS("I7");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_prio3_pause", 300}});
  made.port("swp1", "gpu01", "mlx5_0",
            {{"switch/prio3.pause_tx.frames", 300},
             {"switch/prio3.pause_tx.microseconds", 3000},
             {"switch/queue3.ecn_marked.packets", 0}});
  made.port("swp9", "leaf1", "swp10",
            {{"switch/port.tx.bytes", 90'000'000}, {"switch/queue3.ecn_marked.packets", 5000}});
  for (const char* name : {"swp10", "swp11", "swp12"})
    made.port(name, "leaf1", "swp9", {{"switch/port.tx.bytes", 300'000}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "ecmp.imbalance");
  EXPECT_EQ(judgement.findings.front().where.port, "swp9");
  // On one switch, in a window this short, it may be chance: told, and not an alarm.
  EXPECT_EQ(judgement.findings.front().severity, finding::Severity::kInfo);
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kHealthy);
  made.pieces()[1].snapshots[1].clock_ns = 2'000'000'000;
  for (counters::PortCounters& port : made.pieces()[1].snapshots[1].switch_ports) {
    std::vector<counters::Sample> samples = port.samples().copy();
    for (counters::Sample& sample : samples)
      if (sample.name == "prio3.pause_tx.microseconds")
        sample.reading = counters::Reading::of(200'000);
    port = {port.device(), port.netdev(), port.driver(), samples};
  }
  EXPECT_EQ(made.said(), "ecmp.imbalance") << "ten percent of two seconds is no burst";
}

TEST(Rules, LossInALossyClassIsToldAndNoAlarm) {
  COVERS("D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/packet_seq_err", 5}});
  made.port("swp1", "gpu01", "mlx5_0", {{"switch/queue0.drop_tail.packets", 9}});
  EXPECT_EQ(made.said(), "healthy");
}

TEST(Rules, LossWithoutACauseSaysSo) {
  COVERS("D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/packet_seq_err", 5}});
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "path.loss");
  EXPECT_EQ(judgement.findings.front().confidence, finding::Confidence::kLow);
}

TEST(Rules, BrokenFramesNameTheEndThatReceivesThem) {
  COVERS("I18", "D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/out_of_sequence", 30}});
  made.host("gpu02", {{"ethtool/rx_crc_errors_phy", 12}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U) << "the loss follows from it";
  EXPECT_EQ(judgement.findings.front().id, "link.physical_errors");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

TEST(Rules, AHostWhosePhysicalLayerNobodySawIsNotHealthy) {
  COVERS("I18");
  MadeCase made;
  made.host("gpu01");
  made.forget("_phy");
  const finding::Judgement judgement = made.judge();
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_EQ(judgement.unknown[0].check, "broken frames");
}

TEST(Rules, ALinkThatWentDownIsNamedAndOneThatIsDownToo) {
  COVERS("I18");
  MadeCase made;
  made.host("gpu01");
  made.host("gpu02", {{"ethtool/link_down_events_phy", 2}});
  EXPECT_EQ(made.said(), "link.flapping");
  made.pieces().back().nics.front().link.up = Fact<bool>::of(false);
  const finding::Judgement judgement = made.judge();
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "link.degraded");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

TEST(Rules, PacketsThatGoRoundAreALoopAtASwitch) {
  COVERS("D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/local_ack_timeout_err", 3}});
  made.port("swp1", "gpu01", "mlx5_0", {{"switch/port.drop_ttl.packets", 700}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "routing.loop");
  EXPECT_FALSE(judgement.findings.front().where.switch_name.empty());
  EXPECT_NE(judgement.findings.front().verdict.find("loop"), std::string::npos);
}

TEST(Rules, MessagesWithoutAReceiveAreTheApplications) {
  COVERS("D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/packet_seq_err", 9}});
  made.host("gpu02", {{"hw_counters/out_of_buffer", 10}});
  const finding::Judgement judgement = made.judge();
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "app.receives_too_few");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu02");
}

}  // namespace
}  // namespace weir::diagnose
