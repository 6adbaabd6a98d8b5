#pragma once
// Threads that simulate side by side and wait for each other many times in a millisecond.
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace weir::sim::engine {

class Crew {
 public:
  /// The calling thread is one of `size`.
  explicit Crew(unsigned size);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  [[nodiscard]] unsigned size() const { return size_; }
  /// Calls `body(i)` for every i below size(), each on its thread, 0 on the calling one; returns
  /// when all are done.
  void run(const std::function<void(unsigned)>& body);
  /// In a body: goes on when all have come here. What they did before is seen after.
  void meet();

 private:
  void work(unsigned index);

  unsigned size_;
  std::atomic<std::uint32_t> round_{0};  // of run()
  std::atomic<std::uint32_t> meeting_{0};
  std::atomic<std::uint32_t> arrived_{0};
  bool is_over_ = false;
  const std::function<void(unsigned)>* body_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace weir::sim::engine
