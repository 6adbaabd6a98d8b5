#include "base/hosts/host_set.h"

#include <algorithm>
#include <map>

#include "base/testing.h"

namespace weir {
namespace {

using Names = std::vector<std::string>;

Names hosts(std::string_view text) {
  const auto read = parse_host_set(text);
  return read ? *read : Names{"error: " + read.error().what};
}

std::string why_not(std::string_view text) {
  const auto read = parse_host_set(text);
  return read ? "" : read.error().what;
}

std::string folded(const Names& names) {
  return fold_hosts(names);
}

TEST(HostSet, RangesListsAndStepsArePaddedAsTheirLowerBound) {
  COVERS("K3");
  EXPECT_EQ(hosts("gpu01"), Names{"gpu01"});
  EXPECT_EQ(hosts("gpu[008-010,200]"), (Names{"gpu008", "gpu009", "gpu010", "gpu200"}));
  EXPECT_EQ(hosts("gpu[8-10]"), (Names{"gpu8", "gpu9", "gpu10"}));
  EXPECT_EQ(hosts("n[0-6/2]"), (Names{"n0", "n2", "n4", "n6"}));
  EXPECT_EQ(hosts("n[0-7/3]"), (Names{"n0", "n3", "n6"}));
  EXPECT_EQ(hosts("n[0]"), Names{"n0"});
  EXPECT_EQ(hosts("[1-2].cluster"), (Names{"1.cluster", "2.cluster"}));
}

TEST(HostSet, SeveralDimensionsAreEveryCombination) {
  EXPECT_EQ(hosts("rack[1-2]n[01-02]"), (Names{"rack1n01", "rack1n02", "rack2n01", "rack2n02"}));
  EXPECT_EQ(hosts("a[1-2]-ib[0-1].x").size(), 4U);
}

TEST(HostSet, OperatorsAreReadFromLeftToRight) {
  EXPECT_EQ(hosts("a,b a"), (Names{"a", "b"}));
  EXPECT_EQ(hosts("n[1-5]!n[2-3]"), (Names{"n1", "n4", "n5"}));
  EXPECT_EQ(hosts("n[1-5] & n[4-9]"), (Names{"n4", "n5"}));
  EXPECT_EQ(hosts("n[1-3]^n[3-4]"), (Names{"n1", "n2", "n4"}));
  EXPECT_EQ(hosts("n1,n2!n2,n3"), (Names{"n1", "n3"}));
}

TEST(HostSet, GroupsAreSetsAndMayNestAndDoNotGoRound) {
  const std::map<std::string, std::string> known = {
      {"rack1", "gpu[01-02]"}, {"all", "@rack1,@rack2"}, {"rack2", "gpu03"},
      {"*", "gpu[01-03]"},     {"loop", "@loop"},        {"slurm:down", "gpu02"}};
  const GroupLookup lookup = [&](const std::string& name) -> Result<std::string> {
    const auto found = known.find(name);
    if (found == known.end()) return not_found_error("there is no group " + name);
    return found->second;
  };
  EXPECT_EQ(parse_host_set("@all!@slurm:down", lookup).value(), (Names{"gpu01", "gpu03"}));
  EXPECT_EQ(parse_host_set("@rack[1-2]", lookup).value().size(), 3U);
  EXPECT_EQ(parse_host_set("@*", lookup).value().size(), 3U);
  EXPECT_NE(parse_host_set("@loop", lookup).error().what.find("16 deep"), std::string::npos);
  EXPECT_EQ(parse_host_set("@no", lookup).error().what, "there is no group no");
  EXPECT_NE(why_not("@rack1").find("no groups are known here"), std::string::npos);
}

TEST(HostSet, WhatIsNoSetSaysWhatWasExpected) {
  EXPECT_NE(why_not("").find("found nothing"), std::string::npos);
  EXPECT_NE(why_not("a,").find("at the end"), std::string::npos);
  EXPECT_NE(why_not(",a").find("before ','"), std::string::npos);
  EXPECT_NE(why_not("gpu[1-").find("'[' without ']'"), std::string::npos);
  EXPECT_NE(why_not("gpu[3-1]").find("[0-6/2]"), std::string::npos);
  EXPECT_NE(why_not("gpu[1-8/0]").find("'1-8/0'"), std::string::npos);
  EXPECT_NE(why_not("gpu[1-010]").find("'1-010'"), std::string::npos);
  EXPECT_NE(why_not("gpu[01-5]").find("'01-5'"), std::string::npos);
  EXPECT_NE(why_not("a!a").find("no host is left"), std::string::npos);
}

TEST(HostSet, NamesThatASshOrAShellCouldMistakeAreRefused) {
  for (const char* const text :
       {"-oProxyCommand=x", "a;b", "a$(b)", "a/../b", "a'b", "\x1b[2J", "a|b"})
    EXPECT_FALSE(parse_host_set(text).has_value()) << text;
  EXPECT_EQ(why_not("a\x1b").find('\x1b'), std::string::npos);
}

TEST(HostSet, WhatATextCanCostIsBounded) {
  EXPECT_NE(why_not("n[0-99999999]").find("more than 100000"), std::string::npos);
  EXPECT_NE(why_not("n[0-999]n[0-999]").find("more than 100000"), std::string::npos);
  std::string many = "n[0-99999]";
  for (int i = 0; i < 5; ++i)
    many += ",n[0-99999]";
  EXPECT_NE(why_not(many).find("more than"), std::string::npos);
  EXPECT_FALSE(parse_host_set(std::string(std::size_t{2} << 20U, 'a')).has_value());
  EXPECT_EQ(hosts("n[0-99999]").size(), 100'000U);
}

TEST(HostSet, FoldingIsReadBackAsTheSameNames) {
  EXPECT_EQ(folded({}), "");
  EXPECT_EQ(folded({"spine"}), "spine");
  EXPECT_EQ(folded({"gpu03", "gpu01", "gpu02", "gpu03"}), "gpu[01-03]");
  EXPECT_EQ(folded(hosts("rack[1-4]n[01-16]")), "rack[1-4]n[01-16]");
  EXPECT_EQ(folded({"rack1n1", "rack1n2", "rack2n1"}), "rack1n[1-2],rack2n1");
  EXPECT_EQ(folded({"n9", "n10", "n011"}), "n[9-10,011]");
  for (const std::string_view set :
       {"gpu[001-128,200]", "n[8-12],m[08-12]", "n[09-10,011,99-101]", "a1b2c3,a1b[2-3]c3,x",
        "n[0,00,000]", "n[98-102]", "n[098-102]"}) {
    Names names = hosts(set);
    Names again = hosts(fold_hosts(names));
    std::sort(names.begin(), names.end());
    std::sort(again.begin(), again.end());
    EXPECT_EQ(again, names) << set << " became " << fold_hosts(hosts(set));
  }
}

}  // namespace
}  // namespace weir
