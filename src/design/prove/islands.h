#pragma once
// Which parts of a fabric reach each other at all.
#include <cstdint>
#include <vector>

#include "design/fabric/intent.h"

namespace weir::design {

[[nodiscard]] bool joins_switches(const LinkIntent&);

/// Switches that reach each other over links between switches, by a number they share.
[[nodiscard]] std::vector<std::uint32_t> islands(const Intent&);

/// Two rails of this host meet at no switch: GPUs on different rails have no path.
/// `islands` is islands(intent).
[[nodiscard]] bool has_isolated_rails(const Intent&, const HostIntent&,
                                      const std::vector<std::uint32_t>& islands);

}  // namespace weir::design
