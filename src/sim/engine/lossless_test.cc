// Lossless is an invariant: whatever fabric and workload are drawn, derived headroom loses nothing
// of a lossless class. Few draws here; tests/sim builds the same with a thousand.
#include "base/testing.h"
#include "sim/fabric/drawn_fabric.h"

#ifndef WEIR_DRAWS
#define WEIR_DRAWS 25
#endif

namespace weir::sim {
namespace {

std::uint64_t pauses(const Sim& sim) {
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < sim.port_count(); ++p) {
    const PortCounters counters = sim.port_counters(PortId{p});
    for (const std::uint64_t count : counters.pause_tx)
      sum += count;
  }
  return sum;
}

TEST(DrawnFabrics, NoFabricWorkloadOrSeedLosesAPacketForWantOfBuffer) {
  COVERS("G2", "G5");
  constexpr std::uint64_t kDraws = WEIR_DRAWS;
  std::uint64_t paused = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const test::DrawnFabric drawn = test::draw_fabric(seed);
    std::string what = fmt::format("seed {}\n{}", seed, drawn.text);
    for (const std::string& workload : drawn.workloads)
      what += workload + "\n";
    SCOPED_TRACE(what);
    test::DrawnRun run = test::make_drawn_run(drawn, seed);
    ASSERT_EQ(run.error, "");
    run.sim->run();
    paused += pauses(*run.sim) > 0 ? 1 : 0;
    ASSERT_EQ(run.sim->lossless_drops(), 0U);
    ASSERT_TRUE(run.load->finished());
    const Status sound = run.sim->audit();
    ASSERT_TRUE(sound.has_value()) << sound.error().what;
  }
  EXPECT_GE(paused * 2, kDraws) << "PFC must have work to do in half of the draws";
}

}  // namespace
}  // namespace weir::sim
