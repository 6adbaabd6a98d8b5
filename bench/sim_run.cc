// sim_run CONFIG hpcc|native: one run, its hops on stdout. For profilers;
// bench/sim_instructions.sh.
#include <cstdio>

#include "sim_case.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: sim_run CONFIG hpcc|native\n", stderr);
    return 2;
  }
  auto run = weir::bench::set_up(argv[1], argv[2]);
  if (!run) {
    std::fprintf(stderr, "sim_run: %s\n", run.error().what.c_str());
    return 3;
  }
  weir::bench::measured_run(*run);
  if (const weir::Status congested = weir::bench::check_congested(*run); !congested) {
    std::fprintf(stderr, "sim_run: %s\n", congested.error().what.c_str());
    return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(run->sim->hops()));
  return 0;
}
