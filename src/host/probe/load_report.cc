#include "host/probe/load_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "units/format.h"

namespace weir::host {
namespace {

std::string rate_text(BitRate rate) {
  constexpr double kGiga = 1e9;
  return fmt::format("{:.4g} Gb/s", static_cast<double>(rate.raw()) / kGiga);
}

std::string bandwidth_line(const std::vector<BandwidthRow>& rows) {
  const auto best = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.average.value_or(BitRate()) < b.average.value_or(BitRate());
  });
  const std::string size = to_text(best->message);
  if (!best->average) return fmt::format("{} messages of {}", best->iterations, size);
  return fmt::format("{}{} in messages of {}", rows.size() > 1 ? "at best " : "",
                     rate_text(*best->average), size);
}

/// Of the smallest message: what a person compares.
std::string latency_line(const LatencyRow& row) {
  std::string text =
      row.typical ? "median " + approximate(*row.typical) : "average " + approximate(row.average);
  if (row.p99) text += ", 99 % " + approximate(*row.p99);
  if (row.p999) text += ", 99.9 % " + approximate(*row.p999);
  if (row.maximum) text += ", worst " + approximate(*row.maximum);
  return text + " with messages of " + to_text(row.message);
}

std::string collective_line(const CollectiveReport& report) {
  std::string text = report.ranks > 0
                         ? fmt::format("{} ranks on {} host{}, ", report.ranks, report.hosts.size(),
                                       report.hosts.size() == 1 ? "" : "s")
                         : std::string();
  if (report.average_bus_bandwidth)
    return text +
           fmt::format("{:.4g} GB/s bus bandwidth on average", *report.average_bus_bandwidth);
  const auto best = std::max_element(
      report.rows.begin(), report.rows.end(),
      [](const auto& a, const auto& b) { return a.bus_bandwidth < b.bus_bandwidth; });
  if (best == report.rows.end()) return text + "no result";
  return text + fmt::format("{:.4g} GB/s bus bandwidth at best", best->bus_bandwidth);
}

/// Bandwidth times time where the test ran for one: its count of messages is that of the middle. A
/// program that ended earlier than it was asked to (a lab simulates a part of it) moved less.
Bytes moved_by(const BandwidthRow& row, const std::optional<PerftestCommand>& command,
               Duration elapsed) {
  if (command && command->duration && row.average) {
    const bool is_short = elapsed.raw() > 0 && elapsed < *command->duration;
    return bytes_in(is_short ? elapsed : *command->duration, *row.average);
  }
  return row.moved();
}

std::optional<Bytes> expected_of(const LoadReport& report, Duration elapsed) {
  if (report.perftest.bandwidth.empty()) return std::nullopt;
  Bytes sum;
  for (const BandwidthRow& row : report.perftest.bandwidth) {
    const Bytes moved = moved_by(row, report.perftest_command, elapsed);
    if (moved > Bytes::max() - sum) return std::nullopt;
    sum += moved;
  }
  // Both directions are in the bandwidth; each counts half.
  return report.flow == Flow::kBoth ? sum / 2 : sum;
}

Flow flow_of(const std::optional<PerftestCommand>& command) {
  if (!command) return Flow::kOut;
  if (command->is_bidirectional) return Flow::kBoth;
  return command->is_read() == command->is_client ? Flow::kIn : Flow::kOut;
}

}  // namespace

std::string LoadReport::name() const {
  if (perftest_command) return perftest_command->tool;
  if (collective.is_there()) return collective.test.empty() ? "nccl-tests" : collective.test;
  return "the command";
}

std::vector<std::string> LoadReport::lines() const {
  std::vector<std::string> lines;
  if (!perftest.bandwidth.empty()) lines.push_back(bandwidth_line(perftest.bandwidth));
  if (!perftest.latency.empty()) lines.push_back(latency_line(perftest.latency.front()));
  if (collective.is_there()) lines.push_back(collective_line(collective));
  for (const std::string& problem : problems)
    lines.push_back(problem);
  return lines;
}

LoadReport read_load(const std::vector<std::string>& command, const CommandOutcome& outcome) {
  LoadReport report;
  report.perftest_command = perftest_command(command);
  const JsonUnit unit =
      report.perftest_command ? report.perftest_command->unit : JsonUnit::kMebibytes;
  const std::string all = outcome.output + "\n" + outcome.errors;
  report.perftest = read_perftest(all, unit);
  report.collective = read_nccl_tests(all);
  report.flow = flow_of(report.perftest_command);
  report.expected = expected_of(report, outcome.elapsed);
  report.problems = report.perftest.problems;
  if (report.collective.is_failed)
    report.problems.push_back("the collective computed wrong results, or says it failed");
  if (report.collective.network == "Socket")
    report.problems.push_back("NCCL used sockets (Using network Socket), not RDMA");
  return report;
}

}  // namespace weir::host
