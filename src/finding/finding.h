#pragma once
// A finding: what is wrong, where, why we think so, and what to type. One shape for lint,
// validation, verification and diagnosis, whatever the evidence came from.
//
// An id names the *fault* (`dscp.tos_confusion`), never the check that found it, and never changes
// its meaning. Everything that is the same each time a fault is found (why, fix, sources, mission
// rows) is in the catalogue (finding/catalog.h); a Finding adds the case at hand.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_position.h"

namespace weir::finding {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
[[nodiscard]] std::string_view to_text(Severity);  // "info" "warning" "error"
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view);

/// How sure a rule is. Lint reads a file and is always certain.
enum class Confidence : std::uint8_t { kLow, kMedium, kHigh, kCertain };
[[nodiscard]] std::string_view to_text(Confidence);  // "low" "medium" "high" "certain"
[[nodiscard]] std::optional<Confidence> parse_confidence(std::string_view);

/// Where the fault sits. Empty = does not apply or is not known.
struct Where {
  std::string file;  // a text a person wrote, for lint
  TextPosition position;
  std::string host;
  std::string rail;
  std::string device;
  std::string switch_name;
  std::string port;
  std::string priority;
  std::string link;

  friend bool operator==(const Where&, const Where&) = default;
};
/// "fabric.yaml:12:7", "gpu07 rail 3 (mlx5_3)", "leaf2 swp5 priority 3": the shortest text that
/// finds the place; empty where none is known.
[[nodiscard]] std::string to_text(const Where&);

/// One observation that supports a finding.
struct EvidenceLine {
  std::string source;   // a file, a command, a host's snapshot
  std::string line;     // the text as observed, or a sentence
  std::string counter;  // catalogue id, where the observation is a counter
  std::optional<std::int64_t> value;

  friend bool operator==(const EvidenceLine&, const EvidenceLine&) = default;
};

/// What to do on one platform. `platform` is one of platforms() (finding/catalog.h).
struct Fix {
  std::string platform;
  std::vector<std::string>
      commands;      // a line to type each; of the file, where platform is "design"
  std::string note;  // what to know before typing them

  friend bool operator==(const Fix&, const Fix&) = default;
};

struct Finding {
  std::string id;  // one of the catalogue
  Severity severity = Severity::kError;
  std::string verdict;  // one sentence: what is wrong here, with the numbers
  Where where;
  std::vector<EvidenceLine> evidence;
  Confidence confidence = Confidence::kCertain;
  std::vector<Fix> fix;  // the case at hand first; empty = the catalogue's

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A check that could not look. Unknown is an answer: it is never counted as passed.
struct Unknown {
  std::string check;
  std::string reason;
  std::string how;  // how to get the answer
  /// Part of the request: without its answer the exit status is "partial". An optional check
  /// needs something that was not given (a host beside the job's script), and is only listed.
  bool is_required = true;

  friend bool operator==(const Unknown&, const Unknown&) = default;
};

/// To a question of the first minute: "Are we dropping?".
enum class Answer : std::uint8_t { kYes, kNo, kUnknown, kNotNeeded };
[[nodiscard]] std::string_view to_text(Answer);  // "yes" "no" "cannot tell" "not needed"

/// A finding worth reading, suggested by words alone: no cause, no severity, counted nowhere.
struct Related {
  std::string id;   // one of the catalogue
  std::string why;  // the words in common

  friend bool operator==(const Related&, const Related&) = default;
};

enum class Conclusion : std::uint8_t { kHealthy, kFindings, kNotFabric, kInconclusive };
[[nodiscard]] std::string_view to_text(
    Conclusion);  // "healthy" "findings" "not_fabric" "inconclusive"
[[nodiscard]] std::optional<Conclusion> parse_conclusion(std::string_view);

/// What every judging verb returns.
struct Judgement {
  std::vector<Finding> findings;  // most important first
  std::vector<Unknown> unknown;
  std::vector<std::string> next;  // commands worth typing now
  Conclusion conclusion = Conclusion::kHealthy;
  std::vector<Related> related;  // at most three, the best first; see finding/search.h

  [[nodiscard]] int count(Severity) const;
  /// A required check gave no answer.
  [[nodiscard]] bool is_partial() const;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

/// Sorts by severity, then confidence, then place (numbers in names as numbers), keeping the order
/// of equals; sets `conclusion` to healthy or findings from what is there (info alone stays
/// healthy). A verb that knows better (not the fabric, inconclusive) says so afterwards.
void settle(Judgement&);

}  // namespace weir::finding
