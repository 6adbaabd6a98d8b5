#pragma once
// Threads that simulate side by side and wait for each other many times in a millisecond.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace weir::sim::engine {

/// Whether all threads or one of them alone simulate the next windows. Which is faster depends on
/// the work in a window and on who else uses the cores, so both are timed: after each stretch of
/// the faster the other has a short trial. No result depends on it.
class Pace {
 public:
  static constexpr std::int64_t kTrialNs = 500'000;
  /// A stretch is so many times as long as the trial that follows it: what trials may cost.
  static constexpr std::int64_t kStretchPerTrial = 32;

  enum Way : std::uint8_t { kAll, kAlone };

  /// `adapts`: false: all threads, always.
  explicit Pace(bool adapts) : adapts_(adapts) {}

  [[nodiscard]] bool is_alone() const { return way_ == kAlone; }
  /// A window was simulated. Those still under way when the way changed do not count.
  void passed(Way way, std::int64_t ns, std::uint64_t events);

 private:
  /// Of the present way: a trial ends with the window in which its time is over.
  [[nodiscard]] std::int64_t trial_time() const { return std::max(kTrialNs, longest_); }

  bool adapts_;
  Way way_ = kAll;
  bool is_trial_ = false;
  std::int64_t wanted_ = kTrialNs;  // of the stretch or trial in hand
  std::int64_t ns_ = 0;
  std::int64_t longest_ = 0;  // window
  std::uint64_t events_ = 0;
  std::int64_t cost_ = 0;         // of the stretch before: nanoseconds per 1,024 events
  std::int64_t other_trial_ = 0;  // how long a trial of the other way takes
};

class Crew {
 public:
  /// The calling thread is one of `size`.
  Crew(unsigned size, bool adapts);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  [[nodiscard]] unsigned size() const { return size_; }
  [[nodiscard]] Pace& pace() { return pace_; }
  /// Calls `body(i)` for every i below size(), each on its thread, 0 on the calling one; returns
  /// when all are done.
  void run(const std::function<void(unsigned)>& body);
  /// In a body: goes on when all have come here. What they did before is seen after.
  void meet();

 private:
  void work(unsigned index);
  void end();

  unsigned size_;
  Pace pace_;
  std::atomic<std::uint32_t> round_{0};  // of run()
  std::atomic<std::uint32_t> meeting_{0};
  std::atomic<std::uint32_t> arrived_{0};
  bool is_over_ = false;
  const std::function<void(unsigned)>* body_ = nullptr;
  std::vector<std::thread> threads_;
  /// Also where a thread cannot be started: those before it must not outlive this.
  struct Ender {
    Crew& crew;
    ~Ender() { crew.end(); }
  };
  Ender ender_{*this};
};

}  // namespace weir::sim::engine
