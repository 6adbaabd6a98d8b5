#include "render/report/report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/json.h"
#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "finding/catalog.h"
#include "render/report/report_facts.h"
#include "render/report/svg_canvas.h"
#include "render/report/svg_chart.h"
#include "render/report/svg_map.h"

namespace weir::render {
namespace {

design::Intent intent_of(std::string_view name) {
  const design::Template* const found = design::find_template(name);
  EXPECT_NE(found, nullptr);
  const auto loaded = design::load_text(std::string(found->text), std::string(name));
  EXPECT_TRUE(loaded.is_good());
  return design::derive(loaded.design).intent;
}

finding::Finding slow_receiver(const std::string& host) {
  finding::Where where;
  where.host = host;
  where.device = "mlx5_0";
  finding::Finding found =
      finding::make_finding("receiver.slow", host + " takes data too slowly", where);
  found.evidence.push_back({.source = host, .line = "tx_prio3_pause +963"});
  return found;
}

/// A run of pod16 with an error at one host and a warning at a switch port.
Report sample(const design::Intent& intent) {
  Report report;
  report.title = "pod16";
  report.is_simulated = true;
  report.source = "seed 1";
  report.tool = "weir test";
  report.intent = &intent;
  report.numbers = {{"Lossless drops", "0", "as it must be"}};
  report.questions = {{"Are we dropping?", Answer::kNo, true, "no counter of drops moved"},
                      {"Is PFC firing?", Answer::kUnknown, false, "nobody looked"}};
  report.measured = {{"all-to-all", "weir verify", "finished"}};
  report.judgement.findings.push_back(slow_receiver(intent.hosts.front().name));
  finding::Where port;
  port.switch_name = intent.switches.front().name;
  port.port = intent.switches.front().ports.back().name;
  report.judgement.findings.push_back(finding::make_finding("watchdog.off", "no watchdog", port));
  report.judgement.unknown = {{"optics", "not permitted", "as root"}};
  finding::settle(report.judgement);
  report.platforms = platforms_of(intent);
  report.retests = {{"lint", "weir lint D"}, {"", "weir diagnose"}};
  for (std::uint32_t i = 0; i < intent.links.size(); ++i)
    report.loads.push_back({i, 0.25, 0.5});
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics)
      report.rails.push_back({.host = host.name,
                              .device = nic.device,
                              .rail = static_cast<unsigned>(nic.rail),
                              .received_gbps = 42.0,
                              .paused_share = 0.0});
  report.timeline.times_us = {10, 20, 30};
  report.timeline.panels = {{.title = "Fullest queue",
                             .unit = "KB",
                             .curves = {{"leaf1 swp9", {1, 500, 2}}},
                             .levels = {{"marking begins", 150}}}};
  return report;
}

/// What a strict reader of tags has against the text; empty: nothing. Knows the elements without an
/// end that the report uses.
std::string complaint_about(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with("!DOCTYPE") || tag.starts_with("meta") || tag.ends_with("/")) continue;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return fmt::format("quotes in <{}>", tag);
    const bool is_end = tag.starts_with("/");
    const std::string name(tag.substr(is_end ? 1 : 0, tag.find(' ') - (is_end ? 1 : 0)));
    if (!is_end) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return fmt::format("</{}> ends {}", name, open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is never ended";
}

TEST(Report, saysTheVerdictFirstAndThatItIsSimulatedInTheHeadingAndBesideEveryCurve) {
  COVERS("J5");
  const design::Intent intent = intent_of("pod16");
  const Report report = sample(intent);
  const std::string html = report_html(report);
  EXPECT_NE(html.find("<h1>Not ready: 1 error, 1 warning, 1 unknown</h1>"), std::string::npos);
  EXPECT_NE(html.find(">SIMULATED</span>"), std::string::npos);
  EXPECT_NE(html.find(", KB (simulated)"), std::string::npos);
  EXPECT_NE(html.find("Rails (simulated)"), std::string::npos);
  EXPECT_EQ(html.find("MEASURED"), std::string::npos);
  Report real = report;
  real.is_simulated = false;
  EXPECT_EQ(report_html(real).find("imulated"), std::string::npos);
  EXPECT_EQ(report_markdown(real).find("imulated"), std::string::npos);
}

TEST(Report, answersTheFiveQuestionsWithYesNoOrCannotTell) {
  COVERS("D8");
  const design::Intent intent = intent_of("pod16");
  const std::string html = report_html(sample(intent));
  EXPECT_NE(html.find("<td class=\"sign\">✓</td><td class=\"question\">Are we dropping?</td>"),
            std::string::npos);
  EXPECT_NE(html.find("<td class=\"answer\">cannot tell</td>"), std::string::npos);
}

TEST(Report, isWellFormedAndNeedsNothingFromElsewhere) {
  COVERS("J5");
  for (const std::string_view name : {"pair", "pod16", "rail256", "clos1k"}) {
    const design::Intent intent = intent_of(name);
    const std::string html = report_html(sample(intent));
    EXPECT_EQ(complaint_about(html), "") << name;
    for (const std::string_view banned :
         {"http:", "https:", "src=", "href=", "@import", "url(", "<script", "<link"})
      EXPECT_EQ(html.find(banned), std::string::npos) << name << ": " << banned;
  }
  EXPECT_NE(complaint_about("<p><b>x</p></b>"), "");  // the reader is strict
}

TEST(Report, makesMarkupInNamesHarmless) {
  COVERS("J5");
  design::Intent intent = intent_of("pod16");
  const std::string evil = "<script>alert('1')</script>\"&\x01\xff";
  intent.hosts.front().name = evil;
  Report report = sample(intent);
  report.title = evil;
  report.timeline.panels.front().curves.front().label = evil;
  report.questions.front().why = evil;
  report.notes = {evil};
  const std::string html = report_html(report);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_EQ(complaint_about(html), "");
  EXPECT_EQ(report_markdown(report).find("<script"), std::string::npos);
}

TEST(Report, asMarkdownKeepsEachCommandOfAFixOnALineOfItsBlock) {
  const design::Intent intent = intent_of("pod16");
  Report report = sample(intent);
  finding::Finding found = finding::make_finding("watchdog.off", "off", {.switch_name = "leaf1"});
  found.fix = {{.platform = "any",
                .commands = {"one\n\n<img src=x>\r<b>", "```", "````\n<i>", "last"},
                .note = ""}};
  report.judgement.findings = {found};
  const std::string text = report_markdown(report);
  EXPECT_NE(text.find("\n`````\none\\u000a\\u000a<img src=x>\\u000d<b>\n```\n````\\u000a<i>\nlast\n"
                      "`````\n"),
            std::string::npos)
      << text;
  for (const std::string_view raw : {"\n<img", "\r", "\n<i>"})
    EXPECT_EQ(text.find(raw), std::string::npos) << raw;
}

TEST(Report, givesTheSameBytesForTheSameInput) {
  COVERS("J5");
  const design::Intent intent = intent_of("pod16");
  EXPECT_EQ(report_html(sample(intent)), report_html(sample(intent)));
  EXPECT_EQ(report_markdown(sample(intent)), report_markdown(sample(intent)));
}

/// A table has room for six NICs of their own; the problem of the others is not lost.
TEST(Report, saysHowManyFoldedNicsHaveAProblem) {
  COVERS("J5");
  Report report;
  finding::Finding found;
  found.id = "np.disabled";
  found.where.host = "gpu40";
  found.where.rail = "[0-7]";
  found.where.device = "mlx5_[0-7]";
  found.evidence.push_back({.source = "gpu40 mlx5_0", .line = "ECN NP: off"});
  report.judgement.findings.push_back(found);
  for (const char* host : {"gpu40", "gpu41"})
    for (unsigned rail = 0; rail < 8; ++rail) {
      RailRow& row = report.rails.emplace_back();
      row.host = host;
      row.device = "mlx5_" + std::to_string(rail);
      row.rail = rail;
    }
  std::size_t with_problem = 0;
  for (const RailTable::Line& line : rail_table(report).lines) {
    if (line.cells.back().empty()) continue;
    with_problem += line.is_fold ? 2 : 1;
    if (line.is_fold) {
      EXPECT_EQ(line.cells.back(), "1 (2 of them)") << line.name;
    }
  }
  EXPECT_EQ(with_problem, 8U);
  EXPECT_NE(report_markdown(report).find("gpu40 mlx5"), std::string::npos);
}

TEST(Report, foldsAThousandHostsAndSaysHowManyAreLikeThem) {
  COVERS("J5");
  const design::Intent intent = intent_of("clos1k");
  const Report report = sample(intent);
  const RailTable table = rail_table(report);
  ASSERT_EQ(table.lines.size(), 2U);  // the host with the problem, and all others
  EXPECT_EQ(table.lines[0].name, "gpu0001 rail 0 (mlx5_0)");
  EXPECT_EQ(table.lines[0].cells.back(), "1");
  EXPECT_EQ(table.lines[1].name, "rail 0: 1,023 others");
  const std::string html = report_html(report);
  EXPECT_LT(html.size(), 100'000U);
  const FabricMap map = fold_fabric(intent, report.loads, problems_of(report.judgement));
  EXPECT_EQ(map.tiers.size(), 4U);
  EXPECT_LT(map.nodes.size(), 24U);
  std::size_t hosts = 0;
  for (const MapNode& node : map.nodes)
    hosts += node.is_host ? node.count : 0;
  EXPECT_EQ(hosts, 1024U);  // folded, not lost
  std::size_t links = 0;
  for (const MapEdge& edge : map.edges)
    links += edge.count;
  EXPECT_EQ(links, intent.links.size());
}

TEST(Report, drawsPod16WithEveryHostAndUnderTheLimit) {
  COVERS("J5");
  const design::Intent intent = intent_of("pod16");
  Report report = sample(intent);
  report.timeline.times_us.clear();
  std::vector<double> values;
  for (int i = 0; i < 1024; ++i) {
    report.timeline.times_us.push_back(i);
    values.push_back(i % 97);
  }
  const Panel panel{"Queue",
                    "KB",
                    Merge::kPeak,
                    {{"a", values}, {"b", values}, {"c", values}, {"d", values}},
                    {}};
  report.timeline.panels = {panel, panel, panel, panel};
  const std::string html = report_html(report);
  EXPECT_LT(html.size(), 300'000U);
  for (const design::HostIntent& host : intent.hosts)
    EXPECT_NE(html.find(">" + host.name + "</text>"), std::string::npos) << host.name;
}

TEST(Report, putsTheNumberOfAProblemOnTheMapWhereItSits) {
  COVERS("J5");
  const design::Intent intent = intent_of("pod16");
  const Report report = sample(intent);
  const auto problems = problems_of(report.judgement);
  const FabricMap map = fold_fabric(intent, report.loads, problems);
  for (const MapNode& node : map.nodes) {
    std::vector<int> expected;
    if (node.name == "gpu01") expected = {1};
    if (node.name == intent.switches.front().name) expected = {2};
    EXPECT_EQ(node.problems, expected) << node.name;
  }
  const auto marked = std::count_if(map.edges.begin(), map.edges.end(),
                                    [](const MapEdge& edge) { return !edge.problems.empty(); });
  EXPECT_EQ(marked, 1);  // the link behind the switch port
}

TEST(Report, tellsAFaultOfManyHostsOnce) {
  COVERS("J5");
  finding::Judgement judgement;
  for (int i = 1; i <= 16; ++i)
    judgement.findings.push_back(slow_receiver(fmt::format("gpu{:02}", i)));
  const auto problems = problems_of(judgement);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().findings.size(), 16U);
  EXPECT_NE(places_of(problems.front()).find("gpu[01-16]"), std::string::npos)
      << places_of(problems.front());
}

TEST(Report, plansErrorsFirstWithTheFabricsOwnCommandsAndARetest) {
  COVERS("J5");
  const design::Intent intent = intent_of("pod16");
  const auto plan = plan_of(sample(intent));
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].priority, "1 now");
  EXPECT_EQ(plan[0].retest, "weir diagnose");
  EXPECT_EQ(plan[1].priority, "2 soon");
  EXPECT_EQ(plan[1].retest, "weir lint D");
  for (const finding::Fix& fix : plan[1].fixes)
    EXPECT_NE(fix.platform, "sonic") << "pod16 runs Cumulus";
}

TEST(Report, keepsTheFixesForAnyHostBesideThoseOfItsPlatforms) {
  COVERS("J5");
  Report report;
  report.platforms = {"mlx5-ofed", "cumulus"};
  finding::Finding slow = finding::make_finding("receiver.slow", "It is slow.", {});
  slow.fix = {{"host", {"lspci"}, ""}, {"mlx5-ofed", {"mlxlink"}, ""}, {"sonic", {"show"}, ""}};
  report.judgement.findings.push_back(std::move(slow));
  const auto plan = plan_of(report);
  ASSERT_EQ(plan.size(), 1U);
  std::set<std::string> platforms;
  for (const finding::Fix& fix : plan[0].fixes)
    platforms.insert(fix.platform);
  EXPECT_TRUE(platforms.contains("host"));
  EXPECT_FALSE(platforms.contains("sonic"));
}

TEST(Report, saysInWordsHowItStands) {
  finding::Judgement judgement;
  EXPECT_EQ(verdict_of(judgement), "Healthy: no deviation from the design");
  judgement.unknown.push_back({"optics", "not permitted", ""});
  EXPECT_EQ(verdict_of(judgement), "Healthy as far as data is available");
  judgement.conclusion = finding::Conclusion::kInconclusive;
  EXPECT_EQ(verdict_of(judgement), "Inconclusive: not enough data");
}

TEST(Report, showsPausesOverTheLimitBySignsNotByColour) {
  COVERS("D3", "J5");
  Report report;
  report.rails = {{.host = "a", .device = "m", .paused_share = 0.004, .pausing_share = 0.06},
                  {.host = "b", .device = "m", .paused_share = 0.02}};
  const RailTable table = rail_table(report);
  EXPECT_EQ(table.lines[0].cells[2], "0.4 %");
  EXPECT_EQ(table.lines[0].cells[3], "6.0 % !!");
  EXPECT_EQ(table.lines[1].cells[2], "2.0 % !");
  EXPECT_EQ(table.lines[1].cells[3], "?");  // no such counter is not zero
}

TEST(Report, asJsonHoldsTheFindingsThePlanAndEveryRail) {
  COVERS("J5");
  const design::Intent intent = intent_of("clos1k");
  Json object = {{"schema", "weir/report/1"}};
  add_report_json(object, sample(intent));
  EXPECT_EQ(object["findings"].size(), 2U);
  EXPECT_EQ(object["plan"][0]["retest"], "weir diagnose");
  EXPECT_EQ(object["rails"].size(), 1024U);
  EXPECT_EQ(object["simulated"], true);
  EXPECT_TRUE(object["questions"][1]["good"].is_null());
}

TEST(Svg, escapesMarkupAndRepairsText) {
  EXPECT_EQ(escape_markup("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escape_markup("\x01\x7f"), "\\u0001\\u007f");
  EXPECT_EQ(escape_markup("µ → ✓"), "µ → ✓");
  EXPECT_EQ(escape_markup("\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  EXPECT_EQ(escape_markup("\xed\xa0\x80").find('\xed'), std::string::npos);  // a surrogate
  EXPECT_EQ(escape_markup("\xe2\x82"), "\xEF\xBF\xBD");                      // cut short
}

TEST(Svg, keepsTheEndOfANameThatIsTooLong) {
  EXPECT_EQ(fit_text("gpu01", 10, 100), "gpu01");
  const std::string cut = fit_text("a-very-long-host-name-0042", 10, 40);
  EXPECT_TRUE(cut.starts_with("…"));
  EXPECT_TRUE(cut.ends_with("0042"));
  EXPECT_LE(text_width(cut, 10), 40);
}

TEST(Chart, keepsPeaksWhenItThinsOut) {
  std::vector<double> values(1000, 1.0);
  values[777] = 9;
  const auto peaks = thin_out(values, 100, Merge::kPeak);
  EXPECT_EQ(peaks.size(), 100U);
  EXPECT_EQ(*std::max_element(peaks.begin(), peaks.end()), 9);
  const auto means = thin_out(values, 100, Merge::kMean);
  EXPECT_DOUBLE_EQ(*std::max_element(means.begin(), means.end()), 1.8);
  EXPECT_EQ(thin_out(values, 5000, Merge::kPeak), values);
}

TEST(Chart, endsItsAxisAtARoundNumberThatHoldsEveryValue) {
  EXPECT_DOUBLE_EQ(round_up(0), 1);
  EXPECT_DOUBLE_EQ(round_up(100), 100);
  EXPECT_DOUBLE_EQ(round_up(100.3), 120);
  EXPECT_DOUBLE_EQ(round_up(13.4), 15);
  EXPECT_DOUBLE_EQ(round_up(0.0071), 0.008);
  for (double value = 1e-3; value < 1e9; value *= 1.37)
    EXPECT_GE(round_up(value), value);
}

TEST(Chart, drawsEachCurveInAnotherLineStyle) {
  Timeline timeline;
  timeline.times_us = {1, 2};
  timeline.panels = {{"Q", "KB", Merge::kPeak, {{"a", {1, 2}}, {"b", {2, 1}}, {"c", {0, 3}}}, {}}};
  const std::string drawing = draw_timeline(timeline, "simulated");
  std::set<std::string> styles;
  for (std::size_t at = drawing.find("<polyline"); at != std::string::npos;
       at = drawing.find("<polyline", at + 1)) {
    const std::string tag = drawing.substr(at, drawing.find('>', at) - at);
    const std::size_t dashes = tag.find("stroke-dasharray=\"");
    styles.insert(dashes == std::string::npos ? "solid" : tag.substr(dashes));
  }
  EXPECT_EQ(styles.size(), 3U);
  EXPECT_EQ(draw_timeline({}, "simulated"), "");
}

}  // namespace
}  // namespace weir::render
