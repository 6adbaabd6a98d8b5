#include "tune/calibration/unknowns.h"

#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "units/format.h"

namespace weir::tune {
namespace {

constexpr double kPicosecondsPerUs = 1e6;

using design::Calibration;
using design::Setting;

constexpr std::array<UnknownInfo, kUnknowns> kTable = {
    UnknownInfo{
        .unknown = Unknown::kNicLatency,
        .key = "nic_latency",
        .is_ratio = false,
        .start = 1,
        .low = 0.02,
        .high = 20'000,
        .meaning = "PCIe and both NICs, of a message",
        .experiment = "idle latency, same leaf",
        .statistic = "mean of ib_write_lat",
        .identifiable = "with the switches' only as a sum, unless a path has more switches"},
    UnknownInfo{.unknown = Unknown::kSwitchLatency,
                .key = "switch_latency",
                .meaning = "of a switch, to the table's",
                .experiment = "idle latency, same leaf against another leaf",
                .statistic = "mean of ib_write_lat",
                .identifiable = "where a path with more switches was measured"},
    UnknownInfo{.unknown = Unknown::kHostRate,
                .key = "host_rate",
                .low = 0.0025,
                .high = 1.25,
                .meaning = "what a host can send, to its link's speed",
                .experiment = "one pair, long messages; latency of two sizes",
                .statistic = "average of ib_write_bw, slope of ib_write_lat",
                .identifiable = "yes"},
    UnknownInfo{.unknown = Unknown::kXoff,
                .key = "xoff",
                .meaning = "XOFF as applied, to the configured",
                .experiment = "incast without reaction point",
                .statistic = "latency of a probe through the full queue",
                .identifiable = "as XOFF; alpha and the shared buffer only together"},
    UnknownInfo{.unknown = Unknown::kPauseReaction,
                .key = "pause_reaction",
                .meaning = "of NICs to a pause frame, to the table's",
                .experiment = "incast without reaction point",
                .statistic = "pause transitions per time",
                .identifiable = "where it is not small against the time between two pauses"},
    UnknownInfo{.unknown = Unknown::kCnpGap,
                .key = "cnp_gap",
                .meaning = "between CNPs as applied, to min_time_between_cnps",
                .experiment = "incast without reaction point, 1, 2 and 4 queue pairs per sender",
                .statistic = "CNPs sent per time",
                .identifiable = "yes, and what the NIC paces by: queue pair, peer or port"},
    UnknownInfo{.unknown = Unknown::kWredMin,
                .key = "wred_min",
                .meaning = "Kmin as applied, to the configured",
                .experiment = "incast with reaction point",
                .statistic = "latency of a probe, share of marked packets",
                .identifiable = "where Kmin is not small against Kmax"},
    UnknownInfo{.unknown = Unknown::kWredMax,
                .key = "wred_max",
                .low = 0.2,
                .meaning = "Kmax as applied, to the configured",
                .experiment = "incast with reaction point, many queue pairs",
                .statistic = "latency of a probe, share of marked packets",
                .identifiable = "where the queue reaches Kmax; else the slope Pmax / Kmax only"},
    UnknownInfo{.unknown = Unknown::kWredProbability,
                .key = "wred_probability",
                .meaning = "Pmax as applied, to the configured",
                .experiment = "incast with reaction point",
                .statistic = "share of marked packets, latency of a probe",
                .identifiable = "where the queue reaches Kmax; else the slope Pmax / Kmax only"},
    UnknownInfo{.unknown = Unknown::kCnpDelay,
                .key = "cnp_delay",
                .is_ratio = false,
                .start = 3,
                .low = 0.1,
                .high = 200,
                .meaning = "from a mark at the receiver to the CNP on the wire",
                .experiment = "join: a second sender begins beside one at line rate",
                .statistic = "marks and CNPs per join",
                .identifiable = "the sum over receiver and sender only"}};

template <class C>
auto& ratio_at(C& calibration, Unknown unknown) {
  switch (unknown) {
    case Unknown::kSwitchLatency: return calibration.switch_latency;
    case Unknown::kHostRate: return calibration.host_rate;
    case Unknown::kXoff: return calibration.xoff;
    case Unknown::kPauseReaction: return calibration.pause_reaction;
    case Unknown::kCnpGap: return calibration.cnp_gap;
    case Unknown::kWredMin: return calibration.wred_min;
    case Unknown::kWredMax: return calibration.wred_max;
    case Unknown::kWredProbability: return calibration.wred_probability;
    case Unknown::kNicLatency:
    case Unknown::kCnpDelay: break;
  }
  WEIR_UNREACHABLE("this unknown is a time");
}
template <class C>
auto& time_at(C& calibration, Unknown unknown) {
  WEIR_CHECK(unknown == Unknown::kNicLatency || unknown == Unknown::kCnpDelay);
  return unknown == Unknown::kNicLatency ? calibration.nic_latency : calibration.cnp_delay;
}

}  // namespace

std::span<const UnknownInfo> unknowns() {
  return kTable;
}

const UnknownInfo& info_of(Unknown unknown) {
  return kTable.at(static_cast<std::size_t>(unknown));
}

UnknownValues start_values(const Calibration& calibration) {
  UnknownValues out{};
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    const UnknownInfo& info = kTable.at(i);
    out.at(i) = info.start;
    if (info.is_ratio) {
      const Setting<Share>& share = ratio_at(calibration, info.unknown);
      if (share.is_set())
        out.at(i) = static_cast<double>(share->raw()) / static_cast<double>(kSharePerWhole);
    } else {
      const Setting<Duration>& time = time_at(calibration, info.unknown);
      if (time.is_set()) out.at(i) = static_cast<double>(time->raw()) / kPicosecondsPerUs;
    }
    out.at(i) = std::min(std::max(out.at(i), info.low), info.high);
  }
  return out;
}

void write_values(const UnknownValues& values, const std::array<bool, kUnknowns>& is_set,
                  Calibration& calibration) {
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    if (!is_set.at(i)) continue;
    const UnknownInfo& info = kTable.at(i);
    if (info.is_ratio)
      ratio_at(calibration, info.unknown)
          .write(Share::raw(std::llround(values.at(i) * static_cast<double>(kSharePerWhole))), {});
    else
      time_at(calibration, info.unknown)
          .write(Duration::raw(std::llround(values.at(i) * kPicosecondsPerUs)), {});
  }
}

std::string value_text(const UnknownInfo& info, double value) {
  if (info.is_ratio) return fmt::format("{:.4g}%", value * 100);
  return value < 1 ? fmt::format("{:.0f}ns", value * 1'000) : fmt::format("{:.4g}us", value);
}

}  // namespace weir::tune
