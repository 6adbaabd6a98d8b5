// The same run is the same run with every compiler, optimisation and sanitizer: digests as they
// are, written down. Every build that runs the unit tests checks them.
//
// A change of the engine that moves a result moves a digest: it then belongs under "Changed
// results" in CHANGELOG.md, and the new value here.
#include "base/testing.h"
#include "sim/fabric/drawn_fabric.h"
#include "sim/fabric/test_networks.h"
#include "sim/peer/hpcc.h"
#include "sim/results/fidelity.h"

namespace weir::sim {
namespace {

std::uint64_t drawn_digest(std::uint64_t seed) {
  test::DrawnRun run = test::make_drawn_run(test::draw_fabric(seed), seed);
  EXPECT_EQ(run.error, "");
  run.sim->run();
  return run.sim->digest();
}

TEST(Digest, DrawnFabricsRunAlikeInEveryBuild) {
  COVERS("G1");
  EXPECT_EQ(drawn_digest(1), 0x05b0b6a38ec35042U);
  EXPECT_EQ(drawn_digest(2), 0x622d59e539c24427U);
  EXPECT_EQ(drawn_digest(3), 0xf72eeb9cffa41ed0U);
  EXPECT_EQ(drawn_digest(7), 0xd4b16f06ea0d48f6U);
}

TEST(Digest, ReactionPointsRunAlikeInEveryBuild) {
  COVERS("G1", "G3");
  const auto digest = [](const char* set, BitRate rate) {
    FidelityCase what;
    what.set = set;
    what.rate = rate;
    what.flows = 6;
    what.warm_up = 1_ms;
    what.duration = 6_ms;
    const auto result = dcqcn_fidelity(what);
    EXPECT_TRUE(result.has_value());
    return result ? result->digest : 0;
  };
  EXPECT_EQ(digest("paper_ext", 40_Gbps), 0x87e4a607a30fcfe7U);
  EXPECT_EQ(digest("cx_default", 100_Gbps), 0x483ee84f1c101c09U);
  EXPECT_EQ(digest("hpcc_ns3", 100_Gbps), 0x31f7dd3f1bb5f1b9U);
}

TEST(Digest, ThePeersModelRunsAlikeInEveryBuild) {
  COVERS("G1", "G6");
  const auto run =
      read_hpcc(std::string(WEIR_TEST_DATA) + "/sim/hpcc/incast16_1MB_pfconly_buf2/config.txt");
  ASSERT_TRUE(run.has_value()) << run.error().what;
  const auto sim = Sim::make(run->network);
  ASSERT_TRUE(sim.has_value());
  (*sim)->run(run->stop);
  EXPECT_EQ((*sim)->digest(), 0x30cb92d681d47f10U);
}

TEST(Digest, AFlowOfThePeersModelMayBeginAtTheFirstInstant) {
  COVERS("G6");
  auto run =
      read_hpcc(std::string(WEIR_TEST_DATA) + "/sim/hpcc/incast16_1MB_pfconly_buf2/config.txt");
  ASSERT_TRUE(run.has_value()) << run.error().what;
  for (Message& message : run->network.messages)
    message.post = Time::at(Duration::raw(0));
  const auto sim = Sim::make(run->network);
  ASSERT_TRUE(sim.has_value());
  (*sim)->run(run->stop);
  EXPECT_EQ((*sim)->open_messages(), 0U);
}

TEST(Digest, TheBenchmarksIncastRunsAlikeInEveryBuild) {
  COVERS("G1", "G7");
  const auto run = read_hpcc_native(std::string(WEIR_TEST_DATA) +
                                    "/../../bench/data/ls64_incast16_10MB.config.txt");
  ASSERT_TRUE(run.has_value()) << run.error().what;
  const auto sim = Sim::make(run->network);
  ASSERT_TRUE(sim.has_value());
  (*sim)->run(run->stop);
  EXPECT_EQ((*sim)->digest(), 0x8548a454d4a8a1e9U) << "also in bench/sim_inputs.tsv";
}

}  // namespace
}  // namespace weir::sim
