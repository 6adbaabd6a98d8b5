#pragma once
// What a perftest program says it did, from its text: enough to hold it against the counters.
//
// Formats as of perftest 4 to 6 (host-interfaces 7.1): the row under a header line that begins with
// "#bytes"; units stand in the header. MB/sec and MiB/sec are both 2^20 bytes, Gb/sec 10^9 bits.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::host {

/// One row of a bandwidth test.
struct BandwidthRow {
  Bytes message;
  std::uint64_t iterations = 0;
  std::optional<BitRate> average;  // absent where the header names no unit
  /// All that was sent while it counted. Of a test that ran for a time (-D) this is the middle of
  /// the run only: less than the counters saw.
  [[nodiscard]] Bytes moved() const {
    return Bytes::raw(message.raw() * static_cast<std::int64_t>(iterations));
  }
};

/// Every row, in order; empty where the text holds none (a latency test, an error, another tool).
[[nodiscard]] std::vector<BandwidthRow> bandwidth_rows(std::string_view output);

}  // namespace weir::host
