#include "tune/judge/judge.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "tune/judge/criteria.h"

namespace weir::tune {
namespace {

constexpr std::array kMetrics = {
    MetricInfo{Metric::kStepTime, "step-time", "us", Better::kLess, true},
    MetricInfo{Metric::kBusBandwidth, "bus-bandwidth", "GB/s", Better::kMore, true},
    MetricInfo{Metric::kBandwidth, "bandwidth", "Gb/s", Better::kMore, true},
    MetricInfo{Metric::kP99, "p99", "us", Better::kLess, true},
    MetricInfo{Metric::kLatency, "latency", "us", Better::kLess, true},
    MetricInfo{Metric::kThroughput, "throughput", "Gb/s", Better::kMore, true},
    MetricInfo{Metric::kP999, "p999", "us", Better::kLess, false},
    MetricInfo{Metric::kPauseShare, "pause-share", "", Better::kLess, false},
    MetricInfo{Metric::kPauses, "pauses", "/s", Better::kLess, false},
    MetricInfo{Metric::kMarks, "marks", "/s", Better::kNeither, false},
    MetricInfo{Metric::kCnps, "cnps", "/s", Better::kNeither, false},
    MetricInfo{Metric::kDisorder, "out-of-sequence", "/s", Better::kLess, false},
};

std::optional<double> rate_of(const Block& block,
                              std::optional<std::uint64_t> diagnose::Totals::*count) {
  if (!block.totals || block.totals->window.raw() <= 0) return std::nullopt;
  const auto amount = (*block.totals).*count;
  if (!amount) return std::nullopt;
  const double seconds = static_cast<double>(block.totals->window.raw()) / 1e12;  // picoseconds
  return static_cast<double>(*amount) / seconds;
}

std::optional<double> scaled(const std::optional<double>& value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::uint64_t above_zero(std::span<const double> values) {
  return static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [](double value) { return value > 0; }));
}

/// Pairs that show a change of kSmallChange four times in five, at 5 %: (2.8 sd / change)^2, of
/// the normal quantiles 1.96 and 0.84.
std::uint64_t pairs_needed(std::span<const double> ratios) {
  const double mean = mean_of(ratios);
  double squares = 0;
  for (const double ratio : ratios)
    squares += (ratio - mean) * (ratio - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(ratios.size() - 1));
  const double pairs = std::pow(2.8 * deviation / kSmallChange, 2);
  constexpr double kMany = 1e6;
  return std::max<std::uint64_t>(kLeastPairs,
                                 static_cast<std::uint64_t>(std::ceil(std::min(pairs, kMany))));
}

MetricVerdict verdict_of(Better better, bool is_less, bool is_more) {
  if (!is_less && !is_more) return MetricVerdict::kNotShown;
  if (better == Better::kNeither) return is_less ? MetricVerdict::kLess : MetricVerdict::kMore;
  return is_less == (better == Better::kLess) ? MetricVerdict::kBetter : MetricVerdict::kWorse;
}

constexpr double kChance = 1 - kConfidence;

void judge_ratios(std::span<const double> before, std::span<const double> after,
                  MetricOutcome& out) {
  const std::vector<double> ratios = log_ratios(before, after);
  out.change = change_of(ratios);
  if (ratios.size() < kLeastPairs) return;
  // The interval is the t test's; Wilcoxon's must agree.
  const bool is_sure = out.change->p() < kChance;
  out.verdict = verdict_of(info_of(out.metric).better, is_sure && out.change->is_less(),
                           is_sure && out.change->is_more());
  if (out.verdict == MetricVerdict::kNotShown) out.pairs_needed = pairs_needed(ratios);
}

void judge_counts(MetricOutcome& out) {
  out.fisher_p = fisher_p(out.before_moved, out.pairs, out.after_moved, out.pairs);
  if (out.pairs < kLeastPairs) return;
  const bool is_sure = out.fisher_p < kChance;
  out.verdict =
      verdict_of(info_of(out.metric).better, is_sure && out.after_moved < out.before_moved,
                 is_sure && out.after_moved > out.before_moved);
}

std::optional<MetricOutcome> outcome_of(std::span<const BlockPair> pairs, Metric metric) {
  std::vector<double> before;
  std::vector<double> after;
  for (const BlockPair& pair : pairs) {
    const auto a = value_of(pair.before, metric);
    const auto b = value_of(pair.after, metric);
    if (!a || !b) continue;
    before.push_back(*a);
    after.push_back(*b);
  }
  if (before.empty()) return std::nullopt;
  MetricOutcome out;
  out.metric = metric;
  out.pairs = before.size();
  out.before = mean_of(before);
  out.after = mean_of(after);
  out.before_moved = above_zero(before);
  out.after_moved = above_zero(after);
  if (out.before_moved == out.pairs && out.after_moved == out.pairs) {
    judge_ratios(before, after, out);
  } else {
    judge_counts(out);
  }
  return out;
}

std::string goals_text() {
  std::vector<std::string> names;
  for (const MetricInfo& info : kMetrics)
    if (info.is_goal) names.emplace_back(info.name);
  return join(names, ", ");
}

Result<Metric> goal_of(const Judged& judged, const JudgeOptions& options) {
  if (options.goal) {
    if (judged.find(*options.goal) != nullptr) return *options.goal;
    return invalid_error(
        fmt::format("no pair of blocks shows {} on both sides", info_of(*options.goal).name));
  }
  for (const MetricInfo& info : kMetrics)
    if (info.is_goal && judged.find(info.metric) != nullptr) return info.metric;
  return invalid_error(fmt::format(
      "nothing to decide by: no pair of blocks shows any of {} on both sides", goals_text()));
}

std::string change_text(const MetricOutcome& outcome) {
  const std::string name(info_of(outcome.metric).name);
  if (!outcome.change)
    return fmt::format("{} above zero in {} of {} blocks before, in {} after (p {:.2g})", name,
                       outcome.before_moved, outcome.pairs, outcome.after_moved, outcome.fisher_p);
  const Change& change = *outcome.change;
  return fmt::format("{} {:+.1f} % ({:+.1f} to {:+.1f} %, {} pairs, p {:.2g})", name,
                     change.mean * 100, change.low * 100, change.high * 100, outcome.pairs,
                     change.p());
}

std::string needed_text(const MetricOutcome& goal) {
  if (!goal.pairs_needed) return "";
  return fmt::format("; with this spread {} pairs show a change of {:.0f} %", *goal.pairs_needed,
                     kSmallChange * 100);
}

/// Of a time: a bandwidth that rises by a tenth is a time that falls by an eleventh.
std::optional<Change> as_time(const MetricOutcome& outcome) {
  if (!outcome.change) return std::nullopt;
  if (info_of(outcome.metric).better == Better::kLess) return outcome.change;
  const auto inverse = [](double change) { return 1 / (1 + change) - 1; };
  Change out = *outcome.change;
  out.mean = inverse(outcome.change->mean);
  out.low = inverse(outcome.change->high);
  out.high = inverse(outcome.change->low);
  return out;
}

/// Whether a simulated objective and a measured metric are the same kind of thing.
bool is_of(Objective objective, Metric metric) {
  switch (objective) {
    case Objective::kStepTime:
    case Objective::kThroughput:
      return metric == Metric::kStepTime || metric == Metric::kBusBandwidth ||
             metric == Metric::kBandwidth || metric == Metric::kThroughput;
    case Objective::kP99: return metric == Metric::kP99;
    case Objective::kLatency: return metric == Metric::kLatency;
  }
  return false;
}

void compare_with_prediction(const MetricOutcome& goal, Judged& out) {
  if (!out.prediction) return;
  if (!is_of(out.prediction->objective, goal.metric)) {
    out.notes.push_back(fmt::format("not compared with the prediction: that is of {}, this of {}",
                                    to_text(out.prediction->objective), info_of(goal.metric).name));
    return;
  }
  const auto measured = as_time(goal);
  if (!measured || measured->pairs < 2) return;
  const Change& told = out.prediction->change;
  out.is_as_predicted = measured->low <= told.high && told.low <= measured->high;
}

void decide(const MetricOutcome& goal, Judged& out) {
  const std::string text = change_text(goal);
  switch (goal.verdict) {
    case MetricVerdict::kBetter: {
      out.verdict = JudgeVerdict::kKeep;
      out.reason = text;
      break;
    }
    case MetricVerdict::kWorse:
      out.verdict = JudgeVerdict::kRemove;
      out.reason = "worse: " + text;
      break;
    case MetricVerdict::kNotShown:
    case MetricVerdict::kMore:
    case MetricVerdict::kTooFew:
    case MetricVerdict::kLess: out.reason = text + needed_text(goal);
  }
  compare_with_prediction(goal, out);
  if (out.verdict == JudgeVerdict::kKeep && out.is_as_predicted == false) {
    out.verdict = JudgeVerdict::kNotProven;
    out.reason += fmt::format(
        ", but {:+.1f} to {:+.1f} % of the time was predicted: find out why before going on",
        out.prediction->change.low * 100, out.prediction->change.high * 100);
  }
}

void add_notes(std::span<const BlockPair> pairs, Judged& out) {
  for (const MetricOutcome& outcome : out.metrics)
    if (outcome.verdict == MetricVerdict::kWorse && outcome.metric != out.goal)
      out.notes.push_back("its price: " + change_text(outcome));
  for (const BlockPair& pair : pairs)
    if (!pair.before.failure.empty())
      out.notes.push_back(
          fmt::format("{}, without the change: {}", pair.before.name, pair.before.failure));
  const auto is_other = [&](const Block& block) {
    return !block.load.empty() && block.load != pairs.front().before.load;
  };
  if (std::any_of(pairs.begin(), pairs.end(), [&](const BlockPair& pair) {
        return is_other(pair.before) || is_other(pair.after);
      }))
    out.notes.emplace_back("the blocks did not all run the same command");
  out.is_simulated = std::any_of(pairs.begin(), pairs.end(), [](const BlockPair& pair) {
    return pair.before.is_simulated || pair.after.is_simulated;
  });
}

/// Two runs of a real workload never count the same: whoever passes one twice would prove anything.
bool is_same_run(const Block& a, const Block& b) {
  if (!a.totals || !b.totals || a.totals->sent_bytes.value_or(0) == 0) return false;
  return a.totals->sent_bytes == b.totals->sent_bytes && a.totals->marks == b.totals->marks &&
         a.totals->cnps == b.totals->cnps && a.totals->marks.value_or(0) > 0 &&
         a.step_us == b.step_us && a.bus_gbytes == b.bus_gbytes && a.gbps == b.gbps;
}

Status expect_own_runs(std::span<const BlockPair> pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = i + 1; j < pairs.size(); ++j)
      for (const auto side : {&BlockPair::before, &BlockPair::after}) {
        const Block& a = pairs[i].*side;
        const Block& b = pairs[j].*side;
        if (is_same_run(a, b))
          return invalid_error(fmt::format(
              "{} and {} show the same counts: one run, given twice (a lab repeats a run exactly)",
              a.name, b.name));
      }
  return {};
}

std::string met_text(std::span<const Criterion> all) {
  std::vector<std::string> met;
  for (const Criterion& criterion : all)
    if (criterion.state == CriterionState::kMet)
      met.push_back(fmt::format("{}: {}", criterion.rule, criterion.text));
  return join(met, "; ");
}

Error too_few(std::size_t pairs, std::string_view that_show = "") {
  return invalid_error(fmt::format(
      "{} of blocks{}, at least {} are needed: {} more, interleaved A B B A (fewer cannot tell a "
      "change from chance)",
      counted(pairs, "pair"), that_show, kLeastPairs, kLeastPairs - pairs));
}

}  // namespace

std::span<const MetricInfo> metrics() {
  return kMetrics;
}

const MetricInfo& info_of(Metric metric) {
  const auto* const found =
      std::find_if(kMetrics.begin(), kMetrics.end(),
                   [&](const MetricInfo& info) { return info.metric == metric; });
  WEIR_CHECK(found != kMetrics.end());
  return *found;
}

std::optional<double> value_of(const Block& block, Metric metric) {
  switch (metric) {
    case Metric::kStepTime: return block.step_us;
    case Metric::kBusBandwidth: return block.bus_gbytes;
    case Metric::kBandwidth: return block.gbps;
    case Metric::kP99: return block.p99_us;
    case Metric::kLatency: return block.latency_us;
    case Metric::kThroughput: return scaled(rate_of(block, &diagnose::Totals::sent_bytes), 8e-9);
    case Metric::kP999: return block.p999_us;
    case Metric::kPauseShare: return block.totals ? block.totals->pause_share : std::nullopt;
    case Metric::kPauses: return rate_of(block, &diagnose::Totals::pauses);
    case Metric::kMarks: return rate_of(block, &diagnose::Totals::marks);
    case Metric::kCnps: return rate_of(block, &diagnose::Totals::cnps);
    case Metric::kDisorder: return rate_of(block, &diagnose::Totals::disordered);
  }
  return std::nullopt;
}

std::string_view to_text(MetricVerdict verdict) {
  constexpr std::array<std::string_view, 6> kWords = {"better", "worse", "no change shown",
                                                      "more",   "less",  "too few pairs"};
  return kWords[static_cast<std::size_t>(verdict)];
}

std::string_view to_text(CriterionState state) {
  constexpr std::array<std::string_view, 3> kWords = {"not met", "met", "not checked"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string_view to_text(JudgeVerdict verdict) {
  constexpr std::array<std::string_view, 3> kWords = {"keep", "remove", "not proven"};
  return kWords[static_cast<std::size_t>(verdict)];
}

const MetricOutcome* Judged::find(Metric metric) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(),
                   [&](const MetricOutcome& outcome) { return outcome.metric == metric; });
  return found == metrics.end() ? nullptr : &*found;
}

bool Judged::is_loss_checked() const {
  return std::none_of(criteria.begin(), criteria.end(), [](const Criterion& criterion) {
    return (criterion.id == "lossless-drop" || criterion.id == "timeout") &&
           criterion.state == CriterionState::kNotChecked;
  });
}

Result<Judged> judge(std::span<const BlockPair> pairs, const JudgeOptions& options) {
  if (pairs.empty()) return too_few(0);
  Judged out;
  out.pairs = pairs.size();
  out.prediction = options.prediction;
  for (const MetricInfo& info : kMetrics)
    if (auto outcome = outcome_of(pairs, info.metric)) out.metrics.push_back(std::move(*outcome));
  out.criteria = check_criteria(pairs, options.thresholds);
  const std::string met = met_text(out.criteria);
  const auto goal = goal_of(out, options);
  if (goal) out.goal = *goal;
  if (!met.empty()) {
    out.verdict = JudgeVerdict::kRemove;
    out.reason = met;
    if (goal) compare_with_prediction(*out.find(*goal), out);
  } else {
    WEIR_TRY_STATUS(expect_own_runs(pairs));
    if (pairs.size() < kLeastPairs) return too_few(pairs.size());
    if (!goal) return goal.error();
    const MetricOutcome& deciding = *out.find(*goal);
    if (deciding.pairs < kLeastPairs)
      return too_few(deciding.pairs, fmt::format(" that show {}", info_of(*goal).name));
    decide(deciding, out);
  }
  add_notes(pairs, out);
  return out;
}

}  // namespace weir::tune
