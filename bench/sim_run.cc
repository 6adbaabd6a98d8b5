// sim_run INPUT hpcc|native [--count]: one run, and what it came to on one line:
//
//   hops data_hops events digest marks cnps acks setup_s run_s peak_mb multimap_per_s
//
// --count: for a profiler that counts instructions; the multimap is left out.
#include <ctime>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>

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
  const bool counts = argc == 4 && std::string_view(argv[3]) == "--count";
  if (argc != 3 && !counts) {
    fmt::print(stderr, "usage: sim_run INPUT hpcc|native [--count]\n");
    return 2;
  }
  const double begin = cpu_seconds();
  auto run = weir::bench::set_up(argv[1], argv[2]);
  if (!run) {
    fmt::print(stderr, "sim_run: {}\n", run.error().what);
    return 3;
  }
  const double ready = cpu_seconds();
  weir::bench::measured_run(*run);
  const double end = cpu_seconds();
  const double peak = peak_mb();
  const weir::sim::Sim& sim = *run->sim;
  const weir::bench::Congestion seen = weir::bench::congestion_of(sim);
  if (seen.unfinished > 0) {
    fmt::print(stderr, "sim_run: {} messages unfinished: not the run to measure\n",
               seen.unfinished);
    return 1;
  }
  fmt::print("{} {} {} {:016x} {} {} {} {:.3f} {:.3f} {:.1f} {:.0f}\n", sim.hops(), sim.data_hops(),
             sim.events(), sim.digest(), seen.marks, seen.cnps, seen.acks, ready - begin,
             end - ready, peak, counts ? 0 : weir::bench::multimap_rate());
  return 0;
}
