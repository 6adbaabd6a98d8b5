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

struct StatedLine {
  const readers::Cited* at = nullptr;
  std::string lower;  // the text in lower case
  readers::Statement statement;

  [[nodiscard]] bool contains(std::string_view piece) const {
    return lower.find(piece) != std::string::npos;
  }
  [[nodiscard]] bool has(std::string_view word) const;        // as a whole word
  [[nodiscard]] bool mentions(std::string_view piece) const;  // as a part of a word

  /// Says what was tried, what helped, what ought to be: nothing about the state itself.
  [[nodiscard]] bool is_remedy() const;

  /// The number that belongs to the word at index i: within three places, no other name between.
  [[nodiscard]] std::optional<double> value_after(std::size_t i) const;
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
