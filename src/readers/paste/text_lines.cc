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

std::optional<std::uint64_t> parse_count(std::string_view text) {
  if (text.empty() || text.front() == ',' || text.back() == ',') return std::nullopt;
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  const auto value = parse_u64(digits);
  return value ? std::optional(*value) : std::nullopt;
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
                                                 {"TB", 1099511627776}});
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
