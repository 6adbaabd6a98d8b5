// The report as Markdown: for a ticket or a wiki. Curves become their peaks, the map a list.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "finding/catalog.h"
#include "render/report/report.h"
#include "render/report/svg_canvas.h"
#include "render/report/svg_chart.h"
#include "render/report/svg_map.h"
#include "render/text/sparkline.h"

namespace weir::render {
namespace {

/// Text without Markdown markup, on one line: a name may contain anything.
std::string plain(std::string_view text) {
  std::string safe = escape_markup(text);
  for (const auto& [escape, sign] : {std::pair("&#39;", "'"), {"&quot;", "\""}})  // harmless here
    for (std::size_t at = safe.find(escape); at != std::string::npos; at = safe.find(escape, at))
      safe.replace(at, std::string_view(escape).size(), sign);
  std::string out;
  for (const char c : safe) {
    if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// How long the longest run of backticks in it is.
std::size_t backticks_in(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t i = 0, run = 0; i < text.size(); ++i) {
    run = text[i] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Code in a line: a fence longer than any run of backticks in it (CommonMark 6.1).
std::string code(std::string_view text) {
  const std::size_t longest = backticks_in(text);
  const std::string fence(longest + 1, '`');
  std::string line = printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return longest == 0 ? fence + line + fence : fence + " " + line + " " + fence;
}

/// The same in a cell of a table, where a bar would end the cell.
std::string code_cell(std::string_view text) {
  return text.find('|') == std::string_view::npos ? code(text) : plain(text);
}

class Text {
 public:
  void line(std::string_view text = {}) { text_.append(text).append("\n"); }
  void row(const std::vector<std::string>& cells) { line("| " + join(cells, " | ") + " |"); }
  void header(const std::vector<std::string>& cells) {
    row(cells);
    std::string rule = "|";
    for (std::size_t i = 0; i < cells.size(); ++i)
      rule += "---|";
    line(rule);
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

/// A block of code, one line per command, in a fence that none of them can close (CommonMark 4.5).
void write_commands_block(Text& text, const std::vector<std::string>& commands) {
  if (commands.empty()) return;
  std::size_t longest = 2;
  for (const std::string& command : commands)
    longest = std::max(longest, backticks_in(command));
  const std::string fence(longest + 1, '`');
  text.line("\n" + fence);
  for (const std::string& command : commands)
    text.line(printable_line(command));
  text.line(fence);
}

std::string_view markdown_origin(const Report& report) {
  return report.is_simulated ? "simulated" : "measured";
}

void write_markdown_heading(Text& text, const Report& report) {
  text.line("# " + plain(report.verdict.empty() ? verdict_of(report.judgement) : report.verdict));
  text.line();
  std::vector<std::string> parts = {
      fmt::format("**{}**", report.is_simulated ? "SIMULATED" : "MEASURED")};
  for (const std::string* part : {&report.title, &report.subject, &report.source, &report.time})
    if (!part->empty()) parts.push_back(plain(*part));
  text.line(join(parts, " · "));
  if (!report.summary.empty()) {
    text.line();
    text.line(plain(report.summary));
  }
}

void write_markdown_baseline(Text& text, const BaselinePart& part) {
  text.line("\n## Baseline\n");
  text.line(plain(part.title));
  if (!part.verdict.empty()) text.line("\n" + plain(part.verdict));
  text.line();
  text.header({"what", "n", "p50", "p99", "p999", "spread", "last run", "trend"});
  for (const BaselineRow& row : part.rows)
    text.row({plain(row.what), plain(row.count), plain(row.p50), plain(row.p99), plain(row.p999),
              plain(row.spread), plain(row.is_regressed ? row.now + " !!" : row.now),
              row.trend.size() < 2 ? "" : sparkline(row.trend)});
  if (!part.settings.empty()) text.line("\n" + plain(join(part.settings, "; ")));
}

void write_overview(Text& text, const Report& report) {
  if (!report.numbers.empty()) {
    text.line();
    text.header({"number", "value", ""});
    for (const KeyNumber& number : report.numbers)
      text.row({plain(number.name), plain(number.value), plain(number.note)});
  }
  if (!report.questions.empty()) {
    text.line("\n## First questions\n");
    text.header({"question", "answer", "why"});
    for (const Question& asked : report.questions)
      text.row({plain(asked.question),
                fmt::format("{}{}", to_text(asked.answer),
                            asked.answer == Answer::kUnknown || asked.is_good ? "" : " (!)"),
                plain(asked.why)});
  }
  if (report.baseline) write_markdown_baseline(text, *report.baseline);
  if (!report.measured.empty()) {
    text.line(fmt::format("\n## What was {}\n", markdown_origin(report)));
    for (const Measurement& measurement : report.measured)
      text.line(fmt::format("- **{}**: {}{}", plain(measurement.what), plain(measurement.result),
                            measurement.command.empty() ? "" : " " + code(measurement.command)));
  }
}

void write_problems(Text& text, const std::vector<Problem>& problems,
                    const std::vector<PlanStep>& plan) {
  text.line("\n## Problems and fixes\n");
  if (problems.empty()) text.line("No problem found in the available data.");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const finding::Finding& found = problems[i].first();
    const finding::CatalogEntry* entry = finding::find(found.id);
    text.line(fmt::format("### {}. {}: {}{}\n", problems[i].number, to_text(found.severity),
                          plain(plan[i].what),
                          plan[i].where.empty() ? "" : ", at " + plain(plan[i].where)));
    text.line(plain(found.verdict));
    if (entry != nullptr) text.line("\nWhy it matters: " + plain(entry->why));
    for (std::size_t k = 0; k < found.evidence.size(); ++k) {
      const finding::EvidenceLine& seen = found.evidence[k];
      text.line(
          fmt::format("{}- {}", k == 0 ? "\n" : "",
                      plain(seen.source.empty() ? seen.line : seen.source + ": " + seen.line)));
    }
    for (const finding::Fix& fix : plan[i].fixes) {
      text.line(fmt::format("\n{}{}{}", plain(fix.platform), fix.note.empty() ? "" : ": ",
                            plain(fix.note)));
      write_commands_block(text, fix.commands);
    }
    text.line();
  }
}

void write_plan(Text& text, const std::vector<PlanStep>& plan) {
  if (plan.empty()) return;
  text.line("## Plan\n");
  text.header({"", "when", "what", "where", "retest"});
  for (const PlanStep& step : plan)
    text.row({std::to_string(step.problem), step.priority, plain(step.what), plain(step.where),
              step.retest.empty() ? "" : code_cell(step.retest)});
}

void write_markdown_timeline(Text& text, const Report& report) {
  if (report.timeline.panels.empty()) return;
  text.line(fmt::format("\n## The run over time ({})\n", markdown_origin(report)));
  text.header({"what", "where", "mean", "peak", "unit"});
  for (const Panel& panel : report.timeline.panels)
    for (const Curve& curve : panel.curves) {
      if (curve.values.empty()) continue;
      text.row({plain(panel.title), plain(curve.label),
                short_number(thin_out(curve.values, 1, Merge::kMean).front()),
                short_number(thin_out(curve.values, 1, Merge::kPeak).front()), plain(panel.unit)});
    }
  if (!report.timeline.note.empty()) text.line("\n" + plain(report.timeline.note));
}

void write_markdown_map(Text& text, const Report& report, const std::vector<Problem>& problems) {
  if (report.intent == nullptr || report.intent->links.empty()) return;
  const FabricMap map = fold_fabric(*report.intent, report.loads, problems);
  text.line("\n## The fabric\n");
  text.header(
      {"from", "to", fmt::format("links and mean load ({})", markdown_origin(report)), "problem"});
  for (const MapEdge& edge : map.edges) {
    std::vector<int> numbers = edge.problems;
    const MapNode& lower = map.nodes[edge.lower];
    numbers.insert(numbers.end(), lower.problems.begin(), lower.problems.end());
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    text.row({plain(lower.name), plain(map.nodes[edge.upper].name), edge_text(edge),
              fmt::format("{}", fmt::join(numbers, ", "))});
  }
}

void write_markdown_rails(Text& text, const Report& report) {
  if (report.rails.empty()) return;
  const RailTable table = rail_table(report);
  text.line(fmt::format("\n## Rails ({})\n", markdown_origin(report)));
  text.header(table.header);
  for (const RailTable::Line& line : table.lines) {
    std::vector<std::string> cells = {(line.is_fold ? "… " : "") + plain(line.name)};
    for (const std::string& cell : line.cells)
      cells.push_back(plain(cell));
    text.row(cells);
  }
}

void write_markdown_end(Text& text, const Report& report) {
  if (!report.judgement.unknown.empty()) {
    text.line("\n## Skipped checks: data not available\n");
    for (const finding::Unknown& skipped : report.judgement.unknown)
      text.line(fmt::format("- {}: {}{}{}", plain(skipped.check), plain(skipped.reason),
                            skipped.how.empty() ? "" : "; to get it: ", plain(skipped.how)));
  }
  text.line();
  for (const std::string& note : report.notes)
    text.line(plain(note) + "\n");
  text.line(fmt::format("{} by {}.", report.is_simulated ? "Simulated and written" : "Written",
                        plain(report.tool)));
}

}  // namespace

std::string report_markdown(const Report& report) {
  const std::vector<Problem> problems = problems_of(report.judgement);
  const std::vector<PlanStep> plan = plan_of(report);
  Text text;
  write_markdown_heading(text, report);
  write_overview(text, report);
  write_problems(text, problems, plan);
  write_plan(text, plan);
  write_markdown_timeline(text, report);
  write_markdown_map(text, report, problems);
  write_markdown_rails(text, report);
  write_markdown_end(text, report);
  return std::move(text).take();
}

}  // namespace weir::render
