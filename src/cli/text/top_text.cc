#include "cli/text/top_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir::cli {
namespace {

constexpr std::size_t kCurveColumns = 8;
constexpr std::size_t kFindingLines = 4;  // below the rails, with their heading

std::optional<double> value_of(const ops::RailRates& row, TopSort sort) {
  switch (sort) {
    case TopSort::kPaused: return row.paused;
    case TopSort::kPausing: return row.pausing;
    case TopSort::kMarks: return row.marks;
    case TopSort::kSent: return row.sent;
    case TopSort::kReceived: return row.received;
    case TopSort::kLosses: return row.losses;
    case TopSort::kName: return std::nullopt;
  }
  return std::nullopt;
}

std::string as_rate(const std::optional<double>& bits) {
  return bits ? fmt::format("{:.1f}", *bits / 1e9) : "?";
}

std::string as_share(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}", *share * 100) : "?";
}

/// 0, 12, 3.4k, 1.2M.
std::string as_count(const std::optional<double>& count) {
  if (!count) return "?";
  if (*count >= 1e6) return fmt::format("{:.1f}M", *count / 1e6);
  if (*count >= 1e3) return fmt::format("{:.1f}k", *count / 1e3);
  return fmt::format("{:.0f}", *count);
}

std::string link_word(const ops::RailRates& row) {
  if (row.up == false) return "down";
  if (!row.speed) return "?";
  return fmt::format("{}G", row.speed->raw() / 1'000'000'000);
}

/// One Braille character of two values, each 0 to 4 dots high.
std::string braille(int left, int right) {
  constexpr unsigned kLeft[] = {0x00, 0x40, 0x44, 0x46, 0x47};
  constexpr unsigned kRight[] = {0x00, 0x80, 0xa0, 0xb0, 0xb8};
  const unsigned code = 0x2800U + kLeft[left] + kRight[right];
  return {static_cast<char>(0xe0U | (code >> 12U)),
          static_cast<char>(0x80U | ((code >> 6U) & 0x3fU)),
          static_cast<char>(0x80U | (code & 0x3fU))};
}

int dots(double share) {
  if (share <= 0) return 0;
  return std::clamp(static_cast<int>(std::ceil(share * 4)), 1, 4);
}

std::string key_of(const ops::RailRates& row) {
  return row.host + " " + row.device;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

/// Cut to `width` columns; names of a design or a host may be long.
std::string cut(const std::string& line, std::size_t width) {
  if (display_width(line) <= width) return line;
  std::string out;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size() && columns < width;) {
    std::size_t end = i + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U)
      ++end;
    out += line.substr(i, end - i);
    ++columns;
    i = end;
  }
  return out;
}

std::vector<std::string> rail_lines(const std::vector<ops::RailRates>& rows,
                                    const TopHistory& history) {
  TextTable table(
      {"host", "device", "link", "send", "recv", "paused", "pausing", "marks", "CNPs", "loss",
       "sent"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  for (const ops::RailRates& row : rows)
    table.add_row({printable_line(row.host), printable_line(row.device), link_word(row),
                   as_rate(row.sent), as_rate(row.received), as_share(row.paused),
                   as_share(row.pausing), as_count(row.marks), as_count(row.cnps),
                   as_count(row.losses), history.curve(row, kCurveColumns)});
  return lines_of(table.to_text());
}

std::vector<std::string> finding_lines(const finding::Judgement& judgement, const TopView& view) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "findings{}: {}, {}",
      view.has_load.value_or(false) ? " (settings now, behaviour in that load)" : "",
      counted(static_cast<std::size_t>(judgement.count(finding::Severity::kError)), "error"),
      counted(static_cast<std::size_t>(judgement.count(finding::Severity::kWarning)), "warning")));
  for (const finding::Finding& found : judgement.findings) {
    if (lines.size() == kFindingLines) break;
    if (found.severity == finding::Severity::kInfo) continue;
    lines.push_back(fmt::format("  {} {} {}", finding::to_text(found.severity), found.id,
                                printable_line(finding::to_text(found.where))));
  }
  return lines;
}

}  // namespace

std::string_view to_text(TopSort sort) {
  switch (sort) {
    case TopSort::kPaused: return "paused";
    case TopSort::kPausing: return "pausing";
    case TopSort::kMarks: return "marks";
    case TopSort::kSent: return "sent";
    case TopSort::kReceived: return "received";
    case TopSort::kLosses: return "loss";
    case TopSort::kName: return "name";
  }
  return "";
}

void TopHistory::add(const std::vector<ops::RailRates>& rows) {
  for (const ops::RailRates& row : rows) {
    std::deque<double>& kept = shares_[key_of(row)];
    const bool is_known = row.sent && row.speed && row.speed->raw() > 0;
    kept.push_back(is_known ? *row.sent / static_cast<double>(row.speed->raw()) : -1);
    if (kept.size() > kKept) kept.pop_front();
  }
}

std::string TopHistory::curve(const ops::RailRates& row, std::size_t columns) const {
  const auto found = shares_.find(key_of(row));
  if (found == shares_.end()) return "";
  const std::deque<double>& kept = found->second;
  const std::size_t shown = std::min(kept.size(), columns * 2);
  std::string out;
  for (std::size_t i = kept.size() - shown; i < kept.size(); i += 2) {
    const double right = i + 1 < kept.size() ? kept[i + 1] : -1;
    out += kept[i] < 0 && right < 0 ? " " : braille(dots(kept[i]), dots(right));
  }
  return out;
}

std::vector<ops::RailRates> chosen_rows(std::vector<ops::RailRates> rows, const TopView& view) {
  std::erase_if(rows, [&](const ops::RailRates& row) {
    return !view.filter.empty() && key_of(row).find(view.filter) == std::string::npos;
  });
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    const double left = value_of(a, view.sort).value_or(-1);
    const double right = value_of(b, view.sort).value_or(-1);
    if (left != right) return left > right;
    return natural_order(key_of(a), key_of(b)) < 0;
  });
  return rows;
}

std::vector<std::string> top_screen(const std::vector<ops::RailRates>& rows,
                                    const TopHistory& history, const finding::Judgement* judgement,
                                    const TopView& view) {
  const std::vector<ops::RailRates> chosen = chosen_rows(rows, view);
  std::vector<std::string> lines{
      fmt::format(
          "{}{} of {}{}, by {}{}{}", view.status.empty() ? "" : view.status + "  ", chosen.size(),
          counted(rows.size(), "rail"), view.is_simulated ? " (simulated)" : "", to_text(view.sort),
          view.filter.empty() ? "" : fmt::format(", with '{}'", printable_line(view.filter)),
          !view.has_load   ? ""
          : *view.has_load ? ": the last load of the lab"
                           : ": no load has run yet (weir verify --lab)"),
      "Gb/s, % of the time, events per second" + (view.keys.empty() ? "" : "; " + view.keys)};
  std::vector<std::string> below;
  if (judgement != nullptr) below = finding_lines(*judgement, view);
  std::vector<std::string> rails = rail_lines(chosen, history);
  const std::size_t taken = lines.size() + below.size();
  if (view.height > 0 && taken + rails.size() > view.height)
    rails.resize(view.height > taken ? view.height - taken : 0);
  lines.insert(lines.end(), rails.begin(), rails.end());
  lines.insert(lines.end(), below.begin(), below.end());
  if (view.height > 0 && lines.size() > view.height) lines.resize(view.height);
  for (std::string& line : lines)
    line = cut(line, view.width);
  return lines;
}

}  // namespace weir::cli
