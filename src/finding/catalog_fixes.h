#pragma once
// Fixes that several faults share: one function per subject, so that a wrong command is corrected
// once. A command broken over two literals is in parentheses, so that no comma seems to be missing.
// Not for other folders.
#include <initializer_list>
#include <string_view>
#include <vector>

#include "finding/catalog.h"

namespace weir::finding {

using Fixes = std::vector<CatalogFix>;

/// Several lists as one, in their order.
[[nodiscard]] Fixes together(std::initializer_list<Fixes> lists);

[[nodiscard]] Fixes wred_on_switches();      // thresholds and ECN of the lossless queue
[[nodiscard]] Fixes headroom_on_switches();  // cable length, or the size itself
[[nodiscard]] Fixes pfc_on_switches();       // priority 3, both directions
[[nodiscard]] Fixes pfc_on_nics();           // the same on the hosts
[[nodiscard]] Fixes watchdog_on_switches();
[[nodiscard]] Fixes dscp_map_on_switches();  // trust DSCP, 24-31 to 3, 48 to 6
[[nodiscard]] Fixes dscp_map_on_nics();
[[nodiscard]] Fixes cnp_class_on_nics();    // CNPs on DSCP 48, priority 6
[[nodiscard]] Fixes dcqcn_on_other_nics();  // NP and RP where one setting holds both
[[nodiscard]] Fixes mtu_on_switches();
[[nodiscard]] Fixes marking_in_jobs();  // the TOS byte 106
[[nodiscard]] CatalogFix mtu_on_hosts();

}  // namespace weir::finding
