#include "ops/watch/replay.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "diagnose/core/diagnose.h"
#include "diagnose/core/join.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

using Recorded = std::vector<evidence::Evidence>;

/// Six hours at one look per second are more than anyone scrubs through.
constexpr std::size_t kMostFiles = 21600;

Result<std::vector<std::string>> recorded_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  if (error) return bad_input(fmt::format("read {}: {}", path, error.message()));
  if (files.empty() || files.size() > kMostFiles)
    return bad_input(
        fmt::format("--replay {}: expected from 1 to {} files *.json of weir snapshot "
                    "--out, found {}",
                    path, kMostFiles, files.size()));
  std::sort(files.begin(), files.end());
  return files;
}

Result<Recorded> read_all(const std::string& path) {
  WEIR_TRY(files, recorded_files(path));
  Recorded pieces;
  for (const std::string& file : files) {
    WEIR_TRY(some, or_bad_input(read_snapshot_file(file)));
    std::move(some.begin(), some.end(), std::back_inserter(pieces));
  }
  return diagnose::join_windows(std::move(pieces));
}

/// Facts, with the snapshots around this moment alone. A host that stopped early is not in it.
Recorded window_at(const Recorded& facts, const Recorded& run, std::size_t moment) {
  Recorded out;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (run[i].snapshots.size() <= moment) continue;
    evidence::Evidence& piece = out.emplace_back(facts[i]);
    piece.snapshots = {run[i].snapshots[moment - 1], run[i].snapshots[moment]};
  }
  return out;
}

}  // namespace

Result<Replay> read_replay(const ReplayRequest& request) {
  std::optional<Fabric> fabric;
  if (!request.design.empty()) {
    WEIR_TRY(loaded, load_fabric(request.design));
    fabric = std::move(loaded);
  }
  const design::Intent* intent = fabric ? &fabric->intent : nullptr;
  WEIR_TRY(run, read_all(request.path));
  Recorded facts = run;
  std::size_t longest = 0;
  Replay out;
  for (evidence::Evidence& piece : facts) {
    longest = std::max(longest, piece.snapshots.size());
    out.is_simulated = out.is_simulated || piece.provenance.simulated;
    piece.snapshots.clear();
  }
  if (longest < 2)
    return bad_input(
        fmt::format("--replay {}: no port was counted twice; expected a directory with "
                    "files of weir snapshot --out taken one after the other",
                    request.path));
  for (std::size_t moment = 1; moment < longest; ++moment) {
    const Recorded window = window_at(facts, run, moment);
    const counters::Snapshot& now = window.front().snapshots.back();
    ReplayMoment& next = out.moments.emplace_back();
    next.time = now.time;
    next.ports = watched_ports(window, intent);
    for (const evidence::Evidence& piece : run)
      if (piece.snapshots.size() > moment)
        next.clock_ns = std::max(
            next.clock_ns, piece.snapshots[moment].clock_ns - piece.snapshots.front().clock_ns);
  }
  out.judgement = diagnose::diagnose(diagnose::Case{run, intent, request.thresholds});
  finding::settle(out.judgement);
  return out;
}

}  // namespace weir::ops
