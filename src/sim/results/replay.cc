#include "sim/results/replay.h"

#include <algorithm>
#include <utility>

namespace weir::sim {

Replay::Replay(Sim& sim, Workloads& load, Time end) : sim_(sim), load_(load), end_(end) {
  if (!load.has_rounds_to_repeat()) return;
  report_.why_not = sim.cannot_rest();
  is_on_ = report_.why_not.empty();
  if (is_on_) report_.why_not = "the fabric does not come to rest between steps";
  sim.set_stop_at_rest(is_on_);
}

void Replay::missed(std::string_view why) {
  constexpr std::uint64_t kPatience = 8;
  report_.why_not = why;
  if (++misses_ > kPatience) skip_ = std::uint64_t{1} << std::min<std::uint64_t>(misses_ / 2, 20);
}

void Replay::at_rest() {
  if (!is_on_) return;
  if (asked_ == sim_.now()) return;  // a slice of the run that ended between two steps
  asked_ = sim_.now();
  auto mark = load_.mark();
  if (!mark || !load_.has_rounds_to_repeat()) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  std::string_view why;
  Instant now{sim_.rest(why), std::move(*mark)};
  if (now.rest == nullptr) return missed(why);
  if (!instants_.empty() && instants_.back().rest->origin == now.rest->origin) return;
  for (auto before = instants_.rbegin(); before != instants_.rend(); ++before) {
    why = now.rest->differs_from(*before->rest);
    if (why.empty()) why = repeat_since(*before, now);
    if (!why.empty()) continue;
    misses_ = 0;
    report_.why_not.clear();
    instants_.clear();
    return;
  }
  if (!why.empty()) missed(why);
  if (instants_.size() == kRemembered) instants_.erase(instants_.begin());
  instants_.push_back(std::move(now));
}

std::string_view Replay::repeat_since(const Instant& before, const Instant& now) {
  const Duration period = Duration::raw(now.rest->period_since(*before.rest));
  RoundsAgain again = load_.rounds_again(before.mark, now.mark, period);
  if (!now.rest->is_compact && again.is_last) again = {again.times - 1, false};
  if (again.times == 0) return "too few steps are left";
  // Where a run is cut off, its last event may be one of the timers, which a replay leaves out.
  const Ps room = end_.since_start().raw() - 1 - now.rest->since;
  if (static_cast<std::uint64_t>(std::max<Ps>(room, 0) / period.raw()) < again.times)
    return "the run is cut off before its last step; give it a longer --duration";
  const std::uint64_t hops = sim_.hops();
  sim_.repeat(*before.rest, *now.rest, again.times, again.is_last);
  report_.hops += sim_.hops() - hops;
  report_.steps += load_.repeat(before.mark, again.times, period);
  return {};
}

}  // namespace weir::sim
