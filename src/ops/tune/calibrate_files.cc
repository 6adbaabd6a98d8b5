#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "counters/delta.h"
#include "ops/source/snapshot_file.h"
#include "ops/tune/calibrate.h"
#include "readers/job/perftest.h"

namespace weir::ops {
namespace {

using tune::Statistic;
using tune::Trial;
using tune::TrialKind;

constexpr std::size_t kLargestOutput = std::size_t{1} << 20U;
constexpr int kMostRepeatFolders = 100;

/// One repeat: its files, read when they are needed.
class RepeatReader {
 public:
  RepeatReader(std::string folder, const Trial& trial, const tune::CalibrationPlan& plan,
               const Fabric& fabric, ReadMeasurements& out)
      : folder_(std::move(folder)), trial_(trial), plan_(plan), fabric_(fabric), out_(out) {}

  weir::Result<std::optional<double>> value_of(Statistic statistic) {
    const double ms = trial_.seconds * 1'000.0;
    switch (statistic) {
      case Statistic::kLatency: return latency_of(trial_.senders.front());
      case Statistic::kProbeLatency: return latency_of(trial_.probe);
      case Statistic::kBandwidth: return bandwidth();
      case Statistic::kMarkShare: {
        WEIR_TRY(marks, counted(trial_.receiver, "nic.np.ecn_marked.packets", false));
        WEIR_TRY(packets, counted(trial_.receiver, "nic.prio.rx.packets", true));
        if (!marks || !packets || *packets == 0) return std::optional<double>();
        return std::optional(*marks / *packets);
      }
      case Statistic::kCnpRate: return counted_per("nic.np.cnp_sent.packets", ms);
      case Statistic::kPauseRate: {
        double sum = 0;
        for (const std::string& sender : trial_.senders) {
          WEIR_TRY(pauses, counted(sender, "nic.prio.pause_rx.transitions.events", true));
          if (!pauses) return std::optional<double>();
          sum += *pauses;
        }
        return std::optional(sum / ms);
      }
      case Statistic::kJoinMarks: return counted_per("nic.np.ecn_marked.packets", trial_.seconds);
      case Statistic::kJoinCnps: return counted_per("nic.np.cnp_sent.packets", trial_.seconds);
    }
    WEIR_UNREACHABLE("every statistic is read");
  }

 private:
  weir::Result<std::optional<double>> counted_per(std::string_view id, double divisor) {
    WEIR_TRY(count, counted(trial_.receiver, id, false));
    if (!count) return std::optional<double>();
    return std::optional(*count / divisor);
  }

  weir::Result<std::optional<readers::PerftestReport>> perftest(const std::string& file) {
    const std::string path = folder_ + "/" + file;
    if (!file_exists(path)) {
      out_.notes.push_back(path + " is not there");
      return std::optional<readers::PerftestReport>();
    }
    WEIR_TRY(text, read_file(path, kLargestOutput));
    readers::PerftestReport report = readers::read_perftest(text, readers::JsonUnit::kGigabits);
    if (!report.problems.empty())
      return invalid_error(fmt::format("{}: {}", path, report.problems.front()));
    if (!report.is_there()) return parse_error(path + ": expected the output of perftest");
    return std::optional(std::move(report));
  }

  weir::Result<std::optional<double>> latency_of(const std::string& host) {
    WEIR_TRY(report, perftest(host + ".lat.txt"));
    if (!report) return std::optional<double>();
    if (report->latency.empty())
      return parse_error(fmt::format("{}/{}.lat.txt: expected a latency test", folder_, host));
    return std::optional(static_cast<double>(report->latency.back().average.raw()) / 1e6);
  }

  weir::Result<std::optional<double>> bandwidth() {
    double sum = 0;
    for (const std::string& sender : trial_.senders) {
      WEIR_TRY(report, perftest(sender + ".bw.txt"));
      if (!report) return std::optional<double>();
      if (report->bandwidth.empty() || !report->bandwidth.back().average)
        return parse_error(fmt::format("{}/{}.bw.txt: expected a bandwidth test", folder_, sender));
      sum += static_cast<double>(report->bandwidth.back().average->raw()) / 1e9;
    }
    return std::optional(sum);
  }

  weir::Result<std::optional<counters::Snapshot>> snapshot(const std::string& host,
                                                           std::string_view when) {
    const std::string path = fmt::format("{}/{}.{}.json", folder_, host, when);
    if (!file_exists(path)) {
      out_.notes.push_back(path + " is not there");
      return std::optional<counters::Snapshot>();
    }
    WEIR_TRY(captures, read_snapshot_file(path));
    for (const evidence::Evidence& capture : captures)
      if (!capture.snapshots.empty()) {
        out_.last_time = std::max(out_.last_time, capture.snapshots.back().time);
        return std::optional(capture.snapshots.back());
      }
    return parse_error(path + ": expected a snapshot of a host");
  }

  /// Added between the two snapshots; nullopt where a counter or a file is missing: that is not
  /// zero.
  weir::Result<std::optional<double>> counted(const std::string& host, std::string_view id,
                                              bool is_by_priority) {
    if (!deltas_.contains(host)) {
      WEIR_TRY(before, snapshot(host, "before"));
      WEIR_TRY(after, snapshot(host, "after"));
      std::optional<counters::SnapshotDelta> delta;
      if (before && after) {
        auto difference = counters::difference(*before, *after);
        if (!difference) return difference.error().within(folder_ + "/" + host);
        delta = *std::move(difference);
      }
      deltas_.emplace(host, std::move(delta));
    }
    const auto& delta = deltas_.at(host);
    if (!delta) return std::optional<double>();
    const auto priority = fabric_.design.find_class(design::kRdmaClass)->value.priority->value();
    for (const counters::PortDelta& nic : delta->nics) {
      if (nic.device != device_of(host)) continue;
      const auto amount = nic.amount(id, is_by_priority ? std::optional(priority) : std::nullopt);
      if (amount) return std::optional(static_cast<double>(*amount));
      out_.notes.push_back(fmt::format("{}: {} has no counter {}", folder_, nic.device, id));
      return std::optional<double>();
    }
    out_.notes.push_back(
        fmt::format("{}: the snapshots of {} have no {}", folder_, host, device_of(host)));
    return std::optional<double>();
  }

  [[nodiscard]] std::string device_of(const std::string& host) const {
    const design::HostIntent* const found = find_host(fabric_.intent, host);
    for (const design::NicIntent& nic : found->nics)
      if (nic.rail == plan_.rail) return nic.device;
    return {};
  }

  std::string folder_;
  const Trial& trial_;
  const tune::CalibrationPlan& plan_;
  const Fabric& fabric_;
  ReadMeasurements& out_;
  std::map<std::string, std::optional<counters::SnapshotDelta>> deltas_;
};

}  // namespace

weir::Result<ReadMeasurements> read_measurements(const std::string& directory,
                                                 const tune::CalibrationPlan& plan,
                                                 const Fabric& fabric) {
  ReadMeasurements out;
  for (const Trial& trial : plan.trials) {
    const std::vector<Statistic> statistics = tune::statistics_of(trial);
    std::map<Statistic, std::vector<double>> values;
    int repeats = 0;
    for (int repeat = 1; repeat <= kMostRepeatFolders; ++repeat) {
      const std::string folder = fmt::format("{}/{}", directory, tune::folder_of(trial, repeat));
      if (!is_directory(folder)) break;
      ++repeats;
      RepeatReader reader(folder, trial, plan, fabric, out);
      for (const Statistic statistic : statistics) {
        WEIR_TRY(value, reader.value_of(statistic));
        if (value) values[statistic].push_back(*value);
      }
    }
    if (repeats == 0) out.notes.push_back(fmt::format("trial {} was not measured", trial.id));
    for (auto& [statistic, list] : values) {
      if (list.size() >= 2)
        out.measured.push_back({trial.id, statistic, std::move(list)});
      else
        out.notes.push_back(fmt::format("trial {}, {}: one repeat only, not used", trial.id,
                                        tune::to_text(statistic)));
    }
  }
  return out;
}

}  // namespace weir::ops
