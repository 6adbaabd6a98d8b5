#pragma once
// What an account says in numbers, found statement by statement: account_facts.cc has what is
// measured (MTUs, counters, rates), account_facts_names.cc what is set and named.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/paste/account_parts.h"

namespace weir::diagnose {

/// Finds them all and says them, in the order of the functions.
class Facts {
 public:
  Facts(const std::vector<readers::Statement>& statements, std::vector<Said>& out)
      : statements_(statements), out_(out) {}

  void find() {
    look_at_mtus();
    look_at_counters();
    look_at_rates();
    look_at_qps();
    look_at_pairs();
    look_at_variables();
    look_at_gids();
    look_at_subnets();
    look_at_maps();
    look_at_limits();
    look_at_timers();
    look_at_names();
  }

 private:
  void say(std::string_view name, std::size_t statement) {
    out_.push_back({name, statement, 0, 0});
  }

  [[nodiscard]] static bool has(const readers::Statement& statement, std::string_view word) {
    return std::any_of(statement.words.begin(), statement.words.end(),
                       [&](const readers::Word& one) { return one.text == word; });
  }
  [[nodiscard]] static bool mentions(const readers::Statement& statement, std::string_view piece) {
    return std::any_of(
        statement.words.begin(), statement.words.end(),
        [&](const readers::Word& one) { return one.text.find(piece) != std::string::npos; });
  }

  /// The number that belongs to the word at index i: the next within three places, with no other
  /// name between them.
  static std::optional<double> value_after(const readers::Statement& statement, std::size_t i) {
    const readers::Word& name = statement.words[i];
    for (std::size_t j = i + 1; j < statement.words.size(); ++j) {
      const readers::Word& word = statement.words[j];
      if (word.at > name.at + 3) break;
      if (word.kind == readers::WordKind::kNumber && word.at > name.at) return word.value;
      if (word.text == "zero") return 0.0;
      if (word.at > name.at && word.text.find('_') != std::string::npos) break;
    }
    return std::nullopt;
  }

  void look_at_mtus();
  void look_at_counters();
  void look_at_counter(std::size_t statement, std::string_view name, double value);
  void look_at_rates();
  void look_at_qps();
  void look_at_pairs();
  void look_at_variables();
  void look_at_gids();
  void look_at_subnets();
  void look_at_maps();
  void look_at_limits();
  void look_at_timers();
  void look_at_names();

  const std::vector<readers::Statement>& statements_;
  std::vector<Said>& out_;
};

}  // namespace weir::diagnose
