#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/count_text.h"

namespace weir {
namespace {

/// Digits with an optional sign, a comma before every third from the end.
std::string grouped(std::string digits) {
  const std::ptrdiff_t stop = digits.starts_with('-') ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > stop; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string out;
  for (const std::string& piece : pieces) {
    if (&piece != pieces.data()) out += separator;
    out += piece;
  }
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  for (const std::string_view paragraph : split(text, '\n')) {
    if (!out.empty()) out += "\n" + margin;
    std::size_t column = out.empty() ? 0 : indent;
    bool first = true;
    for (const std::string_view word : split(paragraph, ' ')) {
      const std::size_t columns = display_width(word);
      if (!first && column + 1 + columns > width) {
        out += "\n" + margin;
        column = indent;
      } else if (!first) {
        out += ' ';
        ++column;
      }
      out += word;
      column += columns;
      first = false;
    }
  }
  return out;
}

std::string hang(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  for (const char c : wrap(text, width)) {
    out += c;
    if (c == '\n') out.append(indent, ' ');
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows of the usual table are enough to see a swap.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestTypo = 64;  // beyond it nobody mistyped a name of ours
  if (word.size() > kLongestTypo) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const bool is_prefix = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t allowed =
        std::max<std::size_t>(1, std::min(candidate.size(), word.size()) / 3);
    // Each edit changes the length by one at most.
    const std::size_t longer = std::max(candidate.size(), word.size());
    const std::size_t shorter = std::min(candidate.size(), word.size());
    if (!is_prefix && longer - shorter > allowed) continue;
    // What was begun and not finished is meant before what was mistyped.
    const std::size_t distance = is_prefix ? 0 : edit_distance(word, candidate);
    if (distance > allowed || distance >= std::max(candidate.size(), word.size())) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto guess = nearest(word, candidates);
  return guess ? "; did you mean '" + *guess + "'?" : std::string();
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes the run of digits that `text` starts with, without its leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

std::strong_ordering natural_order(std::string_view a, std::string_view b) {
  const std::strong_ordering as_text = a <=> b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() <=> y.size();
      if (x != y) return x <=> y;
    } else {
      if (a.front() != b.front()) return a.substr(0, 1) <=> b.substr(0, 1);
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return b.empty() <=> a.empty();
  return as_text;
}

Result<std::uint64_t> parse_u64(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return parse_error("'" + std::string(text) + "' does not fit 64 bits");
  if (error != std::errc{} || stop != end)
    return parse_error("expected a whole number, found '" + std::string(text) + "'");
  return value;
}

std::string with_thousands(std::int64_t value) {
  return grouped(std::to_string(value));
}

std::string count_text(std::uint64_t count) {
  return grouped(std::to_string(count));
}

std::optional<std::int64_t> signed_count(std::uint64_t count) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return count <= kLargest ? std::optional(static_cast<std::int64_t>(count)) : std::nullopt;
}

std::string counted(std::size_t n, std::string_view noun) {
  std::string text = with_thousands(static_cast<std::int64_t>(n)) + " " + std::string(noun);
  if (n != 1) text += noun.ends_with("switch") ? "es" : "s";
  return text;
}

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace weir
