// Which way packets go: spraying, adaptive routing, loops, failed links.
#include <algorithm>
#include <vector>

#include "base/testing.h"
#include "sim/engine/sim.h"
#include "sim/engine/test_sim.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::leaf_spine;
using test::lossless_switch;
using test::made;
using test::plain_nic;

/// Two leaves with `per_leaf` NICs each, four spines. Leaf 0 is node 2 * per_leaf; its ports 0 …
/// are the NICs', then one per spine.
Network four_spines(LoadBalancing balancing, std::uint32_t per_leaf) {
  SwitchConfig sw = lossless_switch(16_MB, 100_KB);
  sw.balancing = balancing;
  NicConfig nic = plain_nic(4096_B);
  nic.recovery = Recovery::kSelective;
  nic.accepts_reordering = true;
  return leaf_spine(2, per_leaf, 4, 100_Gbps, 300_ns, sw, nic);
}

std::vector<std::uint64_t> uplink_bytes(const Sim& sim, std::uint32_t per_leaf) {
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t s = 0; s < 4; ++s)
    bytes.push_back(sim.port_counters(sim.port_of(NodeId{2 * per_leaf}, per_leaf + s)).tx_bytes);
  return bytes;
}

TEST(Paths, EcmpKeepsAFlowOnOneLinkAndSprayingSpreadsItOverAll) {
  COVERS("G4", "G7");
  for (const auto balancing : {LoadBalancing::kEcmp, LoadBalancing::kSpray}) {
    Network network = four_spines(balancing, 1);
    add_flow(network, 0, 1, 10_MB);
    const auto sim = made(std::move(network));
    sim->run();
    EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kDone);
    std::vector<std::uint64_t> bytes = uplink_bytes(*sim, 1);
    std::sort(bytes.begin(), bytes.end());
    if (balancing == LoadBalancing::kEcmp) {
      EXPECT_EQ(bytes[2], 0U);
      EXPECT_GT(bytes[3], 10'000'000U);
    } else {
      EXPECT_GT(bytes[0], bytes[3] * 8 / 10) << "a quarter each, but for chance";
    }
    EXPECT_TRUE(sim->audit().has_value());
  }
}

TEST(Paths, AdaptiveRoutingFillsUplinksEvenlyWhereHashingDoesNot) {
  COVERS("G4", "G7");
  std::vector<Ps> last;
  for (const auto balancing : {LoadBalancing::kEcmp, LoadBalancing::kAdaptive}) {
    Network network = four_spines(balancing, 4);
    for (std::uint32_t n = 0; n < 4; ++n)
      add_flow(network, n, 4 + n, 8_MB);
    const auto sim = made(std::move(network));
    sim->run();
    last.push_back(0);
    for (const MessageRecord& message : sim->messages()) {
      EXPECT_EQ(message.state, MessageState::kDone);
      last.back() = std::max(last.back(), message.done);
    }
    const std::vector<std::uint64_t> bytes = uplink_bytes(*sim, 4);
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    if (balancing == LoadBalancing::kAdaptive)
      EXPECT_GT(*least, *most * 9 / 10);
    else
      EXPECT_LT(*least, *most / 2) << "four flows collide on four links (91 %)";
    EXPECT_EQ(sim->lossless_drops(), 0U);
  }
  EXPECT_LT(last[1], last[0] * 3 / 4);
}

TEST(Paths, ReorderingAtANicThatCannotTakeItLooksLikeLoss) {
  COVERS("G3", "G4");
  Network network = four_spines(LoadBalancing::kSpray, 4);
  network.nics[0].accepts_reordering = false;
  network.nics[0].recovery = Recovery::kGoBackN;
  network.nics[0].ack_timeout = 1_ms;
  for (std::uint32_t n = 0; n < 4; ++n)
    add_flow(network, n, 4 + (n + 1) % 4, 4_MB);
  const auto sim = made(std::move(network));
  sim->run();
  std::uint64_t gaps = 0;
  std::uint64_t again = 0;
  for (std::uint32_t n = 0; n < 8; ++n) {
    gaps += sim->nic_counters(NodeId{n}).out_of_sequence;
    again += sim->nic_counters(NodeId{n}).retransmitted;
  }
  EXPECT_GT(gaps, 0U);
  EXPECT_GT(again, gaps) << "go-back-N sends everything after a gap again";
  for (std::size_t r = 0; r < kDropReasons; ++r)
    EXPECT_EQ(sim->drops(static_cast<DropReason>(r)), 0U) << "though nothing was lost";
}

TEST(Paths, ALoopEndsWhereTheTtlEnds) {
  COVERS("G2");
  for (const int ttl : {4, 16, 64}) {
    Network network =
        leaf_spine(2, 1, 1, 100_Gbps, 300_ns, lossless_switch(16_MB, 100_KB), plain_nic(1024_B));
    network.ttl = static_cast<std::uint8_t>(ttl);
    ExplicitRoutes routes;  // nodes: NICs 0 and 1, leaves 2 and 3, spine 4
    routes.next.assign(5, Table<NodeId, std::vector<NodeId>>(2));
    routes.next[NodeId{2}][NodeId{1}] = {NodeId{4}};
    routes.next[NodeId{4}][NodeId{1}] = {NodeId{2}};
    network.routes = routes;
    add_flow(network, 0, 1, 1024_B * 10);
    const auto sim = made(std::move(network));
    sim->run_until(Time::at(10_ms));
    EXPECT_EQ(sim->drops(DropReason::kTtl), 10U);
    EXPECT_EQ(sim->live_frames(), 0U);
    // One hop from the NIC, then one for each switch that takes one from the TTL and leaves some.
    EXPECT_EQ(sim->data_hops(), 10U * static_cast<unsigned>(ttl));
    EXPECT_TRUE(sim->audit().has_value());
  }
}

TEST(Paths, AFailedLinkLosesWhatWasOnItAndTheFabricFindsAnotherWay) {
  COVERS("G4");
  for (const Duration reroute : {0_us, 50_us, 2_ms}) {
    Network network = four_spines(LoadBalancing::kEcmp, 1);
    network.nics[0].ack_timeout = 400_us;  // seven of them outlast the slowest reroute
    add_flow(network, 0, 1, 20_MB);
    // The flow's own uplink: the one that carries it in an undisturbed run.
    const auto calm = made(network);
    calm->run();
    const std::vector<std::uint64_t> bytes = uplink_bytes(*calm, 1);
    const auto used =
        static_cast<std::uint32_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
    network.changes.push_back({Time::at(100_us), LinkId{2 + used}, false, reroute});
    const auto sim = made(std::move(network));
    sim->run();
    EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kDone);
    EXPECT_GT(sim->drops(DropReason::kLinkDown), 0U);
    EXPECT_EQ(sim->lossless_drops(), 0U) << "a failed link has a reason of its own";
    EXPECT_GT(sim->messages()[MessageId{0}].done,
              calm->messages()[MessageId{0}].done + reroute.raw());
    const std::vector<std::uint64_t> after = uplink_bytes(*sim, 1);
    EXPECT_LT(after[used], 2'000'000U);
    EXPECT_GT(after[0] + after[1] + after[2] + after[3] - after[used], 18'000'000U);
    EXPECT_TRUE(sim->audit().has_value());
  }
}

TEST(Paths, WithoutAnotherWayPacketsHaveNoRouteAndTheSenderGivesUp) {
  COVERS("G3", "G4");
  Network network =
      leaf_spine(2, 1, 1, 100_Gbps, 300_ns, lossless_switch(16_MB, 100_KB), plain_nic(4096_B));
  network.nics[0].ack_timeout = 100_us;
  network.nics[0].retries = 3;
  add_flow(network, 0, 1, 20_MB);
  network.changes.push_back({Time::at(100_us), LinkId{2}, false, 0_us});
  const auto sim = made(std::move(network));
  sim->run();
  EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kFailed);
  EXPECT_GT(sim->drops(DropReason::kNoRoute), 0U);
  EXPECT_EQ(sim->nic_counters(NodeId{0}).retries_exhausted, 1U);
  EXPECT_EQ(sim->lossless_drops(), 0U);
}

}  // namespace
}  // namespace weir::sim
