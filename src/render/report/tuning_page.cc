// The page of a tuning: see tuning_page.h for what it promises.
#include "render/report/tuning_page.h"

#include <fmt/format.h>

#include "base/text.h"
#include "render/report/html_writer.h"
#include "render/report/report_style.h"
#include "render/report/svg_canvas.h"

namespace weir::render {
namespace {

// The drawings name their colours in attributes, which a style sheet overrides.
constexpr std::string_view kTuningStyle = R"css(
.changes td:first-child { white-space: nowrap; font-weight: bold; }
.panels svg { display: block; margin-bottom: 6px; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; }
  body { background: #0b0f14; color: #dde4ea; }
  main { background: #141a21; border-color: #37424e; }
  h2 { border-color: #dde4ea; }
  .origin { border-color: #dde4ea; color: #dde4ea; }
  .strip, .caution, .why, .more, .caption, footer, .numbers dt, .numbers dd.note { color: #a9b4bf; }
  .numbers, .severity, footer { border-color: #66727e; }
  .numbers > div, th, td { border-color: #37424e; }
  pre { background: #0e1319; border-color: #66727e; }
  svg [fill="#1b2530"] { fill: #dde4ea; }
  svg [fill="#5b6672"] { fill: #a9b4bf; }
  svg [fill="#ffffff"] { fill: #141a21; }
  svg [fill="#0b5fa5"] { fill: #5aa9e6; }
  svg [fill="#9cc4e8"] { fill: #2b6496; }
  svg [fill="#d5dbe1"] { fill: #37424e; }
  svg [stroke="#1b2530"] { stroke: #dde4ea; }
  svg [stroke="#5b6672"] { stroke: #a9b4bf; }
  svg [stroke="#d5dbe1"] { stroke: #37424e; }
  svg [stroke="#0b5fa5"] { stroke: #5aa9e6; }
  svg [stroke="#ffffff"] { stroke: #141a21; }
}
)css";

std::string tuning_sign(bool is_good) {
  SvgCanvas canvas(44, 44, is_good ? "better settings found" : "no change");
  canvas.circle({22, 22}, 19, kPaper, {.width = 3});
  if (is_good) {
    const Point tick[] = {{12, 23}, {19, 30}, {32, 14}};
    canvas.polyline(tick, {.width = 4});
  } else {
    canvas.line({12, 22}, {32, 22}, {.width = 4});
  }
  return std::move(canvas).finish();
}

void write_tuning_heading(HtmlWriter& out, const TuningPage& page) {
  out.raw("<header>\n<p class=\"strip\"><span class=\"origin\">SIMULATED</span> ");
  out.raw(escape_markup(page.subject.empty() ? page.title : page.title + " · " + page.subject));
  out.raw("</p>\n<div class=\"verdict\">");
  out.raw(tuning_sign(page.is_good));
  out.raw("<div>\n");
  out.element("h1", page.verdict);
  if (!page.summary.empty()) out.element("p", page.summary, "summary");
  out.raw("</div></div>\n");
  out.element("p",
              "All numbers come from a packet-level simulation of the design. None was measured on "
              "hardware.",
              "caution");
  out.raw("</header>\n");
  if (page.numbers.empty()) return;
  out.raw("<dl class=\"numbers\">\n");
  for (const KeyNumber& number : page.numbers) {
    out.raw("<div>");
    out.element("dt", number.name);
    out.element("dd", number.value);
    if (!number.note.empty()) out.element("dd", number.note, "note");
    out.raw("</div>\n");
  }
  out.raw("</dl>\n");
}

void write_page_table(HtmlWriter& out, const PageTable& table, std::string_view kind = {}) {
  if (table.rows.empty()) return;
  out.raw("<section>\n");
  out.element("h2", table.title);
  out.raw(kind.empty() ? "<table>\n<thead><tr>"
                       : fmt::format("<table class=\"{}\">\n<thead><tr>", kind));
  for (const std::string& name : table.header)
    out.element("th", name);
  out.raw("</tr></thead>\n<tbody>\n");
  for (const std::vector<std::string>& row : table.rows) {
    out.raw("<tr>");
    for (const std::string& cell : row)
      out.element("td", cell);
    out.raw("</tr>\n");
  }
  out.raw("</tbody></table>\n");
  if (!table.caption.empty()) out.element("p", table.caption, "caption");
  out.raw("</section>\n");
}

void write_figure(HtmlWriter& out, std::string_view title, const std::string& drawing,
                  std::string_view caption) {
  if (drawing.empty()) return;
  out.raw("<section class=\"figure\">\n");
  out.element("h2", title);
  out.raw(drawing);
  if (!caption.empty()) out.element("p", caption, "caption");
  out.raw("</section>\n");
}

void write_panels(HtmlWriter& out, const TuningPage& page) {
  std::string drawings;
  for (const BeforeAfter& panel : page.before_after)
    drawings += fmt::format("<div class=\"figure\">{}</div>\n", draw_before_after(panel));
  if (drawings.empty()) return;
  out.raw("<section class=\"panels\">\n<h2>Before and after (simulated)</h2>\n");
  out.raw(drawings);
  out.element("p",
              "Open bar: start values; filled bar: chosen values. Mean over the seeds, with the "
              "least and the most. *: a load that the search never saw.",
              "caption");
  out.raw("</section>\n");
}

}  // namespace

std::string tuning_html(const TuningPage& page) {
  HtmlWriter out;
  out.raw(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  out.element("title", fmt::format("{}: {}", page.title, page.verdict));
  out.raw(
      fmt::format("<style>\n{}{}</style>\n</head>\n<body>\n<main>\n", kReportStyle, kTuningStyle));
  write_tuning_heading(out, page);
  write_page_table(out, page.changes, "changes");
  if (!page.patch.empty()) {
    out.element("p", "For the design file:");
    out.raw(fmt::format("<pre>{}</pre>\n", escape_markup(page.patch)));
  }
  write_figure(out, fmt::format("What each change bought: {}", page.objective),
               draw_estimates(page.bought, "What each change bought"),
               "With the change against without it, all others in place; 95 % interval, on seeds "
               "that no decision saw. Left is better.");
  write_figure(out, fmt::format("What pausing would buy: {}", page.objective),
               draw_trade_off(page.trade_off, "The best found under each limit of pauses"),
               page.trade_off_note);
  write_figure(
      out, fmt::format("Which knobs matter: {}", page.objective), draw_ranking(page.ranking),
      "Mean size of the effect of one step of the grid (elementary effects); dashes: how "
      "much it depends on the other knobs. Ordered by what half of the grid does, bad runs "
      "included.");
  write_panels(out, page);
  for (const PageTable& table : page.tables)
    write_page_table(out, table);
  out.raw("<footer>\n");
  for (const std::string& note : page.notes)
    out.element("p", note);
  out.element("p", fmt::format("Simulated and written by {}.", page.tool));
  out.raw("</footer>\n</main>\n</body>\n</html>\n");
  return std::move(out).take();
}

}  // namespace weir::render
