#include "sim/fabric/route.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/testing.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

Network fabric() {
  return test::leaf_spine(4, 2, 4, 100_Gbps, 500_ns, test::lossless_switch(8_MB, 100_KB),
                          test::plain_nic(4096_B));
}

TEST(Routes, EveryShortestPathIsANextHop) {
  COVERS("G4");
  const Network network = fabric();
  Routes routes;
  routes.build(network);
  EXPECT_EQ(routes.next(NodeId{8}, NodeId{7}).size(), 4U) << "leaf to a NIC elsewhere: every spine";
  EXPECT_EQ(routes.next(NodeId{8}, NodeId{0}).size(), 1U) << "its own NIC: down";
  EXPECT_EQ(routes.next(NodeId{12}, NodeId{7}).size(), 1U) << "a spine: the one leaf";
  EXPECT_EQ(routes.distance(NodeId{0}, NodeId{7}), 4U);
  EXPECT_EQ(routes.distance(NodeId{0}, NodeId{1}), 2U);
}

TEST(Routes, AFailedLinkIsAvoidedAndComesBack) {
  COVERS("G4");
  const Network network = fabric();
  Routes routes;
  routes.build(network);
  const LinkId uplink{8};  // leaf 0 to spine 0: the first after eight NICs
  routes.set_link(uplink, false);
  EXPECT_EQ(routes.next(NodeId{8}, NodeId{7}).size(), 3U);
  EXPECT_EQ(routes.next(NodeId{9}, NodeId{0}).size(), 3U) << "the other leaves know as well";
  EXPECT_EQ(routes.distance(NodeId{12}, NodeId{0}), 4U)
      << "the cut-off spine goes round by another";
  routes.set_link(uplink, true);
  EXPECT_EQ(routes.next(NodeId{8}, NodeId{7}).size(), 4U);
}

TEST(Routes, ANicWhoseLinkIsDownIsReachedFromNowhere) {
  COVERS("G4");
  const Network network = fabric();
  Routes routes;
  routes.build(network);
  routes.set_link(LinkId{7}, false);  // NIC 7, of the last leaf
  for (std::uint32_t node = 8; node < network.nodes.size(); ++node) {
    EXPECT_TRUE(routes.next(NodeId{node}, NodeId{7}).empty()) << node;
    EXPECT_FALSE(routes.next(NodeId{node}, NodeId{6}).empty()) << "its neighbour is";
  }
  EXPECT_EQ(routes.distance(NodeId{0}, NodeId{7}), 0U);
  routes.set_link(LinkId{7}, true);
  EXPECT_EQ(routes.distance(NodeId{0}, NodeId{7}), 4U);
}

TEST(Routes, EcmpSpreadsLikeAUniformHash) {
  COVERS("G6", "G4");
  // E[max] of n flows on m links, by Monte Carlo: (n, m, E[max]).
  struct Row {
    std::uint32_t flows, links;
    double expected;
  };
  for (const Row& row :
       {Row{8, 8, 2.60}, Row{16, 16, 3.08}, Row{64, 16, 7.89}, Row{1000, 16, 76.8}}) {
    constexpr int kTrials = 3000;
    double sum = 0;
    double idle = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<std::uint32_t> load(row.links, 0);
      for (std::uint32_t f = 0; f < row.flows; ++f)
        ++load[pick(flow_key(NodeId{static_cast<std::uint32_t>(trial)}, NodeId{7},
                             static_cast<std::uint16_t>(f)),
                    mix64(static_cast<std::uint64_t>(trial)), row.links)];
      sum += *std::max_element(load.begin(), load.end());
      idle += static_cast<double>(std::count(load.begin(), load.end(), 0U)) / row.links;
    }
    EXPECT_NEAR(sum / kTrials, row.expected, 0.03 * row.expected);
    EXPECT_NEAR(idle / kTrials, std::pow(1 - 1.0 / row.links, row.flows), 0.01);
  }
}

TEST(Routes, SameSeedsPolariseAndDifferentSeedsDoNot) {
  COVERS("G6", "G4");
  constexpr std::uint32_t kLinks = 8;
  for (const bool same : {true, false}) {
    std::vector<std::uint32_t> second(kLinks, 0);
    std::uint32_t total = 0;
    for (std::uint32_t f = 0; f < 40'000; ++f) {
      const std::uint32_t key =
          flow_key(NodeId{f / 7}, NodeId{f}, static_cast<std::uint16_t>(f * 13));
      if (pick(key, 17, kLinks) != 3) continue;  // what the first tier sent by its link 3
      ++second[pick(key, same ? 17 : 99, kLinks)];
      ++total;
    }
    if (same) {
      EXPECT_EQ(second[3], total) << "one link of eight carries everything";
    } else {
      const double expected = static_cast<double>(total) / kLinks;
      double chi = 0;
      for (const std::uint32_t count : second)
        chi += (count - expected) * (count - expected) / expected;
      EXPECT_LT(chi, 18.48) << "chi-square, 7 degrees of freedom, p = 0.01";
    }
  }
}

}  // namespace
}  // namespace weir::sim
