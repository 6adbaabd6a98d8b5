#pragma once
// A list of nccl-tests runs, as people keep them in scripts: one command per line.
//
//   all_reduce_perf -b 8M -e 128M -f 2 -n 20
//   mpirun -np 64 ./build/alltoall_perf -b 1M -e 1M
//
// Words before the name of the test (mpirun, srun, a path) are passed over. Options that change
// what is sent are read; the others (-c, -w, -t, -g …) are known and have no effect here.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "readers/workload/chakra.h"
#include "units/quantity.h"

namespace weir::readers {

struct NcclRun {
  std::string test;  // "all_reduce_perf"
  TraceCollective collective = TraceCollective::kAllReduce;
  std::vector<Bytes> sizes;      // as the test prints them
  std::uint32_t iterations = 1;  // of each
  std::size_t line = 0;
};

/// Errors say "line 3: expected …, found …".
[[nodiscard]] Result<std::vector<NcclRun>> read_nccl_list(std::string_view text);

}  // namespace weir::readers
