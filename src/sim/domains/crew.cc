#include "sim/domains/crew.h"

namespace weir::sim::engine {
namespace {

/// Some tens of microseconds, then the core is free: the other threads may have none at all.
constexpr int kSpins = 2000;

void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (value.load(std::memory_order_acquire) == old)
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

void Pace::passed(Way way, std::int64_t ns, std::uint64_t events) {
  if (!adapts_ || way != way_) return;
  ns_ += ns;
  events_ += events;
  longest_ = std::max(longest_, ns);
  if (ns_ < wanted_) return;
  const auto cost = ns_ * 1024 / static_cast<std::int64_t>(std::max<std::uint64_t>(events_, 1));
  const bool is_better = is_trial_ && cost < cost_;
  if (!is_better) way_ = way_ == kAll ? kAlone : kAll;
  if (is_trial_) {
    wanted_ = kStretchPerTrial * (is_better ? other_trial_ : trial_time());
  } else {
    cost_ = cost;
    wanted_ = kTrialNs;
    other_trial_ = trial_time();
  }
  is_trial_ = !is_trial_;
  ns_ = longest_ = 0;
  events_ = 0;
}

Crew::Crew(unsigned size, bool adapts) : size_(size), pace_(adapts) {
  for (unsigned i = 1; i < size; ++i)
    threads_.emplace_back([this, i] { work(i); });
}

void Crew::end() {
  is_over_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Crew::run(const std::function<void(unsigned)>& body) {
  body_ = &body;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  body(0);
  meet();
}

void Crew::work(unsigned index) {
  for (std::uint32_t round = 0;; ++round) {
    wait_for_change(round_, round);
    if (is_over_) return;
    (*body_)(index);
    meet();
  }
}

void Crew::meet() {
  const std::uint32_t meeting = meeting_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_)
    return wait_for_change(meeting_, meeting);
  arrived_.store(0, std::memory_order_relaxed);
  meeting_.store(meeting + 1, std::memory_order_release);
  meeting_.notify_all();
}

}  // namespace weir::sim::engine
