#include "finding/fold.h"

#include <fmt/format.h>

#include "base/testing.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

Finding on(std::string host, std::string rail, std::string verdict = "trust is pcp") {
  const std::string device = "mlx5_" + rail;
  return make_finding("trust.not_dscp", std::move(verdict),
                      {.host = std::move(host), .rail = std::move(rail), .device = device});
}

TEST(Fold, TheSameFaultOnManyHostsIsOneLine) {
  std::vector<Finding> findings;
  for (unsigned i = 1; i <= 16; ++i)
    findings.push_back(on(fmt::format("gpu{:02}", i), "0"));
  findings.push_back(on("gpu03", "0", "trust is none"));
  const std::vector<Folded> folded = fold(findings);
  ASSERT_EQ(folded.size(), 2U);
  EXPECT_EQ(folded[0].where, "gpu[01-16] rail 0 (mlx5_0)");
  EXPECT_EQ(folded[0].findings.size(), 16U);
  EXPECT_EQ(folded[1].where, "gpu03 rail 0 (mlx5_0)");
}

TEST(Fold, HostsWithOtherRailsAreNamedApart) {
  const std::vector<Finding> findings = {on("gpu01", "0"), on("gpu01", "1"), on("gpu02", "0"),
                                         on("gpu02", "1"), on("gpu03", "1")};
  const std::vector<Folded> folded = fold(findings);
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(folded[0].where, "gpu[01-02] rail [0-1]; gpu03 rail 1");
}

TEST(Fold, PortsOfSwitchesFoldToo) {
  std::vector<Finding> findings;
  for (const char* port : {"swp1", "swp2", "swp10"}) {
    findings.push_back(make_finding("trust.not_dscp", "trust is pcp",
                                    {.switch_name = "leaf1", .port = port, .priority = "3"}));
  }
  EXPECT_EQ(fold(findings).front().where, "leaf1 swp[1-2,10] priority 3");
}

TEST(Fold, AVerdictThatBeginsWithItsPlaceFoldsWithoutIt) {
  const std::vector<Finding> findings = {on("gpu01", "0", "gpu01 mlx5_0 trust: found pcp"),
                                         on("gpu02", "0", "gpu02 mlx5_0 trust: found pcp"),
                                         on("gpu03", "0", "gpu03 mlx5_0: trust: found none")};
  const std::vector<Folded> folded = fold(findings);
  ASSERT_EQ(folded.size(), 2U);
  EXPECT_EQ(folded[0].verdict, "trust: found pcp");
  EXPECT_EQ(folded[0].where, "gpu[01-02] rail 0 (mlx5_0)");
  EXPECT_EQ(folded[1].verdict, "gpu03 mlx5_0: trust: found none");
}

TEST(Fold, ChecksThatCouldNotLookFoldByTheirPlace) {
  const std::vector<Unknown> unknown = {{"gpu01 mlx5_0: trust", "refused", "as root"},
                                        {"gpu02 mlx5_0: trust", "refused", "as root"},
                                        {"gpu02 mlx5_0: trust", "absent", "as root"},
                                        {"buffers", "refused", "as root"}};
  const std::vector<Unknown> expected = {{"gpu[01-02] mlx5_0: trust", "refused", "as root"},
                                         {"gpu02 mlx5_0: trust", "absent", "as root"},
                                         {"buffers", "refused", "as root"}};
  EXPECT_EQ(fold(unknown), expected);
}

TEST(Fold, FindingsInAFileKeepTheirLines) {
  std::vector<Finding> findings(2, make_finding("trust.not_dscp", "trust is pcp",
                                                {.file = "fabric.yaml", .position = {3, 1}}));
  EXPECT_EQ(fold(findings).size(), 2U);
}

}  // namespace
TEST(Fold, RailsThatLackTheSameAreOneLine) {
  std::vector<Unknown> unknown;
  for (const char* host : {"gpu01", "gpu02"}) {
    for (const char* device : {"mlx5_0", "mlx5_3", "mlx5_4"})
      unknown.push_back({std::string(host) + " " + device + ": ring rx", "absent", "ethtool -g"});
  }
  unknown.push_back({"gpu01: GPUs", "absent", ""});
  const std::vector<Unknown> expected = {
      {"gpu[01-02] mlx5_[0,3-4]: ring rx", "absent", "ethtool -g"}, {"gpu01: GPUs", "absent", ""}};
  EXPECT_EQ(fold(unknown), expected);
}

}  // namespace weir::finding
