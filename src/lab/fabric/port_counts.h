#pragma once
// The counters of every port of a lab's network. Internal to this folder.
#include <string>
#include <vector>

#include "counters/snapshot.h"
#include "lab/fabric/state.h"
#include "lab/fabric/testbed.h"
#include "sim/results/results_evidence.h"

namespace weir::lab {

/// By which a CounterBank knows them: NICs host by host, then ports switch by switch.
[[nodiscard]] std::vector<std::string> port_keys(const Blueprint& blueprint);

/// In the order of port_keys(). `layouts` are kept for the next time: ports that count the same
/// then share them.
[[nodiscard]] std::vector<counters::PortCounters> count_ports(const Testbed& bed, Time end,
                                                              sim::LayoutsByNames& layouts);

/// What faults that no setting shows count before any load runs, as a link that is down; empty
/// where there are none.
[[nodiscard]] Result<std::vector<counters::PortCounters>> counted_at_rest(
    const Blueprint& blueprint, const State& state, Profiles& profiles,
    sim::LayoutsByNames& layouts);

/// What was counted since `before`; levels and settings as they are now.
[[nodiscard]] counters::PortCounters counted_since(const counters::PortCounters& before,
                                                   const counters::PortCounters& now);

}  // namespace weir::lab
