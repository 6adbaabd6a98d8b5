#pragma once
// nccl-tests as the lab runs them: the usual words, the usual table.
//
//   mpirun -np 16 -x NCCL_IB_TC=106 all_reduce_perf -b 8M -e 64M -f 2
//
// Every host takes part, with a rank for each NIC; `-np` says how many ranks. Data is split over
// the rails as NCCL splits it over the NICs of a host; what happens within a host (NVLink) takes no
// time. NCCL_IB_TC of the launcher's -x, --export or of env marks the packets; without it the
// design's traffic class does. Sizes too large to simulate are left out, and it says so.
#include <string>
#include <vector>

#include "host/host_io.h"
#include "lab/fabric/lab.h"

namespace weir::lab {

/// Whether a command starts one of nccl-tests, also behind mpirun, srun or env.
[[nodiscard]] bool is_nccl_test(const std::vector<std::string>& command);
[[nodiscard]] std::vector<std::string> nccl_test_names();

struct NcclTestCall {
  std::string tool;
  Bytes least = Bytes::raw(32 << 20);  // nccl-tests' own default: 32 MiB for both
  Bytes most = Bytes::raw(32 << 20);
  std::int64_t factor = 0;  // 0: `step` is added
  Bytes step = Bytes::raw(1 << 20);
  std::uint32_t ranks = 0;  // 0: all
  std::optional<TosByte> traffic_class;

  [[nodiscard]] std::vector<Bytes> sizes() const;
};
/// The error is what the program would print. REQUIRES: is_nccl_test().
[[nodiscard]] Result<NcclTestCall> parse_nccl_test(const std::vector<std::string>& command);

[[nodiscard]] Result<host::CommandOutcome> run_nccl_test(Lab::Shared& shared,
                                                         const std::vector<std::string>& command);

}  // namespace weir::lab
