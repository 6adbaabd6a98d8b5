#include "sim/workload/job_graph.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "readers/workload/nccl_list.h"
#include "readers/workload/simai.h"
#include "sim/workload/chakra_graph.h"
#include "sim/workload/task_graph.h"

namespace weir::sim {
namespace {

enum Channel : std::uint32_t {
  kTensorChannel = 1,
  kData,
  kExpert,
  kExpertData,
  kForward,
  kBackward
};

std::uint32_t most_per_host(const std::vector<std::uint32_t>& host) {
  std::vector<std::uint32_t> count(host.size());
  std::uint32_t most = 0;
  for (const std::uint32_t h : host) {
    if (h >= count.size()) count.resize(h + 1);
    most = std::max(most, ++count[h]);
  }
  return most;
}

/// Ranks in the order tensor, data, pipeline: neighbours share a layer.
struct Grid {
  std::uint32_t tensor = 1;
  std::uint32_t data = 1;
  std::uint32_t pipeline = 1;

  [[nodiscard]] std::uint32_t rank(std::uint32_t t, std::uint32_t d, std::uint32_t p) const {
    return (p * data + d) * tensor + t;
  }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> tensor_groups() const {
    std::vector<std::vector<std::uint32_t>> out;
    for (std::uint32_t first = 0; first < tensor * data * pipeline; first += tensor) {
      auto& group = out.emplace_back();
      for (std::uint32_t t = 0; t < tensor; ++t)
        group.push_back(first + t);
    }
    return out;
  }
  /// Copies d, d + stride, … within blocks of `block` copies; with all of them: {data, 1}.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> data_groups(std::uint32_t block,
                                                                    std::uint32_t stride) const {
    std::vector<std::vector<std::uint32_t>> out;
    for (std::uint32_t p = 0; p < pipeline; ++p)
      for (std::uint32_t t = 0; t < tensor; ++t)
        for (std::uint32_t first = 0; first < data; first += block)
          for (std::uint32_t offset = 0; offset < stride; ++offset) {
            auto& group = out.emplace_back();
            for (std::uint32_t d = offset; d < block; d += stride)
              group.push_back(rank(t, first + d, p));
          }
    return out;
  }
};

using Groups = std::vector<std::vector<std::uint32_t>>;

/// All groups at once: each member enters after its task in `at`, which becomes its last one.
void collective_step(TaskGraph& graph, StepCollective kind, const Groups& groups, Bytes size,
                     std::uint32_t channel, std::vector<TaskId>& at) {
  for (const auto& members : groups) {
    std::vector<TaskId> entries;
    for (const std::uint32_t rank : members)
      entries.push_back(at[rank]);
    const auto done = graph.collective(kind, members, entries, size, channel);
    for (std::size_t i = 0; i < members.size(); ++i)
      at[members[i]] = done[i];
  }
}

// ---- a model ----

/// The schedule "one forward, one backward" of a stage: micro-batch and direction, in order.
struct Pass {
  std::uint32_t micro_batch = 0;
  bool is_forward = true;
};
std::vector<Pass> passes_of(std::uint32_t stage, std::uint32_t stages, std::uint32_t count) {
  const std::uint32_t ahead = std::min(stages - stage - 1, count);
  std::vector<Pass> out;
  for (std::uint32_t m = 0; m < ahead; ++m)
    out.push_back({m, true});
  for (std::uint32_t m = 0; m < count - ahead; ++m) {
    out.push_back({m + ahead, true});
    out.push_back({m, false});
  }
  for (std::uint32_t m = count - ahead; m < count; ++m)
    out.push_back({m, false});
  return out;
}

class ModelComposer {
 public:
  ModelComposer(const WorkloadSpec& spec, const ModelStep& step, TaskGraph& graph)
      : spec_(spec),
        shape_(spec.model),
        step_(step),
        graph_(graph),
        grid_{shape_.tensor, step.data, shape_.pipeline},
        at_(step.ranks, kNoTask),
        reduce_after_(step.ranks, kNoTask) {}

  void compose() {
    const std::uint32_t stages = shape_.pipeline;
    const std::uint32_t count = shape_.micro_batches;
    std::vector<std::vector<Pass>> order;
    for (std::uint32_t p = 0; p < stages; ++p)
      order.push_back(passes_of(p, stages, count));
    forward_.assign(std::size_t{stages} * count, {});
    backward_.assign(std::size_t{stages} * count, {});
    // A stage goes on as soon as what it waits for is there; so all come to their end.
    std::vector<std::size_t> next(stages);
    for (bool is_moving = true; is_moving;) {
      is_moving = false;
      for (std::uint32_t p = 0; p < stages; ++p)
        while (next[p] < order[p].size() && can_run(p, order[p][next[p]])) {
          if (graph_.is_full()) return;
          run(p, order[p][next[p]], next[p] + 1 == order[p].size());
          ++next[p];
          is_moving = true;
        }
    }
    reduce_gradients();
  }

 private:
  using Ends = std::vector<TaskId>;  // by place in a stage

  [[nodiscard]] Ends& ends(bool is_forward, std::uint32_t stage, std::uint32_t micro_batch) {
    return (is_forward ? forward_
                       : backward_)[std::size_t{stage} * shape_.micro_batches + micro_batch];
  }
  [[nodiscard]] std::uint32_t stage_ranks() const { return shape_.tensor * step_.data; }
  [[nodiscard]] bool is_first(std::uint32_t p, bool is_forward) const {
    return is_forward ? p == 0 : p + 1 == shape_.pipeline;
  }

  [[nodiscard]] bool can_run(std::uint32_t p, const Pass& pass) {
    if (is_first(p, pass.is_forward)) return true;
    return !ends(pass.is_forward, pass.is_forward ? p - 1 : p + 1, pass.micro_batch).empty();
  }

  void run(std::uint32_t p, const Pass& pass, bool is_last) {
    const std::uint32_t first = p * stage_ranks();
    if (!is_first(p, pass.is_forward)) {
      const std::uint32_t from = pass.is_forward ? p - 1 : p + 1;
      const Ends& sent = ends(pass.is_forward, from, pass.micro_batch);
      for (std::uint32_t i = 0; i < stage_ranks(); ++i) {
        const TaskId arrived =
            graph_.send(from * stage_ranks() + i, first + i, step_.activations,
                        pass.is_forward ? kForward : kBackward, sent[i], kNoTask);
        const TaskId both = graph_.wait(first + i, Duration(), arrived);
        graph_.order(at_[first + i], both);
        at_[first + i] = both;
      }
    }
    if (shape_.experts > 0)
      run_layers(p, pass.is_forward);
    else
      run_stage(p, pass.is_forward, is_last);
    Ends& done = ends(pass.is_forward, p, pass.micro_batch);
    for (std::uint32_t i = 0; i < stage_ranks(); ++i)
      done.push_back(at_[first + i]);
  }

  /// A dense stage as a whole. Gradients may be sent beside the end of the last backward pass.
  void run_stage(std::uint32_t p, bool is_forward, bool is_last) {
    const Duration takes = is_forward ? step_.forward : step_.backward;
    const Duration beside = is_last ? share_of(takes, spec_.overlap) : Duration();
    for (std::uint32_t i = 0; i < stage_ranks(); ++i) {
      const std::uint32_t rank = p * stage_ranks() + i;
      at_[rank] = graph_.compute(rank, takes - beside, at_[rank]);
      if (is_last) reduce_after_[rank] = at_[rank];
      if (beside > Duration()) at_[rank] = graph_.compute(rank, beside, at_[rank]);
      if (step_.tensor > Duration()) at_[rank] = graph_.inside(rank, step_.tensor, at_[rank]);
      if (is_last && beside == Duration()) reduce_after_[rank] = at_[rank];
    }
  }

  /// Layer by layer, since tokens go to their experts and back in each.
  void run_layers(std::uint32_t p, bool is_forward) {
    const std::int64_t layers = step_.stage_layers;
    const Duration takes = (is_forward ? step_.forward : step_.backward) / (2 * layers);
    Groups groups;
    for (auto& group : grid_.data_groups(shape_.expert, 1))
      if (group.front() / stage_ranks() == p) groups.push_back(std::move(group));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      for (int half = 0; half < 2; ++half) {  // attention, then experts
        for (std::uint32_t i = 0; i < stage_ranks(); ++i) {
          const std::uint32_t rank = p * stage_ranks() + i;
          at_[rank] = graph_.compute(rank, takes, at_[rank]);
          if (step_.tensor > Duration())
            at_[rank] = graph_.inside(rank, step_.tensor / (2 * layers), at_[rank]);
        }
        if (shape_.expert > 1)
          collective_step(graph_, StepCollective::kAllToAll, groups, step_.tokens, kExpert, at_);
      }
    }
    for (std::uint32_t i = 0; i < stage_ranks(); ++i)
      reduce_after_[p * stage_ranks() + i] = at_[p * stage_ranks() + i];
  }

  void reduce_gradients() {
    if (step_.data == 1) return;
    collective_step(graph_, StepCollective::kAllReduce, grid_.data_groups(step_.data, 1),
                    step_.gradients, kData, reduce_after_);
    if (shape_.experts == 0 || step_.data == shape_.expert) return;
    collective_step(graph_, StepCollective::kAllReduce,
                    grid_.data_groups(step_.data, shape_.expert), step_.expert_gradients,
                    kExpertData, reduce_after_);
  }

  const WorkloadSpec& spec_;
  const ModelShape& shape_;
  const ModelStep& step_;
  TaskGraph& graph_;
  Grid grid_;
  std::vector<TaskId> at_;            // the last task of each rank
  std::vector<TaskId> reduce_after_;  // after which gradients are sent
  std::vector<Ends> forward_;         // by stage and micro-batch
  std::vector<Ends> backward_;
};

Status check_degrees(const ModelShape& model, std::uint32_t ranks, std::uint32_t per_host,
                     std::uint32_t data) {
  if (std::uint64_t{model.tensor} * model.pipeline * data != ranks)
    return invalid_error(
        fmt::format("tp {} * pp {} * dp {} is {}, but {} are chosen; one rank is one NIC",
                    model.tensor, model.pipeline, data,
                    std::uint64_t{model.tensor} * model.pipeline * data, counted(ranks, "NIC")));
  if (model.tensor > per_host || per_host % model.tensor != 0)
    return invalid_error(fmt::format(
        "tp {} does not stay within a host of {}: tensor parallelism across hosts is not "
        "simulated",
        model.tensor, counted(per_host, "NIC")));
  if (model.layers % model.pipeline != 0)
    return invalid_error(
        fmt::format("{} layers cannot be divided evenly by pp {}", model.layers, model.pipeline));
  if (data % model.expert != 0)
    return invalid_error(fmt::format("ep {} does not divide dp {}", model.expert, data));
  if (model.expert > 1 && model.experts == 0)
    return invalid_error("ep is for models with experts; give experts=N");
  if (model.experts % model.expert != 0)
    return invalid_error(
        fmt::format("{} experts cannot be divided evenly by ep {}", model.experts, model.expert));
  return {};
}

Result<JobGraph> model_graph(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host) {
  const auto ranks = static_cast<std::uint32_t>(host.size());
  WEIR_TRY(step, model_step(spec, ranks, most_per_host(host)));
  if (spec.model.experts > 0 && spec.overlap > Share())
    return invalid_error("overlap is for dense models; leave out experts or overlap");
  TaskGraph graph(host, spec.inside);
  ModelComposer(spec, step, graph).compose();
  WEIR_TRY(program, std::move(graph).finish());
  return JobGraph{std::move(program), {}, {}};
}

// ---- SimAI ----

Result<StepCollective> simulated(readers::TraceCollective collective) {
  switch (collective) {
    case readers::TraceCollective::kAllReduce: return StepCollective::kAllReduce;
    case readers::TraceCollective::kAllGather: return StepCollective::kAllGather;
    case readers::TraceCollective::kReduceScatter: return StepCollective::kReduceScatter;
    case readers::TraceCollective::kAllToAll: return StepCollective::kAllToAll;
    case readers::TraceCollective::kReduce:
    case readers::TraceCollective::kGather:
    case readers::TraceCollective::kScatter:
    case readers::TraceCollective::kBroadcast:
    case readers::TraceCollective::kBarrier: break;
  }
  return invalid_error(fmt::format("{} is not simulated", readers::to_text(collective)));
}

class SimaiComposer {
 public:
  SimaiComposer(const readers::SimaiWorkload& job, const Grid& grid, TaskGraph& graph)
      : job_(job), graph_(graph), at_(graph.ranks(), kNoTask), beside_(graph.ranks(), kNoTask) {
    groups_[0] = grid.tensor_groups();
    groups_[1] = grid.data_groups(grid.data, 1);
    groups_[2] = grid.data_groups(job.expert, 1);
    groups_[3] = grid.data_groups(grid.data, job.expert);
  }

  Status compose() {
    for (const readers::SimaiLayer& layer : job_.layers)
      if (!graph_.is_full()) WEIR_TRY_STATUS(blocking(layer, layer.forward));
    for (auto layer = job_.layers.rbegin(); layer != job_.layers.rend(); ++layer) {
      if (graph_.is_full()) break;
      WEIR_TRY_STATUS(blocking(*layer, layer->input_gradient));
      compute(layer->weight_gradient.compute);
      WEIR_TRY_STATUS(in_background(*layer));
    }
    return {};
  }

 private:
  void compute(Duration takes) {
    if (takes == Duration()) return;
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank)
      at_[rank] = graph_.compute(rank, takes, at_[rank]);
  }

  Status send(const readers::SimaiLayer& layer, const readers::SimaiCommunication& what,
              std::vector<TaskId>& at) {
    const auto kind = simulated(what.collective);
    if (!kind) return kind.error().within(fmt::format("layer {}", layer.name));
    const auto group = static_cast<std::uint32_t>(what.group);
    collective_step(graph_, *kind, groups_.at(group), what.size, kTensorChannel + group, at);
    return {};
  }

  Status blocking(const readers::SimaiLayer& layer, const readers::SimaiPhase& phase) {
    compute(phase.compute);
    return phase.communication ? send(layer, *phase.communication, at_) : Status();
  }

  /// Weight gradients are sent while the next layer computes, one layer after the other.
  Status in_background(const readers::SimaiLayer& layer) {
    if (!layer.weight_gradient.communication) return {};
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) {
      const TaskId both = graph_.wait(rank, Duration(), at_[rank]);
      graph_.order(beside_[rank], both);
      beside_[rank] = both;
    }
    WEIR_TRY_STATUS(send(layer, *layer.weight_gradient.communication, beside_));
    if (layer.update == Duration()) return {};
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank)
      beside_[rank] = graph_.wait(rank, layer.update, beside_[rank]);
    return {};
  }

  const readers::SimaiWorkload& job_;
  TaskGraph& graph_;
  std::array<Groups, 4> groups_;
  std::vector<TaskId> at_;
  std::vector<TaskId> beside_;
};

Result<JobGraph> simai_graph(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host) {
  WEIR_TRY(text, read_file(spec.file));
  const auto job = readers::read_simai(text);
  if (!job) return job.error().within(spec.file);
  const auto ranks = static_cast<std::uint32_t>(host.size());
  if (job->gpus != 0 && job->gpus != ranks)
    return invalid_error(fmt::format("{}: it is for {} GPUs, but {} are chosen; one GPU is one NIC",
                                     spec.file, job->gpus, counted(ranks, "NIC")));
  const std::uint64_t share = std::uint64_t{job->tensor} * job->pipeline;
  if (ranks % share != 0 || ranks / share % job->expert != 0)
    return invalid_error(
        fmt::format("{}: model_parallel_NPU_group {} * pp {} must divide {} ranks, and ep {} what "
                    "is left of them",
                    spec.file, job->tensor, job->pipeline, ranks, job->expert));
  const Grid grid{job->tensor, static_cast<std::uint32_t>(ranks / share), job->pipeline};
  TaskGraph graph(host, spec.inside);
  WEIR_TRY_STATUS(SimaiComposer(*job, grid, graph).compose());
  auto program = std::move(graph).finish();
  if (!program) return program.error().within(spec.file);
  JobGraph out{std::move(*program), {}, {}};
  if (job->pipeline > 1)
    out.notes.push_back(fmt::format(
        "{}: its {} pipeline stages run side by side; what they send to each other and the time "
        "they wait for it are not simulated",
        spec.file, job->pipeline));
  return out;
}

// ---- nccl-tests ----

Result<JobGraph> nccl_graph(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host) {
  WEIR_TRY(text, read_file(spec.file));
  const auto runs = readers::read_nccl_list(text);
  if (!runs) return runs.error().within(spec.file);
  TaskGraph graph(host, spec.inside);
  std::vector<std::uint32_t> all;
  for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank)
    all.push_back(rank);
  std::vector<TaskId> at(all.size(), kNoTask);
  JobGraph out;
  for (const readers::NcclRun& run : *runs) {
    WEIR_TRY(kind, simulated(run.collective));
    for (const Bytes size : run.sizes) {
      if (graph.is_full()) break;
      GraphPhase phase{run.test,     kind, size, std::min(run.iterations, spec.iterations),
                       graph.size(), 0};
      at = graph.barrier(all, at);
      for (std::uint32_t i = 0; i < phase.iterations; ++i)
        at = graph.collective(kind, all, at, size, 0);
      phase.end = graph.size();
      out.phases.push_back(std::move(phase));
    }
  }
  auto program = std::move(graph).finish();
  if (!program) return program.error().within(spec.file);
  out.program = std::move(*program);
  return out;
}

}  // namespace

Result<ModelStep> model_step(const WorkloadSpec& spec, std::uint32_t ranks,
                             std::uint32_t ranks_per_host) {
  const ModelShape& model = spec.model;
  ModelStep out;
  out.ranks = ranks;
  out.data = model.data != 0 ? model.data : ranks / (model.tensor * model.pipeline);
  WEIR_TRY_STATUS(check_degrees(model, ranks, ranks_per_host, std::max(out.data, 1U)));
  out.stage_layers = model.layers / model.pipeline;
  const Int128 tokens = Int128{model.batch} * model.sequence;
  const Int128 square = Int128{model.hidden} * model.hidden;
  const std::int64_t share = std::int64_t{model.tensor} * model.pipeline;
  const bool is_dense = model.experts == 0;
  // Four squares of attention and eight of the rest, or of each expert.
  const Int128 whole = model.parameters > 0 && is_dense ? Int128{model.parameters}
                       : is_dense                       ? 12 * square * model.layers
                                                        : 4 * square * model.layers;
  const Int128 used = is_dense ? whole : (4 + Int128{8} * model.active) * square * model.layers;
  const Int128 attention = 4 * tokens * model.sequence * model.hidden * model.layers;
  const Int128 operations = (2 * tokens * used + attention) / share;
  constexpr Int128 kMostOperations = Int128{1} << 80U;
  if (operations > kMostOperations)
    return invalid_error("the model is too large: more operations than can be counted");
  const Int128 picoseconds = operations * kPicosecondsPerSecond / static_cast<Int128>(model.flops);
  constexpr std::int64_t kMostTime = 1'000'000 * kPicosecondsPerSecond;
  if (picoseconds > kMostTime)
    return invalid_error(
        "one pass of a stage takes more than a million seconds; give more flops, or a smaller "
        "model");
  const auto bytes = [](Int128 count) {
    return Bytes::raw(std::max<std::int64_t>(static_cast<std::int64_t>(count), 1));
  };
  out.forward = Duration::raw(static_cast<std::int64_t>(picoseconds));
  out.backward = out.forward * 2;
  const Int128 layer = tokens * model.hidden * model.element;
  out.activations = bytes(layer / model.tensor);
  out.gradients = bytes(whole / share * model.element);
  out.tokens = bytes(layer * model.active / model.tensor);
  if (!is_dense)
    out.expert_gradients = bytes(Int128{8} * square * model.layers *
                                 (model.experts / model.expert) / share * model.element);
  if (model.tensor > 1) {
    // Two sums over the tensor group in each layer, 2(n-1)/n of the activations each.
    const Int128 moved = 4 * layer * (model.tensor - 1) / model.tensor * out.stage_layers;
    out.tensor = serialization_time(bytes(moved), spec.inside);
  }
  return out;
}

Result<JobGraph> job_graph(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host) {
  WEIR_CHECK(is_graph(spec.kind) && !host.empty());
  if (spec.kind == WorkloadKind::kModel) return model_graph(spec, host);
  if (spec.kind == WorkloadKind::kSimai) return simai_graph(spec, host);
  if (spec.kind == WorkloadKind::kNcclTests) return nccl_graph(spec, host);
  JobGraph out;
  WEIR_TRY(program, chakra_program(spec, host, out.notes));
  out.program = std::move(program);
  return out;
}

}  // namespace weir::sim
