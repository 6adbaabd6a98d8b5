#pragma once
// The perftest programs as the lab runs them: the usual flags, the usual output.
//
//   ib_write_bw -d mlx5_0 -x 3 --tclass=106 -s 65536 -n 5000 --report_gbits gpu02
//
// The server side needs no command. Without --tclass packets are marked 0, as by the real program,
// unless the port forces a traffic class or -R takes RDMA-CM's default: a wrong marking shows here
// as it would there. A run of seconds is cut to kLongest of simulated time, and says so; -a divides
// that time among the sizes.
#include <string>
#include <vector>

#include "host/host_io.h"
#include "lab/fabric/lab.h"

namespace weir::lab {

inline constexpr Duration kLongest = 20_ms;

[[nodiscard]] bool is_perftest(const std::string& tool);
[[nodiscard]] std::vector<std::string> perftest_names();

struct PerftestCall {
  std::string tool;
  std::string device;  // empty: the host's first
  std::string server;
  std::optional<unsigned> gid_index;
  std::int64_t size = 0;
  std::uint32_t iterations = 0;
  std::optional<Duration> duration;
  std::uint32_t qps = 1;
  std::uint32_t depth = 128;
  std::optional<TosByte> tclass;
  unsigned level = 0;
  std::optional<Bytes> mtu;
  bool uses_cm = false;
  bool is_bidirectional = false;
  bool in_gbits = false;
  bool all_sizes = false;  // -a: 2 B to 8 MiB, a row each
};
/// The error is what the program would print.
[[nodiscard]] Result<PerftestCall> parse_perftest(const std::vector<std::string>& command);

/// REQUIRES: `command` begins with one of perftest_names().
[[nodiscard]] Result<host::CommandOutcome> run_perftest(Lab::Shared& shared, std::uint32_t host,
                                                        const std::vector<std::string>& command);

}  // namespace weir::lab
