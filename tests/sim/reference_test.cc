// Larger runs of the peer (model `hpcc`), flow by flow.
#include "base/file.h"
#include "base/testing.h"
#include "sim/hpcc.h"

namespace weir::sim {
namespace {

TEST(Reference, SixtyFourTenMegabyteFlowsAreIdentical) {
  COVERS("G6");
  const std::string at = std::string(WEIR_TEST_DATA) + "/sim/hpcc/ls64_perm_10MB_dcqcn/";
  const auto run = read_hpcc(at + "config.txt");
  ASSERT_TRUE(run.has_value()) << run.error().what;
  const auto sim = Sim::make(run->network);
  ASSERT_TRUE(sim.has_value());
  (*sim)->run(run->stop);
  EXPECT_TRUE((*sim)->audit().has_value());
  EXPECT_EQ(hpcc_fct(*run, **sim), *read_file(at + "fct.txt"));
}

}  // namespace
}  // namespace weir::sim
