#pragma once
// What the program under `weir verify` says it did, whichever it was: enough to hold it against the
// counters. An unknown program is judged by its exit status alone.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_io.h"
#include "readers/job/nccl_tests.h"
#include "readers/job/perftest.h"

namespace weir::host {

using readers::BandwidthRow;
using readers::CollectiveReport;
using readers::CollectiveRow;
using readers::JsonUnit;
using readers::LatencyRow;
using readers::perftest_command;
using readers::PerftestCommand;
using readers::PerftestReport;
using readers::read_nccl_tests;
using readers::read_perftest;

/// Which way data went, seen from the program that was started.
enum class Flow { kOut, kIn, kBoth };

struct LoadReport {
  std::optional<PerftestCommand> perftest_command;
  PerftestReport perftest;
  CollectiveReport collective;
  /// What the counters must show at least: messages times sizes, or of a test that ran for a time
  /// bandwidth times time. Absent where the program does not say (latency, collectives, others).
  std::optional<Bytes> expected;
  Flow flow = Flow::kOut;
  std::vector<std::string> problems;

  /// "ib_write_bw", "nccl-tests", or "the command".
  [[nodiscard]] std::string name() const;
  /// "392.7 Gb/s in messages of 64KiB", "median 1.95us, 99 % 2.3us, 99.9 % 5.6us, worst 6.1us",
  /// "16 ranks on 2 hosts, 120.3 GB/s bus bandwidth on average": a line each.
  [[nodiscard]] std::vector<std::string> lines() const;
};

[[nodiscard]] LoadReport read_load(const std::vector<std::string>& command,
                                   const CommandOutcome& outcome);

}  // namespace weir::host
