#include "render/text/braille.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "base/text.h"
#include "render/report/svg_chart.h"

namespace weir::render {
namespace {

Timeline ramp() {
  Timeline out;
  Panel panel{"Fullest queue", "KB", Merge::kPeak, {{"leaf1 swp1", {}}}, {}};
  for (int i = 1; i <= 100; ++i) {
    out.times_us.push_back(i * 10.0);
    panel.curves[0].values.push_back(i);
  }
  out.panels.push_back(panel);
  return out;
}

TEST(Braille, DrawsEveryPanelInItsWidth) {
  COVERS("G8");
  const std::string text = draw_braille(ramp(), 60);
  const auto lines = split(text, '\n');
  ASSERT_EQ(lines.size(), 9U);  // title, five rows, names, axis, nothing
  EXPECT_EQ(lines[0], "Fullest queue, KB");
  for (std::size_t i = 1; i <= 5; ++i)
    EXPECT_EQ(display_width(lines[i]), 60U) << lines[i];
  // It rises: the first dots are at the bottom left, the last at the top right.
  EXPECT_TRUE(std::string(lines[1]).ends_with("⠁") || std::string(lines[1]).ends_with("⠉"))
      << lines[1];
  EXPECT_NE(lines[6].find("leaf1 swp1 (peak 100)"), std::string_view::npos);
  EXPECT_NE(lines[7].find("1000 us"), std::string_view::npos);
  EXPECT_EQ(draw_braille({}, 60), "");
}

TEST(Braille, WhatIsNotKnownIsNotDrawn) {
  COVERS("G8");
  Timeline sweep;
  sweep.times_us = {0, 1};
  sweep.axis = "wred.min";
  sweep.ticks = {"5KB", "20KB"};
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  sweep.panels.push_back({"Completion", "us", Merge::kMean, {{"mean", {nothing, nothing}}}, {}});
  const std::string text = draw_braille(sweep, 40);
  EXPECT_EQ(text.find("⠉"), std::string::npos) << text;
  EXPECT_EQ(text.find("⣀"), std::string::npos) << text;
  EXPECT_NE(text.find("wred.min: 5KB"), std::string::npos);
}

TEST(SvgFile, StandsOnItsOwn) {
  COVERS("G8");
  const std::string file = as_svg_file(draw_timeline(ramp(), "simulated"));
  EXPECT_TRUE(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  EXPECT_NE(file.find("fill=\"#ffffff\""), std::string::npos);
  EXPECT_NE(file.find("time since the start of the run"), std::string::npos);
}

}  // namespace
}  // namespace weir::render
