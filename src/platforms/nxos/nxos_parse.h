#pragma once
// Parsing Cisco NX-OS (Nexus 9000), and its defaults.
#include <string_view>

#include "platforms/common/platform.h"

namespace weir::platforms::nxos_cli {

inline constexpr std::string_view kSource = "default of NX-OS";

// Ranges and defaults of the watchdog: not verified on a switch.
inline constexpr Duration kInterval = 100_ms;
inline constexpr Duration kIntervalMost = 1_s;
inline constexpr std::int64_t kShutdown = 1;
inline constexpr std::int64_t kShutdownMost = 10;
inline constexpr std::int64_t kRestore = 10;
inline constexpr std::int64_t kRestoreMost = 100;
inline constexpr Bytes kDefaultMtu = Bytes::raw(1500);

// The ingress buffer of a no-drop class: defaults of a 100G port.
inline constexpr Bytes kPauseThreshold = Bytes::raw(77'376);
inline constexpr Bytes kResumeThreshold = Bytes::raw(75'712);
inline constexpr Bytes kLeastThreshold = Bytes::raw(5'000);
inline constexpr Bytes kMostBuffer = Bytes::raw(268'435'456);

[[nodiscard]] bool looks_like(std::string_view text);
[[nodiscard]] Result<Parsed> parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms::nxos_cli
