#include "cli/text/diagnose_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"

namespace weir::cli {
namespace {

/// Each kind of output once: "ethtool -S (mlx5) of gpu01 eth2, 2 times".
std::vector<std::string> outputs_read(const readers::Paste& paste) {
  std::vector<std::pair<std::string, int>> parts;
  for (const readers::PastePart& part : paste.parts) {
    const std::string text = readers::to_text(part);
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& known) { return known.first == text; });
    if (same == parts.end()) {
      parts.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> out;
  for (const auto& [text, times] : parts)
    out.push_back(times == 1 ? text : fmt::format("{}, {} times", text, times));
  return out;
}

std::string amount(double number) {
  return number < 10 ? fmt::format("{:.1f}", number) : with_thousands(std::llround(number));
}

}  // namespace

void print_what_was_read(const readers::Paste& paste, Context& context) {
  if (context.quiet) return;
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(paste.unread.size(), kShown); ++i) {
    const auto& unread = paste.unread[i];
    context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", unread.file,
                               unread.line.line, unread.line.text, unread.line.why);
  }
  std::vector<std::string> said = outputs_read(paste);
  // A text of a thousand switches would fill the screen; --json has all of them.
  constexpr std::size_t kMostOutputs = 24;
  if (said.size() > kMostOutputs) {
    const std::size_t more = said.size() - kMostOutputs;
    said.resize(kMostOutputs);
    said.push_back(counted(more, "more output"));
  }
  if (said.empty()) said.emplace_back("words only, no known output");
  if (!paste.unread.empty())
    said.push_back(counted(paste.unread.size(), "line") + " not understood");
  const readers::Printed printed(paste);
  const auto in_none = static_cast<std::size_t>(
      std::count_if(paste.rest.begin(), paste.rest.end(),
                    [&](const readers::Cited& line) { return printed.by(line) == nullptr; }));
  if (in_none > 0 && !paste.parts.empty())
    said.push_back(counted(in_none, "line") + " in no known output");
  context.err << fmt::format("weir: read as: {}\n", join(said, "; "));
  if (paste.not_read.empty()) return;
  std::vector<std::string> commands;
  std::set<std::string_view> known;
  for (const readers::Paste::NotRead& item : paste.not_read)
    if (known.insert(item.command).second) commands.push_back(fmt::format("`{}`", item.command));
  context.err << fmt::format("weir: not read: output of {}; nothing follows from it\n",
                             join(commands, ", "));
}

std::string expectation_text(const lab::Expectation& expected) {
  if (expected.compared == 0)
    return "Expectation: no counter of the real run can be compared with the simulated load.\n";
  if (expected.outside.empty())
    return fmt::format(
        "Expectation: all {} values are within the range of {} simulated runs of this load on the "
        "design.\n",
        expected.compared, expected.replicas);
  std::string out = fmt::format(
      "Expectation: {} of {} values are outside the range of {} simulated runs of this load on the "
      "design.\n",
      expected.outside.size(), expected.compared, expected.replicas);
  constexpr std::size_t kShown = 12;
  TextTable table(
      {"value", "where", "measured", "low", "high", "unit"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  for (std::size_t i = 0; i < std::min(kShown, expected.outside.size()); ++i) {
    const lab::Deviation& item = expected.outside[i];
    table.add_row({item.what, item.where.empty() ? "all" : item.where, amount(item.measured),
                   amount(item.low), amount(item.high), item.unit});
  }
  out += table.to_text(2);
  if (expected.outside.size() > kShown)
    out += fmt::format("  and {} more (--json lists all)\n", expected.outside.size() - kShown);
  return out;
}

}  // namespace weir::cli
