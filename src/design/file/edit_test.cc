#include "design/file/edit.h"

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"

namespace weir::design {
namespace {

TEST(Edit, AValueThatIsThereIsReplacedAndItsCommentStays) {
  EXPECT_EQ(
      edited("wred:\n  min: 25KB   # by hand\n  max: 1MB\n", {{"wred.min", "50KB", "why"}}).value(),
      "wred:\n  # why\n  min: 50KB   # by hand\n  max: 1MB\n");
  EXPECT_EQ(edited("wred:\n  min: \"25KB\"\n", {{"wred.min", "50KB", ""}}).value(),
            "wred:\n  min: 50KB\n");
}

TEST(Edit, AKeyIsAddedToItsSection) {
  EXPECT_EQ(
      edited("name: x\nwred:\n    max: 1MB\ntrust: dscp\n", {{"wred.min", "50KB", ""}}).value(),
      "name: x\nwred:\n    min: 50KB\n    max: 1MB\ntrust: dscp\n");
  EXPECT_EQ(edited("wred: { max: 1MB }\n", {{"wred.min", "50KB", "why"}}).value(),
            "# why\nwred: { min: 50KB, max: 1MB }\n");
  EXPECT_EQ(edited("wred: {}\n", {{"wred.min", "50KB", ""}}).value(), "wred: { min: 50KB }\n");
  EXPECT_EQ(edited("wred:\ntrust: dscp\n", {{"wred.min", "50KB", ""}}).value(),
            "wred:\n  min: 50KB\ntrust: dscp\n");
  EXPECT_EQ(edited("wred:", {{"wred.min", "50KB", ""}}).value(), "wred:\n  min: 50KB\n");
  EXPECT_EQ(edited("name: x\n", {{"calibration.not_identified", "[kmax]", ""}}).value(),
            "name: x\n\ncalibration:\n  not_identified: [kmax]\n");
}

TEST(Edit, ASectionIsAddedAtTheEnd) {
  EXPECT_EQ(edited("name: x", {{"wred.min", "50KB", "why"}, {"wred.max", "1MB", ""}}).value(),
            "name: x\n\nwred:\n  max: 1MB\n  # why\n  min: 50KB\n");
}

TEST(Edit, ANicParameterIsFoundUnderItsOtherNames) {
  EXPECT_EQ(edited("dcqcn:\n  rp_ai_rate: 5Mbps\n", {{"dcqcn.rpg_ai_rate", "10Mbps", ""}}).value(),
            "dcqcn:\n  rp_ai_rate: 10Mbps\n");
}

TEST(Edit, CharactersOfSeveralBytesAreCounted) {
  EXPECT_EQ(edited("wred: { max: \"ü\", min: 25KB }\n", {{"wred.min", "50KB", ""}}).value(),
            "wred: { max: \"ü\", min: 50KB }\n");
}

TEST(Edit, WhatIsNoSectionIsAnError) {
  EXPECT_FALSE(edited("wred: 5\n", {{"wred.min", "50KB", ""}}));
  EXPECT_FALSE(edited("wred:\n  min: [1, 2]\n", {{"wred.min", "50KB", ""}}));
}

TEST(Edit, AFormThatIsNotForeseenIsAnErrorWithItsLineAndNoOtherDesign) {
  for (const char* const text : {
           "wred:\n  min: >-\n    25KB\n# kept\n",  // folded
           "wred:\n  min: \"25\\\n    KB\"\n",      // quoted, over two lines
           "wred: ~\n",                             // nothing, in a word
           "{ name: x, links: [] }\n",              // a file in braces: no line can be added
           "name: x\n...\n",                        // an end of the document
       }) {
    const auto text_after = edited(text, {{"wred.min", "50KB", ""}});
    if (text_after) {
      ADD_FAILURE() << text << "became\n" << *text_after;
    } else {
      EXPECT_NE(text_after.error().what.find("line "), std::string::npos)
          << text_after.error().what;
    }
  }
}

TEST(Edit, AListIsOneValueAndTwoLinesAreNone) {
  const auto list = edited("name: x\n", {{"calibration.not_identified", "[wred_min, xoff]", ""}});
  ASSERT_TRUE(list) << list.error().what;
  EXPECT_EQ(*list, "name: x\n\ncalibration:\n  not_identified: [wred_min, xoff]\n");
  EXPECT_FALSE(edited("name: x\n", {{"wred.min", "50KB\nevil: 1", ""}}));
}

TEST(Edit, EveryTemplateLoadsWithNewValues) {
  for (const Template& entry : templates()) {
    const auto text = edited(entry.text, {{"wred.min", "77KB", "bought 1 %"},
                                          {"dcqcn.rpg_time_reset", "75us", "x"},
                                          {"buffers.alpha", "1/4", ""}});
    ASSERT_TRUE(text) << entry.name << text.error().what;
    const Loaded loaded = load_text(*text, "new.yaml");
    ASSERT_TRUE(loaded.is_good()) << entry.name << to_text(loaded);
    EXPECT_EQ(loaded.design.wred.min->raw(), 77'000);
    EXPECT_EQ(loaded.design.buffers.alpha->log2(), -2);
  }
}

TEST(Edit, LinesToType) {
  EXPECT_EQ(
      lines_of({{"wred.min", "50KB", "a"}, {"dcqcn.rpg_gd", "11", ""}, {"wred.max", "1MB", ""}}),
      "dcqcn:\n  rpg_gd: 11\nwred:\n  min: 50KB  # a\n  max: 1MB\n");
}

}  // namespace
}  // namespace weir::design
