#pragma once
// Configurations as statements: the words of a line, and its number. NVUE commands, their YAML
// tree, Junos and indented CLIs all become a list of these; each system then has a table of rules.
//
// A pattern is words: `*` takes any one word, `**` the rest of the line (at least one word), `***`
// that and all blocks below. Blocks of an indented CLI are joined by `|`:
// "interface Ethernet1 | mtu 9214".
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// The word of each `*`, and for `**` all remaining words, with blanks between.
using Taken = std::vector<std::string>;

[[nodiscard]] bool matches(const std::vector<std::string>& words, std::string_view pattern,
                           Taken& taken);
/// The statement ends before the pattern does.
[[nodiscard]] bool is_cut_short(const std::vector<std::string>& words, std::string_view pattern);

// ---- values; errors say what was expected ----

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
/// "expected on, off or auto, found 'maybe'".
[[nodiscard]] Error expected_one_of(const std::vector<std::string_view>& words,
                                    std::string_view found);

// ---- a table of rules per system ----

/// The line of a statement; a fact that it sets has it as its source.
struct Place {
  std::string_view file;
  int line = 0;
  [[nodiscard]] std::string text() const;  // "leaf1.cfg:12"
};

/// The words of the `*` of a pattern, in order.
class Words {
 public:
  Words(const Taken& taken, const Place& place) : taken_(taken), place_(place) {}
  const std::string& next() { return taken_.at(at_++); }
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  const Taken& taken_;
  const Place& place_;
  std::size_t at_ = 0;
};

/// One kind of statement, and what it sets in `Said`, the system's record of a configuration.
template <class Said>
struct Rule {
  std::string pattern;
  /// Empty: understood, and nothing to do with QoS.
  std::function<Status(Said&, const Taken&, const Place&)> act;
};
template <class Said>
using Rules = std::vector<Rule<Said>>;

template <class Said, class... More>
[[nodiscard]] Rules<Said> joined(Rules<Said> all, const More&... more) {
  (all.insert(all.end(), more.begin(), more.end()), ...);
  return all;
}

// A rule is written as sets(VALUE, PATH…). The path leads from Said to what is set. Its steps are
// members; a map takes the next word as its key, elements() the next word as numbers ("1,3-5"),
// and a function finds the place itself. The value reads the words that are left.
//
//   {"qos pfc * xoff-threshold *", sets(bytes(), &Said::pfc, &PfcProfile::xoff)}

template <class Member>
struct Elements {
  Member member;
  std::string_view what;  // "a traffic class", for the error
};
template <class Member>
[[nodiscard]] Elements<Member> elements(Member member, std::string_view what) {
  return {member, what};
}

/// Calls `act` at the end of the path, once for each element that the words name.
template <class From, class Act>
Status follow(From& from, const Words& words, const Act& act) {
  return act(from, words);
}
template <class From, class Act, class Member, class... Path>
Status follow(From& from, Words words, const Act& act, Elements<Member> step, Path... path) {
  auto& list = from.*step.member;
  WEIR_TRY(numbers, read_numbers(words.next(), static_cast<unsigned>(list.size()), step.what));
  for (const unsigned number : numbers)
    WEIR_TRY_STATUS(follow(list.at(number), words, act, path...));
  return {};
}
template <class Found, class Act, class... Path>
Status follow_into(Found& place, Words words, const Act& act, Path... path) {
  if constexpr (requires(std::string key) { place[key]; }) {
    auto& found = place[words.next()];
    return follow_into(found, words, act, path...);
  } else {
    return follow(place, words, act, path...);
  }
}
template <class From, class Act, class Step, class... Path>
Status follow(From& from, Words words, const Act& act, Step step, Path... path) {
  if constexpr (std::is_member_pointer_v<Step>) {
    return follow_into(from.*step, words, act, path...);
  } else {
    WEIR_TRY(place, step(from, words));
    return follow(*place, words, act, path...);
  }
}

template <class T>
void assign(evidence::Fact<T>& fact, T value, const Place& at) {
  fact = evidence::Fact<T>::of(std::move(value), at.text());
}
template <class T>
void assign(T& place, T value, const Place&) {
  place = std::move(value);
}
template <class T>
void assign(std::optional<T>& place, T value, const Place&) {
  place = std::move(value);
}
template <class T>
void assign(std::vector<T>& list, T value, const Place&) {
  list.push_back(std::move(value));
}

template <class Value, class... Path>
[[nodiscard]] auto sets(Value value, Path... path) {
  return [=](auto& said, const Taken& taken, const Place& at) -> Status {
    return follow(
        said, Words(taken, at),
        [&](auto& place, Words words) -> Status {
          WEIR_TRY(read, value(words));
          assign(place, std::move(read), at);
          return {};
        },
        path...);
  };
}
/// The statement says only that the place exists.
template <class... Path>
[[nodiscard]] auto names(Path... path) {
  return [=](auto& said, const Taken& taken, const Place& at) -> Status {
    return follow(
        said, Words(taken, at), [](auto&, const Words&) { return Status(); }, path...);
  };
}
/// A value that is read for its errors alone.
template <class Value>
[[nodiscard]] auto checks(Value value) {
  return [=](auto&, const Taken& taken, const Place& at) -> Status {
    Words words(taken, at);
    const auto read = value(words);
    return read ? Status() : Status(read.error());
  };
}

/// A statement that sets two things.
template <class First, class Second>
[[nodiscard]] auto both(First first, Second second) {
  return [=](auto& said, const Taken& taken, const Place& at) -> Status {
    WEIR_TRY_STATUS(first(said, taken, at));
    return second(said, taken, at);
  };
}

// ---- values of rules ----

template <class T>
[[nodiscard]] auto constant(T value) {
  return [=](Words&) -> Result<T> { return value; };
}
[[nodiscard]] inline auto word() {
  return [](Words& words) -> Result<std::string> { return words.next(); };
}
/// A value behind words of other values.
template <class Value>
[[nodiscard]] auto after(int skipped, Value value) {
  return [=](Words& words) {
    for (int i = 0; i < skipped; ++i)
      words.next();
    return value(words);
  };
}
/// A word that a function reads.
template <class T>
[[nodiscard]] auto read_by(Result<T> (*read)(std::string_view)) {
  return [=](Words& words) -> Result<T> { return read(words.next()); };
}
[[nodiscard]] inline auto number(std::int64_t low, std::int64_t high, std::string_view what) {
  return [=](Words& words) -> Result<unsigned> {
    WEIR_TRY(value, read_number(words.next(), low, high, what));
    return static_cast<unsigned>(value);
  };
}
/// A number of units: times(1_ms, 100, 1'000, "milliseconds").
template <class T>
[[nodiscard]] auto times(T unit, std::int64_t low, std::int64_t high, std::string_view what) {
  return [=](Words& words) -> Result<T> {
    WEIR_TRY(value, read_number(words.next(), low, high, what));
    return unit * value;
  };
}
/// A small code: code<Queue>("a queue").
template <class Code>
[[nodiscard]] auto code(std::string_view what) {
  return [=](Words& words) -> Result<Code> {
    WEIR_TRY(value, read_number(words.next(), 0, std::int64_t{Code::kLimit} - 1, what));
    return Code::of(static_cast<unsigned>(value));
  };
}
/// Whether the word is this one; any other is a no.
[[nodiscard]] inline auto is_word(std::string_view expected) {
  return [=](Words& words) -> Result<bool> { return words.next() == expected; };
}
/// One of the words of a table, as its value.
template <class T>
[[nodiscard]] auto choice(std::vector<std::pair<std::string_view, T>> table) {
  return [table = std::move(table)](Words& words) -> Result<T> {
    const std::string& found = words.next();
    for (const auto& [name, value] : table)
      if (found == name) return value;
    std::vector<std::string_view> names;
    for (const auto& row : table)
      names.push_back(row.first);
    return expected_one_of(names, found);
  };
}
/// A rate and its unit: "100 mbps".
[[nodiscard]] inline auto rate() {
  return [](Words& words) -> Result<BitRate> {
    const std::string& value = words.next();
    return read_rate(value, words.next());
  };
}

// ---- reading all of it ----

/// Understood, but not comparable: the line is listed, and what it sets stays unknown.
[[nodiscard]] inline Error unsupported(std::string why) {
  return {ErrorCode::kUnsupported, std::move(why)};
}

[[nodiscard]] Error error_at(const Place& at, const Error& error);
[[nodiscard]] Error cut_short(std::string_view file, const Statement& statement,
                              std::string_view pattern);
/// A line that stands for several statements is listed once.
void list_unread(const Statement& statement, std::string why, std::vector<Unread>& unread);

/// Applies the first rule that fits. A statement that none fits is listed as unread; what a rule
/// refuses is an error that names file and line.
template <class Said>
Status read_statement(const Rules<Said>& rules, const Statement& statement, std::string_view file,
                      Said& said, std::vector<Unread>& unread) {
  Taken taken;
  const Place at{file, statement.line};
  for (const Rule<Said>& rule : rules) {
    if (!matches(statement.words, rule.pattern, taken)) continue;
    const Status status = rule.act ? rule.act(said, taken, at) : Status();
    if (status) return {};
    if (status.error().code != ErrorCode::kUnsupported) return error_at(at, status.error());
    list_unread(statement, status.error().what, unread);
    return {};
  }
  for (const Rule<Said>& rule : rules)
    if (is_cut_short(statement.words, rule.pattern))
      return cut_short(file, statement, rule.pattern);
  list_unread(statement, "unknown statement", unread);
  return {};
}

template <class Said>
Result<Said> read_statements(const Rules<Said>& rules, const std::vector<Statement>& statements,
                             std::string_view file, std::vector<Unread>& unread) {
  Said said;
  for (const Statement& statement : statements)
    WEIR_TRY_STATUS(read_statement(rules, statement, file, said, unread));
  return said;
}

}  // namespace weir::platforms
