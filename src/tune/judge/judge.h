#pragma once
// A change on a live fabric: keep it, remove it, or not proven.
//
// The same workload runs in blocks without the change (A) and with it (B), interleaved A B B A, so
// that what drifts with time meets both. Each block with the change is compared with its neighbour
// without: paired ratios, the t test and Wilcoxon's, the worse of the two believed
// (tune/statistics/statistics.h). One metric decides, the one the change was made for; the others
// are its price. Some events end the experiment at once, whatever that metric says.
//
// Pure: blocks in, judgement out. ops/tune/block_file.h reads blocks from files.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/behaviour/totals.h"
#include "finding/thresholds.h"
#include "tune/result.h"
#include "tune/statistics/statistics.h"

namespace weir::tune {

/// What was measured while the workload ran under one setting.
struct Block {
  std::string name;                  // for messages: "03-B", "before.json result 3"
  std::string load;                  // the command that ran, where it is known
  std::optional<double> step_us;     // mean of the steps
  std::optional<double> bus_gbytes;  // GB/s, nccl-tests
  std::optional<double> gbps;        // perftest, over its message sizes
  std::optional<double> p99_us;      // latency
  std::optional<double> p999_us;
  std::optional<double> latency_us;        // mean
  std::optional<diagnose::Totals> totals;  // counters; absent where none were read
  std::string failure;                     // why the load failed; empty: it did not
  bool is_simulated = false;
};

struct BlockPair {
  Block before;  // A: without the change
  Block after;   // B: with it
};

enum class Metric : std::uint8_t {
  kStepTime,
  kBusBandwidth,
  kBandwidth,
  kP99,
  kLatency,
  kThroughput,
  kP999,
  kPauseShare,
  kPauses,
  kMarks,
  kCnps,
  kDisorder,
};

enum class Better : std::uint8_t { kLess, kMore, kNeither };

struct MetricInfo {
  Metric metric = Metric::kStepTime;
  std::string_view name;  // "step-time": as --for takes it
  std::string_view unit;  // "us" "GB/s" "/s"; empty: a share
  Better better = Better::kLess;
  bool is_goal = false;  // may decide without being asked for, in the order of the table
};
[[nodiscard]] std::span<const MetricInfo> metrics();
[[nodiscard]] const MetricInfo& info_of(Metric metric);

/// Counters as rates. nullopt where the block does not show it.
[[nodiscard]] std::optional<double> value_of(const Block& block, Metric metric);

enum class MetricVerdict : std::uint8_t { kBetter, kWorse, kNotShown, kMore, kLess, kTooFew };
[[nodiscard]] std::string_view to_text(MetricVerdict);  // "better" "worse" "no change shown" …

/// One metric over the pairs that show it at both ends.
struct MetricOutcome {
  Metric metric = Metric::kStepTime;
  std::uint64_t pairs = 0;
  double before = 0;  // mean of the blocks
  double after = 0;
  /// Of the ratios. Absent where a block shows zero: then blocks are counted instead.
  std::optional<Change> change;
  std::uint64_t before_moved = 0;  // blocks in which it was above zero
  std::uint64_t after_moved = 0;
  double fisher_p = 1;                        // of these two counts
  std::optional<std::uint64_t> pairs_needed;  // to show kSmallChange with this spread
  MetricVerdict verdict = MetricVerdict::kTooFew;
};

enum class CriterionState : std::uint8_t { kNotMet, kMet, kNotChecked };
[[nodiscard]] std::string_view to_text(CriterionState);  // "not met" "met" "not checked"

/// What ends a roll-out at once.
struct Criterion {
  std::string_view id;  // "lossless-drop"
  std::string rule;     // "lossless drop", "step time > +3 %, 3 blocks"
  CriterionState state = CriterionState::kNotChecked;
  std::string text;  // what was seen and where, or why it could not be checked
};

/// What a tuning promised for the metric that decides: a measured change outside it means that the
/// fabric is not the one that was simulated.
struct Prediction {
  Change change;  // of a time: less is better
  Objective objective = Objective::kStepTime;
  std::string origin;  // "results/tune.json, dcqcn.rpg_time_reset"
};

enum class JudgeVerdict : std::uint8_t { kKeep, kRemove, kNotProven };
[[nodiscard]] std::string_view to_text(JudgeVerdict);  // "keep" "remove" "not proven"

struct Judged {
  JudgeVerdict verdict = JudgeVerdict::kNotProven;
  std::string reason;  // one sentence
  std::uint64_t pairs = 0;
  std::optional<Metric> goal;  // the metric that decides
  std::vector<MetricOutcome> metrics;
  std::vector<Criterion> criteria;
  std::optional<Prediction> prediction;
  std::optional<bool> is_as_predicted;  // absent where nothing was predicted, or not of this metric
  std::vector<std::string> notes;
  bool is_simulated = false;

  [[nodiscard]] const MetricOutcome* find(Metric metric) const;
  /// Drops and timeouts were looked for: a change must not be kept for good without.
  [[nodiscard]] bool is_loss_checked() const;
};

/// With fewer than 6 pairs Wilcoxon's test cannot reach 5 %; two more make one pair that disagrees
/// bearable.
inline constexpr std::size_t kLeastPairs = 8;
/// The change whose number of pairs is printed beside a metric that shows none.
inline constexpr double kSmallChange = 0.02;

struct JudgeOptions {
  std::optional<Metric> goal;  // none: the first of the table that was measured
  std::optional<Prediction> prediction;
  finding::Thresholds thresholds = {};
};

/// In the order of time. An error where there are too few pairs and nothing ends the roll-out
/// before, or nothing to decide by.
[[nodiscard]] Result<Judged> judge(std::span<const BlockPair> pairs, const JudgeOptions& options);

}  // namespace weir::tune
