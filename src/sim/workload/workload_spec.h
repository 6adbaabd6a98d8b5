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
};

enum class Algorithm : std::uint8_t { kRing, kTree, kHalvingDoubling };
enum class Grouping : std::uint8_t { kRail, kAll };
enum class StepCollective : std::uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll };

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
};

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

/// For `weir sim --list-workloads`.
[[nodiscard]] std::string list_workloads(std::size_t width);

}  // namespace weir::sim
