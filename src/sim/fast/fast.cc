#include "sim/fast/fast.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/fast/methods.h"

namespace weir::sim {
namespace {

constexpr std::string_view kComparedSizes = "websearch";

/// Only what was compared with runs in full (docs/fast.md). Others were tried and lay outside their
/// bounds: `storage` and flows of one size (the median up to 28 % off), an incast (17 %: its
/// windows are over before DCQCN acts).
bool was_compared(const WorkloadSpec& spec) {
  return spec.kind == WorkloadKind::kFlows && spec.sizes == kComparedSizes;
}

}  // namespace

Error cannot_approximate(std::string_view why) {
  return invalid_error(fmt::format("--fast: {}; leave out --fast", why));
}

Status check_window(const Sim& sim) {
  const std::uint64_t lost = sim.lossless_drops();
  if (lost > 0)
    return cannot_approximate(
        fmt::format("{} packets of lossless traffic were dropped in a window simulated in full",
                    with_thousands(static_cast<std::int64_t>(lost))));
  for (const MessageRecord& message : sim.messages())
    if (message.state == MessageState::kFailed)
      return cannot_approximate("flows failed in a window simulated in full");
  return {};
}

Result<FastOutcome> simulate_fast(const Experiment& experiment, const RunProgress& progress) {
  if (!experiment.faults.empty())
    return cannot_approximate("a run with faults is simulated in full");
  if (experiment.sample_every.raw() > 0 || experiment.observer != nullptr)
    return cannot_approximate("time series, traces and captures need every packet");
  const std::vector<WorkloadSpec>& loads = experiment.workloads;
  if (std::all_of(loads.begin(), loads.end(), was_compared))
    return approximate_flows(experiment, progress);
  if (loads.size() == 1 && loads[0].kind == WorkloadKind::kAllToAll)
    return approximate_size(experiment, progress);
  if (loads.size() > 1)
    return cannot_approximate(fmt::format(
        "several workloads are approximated only where all are flows,sizes={}", kComparedSizes));
  return cannot_approximate(fmt::format(
      "only an all-to-all and flows,sizes={} were compared with runs in full", kComparedSizes));
}

}  // namespace weir::sim
