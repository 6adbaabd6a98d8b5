#include "evidence/deviation.h"

#include <numeric>

#include "base/testing.h"

namespace weir::evidence {
namespace {

design::NicIntent wanted_nic() {
  design::NicIntent nic;
  nic.device = "mlx5_0";
  nic.speed = 100_Gbps;
  nic.mtu = 9000_B;
  nic.rdma_mtu = 4096_B;
  nic.address = "10.0.0.1/16";
  for (unsigned d = 24; d < 32; ++d)
    nic.dscp_to_priority.at(d) = 3_prio;
  nic.dscp_to_priority[48] = 6_prio;
  nic.priority_to_tc[3] = 3_tc;
  nic.traffic_classes[3] = {design::Scheduling::kDwrr, Share::raw(500'000), true};
  nic.traffic_classes[0] = {design::Scheduling::kDwrr, Share::raw(100'000), true};
  nic.pfc.insert(3_prio);
  nic.ecn_np.insert(3_prio);
  nic.ecn_rp.insert(3_prio);
  nic.cnp_dscp = 48_dscp;
  nic.cnp_priority = 6_prio;
  nic.traffic_class = 106_tos;
  nic.rdma_cm_tos = 106_tos;
  nic.ring = 8192;
  nic.cable = 3_m;
  return nic;
}

design::Intent wanted_values() {
  design::Intent intent;
  intent.dcqcn = {{"rpg_ai_rate", 5}, {"cnp_dscp", 48}};
  return intent;
}

/// A NIC as the intent wants it, every fact read.
Nic good_nic() {
  const design::NicIntent wanted = wanted_nic();
  const vocab::SetScheduling scheduling = wanted_scheduling(wanted);
  Nic nic;
  nic.device = "mlx5_0";
  nic.driver = Fact<std::string>::of("mlx5_core");
  nic.link.up = Fact<bool>::of(true);
  nic.link.speed = Fact<BitRate>::of(100_Gbps);
  nic.link.mtu = Fact<Bytes>::of(9000_B);
  nic.link.active_mtu = Fact<Bytes>::of(4096_B);
  nic.link.pause_rx = Fact<bool>::of(false);
  nic.link.pause_tx = Fact<bool>::of(false);
  nic.qos.trust = Fact<TrustMode>::of(TrustMode::kDscp);
  std::array<std::optional<Priority>, 64> map{};
  std::copy(wanted.dscp_to_priority.begin(), wanted.dscp_to_priority.end(), map.begin());
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  nic.qos.priority_to_tc = Fact<std::array<TrafficClass, 8>>::of(wanted.priority_to_tc);
  nic.qos.pfc = Fact<PrioritySet>::of(wanted.pfc);
  nic.qos.tsa = Fact<std::array<Tsa, 8>>::of(scheduling.tsa);
  nic.qos.tc_bandwidth = Fact<std::array<unsigned, 8>>::of(scheduling.percent);
  nic.qos.tc_max_rate = Fact<std::array<BitRate, 8>>::of({});
  nic.qos.cable_length = Fact<Length>::of(3_m);
  nic.qos.dcbx = Fact<DcbxMode>::of(DcbxMode::kOs);
  nic.ecn.np = Fact<PrioritySet>::of(PrioritySet::from_mask(0xff));
  nic.ecn.rp = Fact<PrioritySet>::of(wanted.ecn_rp);
  nic.ecn.cnp_dscp = Fact<Dscp>::of(48_dscp);
  nic.ecn.cnp_priority = Fact<Priority>::of(6_prio);
  nic.ecn.parameters = Fact<std::vector<Parameter>>::of({{"rp_ai_rate", 5}});
  nic.rdma.gids = Fact<std::vector<Gid>>::of(
      {{0, "fe80:0000:0000:0000:0000:0000:0000:0001", GidType::kRoceV2, "eth0"},
       {3, "0000:0000:0000:0000:0000:ffff:0a00:0001", GidType::kRoceV2, "eth0"}});
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(104_tos);
  nic.rdma.cm_tos = Fact<TosByte>::of(106_tos);
  nic.rings.rx = Fact<unsigned>::of(4096);
  nic.rings.rx_max = Fact<unsigned>::of(4096);
  nic.rings.tx = Fact<unsigned>::of(8192);
  return nic;
}

std::vector<Deviation> of(const Nic& nic) {
  return deviations(nic, wanted_nic(), wanted_values());
}

TEST(Deviation, ANicAsDesignedHasNone) {
  COVERS("C1");
  for (const Deviation& deviation : of(good_nic())) {
    const DeviationText words = text_of(deviation);
    ADD_FAILURE() << subject_of(deviation) << ": expected " << words.expected << ", found "
                  << words.found;
  }
}

TEST(Deviation, WhatIsWrongSaysWhatWasExpectedAndFound) {
  COVERS("C1");
  Nic nic = good_nic();
  nic.qos.trust = Fact<TrustMode>::of(TrustMode::kPcp);
  nic.qos.pfc = Fact<PrioritySet>::of(PrioritySet());
  nic.ecn.np = Fact<PrioritySet>::of(PrioritySet::from_mask(1));
  nic.ecn.parameters = Fact<std::vector<Parameter>>::of({{"rpg_ai_rate", 50}});
  const std::vector<Deviation> found = of(nic);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].setting, Setting::kTrust);
  EXPECT_EQ(text_of(found[0]).expected, "dscp");
  EXPECT_EQ(text_of(found[0]).found, "pcp");
  EXPECT_EQ(found[1].setting, Setting::kKnob);
  EXPECT_EQ(text_of(found[1]).item, "rpg_ai_rate");
  EXPECT_EQ(text_of(found[1]).expected, "5Mbps");
  EXPECT_EQ(text_of(found[1]).found, "50Mbps");
  EXPECT_EQ(found[2].setting, Setting::kEcnNp);
  EXPECT_EQ(found[3].setting, Setting::kPfc);
  EXPECT_EQ(text_of(found[3]).expected, "priority 3");
  EXPECT_EQ(text_of(found[3]).found, "none");
}

TEST(Deviation, NeighbouringCodePointsWithTheSameMistakeAreOne) {
  COVERS("C1");
  Nic nic = good_nic();
  auto map = *nic.qos.dscp_to_priority;
  for (std::size_t d = 24; d < 32; ++d)
    map.at(d) = 0_prio;
  map[48] = std::nullopt;
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  const std::vector<Deviation> found = of(nic);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(text_of(found[0]).item, "DSCP 24-31");
  EXPECT_EQ(text_of(found[0]).found, "priority 0");
  EXPECT_EQ(text_of(found[1]).item, "DSCP 48");
  EXPECT_EQ(text_of(found[1]).found, "no entry");
}

TEST(Deviation, TheVendorsGroupsOfEightAreAcceptedForBestEffort) {
  COVERS("B1", "C1");
  Nic nic = good_nic();
  std::array<std::optional<Priority>, 64> map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = Priority::of(d / 8);
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  EXPECT_TRUE(of(nic).empty());
  map[26] = 0_prio;
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  EXPECT_EQ(of(nic).size(), 1U);
}

TEST(Deviation, AFactThatCouldNotBeReadIsNeverRight) {
  COVERS("C1");
  Nic nic = good_nic();
  nic.qos.pfc = Fact<PrioritySet>::missing(Missing::kPermission);
  nic.qos.trust = Fact<TrustMode>();
  const std::vector<Deviation> found = of(nic);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].setting, Setting::kTrust);
  EXPECT_EQ(found[0].missing, Missing::kAbsent);
  EXPECT_EQ(found[1].setting, Setting::kPfc);
  EXPECT_EQ(found[1].missing, Missing::kPermission);
  EXPECT_EQ(text_of(found[1]).found, "");
}

TEST(Deviation, AForcedTrafficClassIsComparedByItsDscp) {
  COVERS("C1");
  Nic nic = good_nic();
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(std::nullopt);
  EXPECT_TRUE(of(nic).empty());
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(26_tos);
  const std::vector<Deviation> found = of(nic);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].setting, Setting::kTrafficClass);
  EXPECT_EQ(text_of(found[0]).found, "26 (DSCP 6)");
}

TEST(Deviation, AGidOfAnotherAddressIsNotTheRails) {
  COVERS("C1");
  Nic nic = good_nic();
  nic.rdma.gids = Fact<std::vector<Gid>>::of({{0, "::ffff:10.9.0.1", GidType::kRoceV2, "eth0"}});
  ASSERT_EQ(of(nic).size(), 1U);
  nic.rdma.gids = Fact<std::vector<Gid>>::of({{0, "::ffff:10.0.0.1", GidType::kRoceV2, "eth0"}});
  EXPECT_TRUE(of(nic).empty());
}

TEST(Deviation, AnIntentThatLeavesThingsOpenAsksForNothing) {
  COVERS("C1");
  design::NicIntent open = wanted_nic();
  open.speed = {};
  open.mtu = open.rdma_mtu = {};
  open.ring = 0;
  open.cable = {};
  open.address.clear();
  open.traffic_classes = {};
  Nic nic = good_nic();
  nic.link.mtu = Fact<Bytes>::of(1500_B);
  nic.link.speed = Fact<BitRate>();
  nic.rings.rx = Fact<unsigned>();
  nic.qos.tsa = Fact<std::array<Tsa, 8>>();
  nic.qos.cable_length = Fact<Length>();
  nic.ecn.parameters = Fact<std::vector<Parameter>>();
  EXPECT_TRUE(deviations(nic, open, {}).empty());
}

TEST(Deviation, SharesBecomeWholePercentsOfAHundred) {
  COVERS("B1");
  design::NicIntent nic;
  for (std::size_t tc : {0U, 2U, 3U, 4U})
    nic.traffic_classes.at(tc) = {design::Scheduling::kDwrr, Share::raw(100'000), true};
  nic.traffic_classes[3].minimum = Share::raw(500'000);
  nic.traffic_classes[6] = {design::Scheduling::kStrict, Share::raw(0), true};
  const vocab::SetScheduling scheduling = wanted_scheduling(nic);
  EXPECT_EQ(std::accumulate(scheduling.percent.begin(), scheduling.percent.end(), 0U), 100U);
  EXPECT_EQ(scheduling.percent[3], 62U);  // 62.5; of equal remainders the lower class gets it
  EXPECT_EQ(scheduling.percent[0], 13U);
  EXPECT_EQ(scheduling.tsa[6], Tsa::kStrict);
  EXPECT_EQ(scheduling.percent[6], 0U);
}

}  // namespace
}  // namespace weir::evidence
