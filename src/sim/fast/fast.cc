#include "sim/fast/fast.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/fast/methods.h"

namespace weir::sim {
namespace {

/// All flows begin at once, and share NICs or a port alike.
bool begins_at_once(WorkloadKind kind) {
  return kind == WorkloadKind::kAllToAll || kind == WorkloadKind::kIncast;
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
  if (std::all_of(loads.begin(), loads.end(),
                  [](const WorkloadSpec& spec) { return is_open_loop(spec.kind); }))
    return approximate_flows(experiment, progress);
  if (loads.size() == 1 && begins_at_once(loads[0].kind))
    return approximate_size(experiment, progress);
  if (loads.size() > 1)
    return cannot_approximate("several workloads are approximated only where all are flows");
  return cannot_approximate(
      fmt::format("{} is neither an all-to-all, an incast nor flows that arrive by themselves",
                  row_of(loads[0].kind).name));
}

}  // namespace weir::sim
