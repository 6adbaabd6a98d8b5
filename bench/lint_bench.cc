// The design's own speed: what a user waits for when he lints a fabric of 1,024 hosts. Target:
// `lint` of clos1k under one second, load and derive included.
#include <benchmark/benchmark.h>

#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/lint/lint.h"

namespace weir::design {
namespace {

void lint_template(benchmark::State& state, const char* name) {
  const std::string_view text = find_template(name)->text;
  std::size_t findings = 0;
  for (auto _ : state) {
    const Loaded loaded = load_text(text, "fabric.yaml");
    const Derived derived = derive(loaded.design);
    findings += lint(loaded.design, derived.intent).findings.size();
  }
  state.counters["findings"] = benchmark::Counter(static_cast<double>(findings));
}
BENCHMARK_CAPTURE(lint_template, pod16, "pod16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lint_template, rail256, "rail256")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lint_template, clos1k, "clos1k")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weir::design
