#pragma once
// NVUE, the configuration of Cumulus Linux: defaults, limits, and the values of its RoCE bundle.
// Shared by lowering and parsing. Source: Cumulus Linux 5.19 documentation.
#include <array>
#include <string>
#include <string_view>

#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::platforms::nvue {

// `qos roce` in mode lossless.
inline constexpr unsigned kRocePriority = 3;
inline constexpr unsigned kCnpPriority = 6;
inline constexpr std::array<unsigned, 2> kRoceMarks = {0, 3};  // ECN on TC0 as well
inline constexpr Bytes kRoceMin = Bytes::raw(150'000);
inline constexpr Bytes kRoceMax = Bytes::raw(1'500'000);
inline constexpr Share kRoceProbability = 100_percent;
inline constexpr unsigned kRoceWeight = 50;  // of TC 0 and 3; TC 6 is strict
inline constexpr Length kRoceCable = 100_m;

inline constexpr Bytes kMtu = Bytes::raw(9216);
inline constexpr Length kProfileCable = 10_m;  // of a PFC profile without cable-length
inline constexpr Duration kPolling = 100_ms;
inline constexpr std::int64_t kRobustness = 3;
inline constexpr Duration kPollingMost = 5_s;
inline constexpr std::int64_t kRobustnessMost = 1000;
inline constexpr std::int64_t kOversubscriptionMost = 256;

/// XOFF in a port buffer with an explicit size: what the pipeline still holds, 19 KiB
/// on Spectrum 1 to 5 (buffer_headroom_mellanox.lua, pipeline_latency).
inline constexpr Bytes kPipeline = Bytes::raw(19 * 1024);

inline constexpr std::string_view kSource = "default of Cumulus Linux";
inline constexpr std::string_view kRoceSource = "default of nv set qos roce";

/// "alpha_1_8", "alpha_4".
[[nodiscard]] std::string alpha_word(Alpha alpha);

}  // namespace weir::platforms::nvue
