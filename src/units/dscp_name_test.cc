#include "units/dscp_name.h"

#include "base/testing.h"

namespace weir {
namespace {

TEST(DscpName, NamesFollowTheirOwnArithmetic) {
  COVERS("A3");
  for (unsigned selector = 1; selector < 8; ++selector)
    EXPECT_EQ(dscp_name(Dscp::of(selector * 8)), "CS" + std::to_string(selector));
  for (unsigned assured = 1; assured <= 4; ++assured) {  // RFC 2597: AFxy = 8x + 2y
    for (unsigned drop = 1; drop <= 3; ++drop) {
      EXPECT_EQ(dscp_name(Dscp::of(8 * assured + 2 * drop)),
                "AF" + std::to_string(assured) + std::to_string(drop));
    }
  }
  EXPECT_EQ(dscp_name(46_dscp), "EF");
  EXPECT_EQ(dscp_name(6_dscp), "");
}

TEST(DscpName, EveryNameReadsBackToItsValue) {
  COVERS("A3");
  for (unsigned value = 0; value < Dscp::kLimit; ++value) {
    const Dscp dscp = Dscp::of(value);
    if (dscp_name(dscp).empty()) continue;
    EXPECT_EQ(dscp_named(dscp_name(dscp)), dscp);
  }
  EXPECT_EQ(dscp_named("af31"), 26_dscp);
  EXPECT_EQ(dscp_named("be"), 0_dscp);
  EXPECT_EQ(dscp_named("AF35"), std::nullopt);
  EXPECT_EQ(dscp_named(""), std::nullopt);
  EXPECT_EQ(dscp_named("AF3"), std::nullopt);
}

}  // namespace
}  // namespace weir
