#pragma once
// The lexicon of accounts: concepts of the field, and how people put them.
//
// A phrasing is a list of terms; all of them must stand in one statement, near each other, in any
// order. To add a concept, add a row to kLexicon with several phrasings of common words and of
// names that the field defines (never a sentence that somebody wrote), and name it in a rule.
//
//   word  word*  *word  *word*   a word, a stem, an ending, a piece
//   a|b                          either
//   a+b                          a directly before b
//   <class>                      a class of words (kClasses), or of kinds: <num> <zero> <pos> <ip>
//                                <version> <kernel> <rate> <device>
//   ~ first                      whether it is affirmed or denied does not matter
//   ! first                      counts even in a statement that says that something did not help
#include <span>
#include <string_view>
#include <vector>

namespace weir::diagnose {

struct Concept {
  std::string_view name;
  std::vector<std::string_view> phrasings;
};

struct WordClass {
  std::string_view name;  // "<no>"
  std::vector<std::string_view> words;
};

[[nodiscard]] std::span<const Concept> lexicon();
[[nodiscard]] std::span<const Concept> lexicon_of_marking();  // its parts, a file each
[[nodiscard]] std::span<const Concept> lexicon_of_hosts();
[[nodiscard]] std::span<const Concept> lexicon_of_fabric();
[[nodiscard]] std::span<const Concept> lexicon_of_jobs();
[[nodiscard]] std::span<const WordClass> word_classes();

/// Words that deny what stands near them.
[[nodiscard]] std::span<const std::string_view> denials();

/// Phrasings of "that did not help": what was tried says nothing of the cause.
[[nodiscard]] std::span<const std::string_view> attempts();

/// Those, and "has no effect" and the like: a statement with one of them names no cause.
[[nodiscard]] std::span<const std::string_view> dismissals();

}  // namespace weir::diagnose
