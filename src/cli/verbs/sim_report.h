#pragma once
// What `weir sim` prints: the verdict in words, tables for people, the object for programs.
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cli/frame/command.h"
#include "sim/fault/fault.h"
#include "sim/results/simulate.h"

namespace weir::cli {

/// One line: lossless or not, how many flows, how long they took. Says that it is a simulation.
[[nodiscard]] std::string sim_verdict(const sim::Results& results, bool is_finished);

void print_sim(const sim::Outcome& outcome, Context& context);

/// digest, seed, perf, the results and, where there are any, workloads and steps.
void add_sim_json(Json& object, const sim::Outcome& outcome, bool with_evidence);
void add_perf_json(Json& object, const sim::Perf& perf);

}  // namespace weir::cli
