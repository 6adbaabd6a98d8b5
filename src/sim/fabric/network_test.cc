#include "sim/fabric/network.h"

#include "base/testing.h"
#include "sim/fabric/class_slots.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

/// Switches in a row, a NIC at each: only what their buffers hold matters here.
Network row_of(std::uint32_t switches, Bytes buffer) {
  Network network;
  network.nics.push_back(test::plain_nic(1000_B));
  network.switches.push_back(test::lossless_switch(buffer, 100_KB));
  network.nodes.resize(switches, {NodeKind::kNic, 0, {}});
  network.nodes.resize(network.nodes.size() + switches, {NodeKind::kSwitch, 0, {}});
  for (std::uint32_t s = 0; s < switches; ++s)
    network.links.push_back(
        {.a = NodeId{s}, .b = NodeId{switches + s}, .rate = 100_Gbps, .propagation = 1_us});
  return network;
}

TEST(Network, TheBuffersOfThirtyTwoThousandNicsFit) {
  COVERS("G4");
  // Eight rails of 128 leaves and 32 spines, 32 NICs on a leaf: bench/sim_inputs.tsv, rails:4096.
  const Status status = check_network(row_of(8 * (128 + 32), 64_MiB));
  EXPECT_TRUE(status) << status.error().what;
}

TEST(Network, BuffersThatNoSwitchHasAreRefusedBeforeTheyAreReserved) {
  const Status status = check_network(row_of(1, 1'000'000_MB));
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().what.find("the buffer of node 1 holds"), std::string::npos)
      << status.error().what;
}

TEST(Network, StateByClassIsKeptForThoseThatFramesHave) {
  COVERS("G4");
  const auto used = [](const NicConfig& nic, const SwitchConfig& sw, std::uint8_t tos) {
    Network network = test::star(2, 100_Gbps, 1_us, sw, nic);
    test::add_flow(network, 0, 1, 1_KB);
    network.qps[QpId{0}].tos = tos;
    const ClassSlots slots = classes_in_use(network);
    std::string out;
    for (unsigned number = 0; number < 8; ++number)
      if (slots.contains(number)) out += static_cast<char>('0' + number);
    EXPECT_EQ(slots.count(), out.size());
    return out;
  };
  NicConfig nic = test::plain_nic(1000_B);
  SwitchConfig sw = test::lossless_switch(1_MB, 20_KB);
  EXPECT_EQ(used(nic, sw, test::kDataTos), "36");  // data and its ACKs; CNPs
  EXPECT_EQ(used(nic, sw, 0), "06");
  nic.ack_priority = Priority::of(5);
  EXPECT_EQ(used(nic, sw, test::kDataTos), "356");
  sw.class_to_queue[3] = 1;
  sw.class_to_group[6] = 7;
  EXPECT_EQ(used(nic, sw, test::kDataTos), "13567");
  sw.trust = Trust::kPcp;
  sw.untrusted_class = 2;
  EXPECT_EQ(used(nic, sw, test::kDataTos), "2356");
  nic.trust = Trust::kPcp;  // without a VLAN tag: 0 on receipt, the service level when sent
  EXPECT_EQ(used(nic, sw, test::kDataTos), "02356");
}

TEST(Network, ClassesInUseHaveSlotsInTheirOrder) {
  const ClassSlots slots(0b0110'1000);
  EXPECT_EQ(slots.count(), 3U);
  EXPECT_EQ(slots[3], 0);
  EXPECT_EQ(slots[5], 1);
  EXPECT_EQ(slots[6], 2);
  EXPECT_EQ(ClassSlots().count(), 8U);
  EXPECT_EQ(ClassSlots(0).count(), 1U);
}

}  // namespace
}  // namespace weir::sim
