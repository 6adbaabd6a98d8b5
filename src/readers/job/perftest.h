#pragma once
// What a perftest program says it did: its text, or its JSON, which is JSON only in newer releases.
//
// Formats as of perftest 4 to 6 (host-interfaces 7.1). Text: the rows under a header line that
// begins with "#bytes"; units stand in the header. MB/sec and MiB/sec are both 2^20 bytes, Gb/sec
// 10^9 bits. JSON: one result, no unit; Debian 12's writes bare words and trailing commas, so it is
// read line by line and never as a document.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::readers {

/// One row of a bandwidth test.
struct BandwidthRow {
  Bytes message;
  std::uint64_t iterations = 0;
  std::optional<BitRate> average;  // absent where nothing names the unit
  /// All that was sent while it counted. Of a test that ran for a time (-D) this is the middle of
  /// the run only: less than the counters saw.
  [[nodiscard]] Bytes moved() const {
    return Bytes::raw(message.raw() * static_cast<std::int64_t>(iterations));
  }
};

/// One row of a latency test. Half of a round trip, as perftest reports it; the read tests whole.
struct LatencyRow {
  Bytes message;
  std::uint64_t iterations = 0;
  std::optional<Duration> minimum;
  std::optional<Duration> typical;  // the median
  Duration average;                 // alone where a test ran for a time (-D)
  std::optional<Duration> maximum;
  std::optional<Duration> p99;
  std::optional<Duration> p999;
};

struct PerftestReport {
  std::string test;    // "RDMA_Write BW Test"; empty where no banner was printed
  std::string device;  // "mlx5_0", from the banner
  std::optional<unsigned> gid_index;
  std::optional<Bytes> mtu;
  std::vector<BandwidthRow> bandwidth;
  std::vector<LatencyRow> latency;
  /// What went wrong, in words: "the peer did not answer (status 12, transport retry exceeded)".
  std::vector<std::string> problems;

  [[nodiscard]] bool is_there() const {
    return !test.empty() || !bandwidth.empty() || !latency.empty();
  }
};

/// Of what a program printed on both streams. `json_unit` is the unit that its command line asks
/// for, as JSON names none.
enum class JsonUnit { kMebibytes, kGigabits };
[[nodiscard]] PerftestReport read_perftest(std::string_view output,
                                           JsonUnit json_unit = JsonUnit::kMebibytes);

/// The rows of a bandwidth test alone; empty where the text holds none.
[[nodiscard]] std::vector<BandwidthRow> bandwidth_rows(std::string_view output);

/// What a perftest command line asks for, as far as an observer must know.
struct PerftestCommand {
  std::string tool;                  // "ib_write_bw"
  std::string device;                // -d
  std::optional<unsigned> tclass;    // --tclass, or -T with -R
  std::optional<Duration> duration;  // -D
  JsonUnit unit = JsonUnit::kMebibytes;
  bool is_bidirectional = false;
  bool is_client = false;  // names a server
  /// Data flows to the program that names the server (read tests), not from it.
  [[nodiscard]] bool is_read() const { return tool.find("read") != std::string::npos; }
};
/// nullopt where the command is none of perftest's programs, also behind env, numactl, taskset.
[[nodiscard]] std::optional<PerftestCommand> perftest_command(
    const std::vector<std::string>& words);

}  // namespace weir::readers
