#include "tune/target.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tune/statistics/statistics.h"

namespace weir::tune {
namespace {

TargetSide side(bool is_met, std::string text) {
  return {is_met ? TargetState::kMet : TargetState::kMissed, std::move(text)};
}
TargetSide not_judged(std::string why) {
  return {TargetState::kNotJudged, std::move(why)};
}

TargetSide judge_marks(const std::vector<Metrics>& runs) {
  double marks = 0;
  double pauses = 0;
  double share = 0;
  std::uint64_t silent = 0;  // paused, and not marked at all
  for (const Metrics& run : runs) {
    marks += static_cast<double>(run.marked);
    pauses += static_cast<double>(run.pauses);
    share += run.mark_share / static_cast<double>(runs.size());
    silent += run.pauses > 0 && run.marked == 0 ? 1U : 0U;
  }
  if (marks == 0 && pauses == 0) return not_judged("nothing was congested");
  if (silent > 0)
    return side(false, fmt::format("{} of {} runs paused without a mark", silent, runs.size()));
  const std::string text = fmt::format("{:.2g} % marked", 100 * share);
  if (pauses == 0) return side(true, text);
  return side(marks >= pauses, fmt::format("{}, {:.3g} per pause", text, marks / pauses));
}

TargetSide judge_pauses(const std::vector<Metrics>& runs, double pause_limit, double rare) {
  const auto bad = static_cast<std::uint64_t>(std::count_if(
      runs.begin(), runs.end(), [&](const Metrics& run) { return run.pause_share > pause_limit; }));
  const double rate = upper_bound(bad, runs.size());
  return side(bad == 0 || rate < rare,
              fmt::format("{} of {} runs, rate <{:.1f} %", bad, runs.size(), 100 * rate));
}

TargetSide judge_drops(const std::vector<Metrics>& runs) {
  std::uint64_t drops = 0;
  std::uint64_t again = 0;
  std::uint64_t unfinished = 0;
  for (const Metrics& run : runs) {
    drops += run.lossless_drops;
    again += run.retransmitted;
    unfinished += run.finished ? 0U : 1U;
  }
  if (drops > 0) return side(false, counted(drops, "drop"));
  if (again > 0) return side(false, fmt::format("{} sent again", counted(again, "packet")));
  if (unfinished > 0)
    return side(false, fmt::format("{} did not finish", counted(unfinished, "run")));
  return side(true, "none");
}

bool has_mixed_sizes(const sim::WorkloadSpec& spec) {
  return spec.kind == sim::WorkloadKind::kFlows || spec.kind == sim::WorkloadKind::kStorage ||
         spec.kind == sim::WorkloadKind::kLossy || spec.kind == sim::WorkloadKind::kTrace;
}

TargetSide judge_use(const Load& load, const std::vector<Metrics>& runs, double wanted) {
  if (load.spec.kind == sim::WorkloadKind::kTrace)
    return not_judged("what a trace offers is not known");
  if (load.spec.kind == sim::WorkloadKind::kTraining)
    return not_judged("it computes between transfers");
  const double offered = static_cast<double>(load.spec.load.raw()) / kSharePerWhole;
  if (has_mixed_sizes(load.spec) && offered < wanted)
    return not_judged(fmt::format("it offers {:.0f} %", 100 * offered));
  double use = 0;
  for (const Metrics& run : runs)
    use += run.utilisation / static_cast<double>(runs.size());
  return side(use >= wanted, fmt::format("{:.0f} %", 100 * use));
}

/// The longest against the mean, in a run and between runs.
TargetSide judge_tails(const Load& load, const std::vector<Metrics>& runs, double most_times) {
  if (has_mixed_sizes(load.spec)) return not_judged("its flows differ in size");
  double worst = 0;
  double least = 0;
  double most = 0;
  for (const Metrics& run : runs) {
    const double mean = run.step_us.value_or(run.mean_us);
    const double longest = run.step_max_us.value_or(run.max_us);
    if (!run.finished || mean <= 0) return side(false, "a run did not finish");
    worst = std::max(worst, longest / mean);
    least = least == 0 ? mean : std::min(least, mean);
    most = std::max(most, mean);
  }
  const double between = most / least;
  return side(worst < most_times && between < most_times,
              fmt::format("longest {:.2f}x the mean, {:.2f}x between runs", worst, between));
}

}  // namespace

std::vector<TargetRow> judge_target(const Load& load, const std::vector<Metrics>& start,
                                    const std::vector<Metrics>* chosen, double pause_limit,
                                    const finding::Thresholds& thresholds) {
  std::vector<TargetRow> out;
  const auto add = [&](std::string_view goal, const auto& judge) {
    TargetRow row{std::string(goal), load.text, judge(start), {}};
    if (chosen != nullptr) row.chosen = judge(*chosen);
    out.push_back(std::move(row));
  };
  add("marks", [](const auto& runs) { return judge_marks(runs); });
  add("pauses", [&](const auto& runs) {
    return judge_pauses(runs, pause_limit, thresholds.tuned_paused_runs);
  });
  add("drops", [](const auto& runs) { return judge_drops(runs); });
  add("use", [&](const auto& runs) { return judge_use(load, runs, thresholds.tuned_use); });
  add("tails", [&](const auto& runs) { return judge_tails(load, runs, thresholds.tuned_tail); });
  return out;
}

std::string idle_load() {
  return "pair,size=4MB";
}

TargetRow judge_idle(const Metrics& start, const Metrics* chosen) {
  const auto judge = [](const Metrics& run) {
    return side(run.marked == 0, run.marked == 0 ? "no mark" : counted(run.marked, "mark"));
  };
  TargetRow row{"idle", idle_load(), judge(start), {}};
  if (chosen != nullptr) row.chosen = judge(*chosen);
  return row;
}

}  // namespace weir::tune
