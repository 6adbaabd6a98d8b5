#pragma once
// Workloads as a person writes them: "all-to-all,size=1MB,qps=4,hosts=gpu[01-08],start=100us".
//
// One table names every workload, its parameters and their defaults; the parser, the help of
// `weir sim` and docs/workloads.md follow it. A default is applied as if it had been written, so
// that the table cannot lie.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/fabric/network.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::sim {

enum class WorkloadKind : std::uint8_t {
  kPair,
  kIncast,
  kPermutation,
  kAllToAll,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kTraining,
  kFlows,
  kStorage,
  kLossy,
  kTrace,
  kModel,
  kSimai,
  kChakra,
  kNcclTests,
};

enum class Algorithm : std::uint8_t { kRing, kTree, kHalvingDoubling };
enum class Grouping : std::uint8_t { kRail, kAll };
enum class StepCollective : std::uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll };

/// A transformer, how it is spread over ranks, and how fast a GPU works on it.
struct ModelShape {
  std::uint32_t tensor = 1;    // ranks that share a layer
  std::uint32_t pipeline = 1;  // stages
  std::uint32_t data = 0;      // copies; 0: as many as there are ranks for
  std::uint32_t expert = 1;    // ranks that share the experts; of one copy each
  std::uint32_t layers = 0;
  std::uint32_t hidden = 0;
  std::uint64_t parameters = 0;  // of a dense model; 0: twelve times hidden squared in each layer
  std::uint32_t experts = 0;     // in each layer; 0: dense
  std::uint32_t active = 2;      // experts that a token goes to
  std::uint32_t sequence = 4096;
  std::uint32_t micro_batches = 8;
  std::uint32_t batch = 1;    // sequences of a micro-batch
  std::uint32_t element = 2;  // bytes of a number
  std::uint64_t flops = 0;    // that a GPU does in a second
};

struct WorkloadSpec {
  WorkloadKind kind = WorkloadKind::kPair;
  std::string label;       // in results; the workload's name unless given
  std::string hosts;       // a pattern of names; empty: all
  std::vector<int> rails;  // empty: all
  Grouping group = Grouping::kRail;
  Time start;
  Operation operation = Operation::kWrite;
  std::optional<int> qps;  // none: as the design says
  Bytes size;
  std::uint32_t iterations = 1;
  std::uint32_t depth = 1;
  std::string traffic_class;
  std::optional<TosByte> tos;  // instead of what host or class mark with
  std::string from;            // a host; empty: the first
  std::string to;              // a host; empty: by the workload
  std::uint32_t senders = 0;   // 0: all
  std::uint32_t shift = 0;     // 0: at random
  Algorithm algorithm = Algorithm::kRing;
  Bytes chunk;
  Duration compute;
  Share overlap;
  StepCollective collective = StepCollective::kAllReduce;
  std::string sizes;  // a distribution; empty: every flow is `size`
  Share load;
  Duration duration;
  std::string file;
  std::string groups_file;  // of a Chakra trace; empty: none
  ModelShape model;
  BitRate inside;  // between the GPUs of a host, each way
};

/// Whether it computes as well as sends, by a graph of its own (sim/workload/task_graph.h).
[[nodiscard]] constexpr bool is_graph(WorkloadKind kind) {
  return kind == WorkloadKind::kModel || kind == WorkloadKind::kSimai ||
         kind == WorkloadKind::kChakra || kind == WorkloadKind::kNcclTests;
}
/// Whether its rounds are training steps: computing, and communication that it hides or not.
[[nodiscard]] constexpr bool has_steps(WorkloadKind kind) {
  return kind == WorkloadKind::kTraining || (is_graph(kind) && kind != WorkloadKind::kNcclTests);
}

/// Whether its flows begin at times of their own, whatever became of the others.
[[nodiscard]] constexpr bool is_open_loop(WorkloadKind kind) {
  return kind == WorkloadKind::kFlows || kind == WorkloadKind::kStorage ||
         kind == WorkloadKind::kLossy || kind == WorkloadKind::kTrace;
}

/// Shapes that `of=` names.
struct KnownModel {
  std::string_view name;
  std::uint32_t layers;
  std::uint32_t hidden;
  std::uint64_t parameters;
};
[[nodiscard]] std::span<const KnownModel> known_models();

struct WorkloadParameter {
  std::string_view name;
  std::string_view fallback;  // as it would be written
  std::string_view meaning;
};

struct WorkloadRow {
  WorkloadKind kind;
  std::string_view name;
  std::string_view summary;
  std::vector<WorkloadParameter> own;  // beside the common ones
};

[[nodiscard]] std::span<const WorkloadRow> workload_table();
[[nodiscard]] const WorkloadRow& row_of(WorkloadKind kind);

/// "name[,parameter=value]…". Commas within brackets belong to a pattern; several patterns are
/// joined by '+'. Errors quote what was found, say what was expected and suggest the nearest name.
[[nodiscard]] Result<WorkloadSpec> parse_workload(std::string_view text);

/// A file of them, one per line; '#' begins a comment. Errors say "FILE:LINE: …".
[[nodiscard]] Result<std::vector<WorkloadSpec>> parse_workloads(std::string_view text,
                                                                std::string_view file);

/// For `weir sim --list-workloads`.
[[nodiscard]] std::string list_workloads(std::size_t width);

}  // namespace weir::sim
