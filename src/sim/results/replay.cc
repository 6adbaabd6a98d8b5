#include "sim/results/replay.h"

#include <algorithm>
#include <utility>

namespace weir::sim {

Replay::Replay(Sim& sim, Workloads& load, Time end, RepeatableWatch* watch)
    : sim_(sim), load_(load), end_(end) {
  if (watch != nullptr) look_ahead_.emplace(*watch);
  if (!load.has_rounds_to_repeat()) return;
  report_.why_not = sim.cannot_rest();
  is_on_ = report_.why_not.empty();
  if (is_on_) report_.why_not = "the fabric does not come to rest between steps";
  sim.set_stop_at_rest(is_on_);
  const bool has_parts = is_on_ && watch == nullptr && load.rounds_left_alone() > 0;
  if (const std::uint32_t count = has_parts ? sim.find_regions() : 0; count > 1)
    regions_.resize(count);
}

void Replay::note_miss(std::uint64_t& misses, std::uint64_t& skip) {
  constexpr std::uint64_t kPatience = 8;
  if (++misses > kPatience) skip = std::uint64_t{1} << std::min<std::uint64_t>(misses / 2, 20);
}

void Replay::missed(std::string_view why) {
  report_.why_not = why;
  note_miss(misses_, skip_);
}

void Replay::at_rest() {
  if (!is_on_) return;
  if (asked_ == sim_.now()) return;  // a slice of the run that ended between two steps
  asked_ = sim_.now();
  auto mark = load_.mark();
  if (!mark || !load_.has_rounds_to_repeat()) return;
  if (!repeat_whole(std::move(*mark))) play_regions();
}

bool Replay::repeat_whole(WorkloadMark mark) {
  if (skip_ > 0) {
    --skip_;
    return false;
  }
  std::string_view why;
  Instant now{sim_.rest(why), std::move(mark)};
  if (now.rest == nullptr) {
    missed(why);
    return false;
  }
  if (!instants_.empty() && instants_.back().rest->origin == now.rest->origin) return true;
  const bool is_to_go_on = look_ahead_ && look_ahead_->is_under_way(*now.rest);
  is_looking_ahead_ = false;
  for (auto before = instants_.rbegin(); !is_to_go_on && before != instants_.rend(); ++before) {
    why = now.rest->differs_from(*before->rest);
    if (why.empty()) why = repeat_since(*before, now);
    if (!why.empty()) continue;
    misses_ = 0;
    report_.why_not.clear();
    if (is_looking_ahead_) break;
    instants_.clear();
    return true;
  }
  if (!why.empty()) missed(why);
  if (instants_.size() == kRemembered) instants_.erase(instants_.begin());
  instants_.push_back(std::move(now));
  return false;
}

void Replay::play_regions() {
  const std::uint64_t left = regions_.empty() ? 0 : load_.rounds_left_alone();
  for (std::uint32_t r = 0; left > 0 && r < regions_.size(); ++r) {
    Region& region = regions_[r];
    if (region.skip > 0) {
      --region.skip;
      region.begun.reset();
      continue;
    }
    std::string_view why;
    auto now = sim_.rest_of(r, why);
    if (now != nullptr && now->origin == region.origin && region.left == left) {
      region.begun = std::move(now);  // asked before, and only a timer has fired since
      continue;
    }
    std::unique_ptr<Rest> before = std::exchange(region.begun, nullptr);
    if (std::exchange(region.left, left) != left + 1) before.reset();  // more than one step
    if (now != nullptr && before != nullptr) why = now->is_touched_since(*before);
    if (!why.empty()) note_miss(region.misses, region.skip);
    if (now == nullptr) continue;
    if (before != nullptr && why.empty())
      if (auto episode = sim_.episode(r, *before, *now)) {
        if (region.episodes.size() == kRemembered) region.episodes.erase(region.episodes.begin());
        region.episodes.push_back(std::move(episode));
      }
    const Ps period = std::max<Ps>(now->origin - std::exchange(region.origin, now->origin), 1);
    const auto known = std::find_if(
        region.episodes.begin(), region.episodes.end(),
        [&](const std::shared_ptr<const Episode>& e) { return now->begins_like(e->begin); });
    // Steps are expected to take as long as the last one: what is cut off has to be done again.
    const Ps room = end_.since_start().raw() - now->origin;
    if (known == region.episodes.end() || room / period <= static_cast<Ps>(left)) {
      region.begun = std::move(now);
      continue;
    }
    region.misses = 0;
    ++report_.region_steps;
    report_.hops += (*known)->hops;
    sim_.play(r, *known, *now);
  }
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
  if (look_ahead_) {
    is_looking_ahead_ = !look_ahead_->ends(sim_, *before.rest, *now.rest, again.times);
    if (is_looking_ahead_ && again.times < 2) return "too few steps are left";
    if (is_looking_ahead_) {
      look_ahead_->begin(sim_, *now.rest, period.raw(), again.times);
      return {};
    }
  }
  const std::uint64_t hops = sim_.hops();
  sim_.repeat(*before.rest, *now.rest, again.times, again.is_last);
  report_.hops += sim_.hops() - hops;
  report_.steps += load_.repeat(before.mark, again.times, period);
  return {};
}

bool Replay::must_be_undone() const {
  return sim_.is_replay_in_doubt() ||
         (report_.steps + report_.region_steps > 0 && !load_.is_out_of_room() && !load_.finished());
}

void Replay::LookAhead::begin(const Sim& sim, const Rest& rest, Ps period, std::uint64_t times) {
  origin_ = rest.origin;
  period_ = period;
  ahead_.clear();
  seen_ = 0;
  const auto at = [&](std::uint64_t periods) {
    return Time::at(Duration::raw(rest.since + period * static_cast<Ps>(periods)));
  };
  until_ = at(times);
  std::uint64_t periods = 1;
  for (const Time look : watch_.kept_until(until_)) {
    if (look <= at(1)) continue;
    while (look > at(periods + 1))
      ++periods;
    ahead_.push_back({look - Duration::raw(period * static_cast<Ps>(periods)), look, periods});
  }
  std::stable_sort(ahead_.begin(), ahead_.end(),
                   [](const Ahead& a, const Ahead& b) { return a.phase < b.phase; });
  watch_.begin_period(sim);
}

bool Replay::LookAhead::ends(const Sim& sim, const Rest& begin, const Rest& now,
                             std::uint64_t times) {
  const Time until = Time::at(Duration::raw(now.since + period_ * static_cast<Ps>(times)));
  if (begin.origin != origin_ || now.period_since(begin) != period_ || until != until_)
    return false;
  watch_.end_period(sim, until_);
  origin_ = -1;
  ahead_.clear();
  seen_ = 0;
  return true;
}

Time Replay::LookAhead::next() const {
  return seen_ == ahead_.size() ? watch_.next() : std::min(watch_.next(), ahead_[seen_].phase);
}

void Replay::LookAhead::look(const Sim& sim) {
  const Time now = next();
  for (; seen_ < ahead_.size() && ahead_[seen_].phase == now; ++seen_)
    watch_.look_ahead(sim, ahead_[seen_].at, ahead_[seen_].periods);
  if (watch_.next() == now) watch_.look(sim);
}

}  // namespace weir::sim
