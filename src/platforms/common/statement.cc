#include "platforms/common/statement.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "units/format.h"

namespace weir::platforms {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (is_word) words.push_back(std::move(word));
      word.clear();
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (is_word) words.push_back(std::move(word));
  return words;
}

std::vector<Statement> indented_statements(std::string_view text) {
  struct Block {
    std::size_t indent;
    std::vector<std::string> words;
  };
  std::vector<Block> blocks;
  std::vector<Statement> out;
  int line = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++line;
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '!') continue;
    const std::size_t indent = raw.find_first_not_of(" \t");
    while (!blocks.empty() && blocks.back().indent >= indent)
      blocks.pop_back();
    Statement statement;
    statement.line = line;
    statement.text = bare;
    if (!blocks.empty()) {
      statement.words = blocks.back().words;
      statement.words.emplace_back("|");
    }
    for (std::string& word : words_of(bare))
      statement.words.push_back(std::move(word));
    blocks.push_back({indent, statement.words});
    out.push_back(std::move(statement));
  }
  return out;
}

bool matches(const std::vector<std::string>& words, std::string_view pattern, Taken& taken) {
  taken.clear();
  // Most patterns fail at their first word: checked before splitting, because this is the hot path.
  const std::string_view first = pattern.substr(0, pattern.find(' '));
  if (words.empty() || (first.front() != '*' && first != words.front())) return false;
  std::size_t at = 0;
  for (const std::string_view part : split(pattern, ' ')) {
    if (at == words.size()) return false;
    if (part == "***") return true;
    if (part == "**") {
      std::string rest = words[at];
      while (++at < words.size())
        rest += " " + words[at];
      // A nested block is a statement of its own.
      if (rest.find(" | ") != std::string::npos) return false;
      taken.push_back(std::move(rest));
      return true;
    }
    if (part == "*") {
      if (words[at] == "|") return false;
      taken.push_back(words[at]);
    } else if (words[at] != part) {
      return false;
    }
    ++at;
  }
  return at == words.size();
}

bool is_cut_short(const std::vector<std::string>& words, std::string_view pattern) {
  const std::vector<std::string_view> parts = split(pattern, ' ');
  if (words.size() >= parts.size() || words.size() < 2) return false;
  // The head of a block ("interface Ethernet1") is a complete statement.
  if (parts[words.size()] == "|") return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (parts[i] == "**" || parts[i] == "***") return false;
    if (parts[i] != "*" && parts[i] != words[i]) return false;
    if (parts[i] == "*" && words[i] == "|") return false;
  }
  // Only where more than wildcards of the pattern have matched.
  return parts[words.size() - 1] != "*" || parts[words.size()] != "*";
}

Result<std::int64_t> read_number(std::string_view word, std::int64_t low, std::int64_t high,
                                 std::string_view what) {
  const auto number = parse_u64(word);
  if (!number || *number > static_cast<std::uint64_t>(high) ||
      static_cast<std::int64_t>(*number) < low)
    return parse_error(fmt::format("expected {} from {} to {}, found '{}'", what, low, high, word));
  return static_cast<std::int64_t>(*number);
}

Result<std::vector<unsigned>> read_numbers(std::string_view words, unsigned limit,
                                           std::string_view what) {
  std::vector<unsigned> out;
  std::string text(words);
  std::replace(text.begin(), text.end(), ',', ' ');
  const std::int64_t most = std::int64_t{limit} - 1;
  for (const std::string& word : words_of(text)) {
    const std::size_t dash = word.find('-');
    WEIR_TRY(first, read_number(word.substr(0, dash), 0, most, what));
    std::int64_t last = first;
    if (dash != std::string::npos) {
      WEIR_TRY(end, read_number(word.substr(dash + 1), first, most, what));
      last = end;
    }
    for (std::int64_t n = first; n <= last; ++n)
      out.push_back(static_cast<unsigned>(n));
  }
  if (out.empty()) return parse_error(fmt::format("expected {}, found nothing", what));
  return out;
}

Result<Duration> read_seconds(std::string_view word) {
  constexpr std::size_t kDecimals = 9;
  const std::size_t dot = word.find('.');
  const std::string_view whole = word.substr(0, dot);
  std::string fraction = dot == std::string_view::npos ? "" : std::string(word.substr(dot + 1));
  const bool is_good =
      fraction.size() <= kDecimals && (dot == std::string_view::npos || !fraction.empty());
  fraction.resize(kDecimals, '0');
  const auto seconds = parse_u64(whole);
  const auto nanoseconds = parse_u64(fraction);
  constexpr std::uint64_t kMost = 1'000'000;
  if (!is_good || !seconds || !nanoseconds || *seconds > kMost)
    return parse_error(fmt::format("expected seconds such as 0.2, found '{}'", word));
  return 1_s * static_cast<std::int64_t>(*seconds) + 1_ns * static_cast<std::int64_t>(*nanoseconds);
}

Result<Alpha> read_fraction(std::string_view word) {
  auto alpha = parse_alpha(word);
  if (!alpha) return parse_error(fmt::format("expected 1/128 to 64, found '{}'", word));
  return alpha;
}

namespace {

Result<std::int64_t> scaled(std::string_view number, std::int64_t factor, std::string_view what) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  WEIR_TRY(value, read_number(number, 0, kMost, what));
  if (value > std::numeric_limits<std::int64_t>::max() / factor)
    return parse_error(fmt::format("expected {}, found '{}': too large", what, number));
  return value * factor;
}

Error unit_error(std::string_view what, std::string_view unit) {
  return parse_error(fmt::format("expected {}, found '{}'", what, unit));
}

}  // namespace

Result<Bytes> read_size(std::string_view number, std::string_view unit) {
  std::int64_t factor = 0;
  if (unit == "bytes") factor = 1;
  if (unit == "kbytes") factor = 1'000;
  if (unit == "mbytes") factor = 1'000'000;
  if (factor == 0) {
    for (const std::string_view other :
         {"segments", "cells", "packets", "milliseconds", "microseconds", "ms", "us"})
      if (unit == other)
        return Error{
            ErrorCode::kUnsupported,
            fmt::format("a threshold in {} depends on the platform: its size in bytes is not known",
                        unit)};
    return unit_error("bytes, kbytes or mbytes", unit);
  }
  WEIR_TRY(bytes, scaled(number, factor, "a size"));
  return Bytes::raw(bytes);
}

Result<BitRate> read_rate(std::string_view number, std::string_view unit) {
  std::int64_t factor = 0;
  if (unit == "bps") factor = 1;
  if (unit == "kbps") factor = 1'000;
  if (unit == "mbps") factor = 1'000'000;
  if (unit == "gbps") factor = 1'000'000'000;
  if (factor == 0) return unit_error("bps, kbps, mbps or gbps", unit);
  WEIR_TRY(rate, scaled(number, factor, "a rate"));
  return BitRate::raw(rate);
}

Error expected_one_of(const std::vector<std::string_view>& words, std::string_view found) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return parse_error(fmt::format("expected {}, found '{}'", list, found));
}

std::string Place::text() const {
  return fmt::format("{}:{}", file, line);
}

Error error_at(const Place& at, const Error& error) {
  return {error.code, fmt::format("{}: {}", at.text(), error.what)};
}

void list_unread(const Statement& statement, std::string why, std::vector<Unread>& unread) {
  if (!unread.empty() && unread.back().line == statement.line &&
      unread.back().text == statement.text && unread.back().why == why)
    return;
  unread.push_back({statement.line, statement.text, std::move(why)});
}

Error cut_short(std::string_view file, const Statement& statement, std::string_view pattern) {
  std::string rest;
  const std::vector<std::string_view> parts = split(pattern, ' ');
  for (std::size_t i = statement.words.size(); i < parts.size(); ++i) {
    const bool is_value = parts[i] == "*" || parts[i] == "**";
    rest += fmt::format("{}{}", rest.empty() ? "" : " ", is_value ? "VALUE" : parts[i]);
  }
  return parse_error(fmt::format("{}:{}: expected '{}' after '{}', found the end of the line", file,
                                 statement.line, rest, statement.text));
}

}  // namespace weir::platforms
