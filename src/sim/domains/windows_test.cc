#include "sim/domains/windows.h"

#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/testing.h"
#include "sim/domains/crew.h"
#include "sim/engine/sim.h"
#include "sim/fabric/drawn_fabric.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

std::unique_ptr<Sim> run_on(Network network, unsigned threads, Time end = Time::never(),
                            bool adapts = false) {
  auto sim = Sim::make(std::move(network), {threads, std::nullopt, adapts});
  EXPECT_TRUE(sim.has_value());
  (*sim)->run(end);
  EXPECT_TRUE((*sim)->audit().has_value());
  return std::move(*sim);
}

/// Marks, pauses and, with a small buffer, retransmissions.
Network busy_fabric(Bytes buffer, bool lossless) {
  SwitchConfig sw = test::lossless_switch(buffer, 20_KB);
  sw.groups[3].lossless = lossless;
  sw.queues[3].wred = {true, 5_KB, 50_KB, 50_percent};
  NicConfig nic = test::with_dcqcn(test::plain_nic(1024_B), DcqcnVariant::kConnectx);
  nic.ack_timeout = 200_us;
  Network network = test::leaf_spine(4, 4, 3, 100_Gbps, 300_ns, sw, nic);
  for (std::uint32_t a = 0; a < 16; ++a)
    for (std::uint32_t b = 0; b < 16; ++b)
      if (a != b && (a + b) % 3 != 0) test::add_flow(network, a, b, 50_KB);
  for (std::uint32_t a = 1; a < 16; ++a)
    test::add_flow(network, a, 0, 20_KB);
  return network;
}

/// Rails that share nothing.
Network rails() {
  SwitchConfig sw = test::lossless_switch(1_MB, 20_KB);
  sw.queues[3].wred = {true, 5_KB, 50_KB, 50_percent};
  const NicConfig nic = test::with_dcqcn(test::plain_nic(1024_B), DcqcnVariant::kConnectx);
  Network network = test::leaf_spine(5, 4, 1, 100_Gbps, 300_ns, sw, nic);
  for (std::uint32_t leaf = 0; leaf < 5; ++leaf)
    for (std::uint32_t a = 1; a < 4; ++a)
      test::add_flow(network, leaf * 4 + a, leaf * 4, Bytes::raw(30'000 + 1000 * leaf));
  return network;
}

TEST(Windows, AnyNumberOfThreadsComesToTheSame) {
  COVERS("G7");
  const std::vector<Network> networks{busy_fabric(1_MB, true), busy_fabric(400_KB, false), rails()};
  for (const Network& network : networks) {
    for (const Time end : {Time::never(), Time::at(37_us)}) {
      const auto single = run_on(network, 1, end);
      EXPECT_GT(single->port_count(), 0U);
      for (const unsigned threads : {2U, 3U, 5U}) {
        const auto several = run_on(network, threads, end, end == Time::never());
        EXPECT_GT(several->threads(), 1U);
        EXPECT_EQ(several->digest(), single->digest()) << threads;
        EXPECT_EQ(several->now(), single->now()) << threads;
        EXPECT_EQ(several->events(), single->events()) << threads;
        EXPECT_EQ(several->open_messages(), single->open_messages()) << threads;
      }
    }
  }
}

TEST(Windows, SlicesAndThreadsChangeNothing) {
  COVERS("G7");
  const auto whole = run_on(busy_fabric(1_MB, true), 1);
  auto sim = Sim::make(busy_fabric(1_MB, true), {3, std::nullopt});
  ASSERT_TRUE(sim.has_value());
  for (Duration end = 1_us; (*sim)->open_messages() > 0; end += 1_us) {
    (*sim)->run(Time::at(end));
    ASSERT_TRUE((*sim)->audit().has_value());
  }
  EXPECT_EQ((*sim)->digest(), whole->digest());
}

/// Simulates until so many nanoseconds have passed; what share of them in the way that costs more.
double share_of_slower(std::int64_t alone_cost, std::int64_t all_cost, std::int64_t window_events) {
  engine::Pace pace(true);
  std::int64_t spent[2] = {0, 0};
  while (spent[0] + spent[1] < 20'000'000'000) {
    const std::int64_t ns = (pace.is_alone() ? alone_cost : all_cost) * window_events;
    spent[pace.is_alone() ? 0 : 1] += ns;
    pace.passed(pace.is_alone() ? engine::Pace::kAlone : engine::Pace::kAll, ns,
                static_cast<std::uint64_t>(window_events));
  }
  return static_cast<double>(spent[alone_cost > all_cost ? 0 : 1]) /
         static_cast<double>(spent[0] + spent[1]);
}

TEST(Windows, TheSlowerWayIsOnlyTried) {
  COVERS("G7");
  const double most = 1.0 / (engine::Pace::kStretchPerTrial - 1);
  EXPECT_LT(share_of_slower(100, 60, 1000), most);      // both cores are free
  EXPECT_LT(share_of_slower(100, 30'000, 1000), most);  // others use them: 30 ms per window
  EXPECT_LT(share_of_slower(100, 30'000, 20), most);    // hardly anything in a window
  EXPECT_LT(share_of_slower(100, 101, 100'000), most);  // windows longer than a trial
  engine::Pace fixed(false);
  fixed.passed(engine::Pace::kAll, engine::Pace::kTrialNs * 100, 1);
  EXPECT_FALSE(fixed.is_alone());
}

TEST(Windows, PartsThatNoTrafficConnectsAreDealtWhole) {
  COVERS("G7");
  Network network = rails();
  Routes routes;
  routes.build(network);
  const auto domain_of = engine::cut_into_domains(network, routes, 5);
  std::set<std::uint32_t> used;
  for (std::uint32_t leaf = 0; leaf < 5; ++leaf) {
    used.insert(domain_of[NodeId{20 + leaf}]);
    for (std::uint32_t n = 0; n < 4; ++n)
      EXPECT_EQ(domain_of[NodeId{leaf * 4 + n}], domain_of[NodeId{20 + leaf}]);
  }
  EXPECT_EQ(used.size(), 5U);
}

TEST(Windows, DrawnFabricsAndWorkloadsComeToTheSame) {
  COVERS("G7");
  constexpr std::uint64_t kDraws = 25;
  std::uint64_t parallel = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const test::DrawnFabric drawn = test::draw_fabric(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}\n{}", seed, drawn.text, drawn.workloads.front()));
    test::DrawnRun single = test::make_drawn_run(drawn, seed);
    test::DrawnRun several = test::make_drawn_run(drawn, seed, 2 + static_cast<unsigned>(seed % 3));
    ASSERT_EQ(single.error, "");
    single.sim->run();
    several.sim->run();
    parallel += several.sim->threads() > 1 ? 1 : 0;
    ASSERT_EQ(several.sim->messages().size(), single.sim->messages().size());
    for (const MessageId m : single.sim->messages().ids())
      ASSERT_EQ(several.sim->messages()[m].qp, single.sim->messages()[m].qp);
    ASSERT_EQ(several.sim->digest(), single.sim->digest());
    ASSERT_EQ(several.sim->events(), single.sim->events());
    const Status sound = several.sim->audit();
    ASSERT_TRUE(sound.has_value()) << sound.error().what;
  }
  EXPECT_GE(parallel, 5U);
}

}  // namespace
}  // namespace weir::sim
