#include "base/json_cursor.h"

#include "base/json.h"
#include "base/testing.h"

namespace weir {
namespace {

TEST(JsonCursor, AnErrorNamesThePlaceByItsPointer) {
  const Json document = Json::parse(R"({"nics": [{"link": {"mtu": "9k"}}], "a/b~c": 1})");
  const JsonCursor root(document);
  const auto nics = root.member("nics");
  ASSERT_TRUE(nics);
  const JsonCursor nic = nics->at(0);
  const auto link = nic.member("link");
  ASSERT_TRUE(link);
  const auto mtu = link->member("mtu");
  ASSERT_TRUE(mtu);
  EXPECT_EQ(mtu->pointer(), "/nics/0/link/mtu");
  EXPECT_EQ(mtu->integer().error().what, "/nics/0/link/mtu: expected an integer, found \"9k\"");
  EXPECT_EQ(link->member("speed").error().what, "/nics/0/link/speed: missing");
  EXPECT_EQ(root.member("a/b~c")->pointer(), "/a~1b~0c");
  EXPECT_EQ(root.expect_array().error().what.substr(0, 32), "the document: expected a list, f");
}

TEST(JsonCursor, NullCountsAsAbsent) {
  const Json document = Json::parse(R"({"a": null, "b": 2})");
  const JsonCursor root(document);
  EXPECT_FALSE(root.find("a"));
  EXPECT_FALSE(root.find("c"));
  EXPECT_TRUE(root.find("b"));
}

TEST(JsonCursor, NumbersKeepTheirWholeRangeAndRefuseTheRest) {
  const Json document = Json::parse(R"([18446744073709551615, -1, 1.5, true, 7])");
  const JsonCursor root(document);
  EXPECT_EQ(root.size(), 5U);
  EXPECT_EQ(*root.at(0).whole_number(), 18446744073709551615U);
  EXPECT_FALSE(root.at(0).integer());
  EXPECT_FALSE(root.at(1).whole_number());
  EXPECT_EQ(*root.at(1).integer(), -1);
  EXPECT_FALSE(root.at(2).integer());
  EXPECT_EQ(*root.at(2).number(), 1.5);
  EXPECT_FALSE(root.at(3).whole_number());
  EXPECT_FALSE(root.at(3).number());
  EXPECT_EQ(*root.at(4).integer(), 7);
  EXPECT_FALSE(root.at(4).boolean());
  EXPECT_FALSE(root.at(4).text());
}

}  // namespace
}  // namespace weir
