#include "sim/fabric/network.h"

#include "base/testing.h"
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

}  // namespace
}  // namespace weir::sim
