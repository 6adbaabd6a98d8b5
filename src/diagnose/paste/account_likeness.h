#pragma once
// How like an account is to examples of each finding: words weighed, nothing understood.
//
// The lexicon and the rules (account_lexicon.h, account_rules.cc) know what they were told to look
// for; a stranger's report says the same in other words. Here every finding has examples of how it
// is told (account_examples.tsv, compiled in) and the catalogue's own texts. From them each word
// learns how much it speaks for each finding: a logistic regression, trained on first use (some
// 0.15 s, and only where words are to be judged), the same in every run. Examples that settle
// nothing (a symptom, no cause) are a kind of their own, so that "says nothing" can be recognised
// as such.
//
// The given field cases are not among the examples: what is held here is not known from them.
// Numbers, devices and addresses do not count, so other numbers and names change nothing.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "readers/paste/statement.h"

namespace weir::diagnose {

/// A trouble as somebody might tell it.
struct AccountExample {
  std::string_view finding;  // of the catalogue; "-" where nothing follows from it
  std::vector<std::string_view> lines;
};

/// What is compiled in.
[[nodiscard]] std::span<const AccountExample> account_examples();

/// How much an account is like each finding, best first; and like one that settles nothing. The
/// difference of two is the logarithm of their odds.
struct Likeness {
  std::vector<std::pair<std::string_view, double>> ranked;
  double open = 0;

  [[nodiscard]] double of(std::string_view finding) const;
};

class LikenessModel {
 public:
  /// The examples and the catalogue's own texts of their findings.
  explicit LikenessModel(std::span<const AccountExample> examples);

  [[nodiscard]] Likeness compare(const std::vector<readers::Statement>& statements) const;

  /// Of account_examples(); made on first use.
  [[nodiscard]] static const LikenessModel& standard();

 private:
  using Text = std::vector<std::pair<std::uint32_t, float>>;  // words that count, and how much
  struct Lesson {
    std::size_t kind;
    float counts;  // more where the kind has few examples
    Text text;
  };

  void add(std::string_view finding, const std::vector<std::string_view>& lines,
           std::vector<Lesson>& out);
  void learn(const std::vector<Lesson>& lessons);
  /// The words with what they count for; all together 1, however long the text is.
  void weigh(Text& text) const;
  [[nodiscard]] std::vector<float> scores(const Text& text) const;

  std::map<std::string_view, std::size_t> kinds_;  // by finding
  std::vector<std::string_view> names_;
  std::unordered_map<std::string, std::uint32_t> words_;
  std::vector<float> times_;  // a word's examples
  float examples_ = 0;
  std::vector<std::vector<float>> speaks_for_;  // by word, then kind
};

}  // namespace weir::diagnose
