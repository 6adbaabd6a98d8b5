#include "readers/job/job_shell.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace weir::readers {
namespace {

// Against hostile input: how deep brackets nest, and how far the end of a bracket, a quote or an
// expression is looked for.
constexpr int kDeepestNesting = 20;
constexpr std::size_t kLongestBracket = 512;
constexpr std::size_t kLongestQuote = 4096;
/// A value made of others may be this long: each line of `A=$A$A` doubles it.
constexpr std::size_t kLongestExpansion = 65536;

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// The end of a bracket that opens at `at`, behind its closing character; npos where it is open.
std::size_t behind_bracket(std::string_view text, std::size_t at, char open, char close) {
  int depth = 0;
  const std::size_t limit = std::min(text.size(), at + kLongestBracket);
  for (std::size_t i = at; i < limit; ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t behind_dollar(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return at + 1;
  const char next = text[at + 1];
  const auto bracket = [&](char open, char close) {
    const std::size_t end = behind_bracket(text, at + 1, open, close);
    return end == std::string_view::npos ? at + 2 : end;
  };
  if (next == '(') return bracket('(', ')');
  if (next == '{') return bracket('{', '}');
  if (next == '[') return bracket('[', ']');
  std::size_t end = at + 1;
  while (end < text.size() && is_variable_char(text[end]))
    ++end;
  // "$?", "$1", "$@": one character.
  return end == at + 1 ? at + 2 : end;
}

namespace {

// ---- arithmetic ----

/// Recursive descent over the integer operators of POSIX shells, without assignment, comparison and
/// the conditional, which a traffic class does not need.
class Calculator {
 public:
  Calculator(std::string_view text, const ShellValues& values) : text_(text), values_(values) {}

  std::optional<std::int64_t> whole() {
    const auto value = binary(0);
    skip();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  struct Operator {
    std::string_view sign;
    int level;  // a higher one binds closer
  };
  static constexpr auto kOperators = std::to_array<Operator>({{"<<", 4},
                                                              {">>", 4},
                                                              {"|", 1},
                                                              {"^", 2},
                                                              {"&", 3},
                                                              {"+", 5},
                                                              {"-", 5},
                                                              {"*", 6},
                                                              {"/", 6},
                                                              {"%", 6}});

  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_]))
      ++at_;
  }

  const Operator* operator_here() {
    skip();
    for (const Operator& candidate : kOperators)
      if (text_.substr(at_).starts_with(candidate.sign)) return &candidate;
    return nullptr;
  }

  std::optional<std::int64_t> binary(int least) {
    if (++depth_ > kDeepestNesting) return std::nullopt;
    auto left = unary();
    while (left) {
      const Operator* const sign = operator_here();
      if (sign == nullptr || sign->level < least) break;
      at_ += sign->sign.size();
      const auto right = binary(sign->level + 1);
      left = right ? apply(*left, sign->sign, *right) : std::nullopt;
    }
    --depth_;
    return left;
  }

  static std::optional<std::int64_t> apply(std::int64_t a, std::string_view sign, std::int64_t b) {
    // Far beyond any setting of a job, and within what cannot overflow.
    constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
    if (a > kLargest || a < -kLargest || b > kLargest || b < -kLargest) return std::nullopt;
    switch (sign.front()) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return b == 0 ? std::nullopt : std::optional(a / b);
      case '%': return b == 0 ? std::nullopt : std::optional(a % b);
      case '|': return a | b;
      case '&': return a & b;
      case '^': return a ^ b;
      default: break;
    }
    if (a < 0 || b < 0 || b > 30) return std::nullopt;
    return sign == "<<" ? a << b : a >> b;
  }

  std::optional<std::int64_t> unary() {
    if (++depth_ > kDeepestNesting) return std::nullopt;
    skip();
    if (at_ >= text_.size()) return std::nullopt;
    const char c = text_[at_];
    std::optional<std::int64_t> value;
    if (c == '-' || c == '+' || c == '~') {
      ++at_;
      value = unary();
      if (value && c == '-') value = -*value;
      if (value && c == '~') value = ~*value;
    } else if (c == '(') {
      ++at_;
      value = binary(0);
      skip();
      if (at_ >= text_.size() || text_[at_++] != ')') return std::nullopt;
    } else {
      value = operand();
    }
    --depth_;
    return value;
  }

  std::optional<std::int64_t> operand() {
    const std::size_t begin = at_;
    if (text_[at_] == '$') {
      at_ = behind_dollar(text_, at_);
    } else {
      while (at_ < text_.size() && is_variable_char(text_[at_]))
        ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) return number(word);
    if (word.front() == '$') {
      const auto value = expanded(word, values_);
      return value ? number(trim(*value)) : std::nullopt;
    }
    const auto found = values_.find(word);
    if (found == values_.end() || !found->second) return std::nullopt;
    return number(trim(*found->second));
  }

  static std::optional<std::int64_t> number(std::string_view word) {
    int base = 10;
    if (word.starts_with("0x") || word.starts_with("0X")) {
      base = 16;
      word.remove_prefix(2);
    } else if (word.size() > 1 && word.front() == '0') {
      base = 8;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
  }

  std::string_view text_;
  const ShellValues& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// ---- expansion ----

class Expander {
 public:
  Expander(const ShellValues& values, Dialect dialect, int depth)
      : values_(values), dialect_(dialect), depth_(depth) {}

  std::optional<std::string> word(std::string_view text) {
    if (depth_ > kDeepestNesting) return std::nullopt;
    std::string out;
    char quote = 0;
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (quote != '\'' && c == '\\' && i + 1 < text.size()) {
        out += text[i + 1];
        i += 2;
      } else if (c == quote) {
        quote = 0;
        ++i;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        ++i;
      } else if (quote != '\'' && c == '`') {
        return std::nullopt;  // a command's output
      } else if (quote != '\'' && c == '$') {
        const std::size_t end = behind_dollar(text, i);
        const auto value = dollar(text.substr(i, end - i));
        if (!value || out.size() + value->size() > kLongestExpansion) return std::nullopt;
        out += *value;
        i = end;
      } else {
        out += c;
        ++i;
      }
    }
    return out;
  }

 private:
  std::optional<std::string> dollar(std::string_view text) {
    if (text.size() < 2) return std::string(text);
    if (text.starts_with("$((") && text.ends_with("))")) {
      return decimal(text.substr(3, text.size() - 5));
    }
    if (text[1] == '[') return decimal(text.substr(2, text.size() - 3));
    if (text[1] == '(') {
      const std::string_view name = text.substr(2, text.size() - 3);
      return dialect_ == Dialect::kKubernetes ? named(name) : std::nullopt;
    }
    if (text[1] == '{') return braces(text.substr(2, text.size() - 3));
    return named(text.substr(1));
  }

  std::optional<std::string> decimal(std::string_view expression) const {
    const auto value = arithmetic(expression, values_);
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }

  std::optional<std::string> named(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : found->second;
  }

  /// `NAME`, `NAME:-default`, `NAME-default`, `NAME:=default`, `NAME=default`. A default counts
  /// where the text itself never sets the variable.
  std::optional<std::string> braces(std::string_view text) const {
    std::size_t end = 0;
    while (end < text.size() && is_variable_char(text[end]))
      ++end;
    const std::string_view name = text.substr(0, end);
    std::string_view rest = text.substr(end);
    if (rest.empty()) return named(name);
    const bool replaces_empty = rest.starts_with(':');
    if (replaces_empty) rest.remove_prefix(1);
    if (!rest.starts_with('-') && !rest.starts_with('=')) return std::nullopt;
    const auto found = values_.find(name);
    if (found != values_.end()) {
      if (!found->second) return std::nullopt;
      if (!replaces_empty || !found->second->empty()) return found->second;
    }
    return Expander(values_, dialect_, depth_ + 1).word(rest.substr(1));
  }

  const ShellValues& values_;
  Dialect dialect_;
  int depth_;
};

}  // namespace

bool is_variable_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t QuoteState::step(std::string_view line, std::size_t at) {
  const char c = line[at];
  if (around != '\'' && c == '\\') return at + 2;
  if (c == around) {
    around = 0;
  } else if (around == 0 && (c == '\'' || c == '"')) {
    around = c;
  }
  return at + 1;
}

std::size_t word_end(std::string_view line, std::size_t at, char enclosing, bool is_list) {
  constexpr std::string_view kEnds = ";&|()<>";
  std::size_t i = at;
  while (i < line.size()) {
    const char c = line[i];
    if (c == enclosing && enclosing != 0) break;
    if (c == '\\') {
      if (i + 1 >= line.size()) break;  // the line goes on
      if (enclosing == '"' && line[i + 1] == '"') {
        const std::size_t end = line.substr(i, kLongestQuote).find("\\\"", 2);
        if (end == std::string_view::npos) break;
        i += end + 2;  // \"mlx5_0\" within "…"
        continue;
      }
      i += 2;
    } else if (c == '\'' || c == '"' || c == '`') {
      const std::size_t end = line.substr(i, kLongestQuote).find(c, 1);
      if (end == std::string_view::npos) break;
      i += end + 1;
    } else if (c == '$') {
      i = behind_dollar(line, i);
    } else if (is_blank(c) || kEnds.find(c) != std::string_view::npos || (is_list && c == ',')) {
      break;
    } else {
      ++i;
    }
  }
  return std::min(i, line.size());
}

std::optional<std::string> expanded(std::string_view word, const ShellValues& values,
                                    Dialect dialect) {
  const bool is_plain = word.find('$') == std::string_view::npos;
  if (!is_plain && word.size() > kLongestBracket) return std::nullopt;
  return Expander(values, dialect, 0).word(word);
}

std::optional<std::int64_t> arithmetic(std::string_view expression, const ShellValues& values) {
  return Calculator(expression, values).whole();
}

}  // namespace weir::readers
