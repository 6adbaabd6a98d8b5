#pragma once
// The shape of the fabric as rules need it: which ports of a switch lead up, which down, and what
// the switches dropped. By the design's tiers, or, without one, by who has hosts.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/core/view.h"

namespace weir::diagnose {

/// A host is at the other end of one of its ports.
[[nodiscard]] bool has_hosts(const View& view, std::string_view switch_name);

/// Towards a switch of a higher tier; towards a host or a lower tier: false. Unknown where nobody
/// says who is at the other end, or which of the two is higher.
[[nodiscard]] std::optional<bool> leads_up(const View& view, const PortView& port);

/// What every port of every switch dropped, whatever the reason. Absent where no switch was seen,
/// or one of them shows no drops.
[[nodiscard]] std::optional<std::uint64_t> drops_of_switches(const View& view);

/// The share of its line that a port sent in the window; absent without window or speed.
[[nodiscard]] std::optional<double> use_of(const PortView& port);

/// Every NIC of the design is among those seen with counters; without a design nobody can say.
[[nodiscard]] bool sees_every_nic(const View& view);

}  // namespace weir::diagnose
