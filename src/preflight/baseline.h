#pragma once
// What a fabric did when it was good: one file that people review and keep under version control,
// made of one or more preflights of the same fabric, and the comparison of a later one with it.
//
// Only like is compared with like: another design, driver, firmware, speed, MTU, kernel, switch
// system, number of hosts, load or threshold makes two runs not comparable, said field by field,
// and never "regressed". A regression is a value below its computed floor, or one that is worse
// than the baseline by more than the larger of a share (5 %) and three times what it varied from
// run to run.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "finding/thresholds.h"
#include "preflight/report.h"

namespace weir::preflight {

/// A measure of a stage over all runs: of each quantile the median of the runs.
struct BaselineMeasure {
  Measure measure;
  std::optional<double> spread_p50 = {};   // run to run, of its mean; none: one run
  std::optional<double> spread_tail = {};  // of the tail that is compared
};

/// What was counted per gigabyte that NICs sent, or per second where nothing is sent (stage 1).
struct BaselineCounter {
  std::string name;  // "pauses" "marked" "cnps" "lossless_drops" …
  double value = 0;
  std::optional<double> spread = {};  // run to run, of its mean; none: one run
};

struct BaselineStage {
  StageId id = StageId::kFacts;
  std::vector<BaselineMeasure> measures;
  std::vector<BaselineCounter> counters;
};

struct Baseline {
  std::string name;
  Identity identity;
  std::string tool;  // that made it
  std::string made;  // when its last run ended
  std::uint64_t runs = 0;
  std::vector<SettingFact> settings;
  std::vector<BaselineStage> stages;  // that passed in every run, in order

  [[nodiscard]] const BaselineStage* find(StageId id) const;
};

/// From so many values on a 99th percentile says something; of fewer the worst one is compared.
inline constexpr std::uint64_t kValuesForP99 = 100;
inline constexpr std::uint64_t kValuesForP999 = 1000;

/// "pauses per GB", "idle: marked per second".
[[nodiscard]] std::string_view unit_of_counters(StageId id);
/// In the unit of the stage; empty where nothing was moved (or no time passed).
[[nodiscard]] std::vector<BaselineCounter> counters_of(const StageResult& stage);

/// Of runs of one fabric. The error names the run that is of another, has a red flag or ran nothing
/// that passed. REQUIRES: at least one run.
[[nodiscard]] Result<Baseline> make_baseline(std::string name, const std::vector<Report>& runs);

/// schema, name, digest, made, tool, runs, identity, settings[], stages[]{…}: what the file holds.
/// The digest is of all else in it.
[[nodiscard]] Json to_json(const Baseline& baseline);
[[nodiscard]] std::string baseline_text(const Baseline& baseline);
[[nodiscard]] std::string digest_of(const Baseline& baseline);
/// Reads what baseline_text() wrote. A file that was changed by hand is refused: its digest tells.
[[nodiscard]] Result<Baseline> baseline_from_text(std::string_view text);

// ---- comparison ----

/// A field of which the two differ: "firmware", was, is.
struct IdentityDifference {
  std::string field;
  std::string was;
  std::string is;
};
/// Why two runs are not comparable; empty: they are, as far as both say.
[[nodiscard]] std::vector<IdentityDifference> differences(const Identity& was, const Identity& is);
/// Fields that a file of an earlier version does not have: of these nobody knows.
[[nodiscard]] std::vector<IdentityDifference> not_said(const Identity& was, const Identity& is);

enum class Change : std::uint8_t { kSame, kBetter, kWorse, kBelowFloor };
[[nodiscard]] std::string_view to_text(Change);  // "same" "better" "worse" "below floor"

struct ComparedValue {
  StageId stage = StageId::kFacts;
  std::string metric;
  std::string subject;   // empty: the whole fabric
  std::string quantile;  // "p50" "min" "p99" "p999" "max"; of a counter "count"
  std::string unit;      // "bit/s" "s" … of a counter "per GB"
  double was = 0;
  double is = 0;
  double worse = 0;  // of the baseline: 0.1 is 10 % worse, -0.1 better
  double limit = 0;  // from where on it is a regression
  std::optional<double> floor = {};
  Change change = Change::kSame;
  bool is_judged = true;  // a counter of a baseline of fewer than three runs is only shown
};

enum class Outcome : std::uint8_t { kAsBaseline, kRegressed, kNotComparable, kNothingCompared };
[[nodiscard]] std::string_view to_text(Outcome);  // "as the baseline" "regressed" …

struct Comparison {
  std::string baseline;
  std::string digest;
  std::string started;                     // of the run
  std::vector<IdentityDifference> unlike;  // not comparable
  std::vector<IdentityDifference> noted;   // settings, the tool, what is not said: no obstacle
  std::vector<ComparedValue> values;       // regressions first, then as measured
  std::vector<std::string> missing;        // "4 pairs: latency": of one side alone
  finding::Judgement judgement;            // regressions as findings

  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] std::size_t regressions() const;
};
[[nodiscard]] Comparison compare(const Baseline& baseline, const Report& run,
                                 const finding::Thresholds& limits);

[[nodiscard]] bool is_regression(const ComparedValue& value);
/// "4 pairs, bandwidth p50 of gpu11 rail 0".
[[nodiscard]] std::string place_text(const ComparedValue& value);
/// In the value's unit.
[[nodiscard]] std::string amount_text(const ComparedValue& value, double amount);

[[nodiscard]] Json to_json(const Comparison& comparison);

}  // namespace weir::preflight
