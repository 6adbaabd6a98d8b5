#include "base/untrusted/json_parse.h"

#include "base/json.h"
#include "base/testing.h"
#include "base/untrusted/json_text.h"

namespace weir {
namespace {

TEST(ParseJson, ReadsWhatTheLibraryReads) {
  const std::string text =
      R"({"b": [1, -2, 3.5, true, null, "x\u00e9"], "a": {"n": 18446744073709551615}, "e": {}})";
  const auto read = parse_json(text);
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(*read, Json::parse(text));
  EXPECT_EQ(read->dump(), Json::parse(text).dump());
  EXPECT_TRUE((*read)["b"][0].is_number_unsigned());
  EXPECT_EQ(parse_json(" 7 ")->dump(), "7");
}

TEST(ParseJson, TakesTheLastValueOfAKeyThatComesTwiceInThePlaceOfTheFirst) {
  const std::string text = R"({"a": 1, "b": 2, "a": {"x": 3}, "c": 4, "a": 5})";
  EXPECT_EQ(parse_json(text)->dump(), R"({"a":5,"b":2,"c":4})");
}

TEST(ParseJson, RefusesWhatIsTooDeepWithAPlaceInsteadOfEndingTheProcess) {
  const std::string just = std::string(kJsonDepth, '[') + std::string(kJsonDepth, ']');
  EXPECT_TRUE(parse_json(just));
  for (const char bracket : {'[', '{'}) {
    std::string deep = "\n";
    for (int i = 0; i < 80'000; ++i)
      deep += bracket == '[' ? "[" : "{\"a\":";
    const auto read = parse_json(deep);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(read.error().what, "line 2: expected at most 64 levels of JSON, found more");
  }
}

TEST(ParseJson, SaysWhereItIsWrong) {
  EXPECT_EQ(parse_json("{\n \"a\": 1,\n}").error().what,
            "line 3: expected string literal, found '1,'");
  EXPECT_EQ(parse_json("").error().what,
            "line 1: expected '[', '{', or a literal, found the end of the file");
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_FALSE(parse_json("\"\xff\""));
  EXPECT_EQ(parse_json("{}").has_value(), true);
}

/// The library looks through all members before it adds one: 200,000 of them would take minutes.
TEST(ParseJson, AddsMembersWithoutLookingThroughTheOthers) {
  std::string wide = "{";
  for (int i = 0; i < 200'000; ++i)
    wide += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  const auto read = parse_json(wide + "}");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 200'000U);
}

TEST(JsonText, LinesAreThoseOfTheLibrary) {
  for (const char* text :
       {"[]", "{}", "3", R"({"a": [], "b": {}, "c": null})",
        R"([[1, -2], {"x": 0.1, "y": {"z": [true, "q\"\u00e9\u007f\n"]}}, 1e300])"}) {
    const Json value = Json::parse(text);
    std::string out;
    append_json_lines(value, 0, out);
    EXPECT_EQ(out, value.dump(2)) << text;
  }
}

}  // namespace
}  // namespace weir
