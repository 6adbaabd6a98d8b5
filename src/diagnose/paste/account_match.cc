// Where the concepts of the lexicon stand in the statements.
#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "diagnose/paste/account_lexicon.h"
#include "diagnose/paste/account_parts.h"

namespace weir::diagnose {

bool fits_word(std::string_view pattern, std::string_view word) {
  const bool open_begin = pattern.starts_with('*');
  const bool open_end = pattern.size() > 1 && pattern.ends_with('*');
  if (open_begin) pattern.remove_prefix(1);
  if (open_end) pattern.remove_suffix(1);
  if (open_begin && open_end) return word.find(pattern) != std::string_view::npos;
  if (open_begin) return word.ends_with(pattern);
  if (open_end) return word.starts_with(pattern);
  return word == pattern;
}

namespace {

using readers::Statement;
using readers::Word;
using readers::WordKind;

constexpr int kNear = 10;        // places that a phrasing may span beyond its own words
constexpr int kDenied = 3;       // a "not" this near before a word belongs to it
constexpr int kDeniedAtEnd = 4;  // ... and on either side, where it ends a phrasing
constexpr int kBefore = 2;       // ... and before a phrasing it denies the whole

const WordClass* class_of(std::string_view name) {
  const auto all = word_classes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const WordClass& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool fits_class(std::string_view name, const Word& word) {
  if (name == "<num>") return word.kind == WordKind::kNumber;
  if (name == "<zero>") {
    if (word.kind == WordKind::kNumber) return word.value == 0.0;
    return word.text == "zero" || word.text == "none" || word.text == "empty" || word.text == "no";
  }
  if (name == "<pos>") return word.kind == WordKind::kNumber && word.value > 0.0;
  if (name == "<ip>") return word.kind == WordKind::kAddress;
  if (name == "<version>")
    return word.kind == WordKind::kVersion || word.kind == WordKind::kKernelVersion;
  if (name == "<kernel>") return word.kind == WordKind::kKernelVersion;
  if (name == "<rate>") return word.kind == WordKind::kRate;
  if (name == "<device>") return word.kind == WordKind::kDevice;
  const WordClass* of = class_of(name);
  WEIR_CHECK(of != nullptr);
  return std::any_of(of->words.begin(), of->words.end(),
                     [&](std::string_view pattern) { return fits_word(pattern, word.text); });
}

bool fits_either(std::string_view pattern, const Word& word) {
  return pattern.starts_with('<') ? fits_class(pattern, word) : fits_word(pattern, word.text);
}

/// A bit for the first two letters: most words of the lexicon are not in a statement, and most of
/// those are told by this alone. All bits where the beginning is open.
std::uint64_t letters_of(std::string_view word) {
  if (word.size() < 2 || word[0] == '*' || word[0] == '<' || word[1] == '*')
    return std::numeric_limits<std::uint64_t>::max();
  const auto first = static_cast<unsigned char>(word[0]);
  const auto second = static_cast<unsigned char>(word[1]);
  return std::uint64_t{1} << ((first * 31U + second) % 64U);
}

/// One term, compiled: alternatives, each a chain of words that follow one another.
struct Term {
  std::vector<std::vector<std::string_view>> alternatives;
  std::vector<std::uint64_t> letters;  // of each alternative's first word
  bool denies = false;                 // holds <no>
};

struct Phrasing {
  std::vector<Term> terms;
  bool either_way = false;
  bool always = false;
  bool denies = false;
};

void add_alternative(std::string_view text, Term& out) {
  if (text == "<no>") {
    out.alternatives.push_back({text});
    out.denies = true;
    return;
  }
  if (const WordClass* of = class_of(text); of != nullptr) {  // its words may be chains themselves
    for (const std::string_view word : of->words)
      add_alternative(word, out);
    return;
  }
  // A plus at the end is the word's own sign: "srcvalid+".
  const bool is_signed = text.size() > 1 && text.ends_with('+');
  auto chain = split(is_signed ? text.substr(0, text.size() - 1) : text, '+');
  if (is_signed) chain.back() = {chain.back().data(), chain.back().size() + 1};
  out.alternatives.push_back(std::move(chain));
}

Phrasing compiled(std::string_view text) {
  Phrasing out;
  for (const std::string_view piece : split(text, ' ')) {
    if (piece.empty()) continue;
    if (piece == "~" || piece == "!") {
      out.either_way = true;
      out.always = out.always || piece == "!";
      continue;
    }
    Term term;
    for (const std::string_view alternative : split(piece, '|')) {
      add_alternative(alternative, term);
    }
    for (const auto& chain : term.alternatives)
      term.letters.push_back(letters_of(chain.front()));
    out.denies = out.denies || term.denies;
    out.terms.push_back(std::move(term));
  }
  WEIR_CHECK(!out.terms.empty());
  return out;
}

std::vector<Phrasing> compiled(std::span<const std::string_view> texts) {
  std::vector<Phrasing> out;
  for (const std::string_view text : texts)
    out.push_back(compiled(text));
  return out;
}

struct Range {
  int begin = 0;
  int end = 0;
  bool denies = false;
};

const Word* word_at(const Statement& statement, int place, std::string_view pattern) {
  for (const Word& word : statement.words)
    if (word.at == place && fits_either(pattern, word)) return &word;
  return nullptr;
}

/// The words of a statement in the order of the alphabet: most patterns are words or beginnings.
class Sorted {
 public:
  explicit Sorted(const Statement& statement) : statement_(statement) {
    for (const Word& word : statement.words) {
      words_.push_back(&word);
      letters_ |= word.text.size() > 1 ? letters_of(word.text) : std::uint64_t{1};
    }
    std::sort(words_.begin(), words_.end(),
              [](const Word* a, const Word* b) { return a->text < b->text; });
  }
  [[nodiscard]] const Statement& statement() const { return statement_; }
  [[nodiscard]] std::uint64_t letters() const { return letters_; }

  /// Calls `each` for every word that fits.
  template <class Each>
  void fitting(std::string_view pattern, Each each) const {
    const bool is_open = pattern.starts_with('*') || pattern.starts_with('<');
    if (is_open) {
      for (const Word* word : words_)
        if (fits_either(pattern, *word)) each(*word);
      return;
    }
    const bool is_stem = pattern.size() > 1 && pattern.ends_with('*');
    const std::string_view begin = is_stem ? pattern.substr(0, pattern.size() - 1) : pattern;
    auto at = std::lower_bound(words_.begin(), words_.end(), begin,
                               [](const Word* word, std::string_view text) {
                                 return std::string_view(word->text) < text;
                               });
    for (; at != words_.end() && std::string_view((*at)->text).starts_with(begin); ++at)
      if (is_stem || (*at)->text.size() == begin.size()) each(**at);
  }

 private:
  const Statement& statement_;
  std::vector<const Word*> words_;
  std::uint64_t letters_ = 0;
};

/// Where a term stands in the statement.
std::vector<Range> places(const Term& term, const Sorted& sorted) {
  std::vector<Range> out;
  for (std::size_t at = 0; at < term.alternatives.size(); ++at) {
    if ((term.letters[at] & sorted.letters()) == 0) continue;
    const auto& chain = term.alternatives[at];
    sorted.fitting(chain.front(), [&](const Word& word) {
      bool is_whole = true;
      for (std::size_t i = 1; i < chain.size() && is_whole; ++i)
        is_whole = word_at(sorted.statement(), word.at + static_cast<int>(i), chain[i]) != nullptr;
      if (!is_whole) return;
      out.push_back(
          {word.at, word.at + static_cast<int>(chain.size()) - 1, chain.front() == "<no>"});
    });
  }
  std::sort(out.begin(), out.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return out;
}

bool is_denial(const Word& word) {
  const auto words = denials();
  return std::find(words.begin(), words.end(), word.text) != words.end();
}

class Search {
 public:
  Search(const Phrasing& phrasing, const Sorted& sorted)
      : phrasing_(phrasing), sorted_(sorted), statement_(sorted.statement()) {}

  /// The first way in which all terms stand near each other and are meant as said.
  std::optional<Range> run() {
    for (const Term& term : phrasing_.terms) {
      places_.push_back(places(term, sorted_));
      if (places_.back().empty()) return std::nullopt;
    }
    return go_on(0) ? std::optional<Range>(whole()) : std::nullopt;
  }

 private:
  [[nodiscard]] Range whole() const {
    Range all{std::numeric_limits<int>::max(), 0, false};
    for (const Range& one : chosen_) {
      all.begin = std::min(all.begin, one.begin);
      all.end = std::max(all.end, one.end);
    }
    return all;
  }

  bool go_on(std::size_t term) {
    if (term == places_.size()) return is_meant();
    for (const Range& range : places_[term]) {
      const bool is_taken = std::any_of(chosen_.begin(), chosen_.end(), [&](const Range& other) {
        return range.begin <= other.end && other.begin <= range.end;
      });
      if (is_taken) continue;
      chosen_.push_back(range);
      const Range all = whole();
      const int own = static_cast<int>(phrasing_.terms.size());
      if (all.end - all.begin < kNear + own && go_on(term + 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  [[nodiscard]] bool is_part(int place) const {
    return std::any_of(chosen_.begin(), chosen_.end(), [&](const Range& range) {
      return range.begin <= place && place <= range.end;
    });
  }

  /// A "not" belongs to the term behind it in the phrasing, before which it must stand; at the end
  /// of a phrasing, to the term before it, on either side.
  [[nodiscard]] bool denies_its_term(std::size_t i) const {
    const Range& denial = chosen_[i];
    if (i + 1 < chosen_.size()) {
      const int gap = chosen_[i + 1].begin - denial.end;
      return gap > 0 && gap <= kDenied;
    }
    const Range& term = chosen_[i - 1];
    return std::min(std::abs(term.begin - denial.end), std::abs(denial.begin - term.end)) <=
           kDeniedAtEnd;
  }

  [[nodiscard]] bool is_meant() const {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i].denies && chosen_.size() > 1 && !denies_its_term(i)) return false;
    }
    if (phrasing_.either_way || phrasing_.denies) return true;
    const Range all = whole();
    return std::none_of(statement_.words.begin(), statement_.words.end(), [&](const Word& word) {
      return word.at >= all.begin - kBefore && word.at <= all.end && !is_part(word.at) &&
             is_denial(word);
    });
  }

  const Phrasing& phrasing_;
  const Sorted& sorted_;
  const Statement& statement_;
  std::vector<std::vector<Range>> places_;
  std::vector<Range> chosen_;
};

struct CompiledConcept {
  std::string_view name;
  std::vector<Phrasing> phrasings;
};

const std::vector<CompiledConcept>& concepts() {
  static const std::vector<CompiledConcept> all = [] {
    std::vector<CompiledConcept> out;
    for (const Concept& one : lexicon())
      out.push_back({one.name, compiled(one.phrasings)});
    return out;
  }();
  return all;
}

bool has_one_of(const std::vector<Phrasing>& phrasings, const Sorted& statement) {
  return std::any_of(phrasings.begin(), phrasings.end(), [&](const Phrasing& phrasing) {
    return Search(phrasing, statement).run().has_value();
  });
}

bool is_dismissed(const Sorted& statement) {
  static const std::vector<Phrasing> all = compiled(dismissals());
  return has_one_of(all, statement);
}

}  // namespace

bool is_vain_attempt(const Statement& statement) {
  static const std::vector<Phrasing> all = compiled(attempts());
  return has_one_of(all, Sorted(statement));
}

std::vector<Said> said_in(const std::vector<Statement>& statements) {
  std::vector<Said> out;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Sorted sorted(statements[i]);
    const bool dismissed = is_dismissed(sorted);
    for (const CompiledConcept& one : concepts()) {
      for (const Phrasing& phrasing : one.phrasings) {
        if (dismissed && !phrasing.always) continue;
        const auto range = Search(phrasing, sorted).run();
        if (!range) continue;
        out.push_back({one.name, i, range->begin, range->end});
        break;
      }
    }
  }
  add_facts(statements, out);
  return out;
}

}  // namespace weir::diagnose
