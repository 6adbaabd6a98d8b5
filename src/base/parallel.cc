#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

namespace weir {

unsigned available_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // The affinity mask, not the number of cores: containers and batch jobs are given a few.
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
}

void for_each_index(std::size_t count, unsigned jobs,
                    const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::exception_ptr failure;  // a library's, as when memory runs out: not the end of the process
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++)
        body(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> others;
  others.reserve(std::min<std::size_t>(jobs, count));
  for (std::size_t i = 1; i < std::min<std::size_t>(jobs, count); ++i)
    others.emplace_back(work);
  work();
  others.clear();  // joins them
  if (failure) std::rethrow_exception(failure);
}

}  // namespace weir
