#pragma once
// A finding: what is wrong, where, why we think so, and what to type. One shape for lint, validation,
// verification and diagnosis, whatever the evidence came from.
//
// An id names the *fault* (`dscp.tos_confusion`), never the check that found it, and never changes its
// meaning. Everything that is the same each time a fault is found (why, fix, sources, mission rows)
// stands in the catalogue (finding/catalog.h); a Finding adds the case at hand.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_position.h"

namespace weir::finding {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
[[nodiscard]] std::string_view to_text(Severity);  // "info" "warning" "error"

/// How sure a rule is. Lint reads a file and is always certain.
enum class Confidence : std::uint8_t { kLow, kMedium, kHigh, kCertain };
[[nodiscard]] std::string_view to_text(Confidence);

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
/// "fabric.yaml:12:7", "gpu07 rail 3 (mlx5_3)", "leaf2 swp5": the shortest text that finds the place.
[[nodiscard]] std::string to_text(const Where&);

/// One observation that supports a finding.
struct EvidenceLine {
  std::string source;   // a file, a command, a host's snapshot
  std::string line;     // the text as observed, or a sentence
  std::string counter;  // catalogue id, where the observation is a counter
  std::optional<std::int64_t> value;
};

/// What to do on one platform. `platform` is a name of the design's platform tables, "design" (edit the
/// file), "host" (any Linux host) or "any".
struct Fix {
  std::string platform;
  std::vector<std::string> commands;
  std::string note;
};

struct Finding {
  std::string id;  // one of the catalogue
  Severity severity = Severity::kError;
  std::string verdict;  // one sentence: what is wrong here, with the numbers
  Where where;
  std::vector<EvidenceLine> evidence;
  Confidence confidence = Confidence::kCertain;
  std::vector<Fix> fix;  // the case at hand first; empty = the catalogue's
};

/// A check that could not look. Unknown is an answer: it is never counted as passed.
struct Unknown {
  std::string check;
  std::string reason;
  std::string how;  // how to get the answer
};

enum class Conclusion : std::uint8_t { kHealthy, kFindings, kNotFabric, kInconclusive };
[[nodiscard]] std::string_view to_text(Conclusion);  // "healthy" "findings" "not_fabric" "inconclusive"

/// What every judging verb returns.
struct Judgement {
  std::vector<Finding> findings;  // most important first
  std::vector<Unknown> unknown;
  std::vector<std::string> next;  // commands worth typing now
  Conclusion conclusion = Conclusion::kHealthy;

  [[nodiscard]] int count(Severity) const;
};

/// Sorts by severity, then confidence, then place, keeping the order of equals; sets `conclusion` to
/// healthy or findings from what is there (info alone stays healthy).
void settle(Judgement&);

}  // namespace weir::finding
