#include "render/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "finding/catalog.h"
#include "finding/fold.h"
#include "render/text/findings_text.h"
#include "render/text/fix_choice.h"

namespace weir::render {
namespace {

using finding::Finding;
using finding::Severity;

std::string_view priority_of(Severity severity) {
  switch (severity) {
    case Severity::kError: return "1 now";
    case Severity::kWarning: return "2 soon";
    case Severity::kInfo: return "3 later";
  }
  return "3 later";
}

bool is_here(const std::vector<std::string>& platforms, const finding::Fix& fix) {
  const finding::Platform* platform = finding::find_platform(fix.platform);
  if (platform == nullptr || platforms.empty()) return true;
  if (platform->side != finding::Side::kHost && platform->side != finding::Side::kSwitch)
    return true;
  const bool is_general = fix.platform == "host" || fix.platform == "switch";
  return is_general ||
         std::find(platforms.begin(), platforms.end(), fix.platform) != platforms.end();
}

/// The fixes for the platforms of the fabric; all where there is none of them.
std::vector<finding::Fix> fixes_here(const Problem& problem,
                                     const std::vector<std::string>& platforms) {
  const std::vector<finding::Fix> all =
      with_other_rails(fixes_for(problem.first()).fixes, problem.findings);
  std::vector<finding::Fix> here;
  for (const finding::Fix& fix : all)
    if (is_here(platforms, fix)) here.push_back(fix);
  return here.empty() ? all : here;
}

std::string retest_for(const Finding& found, const std::vector<Retest>& retests) {
  const finding::CatalogEntry* entry = finding::find(found.id);
  for (const Retest& retest : retests)
    if (entry != nullptr && retest.phase == entry->phase) return retest.command;
  for (const Retest& retest : retests)
    if (retest.phase.empty()) return retest.command;
  return "";
}

// ---- rails ----

constexpr std::size_t kMostRails = 12;  // a longer table is shortened
constexpr std::size_t kMostApart = 6;   // NICs with a line of their own in a shortened table

/// A column: its value in a row, and how the value is printed.
struct Column {
  std::string_view name;
  std::optional<double> (*number)(const RailRow&);
  std::string (*text)(double, const finding::Thresholds&);
};

template <class T>
std::optional<double> as_number(const std::optional<T>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::string rate_cell(double gbps, const finding::Thresholds& /*limits*/) {
  return fmt::format("{:.1f}", gbps);
}
std::string count_cell(double count, const finding::Thresholds& /*limits*/) {
  return with_thousands(std::llround(count));
}
/// What the rules call a warning or an error is marked by signs, not by colour.
std::string pause_cell(double share, const finding::Thresholds& limits) {
  const std::string_view sign = share >= limits.pause_error     ? " !!"
                                : share >= limits.pause_warning ? " !"
                                                                : "";
  return fmt::format("{:.1f} %{}", share * 100, sign);
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"sent Gb/s", [](const RailRow& row) { return row.sent_gbps; }, rate_cell},
      {"received Gb/s", [](const RailRow& row) { return row.received_gbps; }, rate_cell},
      {"paused", [](const RailRow& row) { return row.paused_share; }, pause_cell},
      {"pausing", [](const RailRow& row) { return row.pausing_share; }, pause_cell},
      {"marked", [](const RailRow& row) { return as_number(row.marked); }, count_cell},
      {"CNPs sent", [](const RailRow& row) { return as_number(row.cnps_sent); }, count_cell},
      {"CNPs handled", [](const RailRow& row) { return as_number(row.cnps_handled); }, count_cell},
      {"out of order", [](const RailRow& row) { return as_number(row.out_of_order); }, count_cell},
      {"discards", [](const RailRow& row) { return as_number(row.discards); }, count_cell},
  };
  return all;
}

std::string name_of(const RailRow& row) {
  if (row.rail) return fmt::format("{} rail {} ({})", row.host, *row.rail, row.device);
  return fmt::format("{} {}", row.host, row.device);
}

bool is_at(const Finding& found, const RailRow& row) {
  const finding::Where& where = found.where;
  if (where.host != row.host) return false;
  if (!where.device.empty()) return names_include(where.device, row.device);
  return where.rail.empty() || (row.rail && names_include(where.rail, std::to_string(*row.rail)));
}

std::vector<int> problems_at(const std::vector<Problem>& problems, const RailRow& row) {
  std::vector<int> numbers;
  for (const Problem& problem : problems)
    if (std::any_of(problem.findings.begin(), problem.findings.end(),
                    [&](const Finding* found) { return is_at(*found, row); }))
      numbers.push_back(problem.number);
  return numbers;
}

/// Rows with a line of their own: loss first, then pauses, then problems.
double weight_of(const RailRow& row, bool has_problem) {
  return static_cast<double>(row.discards.value_or(0) + row.out_of_order.value_or(0)) * 1e3 +
         std::max(row.paused_share.value_or(0), row.pausing_share.value_or(0)) * 1e3 +
         (has_problem ? 1 : 0);
}

std::string problem_cell(const std::vector<int>& numbers) {
  return numbers.empty() ? "" : fmt::format("{}", fmt::join(numbers, ", "));
}

RailTable::Line line_of(const RailRow& row, const std::vector<int>& problems,
                        const finding::Thresholds& limits) {
  RailTable::Line line{.name = name_of(row)};
  for (const Column& column : columns()) {
    const auto number = column.number(row);
    line.cells.push_back(number ? column.text(*number, limits) : "?");
  }
  line.cells.push_back(problem_cell(problems));
  return line;
}

/// "3.0 – 4.2"; one value where all agree.
std::string range_cell(const Column& column, const std::vector<const RailRow*>& rows,
                       const finding::Thresholds& limits) {
  std::optional<double> least;
  std::optional<double> most;
  for (const RailRow* row : rows) {
    const auto number = column.number(*row);
    if (!number) continue;
    least = least ? std::min(*least, *number) : *number;
    most = most ? std::max(*most, *number) : *number;
  }
  if (!least) return "?";
  const std::string from = column.text(*least, limits);
  const std::string to = column.text(*most, limits);
  return from == to ? from : fmt::format("{} – {}", from, to);
}

using RowProblems = std::map<const RailRow*, std::vector<int>>;

/// "1 (2 of them)": problems of rows that have no line of their own.
std::string folded_problems(const std::vector<const RailRow*>& rows, const RowProblems& problems) {
  std::map<int, std::size_t> counts;
  for (const RailRow* row : rows) {
    const auto here = problems.find(row);
    if (here == problems.end()) continue;
    for (const int number : here->second)
      ++counts[number];
  }
  std::vector<std::string> texts;
  for (const auto& [number, count] : counts)
    texts.push_back(count == rows.size() ? std::to_string(number)
                                         : fmt::format("{} ({} of them)", number, count));
  return join(texts, ", ");
}

RailTable::Line fold_of(const std::vector<const RailRow*>& rows, bool is_all_there_is,
                        const RowProblems& problems, const finding::Thresholds& limits) {
  const RailRow& first = *rows.front();
  const bool is_one_rail = std::all_of(rows.begin(), rows.end(),
                                       [&](const RailRow* row) { return row->rail == first.rail; });
  RailTable::Line line{
      .name = fmt::format("{}{}{}",
                          is_one_rail && first.rail ? fmt::format("rail {}: ", *first.rail) : "",
                          with_thousands(static_cast<std::int64_t>(rows.size())),
                          is_all_there_is ? " NICs" : " others"),
      .is_fold = true,
      .count = rows.size()};
  for (const Column& column : columns())
    line.cells.push_back(range_cell(column, rows, limits));
  line.cells.push_back(folded_problems(rows, problems));
  return line;
}

/// The rows worth a line of their own, in their order.
std::vector<bool> choose_apart(const Report& report,
                               const std::vector<std::vector<int>>& problems) {
  std::vector<std::size_t> order(report.rails.size());
  std::vector<double> weights(report.rails.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    weights[i] = weight_of(report.rails[i], !problems[i].empty());
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::vector<bool> is_apart(order.size(), false);
  for (std::size_t i = 0; i < std::min(kMostApart, order.size()); ++i)
    is_apart[order[i]] = weights[order[i]] > 0;
  return is_apart;
}

void fold_rest(const Report& report, const std::vector<bool>& is_apart,
               const std::vector<std::vector<int>>& problems, RailTable& table) {
  RowProblems by_row;
  for (std::size_t i = 0; i < report.rails.size(); ++i)
    by_row[&report.rails[i]] = problems[i];
  std::map<std::optional<unsigned>, std::vector<const RailRow*>> by_rail;
  for (std::size_t i = 0; i < report.rails.size(); ++i)
    if (!is_apart[i]) by_rail[report.rails[i].rail].push_back(&report.rails[i]);
  const bool has_apart = !table.lines.empty();
  if (by_rail.size() <= kMostRails - kMostApart) {
    for (const auto& [rail, rows] : by_rail)
      table.lines.push_back(fold_of(rows, !has_apart, by_row, report.thresholds));
    return;
  }
  std::vector<const RailRow*> all;
  for (const auto& [rail, rows] : by_rail)
    all.insert(all.end(), rows.begin(), rows.end());
  table.lines.push_back(fold_of(all, !has_apart, by_row, report.thresholds));
}

}  // namespace

std::vector<Problem> problems_of(const finding::Judgement& judgement) {
  std::vector<Problem> problems;
  for (const Finding& found : judgement.findings) {
    const auto at = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) {
      return problem.first().id == found.id && problem.first().severity == found.severity;
    });
    if (at == problems.end())
      problems.push_back({static_cast<int>(problems.size()) + 1, {&found}});
    else
      at->findings.push_back(&found);
  }
  return problems;
}

std::string places_of(const Problem& problem, std::size_t most) {
  std::vector<Finding> bare;  // only the places: the verdicts may differ
  for (const Finding* found : problem.findings) {
    Finding& finding = bare.emplace_back();
    finding.id = found->id;
    finding.where = found->where;
  }
  std::vector<std::string> names;
  std::size_t left = 0;
  for (const finding::Folded& folded : finding::fold(bare)) {
    if (names.size() < most && !folded.where.empty())
      names.push_back(folded.where);
    else if (!folded.where.empty())
      left += folded.findings.size();
  }
  std::string text = join(names, "; ");
  if (left > 0) text += fmt::format(" and {} more", left);
  return text;
}

std::vector<PlanStep> plan_of(const Report& report) {
  std::vector<PlanStep> steps;
  for (const Problem& problem : problems_of(report.judgement)) {
    const Finding& first = problem.first();
    const finding::CatalogEntry* entry = finding::find(first.id);
    steps.push_back({.problem = problem.number,
                     .priority = std::string(priority_of(first.severity)),
                     .what = entry != nullptr ? std::string(entry->title) : first.id,
                     .where = places_of(problem),
                     .fixes = fixes_here(problem, report.platforms),
                     .retest = retest_for(first, report.retests)});
  }
  return steps;
}

std::string verdict_of(const finding::Judgement& judgement) {
  switch (judgement.conclusion) {
    case finding::Conclusion::kHealthy:
      return judgement.unknown.empty() ? "Healthy: no deviation from the design"
                                       : "Healthy as far as data is available";
    case finding::Conclusion::kNotFabric: return "Not the fabric: the cause is elsewhere";
    case finding::Conclusion::kInconclusive: return "Inconclusive: not enough data";
    case finding::Conclusion::kFindings: break;
  }
  // As listed below it: a problem counts once, however many places have it.
  finding::Judgement listed;
  listed.unknown = judgement.unknown;
  for (const Problem& problem : problems_of(judgement))
    listed.findings.push_back(problem.first());
  return fmt::format("{}: {}", listed.count(Severity::kError) > 0 ? "Not ready" : "Needs attention",
                     count_text(listed));
}

RailTable rail_table(const Report& report) {
  RailTable table;
  table.header.emplace_back("NIC");
  for (const Column& column : columns())
    table.header.emplace_back(column.name);
  table.header.emplace_back("problem");
  const std::vector<Problem> problems = problems_of(report.judgement);
  std::vector<std::vector<int>> numbers;
  numbers.reserve(report.rails.size());
  for (const RailRow& row : report.rails)
    numbers.push_back(problems_at(problems, row));
  const bool is_short = report.rails.size() <= kMostRails;
  const std::vector<bool> is_apart = choose_apart(report, numbers);
  for (std::size_t i = 0; i < report.rails.size(); ++i)
    if (is_short || is_apart[i])
      table.lines.push_back(line_of(report.rails[i], numbers[i], report.thresholds));
  if (!is_short) fold_rest(report, is_apart, numbers, table);
  return table;
}

}  // namespace weir::render
