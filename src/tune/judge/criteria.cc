#include "tune/judge/criteria.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::tune {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;
constexpr std::string_view kNoPauseTime = "not every block shows the time in pause";

using finding::Thresholds;
using BlockOf = Block BlockPair::*;
using CountOf = std::optional<std::uint64_t> diagnose::Totals::*;

std::optional<std::uint64_t> count_in(const Block& block, CountOf count) {
  return block.totals ? (*block.totals).*count : std::nullopt;
}

/// Over the blocks of one side. `seen`: in how many of them the counter could be read.
struct Tally {
  std::uint64_t sum = 0;
  std::size_t seen = 0;
  std::vector<std::string> where;  // blocks in which it moved
};

Tally tally(std::span<const BlockPair> pairs, BlockOf side, CountOf count) {
  Tally out;
  for (const BlockPair& pair : pairs) {
    const auto amount = count_in(pair.*side, count);
    if (!amount) continue;
    ++out.seen;
    out.sum += *amount;
    if (*amount > 0) out.where.push_back((pair.*side).name);
  }
  return out;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  const std::string more =
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return join(first, ", ") + more;
}

/// A counter that must not move at all.
void check_never(std::span<const BlockPair> pairs, CountOf count, std::string_view noun,
                 Criterion& out) {
  const Tally after = tally(pairs, &BlockPair::after, count);
  const Tally before = tally(pairs, &BlockPair::before, count);
  if (after.sum > 0) {
    out.state = CriterionState::kMet;
    out.text = fmt::format("{} in {}", counted(after.sum, noun), some_of(after.where));
    if (before.sum > 0)
      out.text +=
          fmt::format("; without the change too: {} in {}", before.sum, some_of(before.where));
    return;
  }
  if (after.seen < pairs.size()) {
    out.text = after.seen == 0 ? "no block shows such a counter"
                               : fmt::format("only {} of {} blocks show such a counter", after.seen,
                                             pairs.size());
    return;
  }
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("none in {}", counted(after.seen, "block"));
}

/// Drops where they are counted; else sequence errors of senders that began with the change:
/// routing that reorders packets shows it all the time.
void check_drops(std::span<const BlockPair> pairs, Criterion& out) {
  check_never(pairs, &diagnose::Totals::dropped, "packet", out);
  if (out.state == CriterionState::kMet) return;
  const Tally after = tally(pairs, &BlockPair::after, &diagnose::Totals::loss_signs);
  const Tally before = tally(pairs, &BlockPair::before, &diagnose::Totals::loss_signs);
  const bool is_known = before.seen == pairs.size() && after.seen == pairs.size();
  if (after.sum > 0 && before.sum == 0 && before.seen == pairs.size()) {
    out.state = CriterionState::kMet;
    out.text = fmt::format("{} that senders saw in {}, none without the change",
                           counted(after.sum, "sequence error"), some_of(after.where));
  } else if (out.state == CriterionState::kNotChecked && is_known && after.sum == 0) {
    out.state = CriterionState::kNotMet;
    out.text = fmt::format("no sequence error in {}", counted(after.seen, "block"));
  }
}

void check_failures(std::span<const BlockPair> pairs, Criterion& out) {
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("none reported in {}", counted(pairs.size(), "block"));
  for (const BlockPair& pair : pairs) {
    if (pair.after.failure.empty()) continue;
    out.state = CriterionState::kMet;
    out.text = fmt::format("{}: {}", pair.after.name, pair.after.failure);
    return;
  }
}

std::optional<double> pause_share(const Block& block) {
  return block.totals ? block.totals->pause_share : std::nullopt;
}

void check_pauses(std::span<const BlockPair> pairs, const Thresholds& limits, Criterion& out) {
  std::size_t seen = 0;
  double most = 0;
  for (const BlockPair& pair : pairs) {
    const auto share = pause_share(pair.after);
    if (!share) continue;
    ++seen;
    most = std::max(most, *share);
    if (*share <= limits.pause_error) continue;
    out.state = CriterionState::kMet;
    out.text = fmt::format("{:.1f} % of the time in {}", *share * 100, pair.after.name);
    return;
  }
  if (seen < pairs.size()) {
    out.text = kNoPauseTime;
    return;
  }
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("at most {:.2g} %", most * 100);
}

/// A multiple of the worst block without the change. Where none of these paused, the warning level:
/// twice nothing would make a roll-out end at its first pause frame.
void check_pause_growth(std::span<const BlockPair> pairs, const Thresholds& limits,
                        Criterion& out) {
  double baseline = 0;
  for (const BlockPair& pair : pairs) {
    const auto before = pause_share(pair.before);
    const auto after = pause_share(pair.after);
    if (!before || !after) {
      out.text = kNoPauseTime;
      return;
    }
    const double seconds =
        static_cast<double>(pair.after.totals->window.raw()) / kPicosecondsPerSecond;
    if (seconds < limits.rollout_pause_window) {
      out.text = fmt::format("{} lasted {:.3g} s: shorter than {} s", pair.after.name, seconds,
                             limits.rollout_pause_window);
      return;
    }
    baseline = std::max(baseline, *before);
  }
  const double limit = baseline > 0 ? limits.rollout_pause_growth * baseline : limits.pause_warning;
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("no block above {:.2g} %", limit * 100);
  for (const BlockPair& pair : pairs) {
    const double share = *pause_share(pair.after);
    if (share <= limit) continue;
    out.state = CriterionState::kMet;
    out.text = fmt::format("{:.2g} % of the time in {}, at most {:.2g} % without the change",
                           share * 100, pair.after.name, baseline * 100);
    return;
  }
}

/// Far above the mean without the change, and above every block without it: a tail that jumps by
/// itself proves nothing.
void check_p99(std::span<const BlockPair> pairs, const Thresholds& limits, Criterion& out) {
  double logs = 0;
  double worst_before = 0;
  for (const BlockPair& pair : pairs) {
    if (!pair.before.p99_us || !pair.after.p99_us || *pair.before.p99_us <= 0) {
      out.text = "not every block tells it";
      return;
    }
    logs += std::log(*pair.before.p99_us);
    worst_before = std::max(worst_before, *pair.before.p99_us);
  }
  const double usual = std::exp(logs / static_cast<double>(pairs.size()));
  const double limit = std::max(limits.rollout_p99_growth * usual, worst_before);
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("no block above {:.4g} us", limit);
  for (const BlockPair& pair : pairs) {
    const double p99 = *pair.after.p99_us;
    if (p99 <= limit) continue;
    out.state = CriterionState::kMet;
    out.text =
        fmt::format("{:.4g} us in {}, {:.4g} us without the change", p99, pair.after.name, usual);
    return;
  }
}

/// How much slower the block with the change is than its neighbour: 1.03 is 3 % more time.
std::optional<double> slowness(const BlockPair& pair) {
  for (const Metric metric : {Metric::kStepTime, Metric::kBusBandwidth, Metric::kBandwidth}) {
    const auto before = value_of(pair.before, metric);
    const auto after = value_of(pair.after, metric);
    if (!before || !after || *before <= 0 || *after <= 0) continue;
    return info_of(metric).better == Better::kLess ? *after / *before : *before / *after;
  }
  return std::nullopt;
}

void check_steps(std::span<const BlockPair> pairs, const Thresholds& limits, Criterion& out) {
  std::vector<std::string> row;
  for (const BlockPair& pair : pairs) {
    const auto slower = slowness(pair);
    if (!slower) {
      out.text = "not every block tells a step time or a bandwidth";
      return;
    }
    if (*slower <= 1 + limits.rollout_slower) {
      row.clear();
      continue;
    }
    row.push_back(fmt::format("{} {:+.1f} %", pair.after.name, (*slower - 1) * 100));
    if (row.size() < limits.rollout_slow_blocks) continue;
    out.state = CriterionState::kMet;
    out.text = join(row, ", ");
    return;
  }
  out.state = CriterionState::kNotMet;
  out.text = fmt::format("never {} in a row", counted(limits.rollout_slow_blocks, "block"));
}

}  // namespace

std::vector<Criterion> criteria(const Thresholds& limits) {
  return {
      {.id = "lossless-drop", .rule = "lossless drop"},
      {.id = "timeout", .rule = "timeout"},
      {.id = "load", .rule = "failed load"},
      {.id = "watchdog", .rule = "PFC watchdog"},
      {.id = "pause-share",
       .rule = fmt::format("paused > {:g} % of the time", limits.pause_error * 100)},
      {.id = "pause-growth",
       .rule = fmt::format("paused > {:g} times before, {:g} s", limits.rollout_pause_growth,
                           limits.rollout_pause_window)},
      {.id = "p99",
       .rule = fmt::format("p99 latency > {:g} times before", limits.rollout_p99_growth)},
      {.id = "step-time",
       .rule = fmt::format("step time > +{:g} %, {}", limits.rollout_slower * 100,
                           counted(limits.rollout_slow_blocks, "block"))},
  };
}

std::vector<Criterion> check_criteria(std::span<const BlockPair> pairs, const Thresholds& limits) {
  std::vector<Criterion> out = criteria(limits);
  check_drops(pairs, out[0]);
  check_never(pairs, &diagnose::Totals::timeouts, "timeout", out[1]);
  check_failures(pairs, out[2]);
  check_never(pairs, &diagnose::Totals::watchdog, "event", out[3]);
  check_pauses(pairs, limits, out[4]);
  check_pause_growth(pairs, limits, out[5]);
  check_p99(pairs, limits, out[6]);
  check_steps(pairs, limits, out[7]);
  return out;
}

}  // namespace weir::tune
