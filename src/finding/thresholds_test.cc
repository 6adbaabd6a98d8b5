#include "finding/thresholds.h"

#include "base/testing.h"

namespace weir::finding {
namespace {

TEST(Thresholds, AreSetByNameAndSaidBack) {
  COVERS("I1");
  Thresholds set;
  EXPECT_TRUE(set_threshold("pause_warning=2%", set).has_value());
  EXPECT_DOUBLE_EQ(set.pause_warning, 0.02);
  EXPECT_TRUE(set_threshold("hot_link=2.5", set).has_value());
  EXPECT_TRUE(set_threshold("marks_that_matter=99", set).has_value());
  EXPECT_EQ(set.marks_that_matter, 99U);
  const Status unknown = set_threshold("pause_waring=2%", set);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("did you mean 'pause_warning'"), std::string::npos)
      << unknown.error().what;
  for (const char* bad : {"hot_link", "hot_link=", "hot_link=x", "hot_link=-1",
                          "marks_that_matter=1.5", "pause_warning=%"})
    EXPECT_FALSE(set_threshold(bad, set).has_value()) << bad;
}

TEST(Thresholds, EachIsInTheTableOnceAndReadsItsOwnText) {
  COVERS("I1");
  for (const ThresholdInfo& info : threshold_table()) {
    EXPECT_NE(info.number == nullptr, info.count == nullptr) << info.name;
    EXPECT_FALSE(info.meaning.empty() || info.unit.empty() || info.rows.empty() ||
                 info.source.empty())
        << info.name;
    Thresholds set;
    const std::string text = value_text(info, Thresholds());
    EXPECT_TRUE(set_threshold(std::string(info.name) + "=" + text, set).has_value()) << text;
    EXPECT_EQ(value_text(info, set), text) << info.name;
  }
  // Every member of the struct is a number of eight bytes.
  EXPECT_EQ(threshold_table().size(), sizeof(Thresholds) / 8);
}

}  // namespace
}  // namespace weir::finding
