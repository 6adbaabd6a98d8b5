#include "finding/finding.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace weir::finding {
namespace {

template <class E>
using Words = std::pair<E, std::string_view>;

constexpr std::array kSeverities = {
    Words<Severity>{Severity::kInfo, "info"},
    Words<Severity>{Severity::kWarning, "warning"},
    Words<Severity>{Severity::kError, "error"},
};
constexpr std::array kConfidences = {
    Words<Confidence>{Confidence::kLow, "low"},
    Words<Confidence>{Confidence::kMedium, "medium"},
    Words<Confidence>{Confidence::kHigh, "high"},
    Words<Confidence>{Confidence::kCertain, "certain"},
};
constexpr std::array kConclusions = {
    Words<Conclusion>{Conclusion::kHealthy, "healthy"},
    Words<Conclusion>{Conclusion::kFindings, "findings"},
    Words<Conclusion>{Conclusion::kNotFabric, "not_fabric"},
    Words<Conclusion>{Conclusion::kInconclusive, "inconclusive"},
};

template <class Table, class E>
std::string_view word_of(const Table& table, E value) {
  for (const auto& [candidate, word] : table)
    if (candidate == value) return word;
  WEIR_UNREACHABLE("every enumerator has a word");
}

template <class E, std::size_t N>
std::optional<E> value_of(const std::array<Words<E>, N>& table, std::string_view text) {
  for (const auto& [value, word] : table)
    if (word == text) return value;
  return std::nullopt;
}

std::strong_ordering place_order(const Where& a, const Where& b) {
  if (const auto by_file = natural_order(a.file, b.file); by_file != 0) return by_file;
  if (const auto by_line = a.position.line <=> b.position.line; by_line != 0) return by_line;
  if (const auto by_column = a.position.column <=> b.position.column; by_column != 0)
    return by_column;
  constexpr std::array kNames = {&Where::switch_name, &Where::host, &Where::rail,
                                 &Where::device,      &Where::port, &Where::priority,
                                 &Where::link};
  for (const auto name : kNames)
    if (const auto by_name = natural_order(a.*name, b.*name); by_name != 0) return by_name;
  return std::strong_ordering::equal;
}

bool is_more_important(const Finding& a, const Finding& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (a.confidence != b.confidence) return a.confidence > b.confidence;
  return place_order(a.where, b.where) < 0;
}

}  // namespace

std::string_view to_text(Severity severity) {
  return word_of(kSeverities, severity);
}
std::string_view to_text(Confidence confidence) {
  return word_of(kConfidences, confidence);
}
std::string_view to_text(Answer answer) {
  switch (answer) {
    case Answer::kYes: return "yes";
    case Answer::kNo: return "no";
    case Answer::kUnknown: return "cannot tell";
    case Answer::kNotNeeded: return "not needed";
  }
  WEIR_UNREACHABLE("every answer has a text");
}

std::string_view to_text(Conclusion conclusion) {
  return word_of(kConclusions, conclusion);
}

std::optional<Severity> parse_severity(std::string_view text) {
  return value_of(kSeverities, text);
}
std::optional<Confidence> parse_confidence(std::string_view text) {
  return value_of(kConfidences, text);
}
std::optional<Conclusion> parse_conclusion(std::string_view text) {
  return value_of(kConclusions, text);
}

std::string to_text(const Where& where) {
  if (!where.file.empty()) return to_text(where.file, where.position);
  std::vector<std::string> words;
  if (!where.switch_name.empty()) words.push_back(where.switch_name);
  if (!where.host.empty()) words.push_back(where.host);
  if (!where.rail.empty()) words.push_back("rail " + where.rail);
  if (!where.device.empty())
    words.push_back(words.empty() ? where.device : "(" + where.device + ")");
  if (!where.port.empty()) words.push_back(where.port);
  if (!where.priority.empty()) words.push_back("priority " + where.priority);
  if (!where.link.empty()) words.push_back(words.empty() ? where.link : "link " + where.link);
  return join(words, " ");
}

int Judgement::count(Severity severity) const {
  return static_cast<int>(std::count_if(findings.begin(), findings.end(),
                                        [&](const Finding& f) { return f.severity == severity; }));
}

bool Judgement::is_partial() const {
  return std::any_of(unknown.begin(), unknown.end(),
                     [](const Unknown& item) { return item.is_required; });
}

void settle(Judgement& judgement) {
  std::stable_sort(judgement.findings.begin(), judgement.findings.end(), is_more_important);
  const bool is_healthy =
      judgement.count(Severity::kError) == 0 && judgement.count(Severity::kWarning) == 0;
  judgement.conclusion = is_healthy ? Conclusion::kHealthy : Conclusion::kFindings;
}

}  // namespace weir::finding
