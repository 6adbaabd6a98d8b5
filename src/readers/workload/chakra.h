#pragma once
// Execution traces in the form of MLCommons Chakra, as ASTRA-sim reads them: one file per rank.
//
// A file is a sequence of protobuf messages, each behind its length as a varint: one of metadata,
// then one per node of the rank's graph. Or the same as JSON objects, one after the other or in an
// array, with the names of the schema or those that protobuf's JSON mapping makes of them. Only
// what a simulation of the network needs is kept; fields that are not known are passed over.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "units/quantity.h"

namespace weir::readers {

enum class TraceNodeKind : std::uint8_t {
  kOther,    // metadata, memory, work of the CPU: takes its time, blocks no GPU
  kCompute,  // on the GPU
  kSend,
  kReceive,
  kCollective,
};

enum class TraceCollective : std::uint8_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kBroadcast,
  kAllToAll,
  kReduceScatter,
  kBarrier,
};
[[nodiscard]] std::string_view to_text(TraceCollective collective);

struct TraceNode {
  std::uint64_t id = 0;
  std::string name;
  TraceNodeKind kind = TraceNodeKind::kOther;
  std::vector<std::uint64_t> after;  // ids: control and data dependencies
  Duration takes;
  bool is_untimed = false;  // computing of which only the operations are said, not the time
  TraceCollective collective = TraceCollective::kAllReduce;
  Bytes size;              // of what is sent, or of a collective: what one rank gives
  std::uint64_t peer = 0;  // of a send or a receive: a rank
  std::uint64_t tag = 0;
  std::string group;  // of a collective: a name in groups; empty or "0": all ranks
  std::string where;  // "offset 120", "line 7"
};

using RankGroups = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

struct ChakraTrace {
  std::vector<TraceNode> nodes;  // as written
  RankGroups groups;             // those that a process-group node of PyTorch names
};

/// Errors say where: "offset 120: expected …, found …", or "line 7: …" of JSON.
[[nodiscard]] Result<ChakraTrace> read_chakra(std::string_view content);

/// The communicator groups beside a trace: {"1": [0, 1, 2, 3], …}.
[[nodiscard]] Result<RankGroups> read_rank_groups(std::string_view json, std::string_view file);

}  // namespace weir::readers
