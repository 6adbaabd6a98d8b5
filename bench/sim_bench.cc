// Packet hops a second: frames put on a wire, of data, ACKs, CNPs and pauses alike, over the CPU
// time of the run without its set-up.
#include <benchmark/benchmark.h>

#include "sim_case.h"

namespace weir::bench {
namespace {

void sim_hops(benchmark::State& state, const char* name, const char* model) {
  double hops = 0;
  double data_hops = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto run = set_up(std::string(WEIR_BENCH_DATA) + "/" + name + ".config.txt", model);
    if (!run) return state.SkipWithError(run.error().what.c_str());
    state.ResumeTiming();
    measured_run(*run);
    state.PauseTiming();
    const Status congested = check_congested(*run);
    if (!congested) return state.SkipWithError(congested.error().what.c_str());
    hops += static_cast<double>(run->sim->hops());
    data_hops += static_cast<double>(run->sim->data_hops());
    run->sim.reset();
    state.ResumeTiming();
  }
  state.counters["hops/s"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
  state.counters["data_hops/s"] = benchmark::Counter(data_hops, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(sim_hops, ls64_incast_hpcc, "ls64_incast16_10MB", "hpcc")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sim_hops, ls64_perm_hpcc, "ls64_perm_10MB", "hpcc")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sim_hops, ls320_perm_hpcc, "ls320_perm_10MB", "hpcc")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(sim_hops, ls64_incast_native, "ls64_incast16_10MB", "native")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sim_hops, ls64_perm_native, "ls64_perm_10MB", "native")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sim_hops, ls320_perm_native, "ls320_perm_10MB", "native")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace weir::bench
