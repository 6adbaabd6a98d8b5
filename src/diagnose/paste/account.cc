#include "diagnose/paste/account.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "diagnose/paste/account_likeness.h"
#include "diagnose/paste/account_parts.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

using readers::Statement;
using readers::Word;
using readers::WordKind;

constexpr std::size_t kFewLines = 60;

bool is_sentence(const Statement& statement) {
  constexpr std::ptrdiff_t kSentence = 3;
  return std::count_if(statement.words.begin(), statement.words.end(), [](const Word& word) {
           return word.kind == WordKind::kWord && word.text.size() > 1 &&
                  word.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
         }) >= kSentence;
}

// ---- the rules ----

struct Support {
  double score = 0;
  Weight weight = Weight::kSuspect;
  std::vector<std::size_t> statements;  // that it rests on, sorted
};

bool is_said(const std::vector<Said>& said, std::string_view name) {
  return std::any_of(said.begin(), said.end(),
                     [&](const Said& one) { return one.concept_name == name; });
}

/// The statements that a rule rests on; nullopt where it does not hold.
std::optional<std::vector<std::size_t>> holds(const AccountRule& rule,
                                              const std::vector<Said>& said) {
  std::vector<std::size_t> out;
  for (std::string_view condition : split(rule.when, '&')) {
    condition = trim(condition);
    const bool is_excluded = condition.starts_with('!');
    if (is_excluded) condition.remove_prefix(1);
    bool is_there = false;
    for (const std::string_view name : split(condition, '|')) {
      if (!is_said(said, name)) continue;
      is_there = true;
      if (is_excluded) break;
      for (const Said& one : said)
        if (one.concept_name == name) out.push_back(one.statement);
    }
    if (is_there == is_excluded) return std::nullopt;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

double score_of(Weight weight) {
  switch (weight) {
    case Weight::kSuspect: return 1;
    case Weight::kLikely: return 3;
    case Weight::kClear: return 5;
    case Weight::kDecisive: return 7;
  }
  return 0;
}

/// A rule more that holds for the same finding makes it surer, but never outweighs a stronger kind.
constexpr double kOneMore = 0.5;
constexpr double kMostMore = 1.5;
/// Two findings nearer than this are not told apart.
constexpr double kMargin = 1.0;

std::map<std::string_view, Support> supports(const std::vector<Said>& said) {
  std::map<std::string_view, Support> out;
  std::map<std::string_view, double> more;
  for (const AccountRule& rule : account_rules()) {
    const auto statements = holds(rule, said);
    if (!statements) continue;
    Support& support = out[rule.id];
    if (support.score > 0 && rule.weight != Weight::kSuspect) more[rule.id] += kOneMore;
    support.score = std::max(support.score, score_of(rule.weight));
    support.weight = std::max(support.weight, rule.weight);
    support.statements.insert(support.statements.end(), statements->begin(), statements->end());
  }
  for (auto& [id, support] : out) {
    support.score += std::min(more[id], kMostMore);
    std::sort(support.statements.begin(), support.statements.end());
    support.statements.erase(std::unique(support.statements.begin(), support.statements.end()),
                             support.statements.end());
  }
  return out;
}

using Ranked = std::vector<std::pair<std::string_view, Support>>;

// ---- the rules and the likeness, weighed ----
//
// Both may err: a rule by a word that means something else here, the likeness by what is beside the
// point. A rule that holds adds to its finding's odds; what is likeliest then is the answer, if it
// is likelier by far than that the account settles nothing. It is believed only where each of the
// two says it by itself. The limits are those at which answers to cases of other people were right
// (docs/field-cases.md).

/// What a rule adds to the logarithm of its finding's odds.
double odds_of(Weight weight) {
  switch (weight) {
    case Weight::kSuspect: return 0.4;
    case Weight::kLikely: return 1.3;
    case Weight::kClear: return 2.2;
    case Weight::kDecisive: return 3.0;
  }
  return 0;
}

/// How much likelier than "settles nothing" an answer must be, as a logarithm: less where the rules
/// say the same, and never where they know no more of it than a symptom.
constexpr double kOverOpen = 0.7;
constexpr double kRuledOverOpen = -2.3;
/// How likely the likeness must find what no rule says; and where rules see a symptom of something.
constexpr double kAlone = 0.2;
constexpr double kAloneOfSymptom = 0.5;
/// That nothing is wrong is never said for likeness alone.
constexpr std::string_view kNoTrouble = "dscp.site_plan";
/// An answer is believed where the rules say it, and the likeness alone finds it so likely.
constexpr double kBelieved = 0.9;

struct Choice {
  std::string_view id;  // empty: open
  bool is_doubted = true;
};

/// The findings with the rules' odds added, the likeliest first.
std::vector<std::pair<std::string_view, double>> together(const Ranked& ranked,
                                                          const Likeness& like) {
  auto out = like.ranked;
  for (const auto& [id, support] : ranked) {
    const auto at = std::find_if(out.begin(), out.end(),
                                 [&, name = id](const auto& one) { return one.first == name; });
    const double more = odds_of(support.weight);
    if (at == out.end()) {
      out.emplace_back(id, more);
    } else {
      at->second += more;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

Choice by_rules(const Ranked& ranked) {
  const bool is_ruled =
      !ranked.empty() && ranked.front().second.weight > Weight::kSuspect &&
      (ranked.size() == 1 || ranked.front().second.score - ranked[1].second.score >= kMargin);
  return is_ruled ? Choice{ranked.front().first, false} : Choice{};
}

/// How likely the likeness alone finds what is likest.
double share_of_best(const Likeness& like) {
  const double best = like.ranked.front().second;
  double sum = std::exp(like.open - best);
  for (const auto& one : like.ranked)
    sum += std::exp(one.second - best);
  return 1 / sum;
}

Choice choose(const Ranked& ranked, const Likeness& like) {
  const Choice ruled = by_rules(ranked);
  if (like.ranked.empty()) return ruled;
  const auto [best, odds] = together(ranked, like).front();
  const auto rule = std::find_if(ranked.begin(), ranked.end(),
                                 [&, id = best](const auto& one) { return one.first == id; });
  if (rule != ranked.end() && rule->second.weight == Weight::kSuspect) return {};
  if (odds - like.open < (best == ruled.id ? kRuledOverOpen : kOverOpen)) return {};
  const bool is_alone = rule == ranked.end();
  const bool is_symptom = !ranked.empty() && ranked.front().second.weight == Weight::kSuspect;
  const double enough = is_symptom ? kAloneOfSymptom : kAlone;
  if (is_alone && (share_of_best(like) < enough || best == kNoTrouble)) return {};
  const bool is_believed =
      best == ruled.id && best == like.ranked.front().first && share_of_best(like) >= kBelieved;
  return {best, !is_believed};
}

/// The statements that are like the finding by themselves; all, where none is.
std::vector<std::size_t> statements_like(std::string_view id,
                                         const std::vector<Statement>& statements,
                                         const LikenessModel& model) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (model.compare({statements[i]}).of(id) > 0) out.push_back(i);
  if (!out.empty()) return out;
  for (std::size_t i = 0; i < statements.size(); ++i)
    out.push_back(i);
  return out;
}

enum class Standing : std::uint8_t { kSuspected, kDoubted, kAnswered };

finding::Finding told(std::string_view id, const Support& support,
                      const std::vector<Statement>& statements, std::string_view source,
                      Standing standing) {
  const finding::CatalogEntry* entry = finding::find(id);
  WEIR_CHECK(entry != nullptr);
  const bool is_answer = standing != Standing::kSuspected;
  finding::Finding out = finding::make_finding(
      id, fmt::format("{}: {}.", is_answer ? "What is told points to this" : "Suspected, not shown",
                      entry->title));
  for (const std::size_t index : support.statements) {
    finding::EvidenceLine line;
    line.source = fmt::format("{}:{}", source, statements[index].line);
    line.line = statements[index].text;
    out.evidence.push_back(std::move(line));
  }
  if (!is_answer) out.severity = finding::Severity::kInfo;
  if (standing != Standing::kAnswered) {
    out.confidence = finding::Confidence::kLow;
    return out;
  }
  // Hearsay: even what decides is believed only where two statements say it.
  const bool is_strong = support.weight == Weight::kDecisive && support.statements.size() > 1;
  out.confidence = is_strong                           ? finding::Confidence::kHigh
                   : support.weight == Weight::kLikely ? finding::Confidence::kLow
                                                       : finding::Confidence::kMedium;
  return out;
}

bool is_not_the_fabric(std::string_view id) {
  return id.starts_with("app.") || id == "peer.dead" || id.starts_with("tool.");
}

finding::Conclusion conclusion_of(const finding::Finding& answer) {
  if (is_not_the_fabric(answer.id)) return finding::Conclusion::kNotFabric;
  const bool is_fine = answer.severity == finding::Severity::kInfo && answer.id == kNoTrouble;
  return is_fine ? finding::Conclusion::kHealthy : finding::Conclusion::kFindings;
}

/// What cannot be told, and where to look: what the rules suspect, the likeliest first.
void leave_open(Ranked ranked, const Likeness& like, const std::vector<Statement>& statements,
                std::string_view source, finding::Judgement& out) {
  constexpr std::size_t kSuspects = 3;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
    return odds_of(a.second.weight) + like.of(a.first) >
           odds_of(b.second.weight) + like.of(b.first);
  });
  out.conclusion = finding::Conclusion::kInconclusive;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < std::min(ranked.size(), kSuspects); ++i) {
    out.findings.push_back(
        told(ranked[i].first, ranked[i].second, statements, source, Standing::kSuspected));
    ids.emplace_back(ranked[i].first);
  }
  const std::string why =
      ids.empty() ? "nothing in the text names a cause that is known here"
                  : "what is told fits several causes, or is a symptom only: " + join(ids, ", ");
  out.unknown.push_back(
      {"the cause", why,
       "counters of both ends around the load (weir snapshot), the job's log with "
       "NCCL_DEBUG=INFO, and weir validate on both hosts"});
}

}  // namespace

finding::Judgement judge_account(const std::vector<Statement>& statements, std::string_view source,
                                 const LikenessModel& model) {
  const auto found = supports(said_in(statements));
  Ranked ranked(found.begin(), found.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second.score > b.second.score; });
  // What is longer than a report is a log, and a table of numbers is nobody's account.
  const bool is_report = statements.size() <= kFewLines &&
                         std::any_of(statements.begin(), statements.end(), is_sentence);
  std::vector<Statement> telling;
  std::copy_if(statements.begin(), statements.end(), std::back_inserter(telling),
               [](const Statement& one) { return !is_vain_attempt(one); });
  const Likeness like = is_report ? model.compare(telling) : Likeness{};
  const Choice choice = choose(ranked, like);
  finding::Judgement out;
  if (choice.id.empty()) {
    leave_open(ranked, like, statements, source, out);
    return out;
  }
  const auto ruled = found.find(choice.id);
  Support support = ruled == found.end() ? Support{} : ruled->second;
  if (ruled == found.end()) support.statements = statements_like(choice.id, statements, model);
  const Standing standing = choice.is_doubted ? Standing::kDoubted : Standing::kAnswered;
  out.findings.push_back(told(choice.id, support, statements, source, standing));
  out.conclusion = conclusion_of(out.findings.front());
  return out;
}

finding::Judgement judge_account(const std::vector<Statement>& statements,
                                 std::string_view source) {
  return judge_account(statements, source, LikenessModel::standard());
}

bool is_account(const std::vector<Statement>& statements) {
  // A few lines in words are somebody's, whether or not they say anything that is known here.
  if (statements.size() <= kFewLines &&
      std::any_of(statements.begin(), statements.end(), is_sentence))
    return true;
  return !said_in(statements).empty();
}

}  // namespace weir::diagnose
