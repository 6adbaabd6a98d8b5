#include "base/json_lines.h"

#include "base/testing.h"

namespace weir {
namespace {

TEST(JsonLines, GiveEveryValueTheLineOfItsKey) {
  const auto root = parse_json_lines(
      "{\n  \"PORT\": {\n    \"Ethernet0\": { \"mtu\": \"9216\",\n      \"speed\":\n        400000 "
      "}\n  },\n"
      "  \"list\": [\n    1,\n    \"two\",\n    true\n  ]\n}\n",
      "a.json");
  ASSERT_TRUE(root.has_value()) << root.error().what;
  const JsonNode* const port = root->find("PORT")->find("Ethernet0");
  EXPECT_EQ(port->line, 3);
  EXPECT_EQ(port->find("mtu")->text, "9216");
  EXPECT_EQ(port->find("mtu")->line, 3);
  EXPECT_EQ(port->find("speed")->text, "400000");
  EXPECT_EQ(port->find("speed")->line, 4);
  const JsonNode* const list = root->find("list");
  EXPECT_EQ(list->line, 7);
  EXPECT_EQ(list->items.at(0).line, 8);
  EXPECT_EQ(list->items.at(1).line, 9);
  EXPECT_EQ(list->items.at(2).text, "true");
  EXPECT_EQ(root->find("absent"), nullptr);
}

TEST(JsonLines, KeepAKeyThatComesTwiceAndFindTheLast) {
  const auto root = parse_json_lines("{\"a\": 1,\n\"a\": 2}", "a.json");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->members.size(), 2U);
  EXPECT_EQ(root->find("a")->text, "2");
}

TEST(JsonLines, NameTheLineOfAnError) {
  const auto cut = parse_json_lines("{\n \"a\": {\n  \"b\": 1,\n", "leaf1.json");
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().what, "leaf1.json:3: expected string literal, found the end of the file");
  const auto bare = parse_json_lines("{\n \"a\": oops\n}", "leaf1.json");
  ASSERT_FALSE(bare.has_value());
  EXPECT_EQ(bare.error().what, "leaf1.json:2: expected JSON, found '\"a\": o'");
  EXPECT_FALSE(parse_json_lines("", "empty.json").has_value());
}

TEST(JsonLines, RefuseNestingWithoutEnd) {
  EXPECT_TRUE(parse_json_lines(std::string(60, '[') + std::string(60, ']'), "a").has_value());
  const auto deep = parse_json_lines(std::string(100'000, '['), "a");
  ASSERT_FALSE(deep.has_value());
  EXPECT_NE(deep.error().what.find("at most 64 levels"), std::string::npos);
}

}  // namespace
}  // namespace weir
