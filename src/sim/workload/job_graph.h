#pragma once
// From a workload that computes and sends to the graph of one round: a model by its shape, and the
// files in which people have such jobs (docs/workloads.md).
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/workload/collective.h"
#include "sim/workload/workload_spec.h"
#include "units/quantity.h"

namespace weir::sim {

/// One size of one test: its tasks are those from `first` to `end`.
struct GraphPhase {
  std::string name;
  StepCollective collective = StepCollective::kAllReduce;
  Bytes size;
  std::uint32_t iterations = 1;  // of which each is in the graph
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

struct JobGraph {
  Program program;
  std::vector<GraphPhase> phases;
  std::vector<std::string> notes;  // what is not simulated
};

/// `host`: of each rank. REQUIRES: is_graph(spec.kind). The error names the file and the place.
[[nodiscard]] Result<JobGraph> job_graph(const WorkloadSpec& spec,
                                         const std::vector<std::uint32_t>& host);

/// What a step of a model computes and sends, by the rules of docs/workloads.md; for `weir job`.
struct ModelStep {
  std::uint32_t ranks = 0;
  std::uint32_t data = 0;
  Duration forward;  // of one stage and micro-batch
  Duration backward;
  Duration tensor;    // inside the host, per forward pass of a stage; as much again backward
  Bytes activations;  // that a rank passes to the next stage, per micro-batch
  Bytes gradients;    // that a rank reduces over the copies
  Bytes tokens;       // that a rank sends to experts in one all-to-all
  std::uint32_t stage_layers = 0;
  Bytes expert_gradients;
};
/// The error says which degree does not fit.
[[nodiscard]] Result<ModelStep> model_step(const WorkloadSpec& spec, std::uint32_t ranks,
                                           std::uint32_t ranks_per_host);

}  // namespace weir::sim
