// The report as one HTML file: see report.h for what it promises.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "finding/catalog.h"
#include "render/report/html_writer.h"
#include "render/report/report.h"
#include "render/report/report_style.h"
#include "render/report/svg_canvas.h"
#include "render/report/svg_chart.h"
#include "render/report/svg_map.h"

namespace weir::render {
namespace {

using finding::Conclusion;
using finding::Finding;
using finding::Severity;

constexpr std::size_t kMostProblems = 5;   // in full; the others have a line in the plan
constexpr std::size_t kMostEvidence = 3;   // lines of a problem
constexpr std::size_t kMostCommands = 24;  // lines of a fix: three for each of eight rails
constexpr std::size_t kMostFixes = 2;      // platforms of a problem
constexpr std::size_t kMostSteps = 12;     // of the plan
constexpr std::size_t kMostUnknown = 4;

std::string_view origin_of(const Report& report) {
  return report.is_simulated ? "simulated" : "measured";
}

/// The number of a problem in its severity's shape: the same on the map.
std::string mark_of(int number, Severity severity) {
  SvgCanvas canvas(20, 20, fmt::format("problem {}, {}", number, to_text(severity)));
  draw_mark(canvas, {10, 10}, number, severity);
  return std::move(canvas).finish();
}

/// A tick in a circle, a cross in a square, a question mark in a diamond.
std::string verdict_sign(const finding::Judgement& judgement) {
  const Stroke thick = {.width = 4};
  if (judgement.conclusion == Conclusion::kHealthy ||
      judgement.conclusion == Conclusion::kNotFabric) {
    SvgCanvas canvas(44, 44, "good");
    canvas.circle({22, 22}, 19, kPaper, {.width = 3});
    const std::array<Point, 3> tick = {{{12, 23}, {19, 30}, {32, 14}}};
    canvas.polyline(tick, thick);
    return std::move(canvas).finish();
  }
  if (judgement.count(Severity::kError) > 0) {
    SvgCanvas canvas(44, 44, "not good");
    canvas.rect({3, 3, 38, 38}, kInk, {}, 6);
    canvas.line({13, 13}, {31, 31}, {.colour = kPaper, .width = 4});
    canvas.line({31, 13}, {13, 31}, {.colour = kPaper, .width = 4});
    return std::move(canvas).finish();
  }
  SvgCanvas canvas(44, 44, "needs attention");
  const std::array<Point, 5> diamond = {{{22, 3}, {41, 22}, {22, 41}, {3, 22}, {22, 3}}};
  canvas.polyline(diamond, {.width = 3});
  canvas.text({22, 30}, judgement.conclusion == Conclusion::kFindings ? "!" : "?",
              {.size = 22, .anchor = Anchor::kMiddle, .is_bold = true});
  return std::move(canvas).finish();
}

void write_html_heading(HtmlWriter& page, const Report& report) {
  page.raw("<header>\n<p class=\"strip\"><span class=\"origin\">");
  page.raw(report.is_simulated ? "SIMULATED" : "MEASURED");
  page.raw("</span> ");
  std::vector<std::string> parts = {report.title};
  for (const std::string* part : {&report.subject, &report.source, &report.time})
    if (!part->empty()) parts.push_back(*part);
  page.raw(escape_markup(join(parts, " · ")));
  page.raw("</p>\n<div class=\"verdict\">");
  page.raw(verdict_sign(report.judgement));
  page.raw("<div>\n");
  page.element("h1", report.verdict.empty() ? verdict_of(report.judgement) : report.verdict);
  if (!report.summary.empty()) page.element("p", report.summary, "summary");
  page.raw("</div></div>\n");
  if (report.is_simulated)
    page.element(
        "p",
        "All numbers come from a packet-level simulation of the design. None was measured on "
        "hardware.",
        "caution");
  page.raw("</header>\n");
}

void write_numbers(HtmlWriter& page, const Report& report) {
  if (report.numbers.empty()) return;
  page.raw("<dl class=\"numbers\">\n");
  for (const KeyNumber& number : report.numbers) {
    page.raw("<div>");
    page.element("dt", number.name);
    page.element("dd", number.value);
    if (!number.note.empty()) page.element("dd", number.note, "note");
    page.raw("</div>\n");
  }
  page.raw("</dl>\n");
}

std::string_view sign_of(const Question& question) {
  if (question.answer == Answer::kUnknown) return "?";
  return question.is_good ? "✓" : "✕";
}

void write_questions(HtmlWriter& page, const Report& report) {
  if (report.questions.empty()) return;
  page.raw("<section>\n<h2>First questions</h2>\n<table class=\"questions\">\n");
  for (const Question& question : report.questions) {
    page.raw(fmt::format("<tr><td class=\"sign\">{}</td>", sign_of(question)));
    page.element("td", question.question, "question");
    page.element("td", to_text(question.answer), "answer");
    page.element("td", question.why);
    page.raw("</tr>\n");
  }
  page.raw("</table>\n</section>\n");
}

/// The trend as a line, the last run as a dot.
std::string draw_trend(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  constexpr double kWidth = 90;
  constexpr double kHeight = 18;
  constexpr double kEdge = 3;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  // Differences of less than 1 % are a flat line.
  const double range = std::max(*high - *low, 0.01 * std::abs(*high));
  const double middle = (*high + *low) / 2;
  std::vector<Point> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = range > 0 ? (values[i] - middle) / range + 0.5 : 0.5;
    points.push_back({kEdge + (kWidth - 2 * kEdge) * static_cast<double>(i) /
                                  static_cast<double>(values.size() - 1),
                      kHeight - kEdge - (kHeight - 2 * kEdge) * share});
  }
  SvgCanvas canvas(kWidth, kHeight, fmt::format("trend over {} runs", values.size()));
  canvas.polyline(points, {.width = 1.5});
  canvas.circle(points.back(), 2, kInk);
  return std::move(canvas).finish();
}

void write_baseline(HtmlWriter& page, const Report& report) {
  if (!report.baseline) return;
  const BaselinePart& part = *report.baseline;
  page.raw("<section>\n<h2>Baseline</h2>\n");
  page.element("p", part.title);
  if (!part.verdict.empty()) page.element("p", part.verdict);
  page.raw(
      "<table class=\"rails\">\n<thead><tr><th>what</th><th>n</th><th>p50</th><th>p99</th>"
      "<th>p999</th><th>spread</th><th>last run</th><th>trend</th></tr></thead>\n<tbody>\n");
  for (const BaselineRow& row : part.rows) {
    page.raw("<tr>");
    page.element("th", row.what);
    for (const std::string* cell : {&row.count, &row.p50, &row.p99, &row.p999, &row.spread})
      page.element("td", *cell);
    page.element("td", row.is_regressed ? row.now + " !!" : row.now);
    page.raw(fmt::format("<td>{}</td></tr>\n", draw_trend(row.trend)));
  }
  page.raw("</tbody></table>\n");
  page.element("p",
               "Spread: from run to run, as a share of the mean; ?: one run. Last run: how much "
               "worse than the baseline (!!: a regression). Trend: p50 of every run that was kept.",
               "caption");
  if (!part.settings.empty()) page.element("p", join(part.settings, "; "), "caption");
  page.raw("</section>\n");
}

void write_measured(HtmlWriter& page, const Report& report) {
  if (report.measured.empty()) return;
  page.raw(fmt::format("<section>\n<h2>What was {}</h2>\n<table>\n", origin_of(report)));
  for (const Measurement& measurement : report.measured) {
    page.raw("<tr>");
    page.element("th", measurement.what);
    page.raw("<td>");
    page.raw(escape_markup(measurement.result));
    if (!measurement.command.empty())
      page.raw(fmt::format(" <code>{}</code>", escape_markup(measurement.command)));
    page.raw("</td></tr>\n");
  }
  page.raw("</table>\n</section>\n");
}

/// The first two sentences; `weir explain` has the full text.
std::string_view in_short(std::string_view why) {
  std::size_t end = 0;
  for (int sentences = 0; sentences < 2; ++sentences) {
    const std::size_t stop = why.find(". ", end);
    if (stop == std::string_view::npos) return why;
    end = stop + 1;
  }
  return why.substr(0, end);
}

void write_commands(HtmlWriter& page, const finding::Fix& fix) {
  page.raw("<p class=\"fix\">");
  const finding::Platform* platform = finding::find_platform(fix.platform);
  std::string title(platform != nullptr ? platform->title : fix.platform);
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  page.raw(fmt::format("<b>{}</b>", escape_markup(title)));
  if (!fix.note.empty()) page.raw(": " + escape_markup(fix.note));
  page.raw("</p>\n");
  if (fix.commands.empty()) return;
  page.raw("<pre>");
  for (std::size_t i = 0; i < std::min(kMostCommands, fix.commands.size()); ++i)
    page.raw(escape_markup(fix.commands[i]) + "\n");
  if (fix.commands.size() > kMostCommands)
    page.raw(fmt::format("… {} more lines", fix.commands.size() - kMostCommands));
  page.raw("</pre>\n");
}

void write_seen(HtmlWriter& page, const Finding& found) {
  if (found.evidence.empty()) return;
  page.raw("<ul class=\"seen\">\n");
  for (std::size_t i = 0; i < std::min(kMostEvidence, found.evidence.size()); ++i) {
    const finding::EvidenceLine& seen = found.evidence[i];
    page.element("li", seen.source.empty() ? seen.line : seen.source + ": " + seen.line);
  }
  if (found.evidence.size() > kMostEvidence)
    page.element("li", fmt::format("… and {} more", found.evidence.size() - kMostEvidence));
  page.raw("</ul>\n");
}

void write_problem(HtmlWriter& page, const Problem& problem, const PlanStep& step) {
  const Finding& found = problem.first();
  const finding::CatalogEntry* entry = finding::find(found.id);
  page.raw("<article>\n<h3>");
  page.raw(mark_of(problem.number, found.severity));
  page.raw(fmt::format(" <span class=\"severity\">{}</span> {}", to_text(found.severity),
                       escape_markup(step.what)));
  if (!step.where.empty())
    page.raw(fmt::format(" <span class=\"where\">at {}</span>", escape_markup(step.where)));
  page.raw("</h3>\n");
  page.element("p", found.verdict);
  if (entry != nullptr)
    page.raw(fmt::format("<p class=\"why\"><b>Why it matters:</b> {}</p>\n",
                         escape_markup(in_short(entry->why))));
  write_seen(page, found);
  for (std::size_t i = 0; i < std::min(kMostFixes, step.fixes.size()); ++i)
    write_commands(page, step.fixes[i]);
  page.raw(
      fmt::format("<p class=\"more\">Confidence: {}. Details and other platforms: "
                  "<code>weir explain {}</code></p>\n</article>\n",
                  to_text(found.confidence), escape_markup(found.id)));
}

void write_problems(HtmlWriter& page, const Report& report, const std::vector<Problem>& problems,
                    const std::vector<PlanStep>& plan) {
  page.raw("<section>\n<h2>Problems and fixes</h2>\n");
  if (problems.empty())
    page.element("p", report.judgement.unknown.empty()
                          ? "No problem found."
                          : "No problem found in the available data; see the end for skipped "
                            "checks.");
  for (std::size_t i = 0; i < std::min(kMostProblems, problems.size()); ++i)
    write_problem(page, problems[i], plan[i]);
  if (problems.size() > kMostProblems)
    page.element("p", fmt::format("{} more in the plan below.", problems.size() - kMostProblems));
  page.raw("</section>\n");
}

void write_plan(HtmlWriter& page, const std::vector<Problem>& problems,
                const std::vector<PlanStep>& plan) {
  if (plan.empty()) return;
  page.raw(
      "<section>\n<h2>Plan</h2>\n<table class=\"plan\">\n<thead><tr><th></th><th>when</th>"
      "<th>what</th><th>where</th><th>retest</th></tr></thead>\n<tbody>\n");
  for (std::size_t i = 0; i < std::min(kMostSteps, plan.size()); ++i) {
    const PlanStep& step = plan[i];
    page.raw("<tr><td>" + mark_of(step.problem, problems[i].first().severity) + "</td>");
    page.element("td", step.priority, "when");
    page.element("td", step.what);
    page.element("td", step.where);
    page.raw(step.retest.empty()
                 ? "<td></td>"
                 : fmt::format("<td><code>{}</code></td>", escape_markup(step.retest)));
    page.raw("</tr>\n");
  }
  page.raw("</tbody></table>\n");
  if (plan.size() > kMostSteps)
    page.element("p", fmt::format("… and {} more.", plan.size() - kMostSteps));
  page.raw("</section>\n");
}

void write_html_timeline(HtmlWriter& page, const Report& report) {
  const std::string drawing = draw_timeline(report.timeline, origin_of(report));
  if (drawing.empty() && report.timeline.note.empty()) return;
  page.raw(fmt::format("<section class=\"figure\">\n<h2>The run over time ({})</h2>\n{}",
                       origin_of(report), drawing));
  if (!report.timeline.note.empty()) page.element("p", report.timeline.note, "caption");
  page.raw("</section>\n");
}

std::string busiest_text(const FabricMap& map) {
  const auto load = [](const MapEdge& edge) {
    return std::max(edge.up.value_or(-1), edge.down.value_or(-1));
  };
  const MapEdge* most = nullptr;
  for (const MapEdge& edge : map.edges)
    if (most == nullptr || load(edge) > load(*most)) most = &edge;
  if (most == nullptr || load(*most) < 0) return "Link loads were not measured.";
  return fmt::format("Line width shows load; busiest: {} to {} ({}).", map.nodes[most->lower].name,
                     map.nodes[most->upper].name, edge_text(*most));
}

void write_html_map(HtmlWriter& page, const Report& report, const std::vector<Problem>& problems) {
  if (report.intent == nullptr || report.intent->links.empty()) return;
  const FabricMap map = fold_fabric(*report.intent, report.loads, problems);
  page.raw(
      fmt::format("<section class=\"figure\">\n<h2>The fabric</h2>\n{}", draw_map(map, problems)));
  page.element(
      "p",
      fmt::format(
          "Mean load in % of the line rate ({}): ↑ up, ↓ down; dashed: not measured. {} Disc: "
          "error, ring: warning, with its number in the list of problems.",
          origin_of(report), busiest_text(map)),
      "caption");
  page.raw("</section>\n");
}

void write_html_rails(HtmlWriter& page, const Report& report) {
  if (report.rails.empty()) return;
  const RailTable table = rail_table(report);
  page.raw(fmt::format("<section>\n<h2>Rails ({})</h2>\n<table class=\"rails\">\n<thead><tr>",
                       origin_of(report)));
  for (const std::string& name : table.header)
    page.raw(fmt::format("<th>{}</th>", escape_markup(name)));
  page.raw("</tr></thead>\n<tbody>\n");
  for (const RailTable::Line& line : table.lines) {
    page.raw(line.is_fold ? "<tr class=\"fold\">" : "<tr>");
    page.raw(fmt::format("<th>{}{}</th>", line.is_fold ? "… " : "", escape_markup(line.name)));
    for (const std::string& cell : line.cells)
      page.raw(fmt::format("<td>{}</td>", escape_markup(cell)));
    page.raw("</tr>\n");
  }
  page.raw("</tbody></table>\n");
  page.element(
      "p",
      fmt::format(
          "Paused: share of the time in which the switch paused the NIC; pausing: in which the "
          "NIC paused the switch (! over {:g} %, !! over {:g} %). ?: no such counter.",
          report.thresholds.pause_warning * 100, report.thresholds.pause_error * 100),
      "caption");
  page.raw("</section>\n");
}

/// Checks skipped for the same reason: the first, and how many more.
void write_unknown(HtmlWriter& page, const Report& report) {
  if (report.judgement.unknown.empty()) return;
  std::vector<std::pair<const finding::Unknown*, std::size_t>> kinds;
  for (const finding::Unknown& skipped : report.judgement.unknown) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
      return kind.first->reason == skipped.reason && kind.first->how == skipped.how;
    });
    if (same == kinds.end())
      kinds.emplace_back(&skipped, 0);
    else
      ++same->second;
  }
  page.raw("<section>\n<h2>Skipped checks: data not available</h2>\n<ul>\n");
  for (std::size_t i = 0; i < std::min(kMostUnknown, kinds.size()); ++i) {
    const auto& [first, more] = kinds[i];
    page.element("li", fmt::format("{}{}: {}{}{}", first->check,
                                   more > 0 ? fmt::format(" and {} more", more) : "", first->reason,
                                   first->how.empty() ? "" : "; to get it: ", first->how));
  }
  if (kinds.size() > kMostUnknown)
    page.element("li", fmt::format("… and {} more reasons", kinds.size() - kMostUnknown));
  page.raw("</ul>\n</section>\n");
}

void write_html_end(HtmlWriter& page, const Report& report) {
  page.raw("<footer>\n");
  for (const std::string& note : report.notes)
    page.element("p", note);
  page.element("p",
               fmt::format("{} by {}.", report.is_simulated ? "Simulated and written" : "Written",
                           report.tool));
  page.raw("</footer>\n");
}

}  // namespace

std::string report_html(const Report& report) {
  const std::vector<Problem> problems = problems_of(report.judgement);
  const std::vector<PlanStep> plan = plan_of(report);
  HtmlWriter page;
  page.raw(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  page.element("title",
               fmt::format("{}: {}", report.title,
                           report.verdict.empty() ? verdict_of(report.judgement) : report.verdict));
  page.raw(fmt::format("<style>\n{}</style>\n</head>\n<body>\n<main>\n", kReportStyle));
  write_html_heading(page, report);
  write_numbers(page, report);
  write_questions(page, report);
  write_baseline(page, report);
  write_measured(page, report);
  write_problems(page, report, problems, plan);
  write_plan(page, problems, plan);
  write_html_timeline(page, report);
  write_html_map(page, report, problems);
  write_html_rails(page, report);
  write_unknown(page, report);
  write_html_end(page, report);
  page.raw("</main>\n</body>\n</html>\n");
  return std::move(page).take();
}

}  // namespace weir::render
