#pragma once
// What the parts of the judgement of accounts share; account.h is what others see.
#include <span>
#include <string_view>
#include <vector>

#include "diagnose/paste/account.h"

namespace weir::diagnose {

/// What must be computed: see account_facts.cc. Names as of concepts.
void add_facts(const std::vector<readers::Statement>& statements, std::vector<Said>& out);
[[nodiscard]] std::span<const std::string_view> fact_names();

/// A word of the lexicon: "gid", or open at either end: "hardcod*", "*gid_index*".
[[nodiscard]] bool fits_word(std::string_view pattern, std::string_view word);

/// Whether it tells of something that was tried and did not help.
[[nodiscard]] bool is_vain_attempt(const readers::Statement& statement);

/// How much a rule says by itself.
enum class Weight : std::uint8_t {
  kSuspect,  // a symptom with several causes: named, never answered
  kLikely,   // enough where nothing stronger is told
  kClear,    // names the fault
  kDecisive  // names the fault and what else is told follows from it
};

struct AccountRule {
  std::string_view id;    // of the catalogue
  std::string_view when;  // "a & b & !c": concepts; a|b stands for either
  Weight weight = Weight::kClear;
};
[[nodiscard]] std::span<const AccountRule> account_rules();

class LikenessModel;
/// As account.h has it, with other examples: for the test that leaves some out.
[[nodiscard]] finding::Judgement judge_account(const std::vector<readers::Statement>& statements,
                                               std::string_view source, const LikenessModel& model);

}  // namespace weir::diagnose
