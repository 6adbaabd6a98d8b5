#include "sim/domains/crew.h"

namespace weir::sim::engine {
namespace {

/// Some tens of microseconds, then the core is somebody else's: the others may have no core at all.
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

Crew::Crew(unsigned size) : size_(size) {
  for (unsigned i = 1; i < size; ++i)
    threads_.emplace_back([this, i] { work(i); });
}

Crew::~Crew() {
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
