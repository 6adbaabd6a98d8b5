#include "evidence/changes.h"

#include "base/testing.h"
#include "evidence/drawn_evidence.h"

namespace weir::evidence {
namespace {

Evidence one_nic() {
  Evidence out;
  Nic nic;
  nic.device = "mlx5_0";
  nic.qos.trust = Fact<TrustMode>::of(TrustMode::kPcp, "a");
  nic.qos.pfc = Fact<PrioritySet>::of(PrioritySet(), "a");
  std::array<std::optional<Priority>, 64> map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = Priority::of(d / 8);
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map, "a");
  out.nics.push_back(nic);
  return out;
}

TEST(FactChanges, SameFactsFromAnotherSourceAreNoChange) {
  const Evidence before = one_nic();
  Evidence after = before;
  after.nics[0].qos.trust = Fact<TrustMode>::of(TrustMode::kPcp, "another");
  EXPECT_TRUE(fact_changes(before, after).empty());
}

TEST(FactChanges, ChangesAreNamedByDeviceAndFact) {
  COVERS("D2");
  const Evidence before = one_nic();
  Evidence after = before;
  after.nics[0].qos.trust = Fact<TrustMode>::missing(Missing::kPermission, "a");
  PrioritySet three;
  three.insert(3_prio);
  after.nics[0].qos.pfc = Fact<PrioritySet>::of(three, "a");
  std::array<std::optional<Priority>, 64> map = *before.nics[0].qos.dscp_to_priority;
  map.at(26) = map.at(27) = 5_prio;
  after.nics[0].qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map, "a");
  const std::vector<FactChange> expected = {
      {"mlx5_0", "qos.trust", "pcp", "not readable (permission)"},
      {"mlx5_0", "qos.dscp_to_priority[26-27]", "3", "5"},
      {"mlx5_0", "qos.pfc", "none", "3"}};
  EXPECT_EQ(fact_changes(before, after), expected);
}

TEST(FactChanges, OfNicsThatStandInAnotherOrderNothingIsMissed) {
  COVERS("D2");
  Evidence before = one_nic();
  before.nics.push_back(before.nics[0]);
  before.nics[1].device = "mlx5_1";
  Evidence after = before;
  std::swap(after.nics[0], after.nics[1]);
  EXPECT_TRUE(fact_changes(before, after).empty());
  after.nics[0].qos.trust = Fact<TrustMode>::of(TrustMode::kDscp, "a");
  const std::vector<FactChange> expected = {{"mlx5_1", "qos.trust", "pcp", "dscp"}};
  EXPECT_EQ(fact_changes(before, after), expected);
  std::swap(after.nics[0], after.nics[1]);
  EXPECT_EQ(fact_changes(before, after), expected);
}

TEST(FactChanges, ANicThatIsGoneIsOneChange) {
  COVERS("D2");
  const Evidence before = one_nic();
  const std::vector<FactChange> expected = {{"mlx5_0", "nics", "there", "gone"}};
  EXPECT_EQ(fact_changes(before, Evidence{}), expected);
}

TEST(FactChanges, WhateverIsObservedEqualsItself) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Evidence evidence = draw_evidence(seed);
    EXPECT_TRUE(fact_changes(evidence, evidence).empty());
  }
}

}  // namespace
}  // namespace weir::evidence
