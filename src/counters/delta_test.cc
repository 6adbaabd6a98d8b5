#include "counters/delta.h"

#include <limits>

#include "base/testing.h"

namespace weir::counters {
namespace {

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

Sample sample(std::string_view key, Reading reading) {
  const std::size_t slash = key.find('/');
  return {*place_of(key.substr(0, slash)), std::string(key.substr(slash + 1)), reading};
}
PortCounters nic(std::vector<Sample> samples, std::string driver = "mlx5_core") {
  return {"mlx5_0", "eth2", std::move(driver), std::move(samples)};
}
Delta change(std::string_view key, Reading before, Reading after) {
  const PortDelta delta = difference(nic({sample(key, before)}), nic({sample(key, after)}));
  EXPECT_EQ(delta.deltas.size(), 1U);
  return delta.deltas.front();
}
Delta change(std::string_view key, std::uint64_t before, std::uint64_t after) {
  return change(key, Reading::of(before), Reading::of(after));
}

TEST(Delta, ACounterThatGrewCounted) {
  COVERS("D2");
  const Delta delta = change("hw_counters/np_cnp_sent", 100, 117);
  EXPECT_EQ(delta.change, Change::kCounted);
  EXPECT_EQ(delta.amount, 17U);
  EXPECT_EQ(change("hw_counters/np_cnp_sent", 5, 5).amount, 0U);
}

TEST(Delta, TotalsAreTheDifferenceFromZeros) {
  COVERS("D2");
  Snapshot last;
  last.nics.push_back(nic({sample("hw_counters/np_cnp_sent", Reading::of(17)),
                           sample("hw_counters/packet_seq_err", Reading::of(kMax32)),
                           sample("ethtool/rx_prio3_pause", Reading::missing(Missing::kError))}));
  const SnapshotDelta all = totals(last);
  ASSERT_EQ(all.nics.size(), 1U);
  EXPECT_EQ(all.nics[0].amount("nic.np.cnp_sent.packets"), 17U);
  const Delta* const pauses = all.nics[0].find(Place::kEthtool, "rx_prio3_pause");
  ASSERT_NE(pauses, nullptr);
  EXPECT_EQ(pauses->change, Change::kUnreadable);
  EXPECT_EQ(all.elapsed_ns, 0);
}

TEST(Delta, ANarrowCounterGoesRoundOnce) {
  COVERS("D2");
  const Delta delta = change("hw_counters/rx_write_requests", 4294901760, 1000);
  EXPECT_EQ(delta.change, Change::kWrapped);
  EXPECT_EQ(delta.amount, 65536U + 1000U);
  EXPECT_EQ(change("hw_counters/packet_seq_err", kMax32, 0).amount, 1U);
}

TEST(Delta, ADecreaseThatIsNoWrapIsAResetAndNeverNegative) {
  COVERS("D2");
  const Delta narrow = change("hw_counters/packet_seq_err", 100, 3);
  EXPECT_EQ(narrow.change, Change::kReset);
  EXPECT_FALSE(narrow.amount);
  EXPECT_EQ(narrow.at_least, 3U);
  const Delta wide = change("hw_counters/np_cnp_sent", 100, 3);
  EXPECT_EQ(wide.change, Change::kReset);
  EXPECT_EQ(wide.at_least, 3U);
  EXPECT_EQ(change("counters/symbol_error", 9, 2).change, Change::kReset);
}

TEST(Delta, AWideCounterWrapsOnlyAtItsEnd) {
  COVERS("D2");
  const Delta delta = change("ethtool/rx_prio3_bytes", kMax64 - 9, 5);
  EXPECT_EQ(delta.change, Change::kWrapped);
  EXPECT_EQ(delta.amount, 15U);
}

TEST(Delta, InfinibandDataCountsInWordsOfFourBytes) {
  COVERS("D1", "D2");
  EXPECT_EQ(change("counters/port_xmit_data", 100, 125).amount, 100U);
}

TEST(Delta, ASaturatedCounterTellsNothing) {
  COVERS("D2");
  EXPECT_EQ(change("counters/symbol_error", 3, 65535).change, Change::kSaturated);
  EXPECT_EQ(change("counters/symbol_error", 65535, 65535).change, Change::kSaturated);
  EXPECT_EQ(change("counters/symbol_error", 65535, 0).change, Change::kSaturated);
  EXPECT_EQ(change("counters/link_downed", 254, 255).change, Change::kSaturated);
  EXPECT_EQ(change("counters/link_downed", 1, 254).amount, 253U);
  EXPECT_EQ(change("counters/port_xmit_wait", 0, kMax32).change, Change::kSaturated);
}

TEST(Delta, AValueWiderThanTheTableIsTakenAsItIs) {
  EXPECT_EQ(change("hw_counters/out_of_sequence", 10, kMax32 + 10).amount, kMax32);
  EXPECT_EQ(change("counters/symbol_error", 10, 70000).amount, 69990U);
}

TEST(Delta, SettingsAreLeftOutAndGaugesNotSubtracted) {
  COVERS("D2");
  const Delta lifespan = change("hw_counters/lifespan", 12, 10);
  EXPECT_EQ(lifespan.change, Change::kSetting);
  EXPECT_FALSE(lifespan.amount);
  const Delta stalled = change("ethtool/outbound_pci_stalled_wr", 3, 40);
  EXPECT_EQ(stalled.change, Change::kLevel);
  EXPECT_FALSE(stalled.amount);
  EXPECT_EQ(stalled.after.value(), 40U);
}

TEST(Delta, AMissingReadingIsNotZero) {
  COVERS("D2");
  const Reading denied = Reading::missing(Missing::kPermission);
  const Reading absent = Reading::missing(Missing::kAbsent);
  EXPECT_EQ(change("ethtool/rx_discards_phy", Reading::of(3), denied).change, Change::kUnreadable);
  EXPECT_EQ(change("ethtool/rx_discards_phy", denied, denied).change, Change::kUnreadable);
  EXPECT_EQ(change("ethtool/rx_prio3_pause", absent, Reading::of(7)).change, Change::kAppeared);
  EXPECT_EQ(change("ethtool/rx_prio3_pause", Reading::of(7), absent).change, Change::kVanished);
  EXPECT_EQ(change("ethtool/rx_prio3_pause", absent, absent).change, Change::kUnreadable);
}

TEST(Delta, NamesThatAppearOrVanishAreSaid) {
  COVERS("D2");
  const PortDelta delta = difference(nic({sample("ethtool/rx_prio3_pause", Reading::of(9)),
                                          sample("hw_counters/np_cnp_sent", Reading::of(1))}),
                                     nic({sample("ethtool/rx_prio4_pause", Reading::of(2)),
                                          sample("hw_counters/np_cnp_sent", Reading::of(4))}));
  ASSERT_EQ(delta.deltas.size(), 3U);
  EXPECT_EQ(delta.find(Place::kEthtool, "rx_prio3_pause")->change, Change::kVanished);
  EXPECT_EQ(delta.find(Place::kEthtool, "rx_prio4_pause")->change, Change::kAppeared);
  EXPECT_FALSE(delta.amount("nic.prio.pause_rx.frames", 4));
  EXPECT_EQ(delta.amount("nic.np.cnp_sent.packets"), 3U);
  EXPECT_EQ(delta.find("nic.prio.pause_rx.frames", 5), nullptr);
}

TEST(Delta, AResetOfAWideCounterMakesItsPlaceALowerBound) {
  COVERS("D2");
  // A driver reload: np_cnp_sent proves it, so the narrow counter did not go round once, and the
  // one that grew may have been larger in between. Another place is not concerned.
  const PortDelta delta =
      difference(nic({sample("hw_counters/np_cnp_sent", Reading::of(5000)),
                      sample("hw_counters/rx_write_requests", Reading::of(kMax32 - 5)),
                      sample("hw_counters/packet_seq_err", Reading::of(2)),
                      sample("ethtool/rx_prio3_bytes", Reading::of(10))}),
                 nic({sample("hw_counters/np_cnp_sent", Reading::of(3)),
                      sample("hw_counters/rx_write_requests", Reading::of(20)),
                      sample("hw_counters/packet_seq_err", Reading::of(6)),
                      sample("ethtool/rx_prio3_bytes", Reading::of(30))}));
  for (const std::string_view name : {"np_cnp_sent", "rx_write_requests", "packet_seq_err"}) {
    EXPECT_EQ(delta.find(Place::kHwCounters, name)->change, Change::kReset) << name;
    EXPECT_FALSE(delta.find(Place::kHwCounters, name)->amount) << name;
  }
  EXPECT_EQ(delta.find(Place::kHwCounters, "packet_seq_err")->at_least, 6U);
  EXPECT_TRUE(delta.was_reset(Place::kHwCounters));
  EXPECT_FALSE(delta.was_reset(Place::kEthtool));
  EXPECT_EQ(delta.amount("nic.prio.rx.bytes", 3), 20U);
}

TEST(Delta, ARingOrAnUnknownNameThatDropsIsNoReset) {
  const PortDelta delta = difference(nic({sample("ethtool/rx0_packets", Reading::of(50)),
                                          sample("ethtool/some_new_level", Reading::of(50)),
                                          sample("ethtool/rx_prio3_bytes", Reading::of(10))}),
                                     nic({sample("ethtool/rx0_packets", Reading::of(1)),
                                          sample("ethtool/some_new_level", Reading::of(1)),
                                          sample("ethtool/rx_prio3_bytes", Reading::of(30))}));
  EXPECT_EQ(delta.find(Place::kEthtool, "rx0_packets")->change, Change::kReset);
  EXPECT_EQ(delta.find(Place::kEthtool, "some_new_level")->change, Change::kReset);
  EXPECT_EQ(delta.amount("nic.prio.rx.bytes", 3), 20U);
}

TEST(SnapshotDelta, MatchesPortsByNameAndSaysWhichCameAndWent) {
  COVERS("D2");
  Snapshot before;
  before.clock_ns = 1000;
  before.nics.push_back(nic({sample("hw_counters/np_cnp_sent", Reading::of(1))}));
  before.nics.emplace_back("mlx5_9", "eth9", "mlx5_core", std::vector<Sample>{});
  before.switch_ports.emplace_back(
      "leaf1", "swp1", "switch",
      std::vector<Sample>{sample("switch/prio3.pause_tx.frames", Reading::of(4))});
  Snapshot after = before;
  after.clock_ns = 61000;
  after.nics[1] = PortCounters("mlx5_1", "eth3", "mlx5_core", {});
  after.switch_ports[0] = PortCounters("leaf1", "swp1", "switch",
                                       {sample("switch/prio3.pause_tx.frames", Reading::of(9))});
  after.switch_ports.emplace_back("leaf1", "swp2", "switch", std::vector<Sample>{});

  const auto delta = difference(before, after);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->elapsed_ns, 60000);
  ASSERT_EQ(delta->nics.size(), 1U);
  EXPECT_EQ(delta->nics[0].amount("nic.np.cnp_sent.packets"), 0U);
  ASSERT_EQ(delta->switch_ports.size(), 1U);
  EXPECT_EQ(delta->switch_ports[0].amount("switch.prio.pause_tx.frames", 3), 5U);
  EXPECT_EQ(delta->appeared, (std::vector<std::string>{"mlx5_1", "leaf1 swp2"}));
  EXPECT_EQ(delta->vanished, std::vector<std::string>{"mlx5_9"});
  EXPECT_FALSE(difference(after, before));
}

}  // namespace
}  // namespace weir::counters
