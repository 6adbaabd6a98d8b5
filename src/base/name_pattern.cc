#include "base/name_pattern.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"

namespace weir {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kDigitsMax = 18;  // of a number that fits 64 bits

/// A name around its last run of digits.
struct Parts {
  std::string_view prefix;
  std::string_view number;  // empty: the name has none
  std::string_view suffix;
};

Parts parts_of(std::string_view name) {
  const std::size_t last = name.find_last_of(kDigits);
  if (last == std::string_view::npos) return {name, {}, {}};
  const std::size_t before = name.find_last_not_of(kDigits, last);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  if (last - first >= kDigitsMax) return {name, {}, {}};
  return {name.substr(0, first), name.substr(first, last - first + 1), name.substr(last + 1)};
}

/// "01", "02" … as a range of the lower bound's width would count on.
std::string successor(std::string_view number, std::size_t width) {
  std::string next = std::to_string(parse_u64(number).value() + 1);
  if (next.size() < width) next.insert(0, width - next.size(), '0');
  return next;
}

/// Of names with one prefix and suffix, in order: "[01-03,07]", or the number alone.
std::string numbers_text(const std::vector<std::string_view>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() &&
           numbers[last + 1] == successor(numbers[last], numbers[first].size())) {
      ++last;
    }
    if (!text.empty()) text += ',';
    text += numbers[first];
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return numbers.size() == 1 ? text : fmt::format("[{}]", text);
}

/// One pattern without commas outside of its brackets.
void expand_one(std::string_view pattern, std::vector<std::string>& out) {
  const std::size_t open = pattern.find('[');
  const std::size_t close = pattern.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    if (!pattern.empty()) out.emplace_back(pattern);
    return;
  }
  constexpr std::uint64_t kMost = 100'000;  // of a range: more is no list of names
  for (const std::string_view range : split(pattern.substr(open + 1, close - open - 1), ',')) {
    const std::size_t dash = range.find('-');
    std::string number(range.substr(0, dash));
    const std::string last(dash == std::string_view::npos ? number : range.substr(dash + 1));
    const auto from = parse_u64(number);
    const auto to = parse_u64(last);
    if (!from || !to || *to < *from || *to - *from > kMost) continue;
    for (std::uint64_t i = *from; i <= *to; ++i) {
      out.push_back(
          fmt::format("{}{}{}", pattern.substr(0, open), number, pattern.substr(close + 1)));
      number = successor(number, number.size());
    }
  }
}

}  // namespace

std::string compact_names(std::span<const std::string> names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end(),
            [](std::string_view a, std::string_view b) { return natural_order(a, b) < 0; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    const Parts head = parts_of(sorted[i]);
    std::vector<std::string_view> numbers = {head.number};
    std::size_t next = i + 1;
    for (; next < sorted.size() && !head.number.empty(); ++next) {
      const Parts parts = parts_of(sorted[next]);
      if (parts.prefix != head.prefix || parts.suffix != head.suffix || parts.number.empty()) break;
      numbers.push_back(parts.number);
    }
    if (!text.empty()) text += ',';
    text += head.prefix;
    if (!head.number.empty()) text += numbers_text(numbers);
    text += head.suffix;
    i = next;
  }
  return text;
}

std::vector<std::string> expand_compact(std::string_view names) {
  std::vector<std::string> out;
  std::size_t first = 0;
  bool is_inside = false;
  for (std::size_t at = 0; at <= names.size(); ++at) {
    if (at < names.size() && names[at] == '[') is_inside = true;
    if (at < names.size() && names[at] == ']') is_inside = false;
    if (at < names.size() && (names[at] != ',' || is_inside)) continue;
    expand_one(names.substr(first, at - first), out);
    first = at + 1;
  }
  return out;
}

bool names_include(std::string_view names, std::string_view name) {
  if (names.find_first_of("[,") == std::string_view::npos) return names == name;
  const std::vector<std::string> all = expand_compact(names);
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::string ports_text(std::span<const std::string> ports) {
  constexpr std::size_t kShort = 32;
  std::string text = compact_names(ports);
  if (text.size() <= kShort) return text;
  std::vector<std::string_view> sorted(ports.begin(), ports.end());
  std::sort(sorted.begin(), sorted.end(),
            [](std::string_view a, std::string_view b) { return natural_order(a, b) < 0; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.size() < 3) return text;
  return fmt::format("{} to {} ({} ports)", sorted.front(), sorted.back(), sorted.size());
}

}  // namespace weir
