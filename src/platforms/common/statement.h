#pragma once
// Configurations as statements: words with the line they stand on. NVUE commands, their YAML tree
// and indented CLI all become a list of these; each system then has a table of patterns.
//
// A pattern is words: `*` takes any one word, `**` the rest of the line (at least one word). Blocks
// of an indented CLI are joined by `|`: "interface Ethernet1 | mtu 9214".
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platforms/common/platform.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::platforms {

struct Statement {
  int line = 0;
  std::vector<std::string> words;
  std::string text;  // the line as written, without blanks around it
};

/// Words between blanks; "a b" in quotes is one.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);

/// Lines of an indented CLI: a line belongs to the block of the nearest line above that is indented
/// less. `!` begins a comment, also `!!` within a block.
[[nodiscard]] std::vector<Statement> indented_statements(std::string_view text);

/// What stood for each `*`, and for `**` all words that were left, with blanks between.
using Taken = std::vector<std::string>;

[[nodiscard]] bool matches(const std::vector<std::string>& words, std::string_view pattern,
                           Taken& taken);
/// The statement ends where the pattern goes on.
[[nodiscard]] bool is_cut_short(const std::vector<std::string>& words, std::string_view pattern);

// ---- values, with what was expected ----

[[nodiscard]] Result<std::int64_t> read_number(std::string_view word, std::int64_t low,
                                               std::int64_t high, std::string_view what);
[[nodiscard]] Result<std::vector<unsigned>> read_numbers(std::string_view words, unsigned limit,
                                                         std::string_view what);  // "1,3-5 7"
/// "0.2" seconds; at most nine decimals.
[[nodiscard]] Result<Duration> read_seconds(std::string_view word);
/// "1/8", "2".
[[nodiscard]] Result<Alpha> read_fraction(std::string_view word);
/// A number and its unit: bytes, kbytes and mbytes are decimal. What cannot be bytes (segments,
/// milliseconds) is kUnsupported.
[[nodiscard]] Result<Bytes> read_size(std::string_view number, std::string_view unit);
/// kbps, mbps, gbps, bps.
[[nodiscard]] Result<BitRate> read_rate(std::string_view number, std::string_view unit);

// ---- reading all of it ----

/// Carries out the rule whose pattern fits each statement. Statements that none fits are unread;
/// what a rule refuses is an error that names file and line, or unread where the rule says
/// kUnsupported.
template <class Reader>
struct Rule {
  std::string pattern;
  Status (Reader::*act)(const Taken&);  // nullptr: understood, and nothing to do with QoS
};

[[nodiscard]] Error error_at(std::string_view file, int line, const Error& error);
[[nodiscard]] Error cut_short(std::string_view file, const Statement& statement,
                              std::string_view pattern);

template <class Reader, class Rules>
Status read_statement(Reader& reader, const Rules& rules, const Statement& statement,
                      std::string_view file, std::vector<Unread>& unread) {
  Taken taken;
  for (const Rule<Reader>& rule : rules) {
    if (!matches(statement.words, rule.pattern, taken)) continue;
    if (rule.act == nullptr) return {};
    const Status status = (reader.*rule.act)(taken);
    if (status) return {};
    if (status.error().code != ErrorCode::kUnsupported)
      return error_at(file, statement.line, status.error());
    unread.push_back({statement.line, statement.text, status.error().what});
    return {};
  }
  for (const Rule<Reader>& rule : rules)
    if (is_cut_short(statement.words, rule.pattern))
      return cut_short(file, statement, rule.pattern);
  unread.push_back({statement.line, statement.text, "unknown statement"});
  return {};
}

}  // namespace weir::platforms
