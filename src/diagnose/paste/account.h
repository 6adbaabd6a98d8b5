#pragma once
// What people say of a trouble, judged: prose, half-remembered numbers, pasted lines that no reader
// knows. From statements (readers/paste/statement.h) to concepts of the field, from concepts to a
// finding or to "cannot tell".
//
// Four tables, none of which knows a single given case:
//   lexicon   a concept has several phrasings; a phrasing is words that stand near each other, in
//             any order, said and not denied (account_lexicon.h)
//   facts     what must be computed and not looked up: two MTUs that differ, a counter that is
//             zero, pairs of hosts of which one is always slow (account_facts.cc)
//   rules     a finding and the concepts that are enough for it (account_rules.cc)
//   examples  how findings are told; an account is compared with all of them (account_likeness.h)
//
// An account is hearsay: an answer from it is never certain, and it quotes what it rests on. Where
// several findings fit equally, or only a symptom is told, the answer is "inconclusive", and what
// is suspected stands below it with low confidence.
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "readers/paste/statement.h"

namespace weir::diagnose {

/// A concept that a statement brings up, and where.
struct Said {
  std::string_view concept_name;
  std::size_t statement = 0;  // index
  int begin = 0;              // places of the words, for the test of the lexicon
  int end = 0;
};

/// Everything that the lexicon and the facts find in the statements, in their order.
[[nodiscard]] std::vector<Said> said_in(const std::vector<readers::Statement>& statements);

/// `source` names the text in the evidence: a file, "-".
[[nodiscard]] finding::Judgement judge_account(const std::vector<readers::Statement>& statements,
                                               std::string_view source);

/// Whether it is one: a few lines in words, or anything in it that is known here.
[[nodiscard]] bool is_account(const std::vector<readers::Statement>& statements);

}  // namespace weir::diagnose
