#pragma once
// How like an account is to examples of each finding: words counted, nothing understood.
//
// The lexicon and the rules (account_lexicon.h, account_rules.cc) know what they were told to look
// for; a stranger's report says the same in other words. Here every finding has examples of how it
// is told (account_examples.tsv, compiled in), and an account is compared with all of them in two
// ways, over words and pairs of neighbouring words: a naive Bayes estimate of each finding, and the
// nearest examples. Where the two agree the answer is seldom wrong. Examples that settle nothing (a
// symptom, no cause) are a kind of their own, so that "says nothing" can be recognised as such.
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

#include "readers/statement.h"

namespace weir::diagnose {

/// A trouble as somebody might tell it.
struct AccountExample {
  std::string_view finding;  // of the catalogue; "-" where nothing follows from it
  std::vector<std::string_view> lines;
};

/// What is compiled in.
[[nodiscard]] std::span<const AccountExample> account_examples();

/// How much an account is like each finding, best first; and like one that settles nothing.
struct Likeness {
  std::vector<std::pair<std::string_view, double>> ranked;
  double open = 0;
  std::string_view nearest;  // the finding whose examples are nearest; "-" is none

  [[nodiscard]] double of(std::string_view finding) const;
  /// The best before the second, and before "settles nothing"; 0 where there is none.
  [[nodiscard]] double lead() const;
  [[nodiscard]] double over_open() const;
};

class LikenessModel {
 public:
  /// The examples and the catalogue's own texts of their findings.
  explicit LikenessModel(std::span<const AccountExample> examples);

  [[nodiscard]] Likeness compare(const std::vector<readers::Statement>& statements) const;

  /// Of account_examples(); made on first use.
  [[nodiscard]] static const LikenessModel& standard();

 private:
  struct Count {
    std::uint16_t kind;
    std::uint16_t times;
  };
  struct Feature {
    double times = 0;  // in all examples
    bool is_pair = false;
    std::vector<Count> kinds;
    std::vector<std::uint32_t> examples;  // that have it
  };

  void learn(std::string_view finding, const std::vector<std::string_view>& lines);
  /// How rare a feature is, and so how much it says.
  [[nodiscard]] double rarity(const Feature& feature) const;
  [[nodiscard]] std::string_view nearest(const std::vector<const Feature*>& features) const;

  std::map<std::string_view, std::uint16_t> kinds_;  // by finding
  std::vector<std::string_view> names_;
  std::vector<double> sizes_;  // examples of each kind
  double examples_ = 0;
  std::vector<std::uint16_t> kind_of_;  // of each example
  std::vector<double> length_of_;       // the root of what its features say, squared
  std::unordered_map<std::string, Feature> features_;
};

}  // namespace weir::diagnose
