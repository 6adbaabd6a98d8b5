// sim_run INPUT hpcc|native [--count] [THREADS]: one run, and what it came to on one line:
//
//   hops data_hops events digest marks cnps acks setup_s run_s peak_mb multimap_per_s wall_s
//   threads
//
// --count: for a profiler that counts instructions; the multimap is left out. run_s is CPU time of
// all threads, wall_s is the time that passed.
#include <chrono>
#include <ctime>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/text.h"
#include "sim_case.h"

namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  bool counts = false;
  unsigned threads = 1;
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--count")
      counts = true;
    else
      threads = static_cast<unsigned>(weir::parse_u64(word).value_or(1));
  }
  if (argc < 3) {
    fmt::print(stderr, "usage: sim_run INPUT hpcc|native [--count] [THREADS]\n");
    return 2;
  }
  const double begin = cpu_seconds();
  auto run = weir::bench::set_up(argv[1], argv[2], threads);
  if (!run) {
    fmt::print(stderr, "sim_run: {}\n", run.error().what);
    return 3;
  }
  const double ready = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  weir::bench::measured_run(*run);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double end = cpu_seconds();
  const double peak = peak_mb();
  const weir::sim::Sim& sim = *run->sim;
  const weir::bench::Congestion seen = weir::bench::congestion_of(sim);
  if (seen.unfinished > 0) {
    fmt::print(stderr, "sim_run: {} messages unfinished: not the run to measure\n",
               seen.unfinished);
    return 1;
  }
  fmt::print("{} {} {} {:016x} {} {} {} {:.3f} {:.3f} {:.1f} {:.0f} {:.3f} {}\n", sim.hops(),
             sim.data_hops(), sim.events(), sim.digest(), seen.marks, seen.cnps, seen.acks,
             ready - begin, end - ready, peak, counts ? 0 : weir::bench::multimap_rate(),
             wall.count(), sim.threads());
  return 0;
}
