#pragma once
// What nccl-tests (all_reduce_perf and its siblings; rccl-tests print the same) says it measured.
//
// Columns are found by the header lines that begin with '#', as releases differ in them
// (host-interfaces 7.2); a launcher's prefix ("[1,0]<stdout>:") is taken off.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::readers {

/// One size, out of place (the first of the two measurements of a row).
struct CollectiveRow {
  Bytes size;
  Duration time;
  double bus_bandwidth = 0;            // GB/s, as printed
  std::optional<std::uint64_t> wrong;  // elements; absent where it did not check
};

struct CollectiveReport {
  std::string test;  // "all_reduce_perf"; empty in older releases
  std::size_t ranks = 0;
  std::vector<std::string> hosts;   // each once
  std::vector<CollectiveRow> rows;  // in the order printed; sizes may repeat (0 of an all-to-all)
  std::optional<double> average_bus_bandwidth;  // GB/s
  std::optional<std::uint64_t> out_of_bounds;
  bool is_failed = false;  // it says so itself, or ended with a failure
  /// "IB" or "Socket": the log's decisive line, where NCCL_DEBUG=INFO printed it.
  std::string network;
  /// What the first line that tells of a failure says: NCCL's warning, or the test's own.
  std::string failure;

  [[nodiscard]] bool is_there() const { return !rows.empty() || average_bus_bandwidth.has_value(); }
};

[[nodiscard]] CollectiveReport read_nccl_tests(std::string_view output);

}  // namespace weir::readers
