#include "base/name_pattern.h"

#include <vector>

#include "base/testing.h"

namespace weir {
namespace {

std::string compact(const std::vector<std::string>& names) {
  return compact_names(names);
}

TEST(NamePattern, NamesThatDifferInANumberAreOnePattern) {
  EXPECT_EQ(compact({"gpu03", "gpu01", "gpu02"}), "gpu[01-03]");
  EXPECT_EQ(compact({"gpu01", "gpu02", "gpu07"}), "gpu[01-02,07]");
  EXPECT_EQ(compact({"gpu8", "gpu9", "gpu10"}), "gpu[8-10]");
  EXPECT_EQ(compact({"pod1-leaf1", "pod1-leaf2", "pod2-leaf1"}), "pod1-leaf[1-2],pod2-leaf1");
  EXPECT_EQ(compact({"rail 0 up", "rail 1 up"}), "rail [0-1] up");
}

TEST(NamePattern, WhatIsNoPatternStandsAlone) {
  EXPECT_EQ(compact({}), "");
  EXPECT_EQ(compact({"spine"}), "spine");
  EXPECT_EQ(compact({"gpu01"}), "gpu01");
  EXPECT_EQ(compact({"gpu01", "gpu01"}), "gpu01");
  EXPECT_EQ(compact({"alpha", "beta", "leaf2"}), "alpha,beta,leaf2");
}

TEST(NamePattern, APatternHoldsTheNamesItWasMadeOf) {
  const std::vector<std::string> names = {"gpu08", "gpu09", "gpu10", "leaf1",
                                          "n7x",   "n9x",   "spine"};
  EXPECT_EQ(expand_compact(compact(names)), names);
  for (const std::string& name : names)
    EXPECT_TRUE(names_include(compact(names), name)) << name;
  EXPECT_FALSE(names_include("mlx5_[0-7]", "mlx5_8"));
  EXPECT_FALSE(names_include("mlx5_[0-7]", "mlx5_07"));
  EXPECT_FALSE(names_include("mlx5_1", "mlx5_10"));
  EXPECT_EQ(expand_compact("rail [0-1]"), (std::vector<std::string>{"rail 0", "rail 1"}));
}

/// A width that changes within a run would read back as other names.
TEST(NamePattern, PaddedAndBareNumbersAreNotOneRange) {
  EXPECT_EQ(compact({"gpu09", "gpu10", "gpu011"}), "gpu[09-10,011]");
  EXPECT_EQ(compact({"n123456789012345678901"}), "n123456789012345678901");
}

TEST(PortsText, AShortListIsAPatternAndALongOneItsEndsAndCount) {
  COVERS("F1");
  std::vector<std::string> ports;
  for (int i = 0; i < 64; ++i)
    ports.push_back("Ethernet" + std::to_string(4 * i));
  EXPECT_EQ(ports_text(ports), "Ethernet0 to Ethernet252 (64 ports)");
  EXPECT_EQ(ports_text(std::vector<std::string>{"Ethernet0", "Ethernet4"}), "Ethernet[0,4]");
  EXPECT_EQ(ports_text(std::vector<std::string>{"swp3", "swp1", "swp2"}), "swp[1-3]");
  const std::vector<std::string> pair = {"Ethernet1/63/1 of the first",
                                         "Ethernet1/63/1 of another"};
  EXPECT_EQ(ports_text(pair).find(" ports)"), std::string::npos);
}

}  // namespace
}  // namespace weir
