#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "diagnose/behaviour/totals.h"
#include "ops/source/snapshot_file.h"
#include "ops/tune/block_file.h"
#include "readers/job/nccl_tests.h"
#include "readers/job/perftest.h"
#include "readers/job/step_times.h"

namespace weir::ops {
namespace {

constexpr std::string_view kVerifySchema = "weir/verify/1";
constexpr double kPicosecondsPerMicrosecond = 1e6;

/// The top-level values of a text, cut at their outermost brackets. What is no JSON stays in its
/// piece, for the parser to complain about.
std::vector<std::string_view> json_documents(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text) {
      if (c == '\\') ++i;
      is_text = c != '"';
      continue;
    }
    is_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > 0 || (c != '}' && c != ']')) continue;
    out.push_back(trim(text.substr(begin, i + 1 - begin)));
    begin = i + 1;
    depth = 0;
  }
  const std::string_view rest = trim(text.substr(begin));
  if (!rest.empty()) out.push_back(rest);
  return out;
}

/// Of positive values; nullopt without any.
std::optional<double> geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) {
    if (!(value > 0)) return std::nullopt;
    logs += std::log(value);
  }
  if (values.empty()) return std::nullopt;
  return std::exp(logs / static_cast<double>(values.size()));
}

// ---- weir verify --json ----

weir::Result<std::optional<double>> row_mean(const JsonCursor& load, std::string_view list,
                                             std::string_view field) {
  const auto rows = load.find(list);
  if (!rows) return std::optional<double>();
  WEIR_TRY_STATUS(rows->expect_array());
  std::vector<double> values;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const JsonCursor row = rows->at(i);
    WEIR_TRY_STATUS(row.expect_object());
    const auto at = row.find(field);
    if (!at) continue;
    WEIR_TRY(value, at->number());
    values.push_back(value);
  }
  return geometric_mean(values);
}

weir::Status read_verified_load(const JsonCursor& load, tune::Block& out) {
  WEIR_TRY_STATUS(load.expect_object());
  WEIR_TRY(bps, row_mean(load, "bandwidth", "bps"));
  if (bps) out.gbps = *bps / 1e9;
  WEIR_TRY(p99, row_mean(load, "latency", "p99_us"));
  out.p99_us = p99;
  WEIR_TRY(p999, row_mean(load, "latency", "p999_us"));
  out.p999_us = p999;
  WEIR_TRY(average, row_mean(load, "latency", "average_us"));
  out.latency_us = average;
  const auto collective = load.find("collective");
  if (!collective) return {};
  WEIR_TRY_STATUS(collective->expect_object());
  if (const auto bandwidth = collective->find("bus_bandwidth_gbytes")) {
    WEIR_TRY(gbytes, bandwidth->number());
    if (gbytes > 0) out.bus_gbytes = gbytes;
  }
  return {};
}

weir::Result<tune::Block> read_verified(const Json& document) {
  const JsonCursor root(document);
  tune::Block out;
  WEIR_TRY(command, root.member("command"));
  WEIR_TRY_STATUS(command.expect_object());
  WEIR_TRY(words_at, command.member("words"));
  WEIR_TRY(words, words_at.text());
  out.load = std::move(words);
  WEIR_TRY(exit_at, command.member("exit"));
  WEIR_TRY(status, exit_at.integer());
  if (status != 0) out.failure = fmt::format("the load ended with status {}", status);
  WEIR_TRY(load, root.member("load"));
  WEIR_TRY_STATUS(read_verified_load(load, out));
  // Results of a release before `totals` have none.
  if (const auto totals = root.find("totals")) {
    WEIR_TRY(read, diagnose::totals_from_json(*totals));
    out.totals = read;
  }
  if (const auto simulated = root.find("simulated")) {
    WEIR_TRY(is_simulated, simulated->boolean());
    out.is_simulated = is_simulated;
  }
  return out;
}

weir::Result<BlockPart> read_json_part(std::string_view text, const std::string& path,
                                       std::string origin) {
  BlockPart part;
  part.origin = std::move(origin);
  const auto document = parse_json(text);
  if (!document) return document.error().within(part.origin);
  if (document->is_object() && document->value("schema", Json()) == kVerifySchema) {
    auto block = read_verified(*document);
    if (!block) return block.error().within(part.origin);
    part.measured = std::move(*block);
    return part;
  }
  auto captures = read_snapshot_text(std::string(text), path);
  if (!captures)
    return captures.error().within(part.origin + ": expected JSON of weir verify or weir snapshot");
  part.captures = std::move(*captures);
  return part;
}

// ---- output of tools ----

template <class Row>
std::optional<double> microseconds_mean(const std::vector<readers::LatencyRow>& rows, Row row) {
  std::vector<double> values;
  for (const readers::LatencyRow& entry : rows)
    if (const std::optional<Duration> time = row(entry))
      values.push_back(static_cast<double>(time->raw()) / kPicosecondsPerMicrosecond);
  return geometric_mean(values);
}

void read_perftest_text(const readers::PerftestReport& report, tune::Block& out) {
  std::vector<double> rates;
  for (const readers::BandwidthRow& row : report.bandwidth)
    if (row.average) rates.push_back(static_cast<double>(row.average->raw()) / 1e9);
  out.gbps = geometric_mean(rates);
  using Row = readers::LatencyRow;
  out.p99_us = microseconds_mean(report.latency, [](const Row& row) { return row.p99; });
  out.p999_us = microseconds_mean(report.latency, [](const Row& row) { return row.p999; });
  out.latency_us =
      microseconds_mean(report.latency, [](const Row& row) { return std::optional(row.average); });
  if (!report.problems.empty()) out.failure = report.problems.front();
}

bool is_collective_read(const std::string& text, tune::Block& out) {
  const readers::CollectiveReport report = readers::read_nccl_tests(text);
  if (!report.is_there()) return false;
  out.bus_gbytes = report.average_bus_bandwidth;
  if (!out.bus_gbytes) {
    std::vector<double> rows;
    for (const readers::CollectiveRow& row : report.rows)
      rows.push_back(row.bus_bandwidth);
    out.bus_gbytes = geometric_mean(rows);
  }
  if (report.is_failed) out.failure = "nccl-tests reports a failure";
  return true;
}

weir::Result<BlockPart> read_text_part(const std::string& text, const std::string& path) {
  BlockPart part;
  part.origin = path;
  if (is_collective_read(text, part.measured)) return part;
  const readers::PerftestReport report = readers::read_perftest(text);
  if (report.is_there()) {
    read_perftest_text(report, part.measured);
    return part;
  }
  const std::vector<Duration> steps = readers::read_step_times(text);
  if (steps.empty())
    return parse_error(fmt::format(
        "{}: expected JSON of weir verify or weir snapshot, output of nccl-tests or perftest, or "
        "times of steps (one per line: 412ms)",
        path));
  double sum = 0;
  for (const Duration step : steps)
    sum += static_cast<double>(step.raw()) / kPicosecondsPerMicrosecond;
  part.measured.step_us = sum / static_cast<double>(steps.size());
  return part;
}

// ---- one block ----

weir::Status take_value(std::optional<double>& into, const std::optional<double>& value,
                        std::string_view what, const std::string& origin) {
  if (!value) return {};
  if (into)
    return invalid_error(
        fmt::format("{}: a second measurement of {} in one block; one of a kind "
                    "is compared",
                    origin, what));
  into = value;
  return {};
}

weir::Status take_part(const BlockPart& part, tune::Block& out) {
  const tune::Block& from = part.measured;
  WEIR_TRY_STATUS(take_value(out.step_us, from.step_us, "the step time", part.origin));
  WEIR_TRY_STATUS(take_value(out.bus_gbytes, from.bus_gbytes, "the bus bandwidth", part.origin));
  WEIR_TRY_STATUS(take_value(out.gbps, from.gbps, "the bandwidth", part.origin));
  WEIR_TRY_STATUS(take_value(out.p99_us, from.p99_us, "the 99th percentile", part.origin));
  WEIR_TRY_STATUS(take_value(out.p999_us, from.p999_us, "the 99.9th percentile", part.origin));
  WEIR_TRY_STATUS(take_value(out.latency_us, from.latency_us, "the latency", part.origin));
  if (from.totals) {
    if (out.totals)
      return invalid_error(part.origin + ": counters of this block were read already");
    out.totals = from.totals;
  }
  if (out.failure.empty()) out.failure = from.failure;
  if (out.load.empty()) out.load = from.load;
  out.is_simulated = out.is_simulated || from.is_simulated;
  return {};
}

/// The first and the last snapshot of each host, as one piece of evidence with a window.
weir::Result<std::vector<evidence::Evidence>> windows_of(const std::string& name,
                                                         std::vector<BlockPart>& parts) {
  std::map<std::string, evidence::Evidence> by_host;
  for (BlockPart& part : parts)
    for (evidence::Evidence& capture : part.captures) {
      const std::string host = capture.provenance.host;
      std::vector<counters::Snapshot> all = capture.snapshots;
      if (const auto known = by_host.find(host); known != by_host.end())
        all.insert(all.end(), known->second.snapshots.begin(), known->second.snapshots.end());
      capture.snapshots = std::move(all);
      by_host.insert_or_assign(host, std::move(capture));
    }
  std::vector<evidence::Evidence> out;
  for (auto& [host, capture] : by_host) {
    std::vector<counters::Snapshot>& all = capture.snapshots;
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.clock_ns < b.clock_ns; });
    if (all.size() < 2 || all.front().clock_ns == all.back().clock_ns)
      return invalid_error(fmt::format(
          "block {}: expected two snapshots of {}, at its beginning and at its end, found {}", name,
          host.empty() ? "the switches" : host, all.size() < 2 ? "one" : "one time"));
    if (all.size() > 2) all.erase(all.begin() + 1, all.end() - 1);
    out.push_back(std::move(capture));
  }
  return out;
}

}  // namespace

weir::Result<std::vector<BlockPart>> read_block_file(const std::string& path) {
  WEIR_TRY(text, read_file(path, kLargestResults));
  std::vector<BlockPart> out;
  const std::string_view inside = trim(text);
  if (inside.empty()) return parse_error(path + ": the file is empty");
  if (inside.front() != '{') {
    WEIR_TRY(part, read_text_part(text, path));
    out.push_back(std::move(part));
    return out;
  }
  const std::vector<std::string_view> documents = json_documents(inside);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string origin =
        documents.size() == 1 ? path : fmt::format("{} result {}", path, i + 1);
    WEIR_TRY(part, read_json_part(documents[i], path, origin));
    out.push_back(std::move(part));
  }
  return out;
}

weir::Result<tune::Block> make_block(const std::string& name, std::vector<BlockPart> parts) {
  tune::Block out;
  for (const BlockPart& part : parts)
    if (part.captures.empty()) WEIR_TRY_STATUS(take_part(part, out));
  WEIR_TRY(windows, windows_of(name, parts));
  if (!windows.empty()) {
    if (out.totals)
      return invalid_error(fmt::format(
          "block {}: snapshots and a result of weir verify; one of them is enough", name));
    out.totals = diagnose::totals_of(diagnose::View({.evidence = windows}));
    for (const evidence::Evidence& piece : windows)
      out.is_simulated = out.is_simulated || piece.provenance.simulated;
  }
  out.name = name;
  return out;
}

}  // namespace weir::ops
