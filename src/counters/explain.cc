#include "counters/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"

namespace weir::counters {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kIndent = 12;  // "  climbing  "

std::string paragraph(std::string_view label, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("  {:<{}}{}\n", label, kIndent - 2, hang(text, kWidth - kIndent, kIndent));
}

/// "rx_prio#_pause" as people write it: "rx_prioN_pause".
std::string shown(std::string_view pattern) {
  std::string text(pattern);
  std::replace(text.begin(), text.end(), '#', 'N');
  return text;
}

std::string width_of(const RawName& name) {
  if (name.place == Place::kSwitch || name.place == Place::kShow) return "";
  std::string text = fmt::format("{} bits", name.bits);
  if (name.overflow == Overflow::kSaturates) text += ", stops at its maximum";
  if (name.overflow == Overflow::kWraps && name.bits < 64) text += ", wraps";
  if (name.unit) text += fmt::format(", in {}", to_text(*name.unit));
  return text;
}

std::string remarks_of(const RawName& name) {
  std::vector<std::string> remarks;
  if (!name.condition.empty()) remarks.push_back("only where " + std::string(name.condition));
  if (!name.note.empty()) remarks.emplace_back(name.note);
  if (name.maximum_is_invalid) remarks.emplace_back("all ones mean no value");
  if (name.trust == Trust::kDocumented) remarks.emplace_back("from documents only");
  if (name.trust == Trust::kUnverified) remarks.emplace_back("not confirmed on hardware");
  return join(remarks, "; ");
}

std::string names_text(const Counter& counter) {
  const auto names = names_of(counter);
  if (names.empty()) return "";
  TextTable table({"", "", "", "", ""});
  for (const RawName& name : names) {
    table.add_row({std::string(to_text(name.driver)), std::string(to_text(name.place)),
                   shown(name.pattern), counter.kind == Kind::kSetting ? "" : width_of(name),
                   remarks_of(name)});
  }
  return "  names\n" + table.to_text(4, kWidth);
}

std::string kind_line(const Counter& counter) {
  std::string line =
      fmt::format("{} in {}; {}; seen by the {}", to_text(counter.kind), to_text(counter.unit),
                  to_text(counter.topic), to_text(counter.side));
  if (counter.per != Per::kNothing) line += fmt::format("; one for each {}", to_text(counter.per));
  return line;
}

}  // namespace

std::string explain(const Counter& counter) {
  std::string text = fmt::format("{}\n", counter.id);
  text += paragraph("what", kind_line(counter));
  text += paragraph("meaning", counter.meaning);
  text += paragraph("normal", counter.normal);
  text += paragraph("climbing", counter.climbing);
  text += paragraph("careful", counter.caveat);
  text += names_text(counter);
  return text;
}

std::string explain(const Resolution& resolution) {
  std::string text;
  if (!resolution.word.empty())
    text += wrap(fmt::format("{}: {}", resolution.printed, resolution.word), kWidth) + "\n\n";
  text += explain(*resolution.match.counter);
  if (!resolution.others.empty()) {
    std::vector<std::string> ids;
    for (const Counter* counter : resolution.others)
      ids.emplace_back(counter->id);
    text += paragraph("see also", join(ids, ", "));
  }
  return text;
}

}  // namespace weir::counters
