#include "readers/paste/text_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/text.h"

namespace weir::readers {

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({number, line});
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  if (text.empty() || text.front() == ',' || text.back() == ',') return std::nullopt;
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  const auto value = parse_u64(digits);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> second_of_day(std::string_view word) {
  const auto parts = split(word, ':');
  if (parts.size() != 3) return std::nullopt;
  std::int64_t seconds = 0;
  constexpr std::array<std::uint64_t, 3> kLimits{24, 60, 61};
  for (std::size_t at = 0; at < 3; ++at) {
    const std::string_view digits = parts[at].substr(0, parts[at].find('.'));
    const auto value = parse_u64(digits);
    if (!value || digits.size() > 2 || *value >= kLimits.at(at)) return std::nullopt;
    seconds = seconds * 60 + static_cast<std::int64_t>(*value);
  }
  return seconds;
}

namespace {

/// "sample 2 at 10:00:05": a word that says of a time what was read then.
bool is_label_of_time(std::string_view word) {
  constexpr auto kLabels = std::to_array<std::string_view>(
      {"time",  "date", "at",    "sample",   "reading", "read",   "t0",
       "t1",    "t2",   "first", "second",   "third",   "before", "after",
       "start", "end",  "begin", "snapshot", "run",     "taken",  "@"});
  while (!word.empty() && (word.back() == ':' || word.back() == ',' || word.back() == '='))
    word.remove_suffix(1);
  if (word.starts_with('#')) word.remove_prefix(1);
  if (!word.empty() && word.size() < 3 &&
      word.find_first_not_of("0123456789") == std::string_view::npos)
    return true;
  return std::find(kLabels.begin(), kLabels.end(), lower_case(word)) != kLabels.end();
}

/// Without the signs of a heading around it, and without labels in front of the time or behind it.
std::vector<std::string_view> words_of_time(std::string_view text) {
  constexpr std::string_view kAround = "#=-*~[]()<> \t";
  const std::size_t begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  auto words = words_of(text.substr(begin, text.find_last_not_of(kAround) + 1 - begin));
  constexpr std::size_t kMost = 12;
  if (words.size() > kMost) return {};
  while (words.size() > 1 && is_label_of_time(words.front()))
    words.erase(words.begin());
  const auto is_label_word = [](std::string_view word) {
    return is_label_of_time(word) && word.find_first_of("0123456789") == std::string_view::npos;
  };
  while (words.size() > 1 && is_label_word(words.back()))
    words.pop_back();
  if (words.size() > 1)
    while (!words.back().empty() && words.back().back() == ':')
      words.back().remove_suffix(1);
  return words;
}

}  // namespace

std::optional<std::int64_t> time_of_line(std::string_view text) {
  constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  constexpr std::string_view kJunos = "Current time: ";
  const bool is_named = text.starts_with(kJunos);
  if (is_named) text.remove_prefix(kJunos.size());
  const auto words = words_of_time(text);
  if (words.empty() || words.size() > 7) return std::nullopt;
  const auto is_day = [&](std::string_view word) {
    return std::any_of(kDays.begin(), kDays.end(),
                       [&](std::string_view day) { return word.starts_with(day); });
  };
  const bool has_date = words[0].size() == 10 && words[0][4] == '-' && words[0][7] == '-';
  const bool is_plain =
      words.size() == 1 || (has_date && (words.size() == 2 || (is_named && words.size() == 3)));
  const bool is_clock_first = words.size() == 6 && is_day(words[2]);  // NX-OS
  if (!is_day(words[0]) && !is_plain && !is_clock_first) return std::nullopt;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto second = second_of_day(words[at]);
    if (!second) continue;
    constexpr std::int64_t kHalf = 43'200;
    const std::string_view half = at + 1 < words.size() ? words[at + 1] : std::string_view();
    if (half != "AM" && half != "PM") return second;
    return *second % kHalf + (half == "PM" ? kHalf : 0);
  }
  return std::nullopt;
}

std::optional<int> day_of_line(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::size_t kLooked = 40;  // characters: a date is at the begin
  text = trim(text).substr(0, kLooked);
  if (text.starts_with('[')) text.remove_prefix(1);
  const auto words = words_of(text);
  for (std::size_t i = 0; i + 1 < words.size() && i < 2; ++i) {
    const std::size_t month =
        words[i].size() == 3 ? kMonths.find(words[i]) : std::string_view::npos;
    if (month == std::string_view::npos || month % 3 != 0) continue;
    const auto day = parse_u64(words[i + 1]);
    const bool has_clock = i + 2 < words.size() && second_of_day(words[i + 2].substr(0, 8));
    if (day && *day >= 1 && *day <= 31 && has_clock)
      return static_cast<int>(month / 3) * 31 + static_cast<int>(*day);
  }
  return std::nullopt;
}

std::optional<std::int64_t> wait_of_line(std::string_view text) {
  constexpr std::string_view kAround = "#=-*~()[]<>:.,; \t";
  const std::size_t begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kAround) + 1 - begin);
  auto words = words_of(text);
  constexpr std::size_t kMost = 5;
  if (words.size() < 2 || words.size() > kMost) return std::nullopt;
  const bool is_after = words[0] == "after" || words[0] == "After";
  if (is_after) words.erase(words.begin());
  const bool is_later = !words.empty() && (words.back() == "later" || words.back() == "after");
  if (is_later) words.pop_back();
  if ((!is_after && !is_later) || words.empty() || words.size() > 2) return std::nullopt;
  const std::size_t digits = std::min(words[0].find_first_not_of("0123456789"), words[0].size());
  const bool is_one = words[0] == "one" || words[0] == "One" || words[0] == "a";
  const auto number = digits > 0 ? parse_count(words[0].substr(0, digits))
                      : is_one   ? std::optional<std::uint64_t>(1)
                                 : std::nullopt;
  const std::string_view unit = words.size() == 2 ? words[1] : words[0].substr(digits);
  const bool is_second = unit == "s" || unit.starts_with("sec");
  const bool is_minute = unit == "m" || unit.starts_with("min");
  constexpr std::uint64_t kDay = 86'400;
  if (!number || *number == 0 || *number > kDay || (!is_second && !is_minute) ||
      (words.size() == 2 && digits < words[0].size() && !is_one))
    return std::nullopt;
  return static_cast<std::int64_t>(*number) * (is_minute ? 60 : 1);
}

std::vector<std::string_view> commands_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::size_t end =
        std::min({line.find(';'), line.find("&&"), line.find("||"), line.size()});
    std::string_view command = trim(line.substr(0, end));
    if (command.starts_with("do ")) command = trim(command.substr(3));
    if (!command.empty()) out.push_back(command);
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(";&|"), line.size()));
  }
  return out;
}

std::optional<Bytes> parse_size_1024(std::string_view number, std::string_view unit) {
  struct Scale {
    std::string_view unit;
    double bytes;
  };
  constexpr auto kScales = std::to_array<Scale>({{"Bytes", 1},
                                                 {"B", 1},
                                                 {"KB", 1024},
                                                 {"MB", 1048576},
                                                 {"GB", 1073741824},
                                                 {"TB", 1099511627776},
                                                 {"PB", 1125899906842624}});
  const auto* const scale = std::find_if(kScales.begin(), kScales.end(),
                                         [&](const Scale& item) { return item.unit == unit; });
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                            std::chars_format::fixed);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  constexpr double kMost = 1e18;
  if (scale == kScales.end() || !is_number || !(value >= 0) || value * scale->bytes > kMost)
    return std::nullopt;
  return Bytes::raw(static_cast<std::int64_t>(std::llround(value * scale->bytes)));
}

bool is_rule(std::string_view line) {
  return line.find_first_not_of("-=+ \t|") == std::string_view::npos &&
         line.find_first_of("-=") != std::string_view::npos;
}

}  // namespace weir::readers
