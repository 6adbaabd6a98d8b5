#pragma once
// The models of `sim` for programs.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "ops/simulate/sim.h"

namespace weir::cli {

void print_faults_json(Context&);
void print_workloads_json(Context&);

/// digest, seed, perf, the results and, where there are any, workloads and steps; sim.json.
[[nodiscard]] std::string simulated_document(const Command&, const ops::Simulated&);
void print_simulated_json(Context&, const Command&, const ops::Simulated&);
void print_hpcc_json(Context&, const Command&, const ops::HpccSimulated&,
                     const std::string& folder);

void print_fast_json(Context&, const ops::Approximated&);

/// runs.json.
[[nodiscard]] std::string runs_document(const ops::Repeated&, std::string_view verdict);
void print_runs_json(Context&, const ops::Repeated&, std::string_view verdict);

}  // namespace weir::cli
