#include "design/fabric/patterns.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::design {
namespace {

constexpr std::size_t kMaxNames = 100'000;

Error bad(std::string_view pattern, std::string_view problem) {
  return parse_error(fmt::format(
      "expected a name or a pattern such as gpu[001-032], found '{}': {}", pattern, problem));
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '/' || c == ':';
}

// "1,3,05-07" → 1 3 05 06 07
Result<std::vector<std::string>> expand_range(std::string_view inside, std::string_view pattern) {
  std::vector<std::string> out;
  for (const std::string_view piece : split(inside, ',')) {
    const auto colon = piece.find(':');
    const auto step =
        parse_u64(colon == std::string_view::npos ? "1" : trim(piece.substr(colon + 1)));
    const auto dash = piece.substr(0, colon).find('-');
    const std::string_view low_text =
        trim(piece.substr(0, dash == std::string_view::npos ? colon : dash));
    const std::string_view high_text =
        dash == std::string_view::npos ? low_text : trim(piece.substr(0, colon).substr(dash + 1));
    const auto low = parse_u64(low_text);
    const auto high = parse_u64(high_text);
    if (!low || !high || !step || *step == 0)
      return bad(pattern, "brackets hold numbers and ranges, as in [1-8], [1,3] or [0-28:4]");
    if (*high < *low) return bad(pattern, "the range runs backwards");
    if (*high - *low >= kMaxNames || *high > 999'999'999)
      return bad(pattern, fmt::format("more than {} names", kMaxNames));
    for (std::uint64_t n = *low; n <= *high; n += *step)
      out.push_back(fmt::format("{:0{}}", n, low_text.size()));
  }
  return out;
}

Result<std::vector<std::string>> expand_one(std::string_view pattern, std::string_view whole) {
  std::vector<std::string> names = {""};
  while (!pattern.empty()) {
    std::vector<std::string> parts;
    if (pattern.front() == '[') {
      const auto close = pattern.find(']');
      if (close == std::string_view::npos) return bad(whole, "'[' without ']'");
      WEIR_TRY(range, expand_range(pattern.substr(1, close - 1), whole));
      parts = std::move(range);
      pattern.remove_prefix(close + 1);
    } else {
      const auto open = pattern.find('[');
      const std::string_view text = pattern.substr(0, open);
      for (const char c : text)
        if (!is_name_character(c)) return bad(whole, fmt::format("'{}' cannot stand in a name", c));
      parts = {std::string(text)};
      pattern.remove_prefix(text.size());
    }
    if (names.size() * parts.size() > kMaxNames)
      return bad(whole, fmt::format("more than {} names", kMaxNames));
    std::vector<std::string> longer;
    longer.reserve(names.size() * parts.size());
    for (const std::string& name : names)
      for (const std::string& part : parts)
        longer.push_back(name + part);
    names = std::move(longer);
  }
  return names;
}

}  // namespace

std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] != ',' || depth != 0) continue;
    pieces.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  pieces.push_back(text.substr(start));
  return pieces;
}

Result<std::vector<std::string>> expand_names(std::string_view pattern) {
  std::vector<std::string> out;
  for (const std::string_view piece : split_outside_brackets(pattern)) {
    const std::string_view clean = trim(piece);
    if (clean.empty()) return bad(pattern, "an empty name");
    WEIR_TRY(names, expand_one(clean, pattern));
    if (out.size() + names.size() > kMaxNames)
      return bad(pattern, fmt::format("more than {} names", kMaxNames));
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

}  // namespace weir::design
