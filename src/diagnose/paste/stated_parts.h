#pragma once
// What the two halves of stated.h share: the lines of a text as words, and where findings go.
// stated.cc has messages, MTUs and counters; stated_settings.cc limits, marking, addresses, pairs.
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/paste/paste.h"
#include "readers/paste/statement.h"

namespace weir::diagnose {

/// A number behind a name, as tools print it.
struct Shown {
  double value = 0;
  bool is_growth = false;    // "+3", "3 -> 17": what was counted in between
  bool is_assigned = false;  // "name=3", "name: 3"; else only a blank is between
};

/// A line without the sentences in it that report nothing (readers/paste/words/hearsay.h): this is
/// the one gate, and all that is found in a line is found behind it.
struct StatedLine {
  const readers::Cited* at = nullptr;
  std::string lower;  // what it reports, in lower case
  readers::Statement statement;
  bool is_prose = false;  // a person's sentence: only messages and settings in it are literal
  std::string whole;      // all of it, in lower case

  [[nodiscard]] bool contains(std::string_view piece) const {
    return lower.find(piece) != std::string::npos;
  }
  [[nodiscard]] bool has(std::string_view word) const;        // as a whole word
  [[nodiscard]] bool mentions(std::string_view piece) const;  // as a part of a word

  /// The number directly behind the word at index i; in a sentence only with an equal sign between.
  /// A number of hosts, of days or of percent is none.
  [[nodiscard]] std::optional<Shown> shown_after(std::size_t i) const;
};
using Lines = std::vector<StatedLine>;

[[nodiscard]] Lines stated_lines(std::span<const readers::Cited> cited);

/// "2x25g": 50, in Gbit/s.
[[nodiscard]] std::optional<double> bundle_rate(std::string_view word);

class Stated {
 public:
  explicit Stated(const Lines& lines) : lines_(lines) {}

  /// A fault that is already there gets the further lines only.
  void add(std::string_view id, std::string verdict, const std::vector<std::size_t>& at);

  /// The same as a note that is not more than a hint.
  void note(std::string_view id, std::string verdict, const std::vector<std::size_t>& at);

  /// The findings of another one.
  void take_over(Stated&& other) {
    for (finding::Finding& finding : other.findings_)
      findings_.push_back(std::move(finding));
  }

  [[nodiscard]] bool is_empty() const { return findings_.empty(); }
  [[nodiscard]] std::vector<finding::Finding> take() && { return std::move(findings_); }

 private:
  const Lines& lines_;
  std::vector<finding::Finding> findings_;
};

void find_settings(const Lines& lines, const finding::Thresholds& limits, Stated& out);

}  // namespace weir::diagnose
