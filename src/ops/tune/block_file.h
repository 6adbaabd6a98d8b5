#pragma once
// What an operator measured, from files: snapshots, results of `weir verify --json`, output of
// nccl-tests and perftest, times of steps. Told apart by content.
#include <string>
#include <vector>

#include "base/result.h"
#include "evidence/evidence.h"
#include "tune/judge/judge.h"

namespace weir::ops {

/// One document of a file: counters at one time, or a measurement.
struct BlockPart {
  std::string origin;                        // "run/03-B.json", "before.json result 3"
  std::vector<evidence::Evidence> captures;  // of a snapshot; empty: `measured` counts
  tune::Block measured;
};

/// A file of JSON may hold several documents, one after the other (`weir verify --json >> FILE`).
[[nodiscard]] weir::Result<std::vector<BlockPart>> read_block_file(const std::string& path);

/// One block of all that was measured in it. Snapshots of a host bound its window: two at least.
[[nodiscard]] weir::Result<tune::Block> make_block(const std::string& name,
                                                   std::vector<BlockPart> parts);

}  // namespace weir::ops
