#include "base/parallel.h"

#include <algorithm>
#include <atomic>
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
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(jobs, count); ++i)
    others.emplace_back(work);
  work();
}  // the others are joined here

}  // namespace weir
