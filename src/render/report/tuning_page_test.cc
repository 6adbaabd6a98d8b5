#include "render/report/tuning_page.h"

#include "base/testing.h"

namespace weir::render {
namespace {

TuningPage sample_page() {
  TuningPage page;
  page.title = "pod16";
  page.verdict = "step-time -5.2 % with 1 change";
  page.is_good = true;
  page.objective = "step-time";
  page.changes = {"What to change", {"knob", "to"}, {{"wred.max", "94KB"}}, ""};
  page.patch = "wred:\n  max: 94KB\n";
  page.bought = {{"wred.max", {-0.052, -0.061, -0.042}, "94KB instead of 375KB"}};
  page.trade_off = {{"0 %", {-0.01, -0.02, 0}, "", false}, {"1 %", {-0.1, -0.12, -0.08}, "", true}};
  page.ranking = {{"wred.max", 0.04, 0.02, false}, {"wred.min", 0, 0, true}};
  page.before_after = {{"deepest queue", {{"<incast>", 9, 15, "9MB", "15MB"}}}};
  page.tool = "weir test";
  return page;
}

TEST(TuningPage, ShowsEveryFigureAndIsOneFile) {
  COVERS("H2");
  const std::string html = tuning_html(sample_page());
  for (const std::string_view part :
       {"SIMULATED", "What each change bought", "What pausing would buy", "Which knobs matter",
        "Before and after", "-5.2 % (-6.1 to -4.2)", "knee", "does nothing here", "max: 94KB"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_NE(html.find("&lt;incast&gt;"), std::string::npos);
  EXPECT_EQ(html.find("<incast>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);  // nothing is fetched
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html.find("@media print"), std::string::npos);
}

TEST(TuningPage, EveryColourOfAFigureHasADarkOne) {
  const std::string html = tuning_html(sample_page());
  for (const std::string_view attribute : {"fill=\"#", "stroke=\"#"}) {
    for (std::size_t at = html.find("<svg"); (at = html.find(attribute, at)) != std::string::npos;
         ++at) {
      const std::string colour = html.substr(at, html.find('"', at + attribute.size()) + 1 - at);
      EXPECT_NE(html.find("svg [" + colour + "]"), std::string::npos) << colour;
    }
  }
}

TEST(TuningPage, WhatIsNotThereIsNotDrawn) {
  EXPECT_EQ(draw_estimates({}, ""), "");
  EXPECT_EQ(draw_trade_off({}, ""), "");
  EXPECT_EQ(draw_ranking({}), "");
  EXPECT_EQ(draw_ranking({{"wred.min", 0, 0, true}}), "");
  EXPECT_EQ(draw_before_after({"nothing", {}}), "");
  TuningPage none;
  none.title = "ring";
  none.verdict = "Nothing to tune";
  const std::string html = tuning_html(none);
  EXPECT_EQ(html.find("What each change bought"), std::string::npos);
  EXPECT_NE(html.find("Nothing to tune"), std::string::npos);
}

TEST(TuningPage, AnIntervalWithoutEndStaysOnThePage) {
  const std::string drawing = draw_estimates({{"k", {-0.1, -1, 1e300}, ""}}, "");
  EXPECT_EQ(drawing.find("e+"), std::string::npos) << drawing;
  EXPECT_EQ(to_text(Estimate{-0.1, -0.1, -0.1}), "-10.0 %");
}

}  // namespace
}  // namespace weir::render
