#include "ops/watch/live_lab.h"

#include <algorithm>
#include <chrono>

#include "sim/workload/workload_spec.h"

namespace weir::ops {
namespace {

constexpr Duration kFirstPiece = 200_us;
constexpr Duration kShortestPiece = 50_us;

}  // namespace

Result<LiveLab> LiveLab::open(std::string directory, const std::string& load, Duration pace) {
  auto spec = sim::parse_workload(load);
  if (!spec) return bad_request(spec.error().within("--load").what);
  WEIR_TRY(lab, or_bad_input(lab::Lab::open(directory)));
  lab::Load runs;
  runs.command = load;
  runs.workloads = {std::move(*spec)};
  runs.limit = kFirstPiece;
  return LiveLab(std::move(directory), std::move(runs), pace);
}

Result<LabStep> LiveLab::step() {
  WEIR_TRY(lab, or_bad_input(lab::Lab::open(directory_)));
  const lab::LabStatus before = lab.status();
  const auto begin = std::chrono::steady_clock::now();
  WEIR_TRY(outcome, or_bad_input(lab.run_load(load_)));
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  LabStep step{.simulated = outcome.elapsed, .clock = before.clock + outcome.elapsed, .faults = {}};
  for (const lab::ActiveFault& fault : lab.faults())
    step.faults.push_back(fault.text);
  // Towards a third of the pace, by at most a factor of two; never faster than real time.
  const double wanted = static_cast<double>(pace_.raw()) / 1e12 / 3;
  const double change = std::clamp(wanted / std::max(took, 1e-6), 0.5, 2.0);
  const auto next = static_cast<std::int64_t>(static_cast<double>(outcome.elapsed.raw()) * change);
  load_.limit = std::clamp(Duration::raw(next), kShortestPiece, pace_);
  return step;
}

}  // namespace weir::ops
