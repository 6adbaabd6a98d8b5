#pragma once
// What `weir sim` prints: the verdict in words, and tables.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "ops/simulate/sim.h"
#include "sim/fault/fault.h"
#include "sim/results/simulate.h"

namespace weir::cli {

/// One line: lossless or not, how many flows, how long they took. Says that it is a simulation.
/// Of workloads with rounds their time is that of a round, not of the flows that it is made of.
[[nodiscard]] std::string sim_verdict(const sim::Results& results, bool is_finished,
                                      const std::vector<sim::WorkloadResult>& workloads);

void print_sim(const sim::Outcome& outcome, Context& context, bool is_replay_checked = false);

/// One line: "approximate: …", with the bounds and how many windows were checked.
[[nodiscard]] std::string fast_verdict(const sim::FastOutcome& outcome);
void print_fast(const sim::FastOutcome& outcome, Context& context);

/// The verdict over all runs of a sweep, in one line.
[[nodiscard]] std::string runs_verdict(const ops::Repeated& repeated);
void print_runs(const ops::Repeated& repeated, Context& context);
/// runs.csv.
[[nodiscard]] std::string runs_csv(const ops::Repeated& repeated);

}  // namespace weir::cli
