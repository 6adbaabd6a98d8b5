#pragma once
// What a report shows of the counters in evidence: the rails and the load of the links, over the
// window from the first to the last snapshot.
#include <span>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "render/report/report.h"

namespace weir::render {

/// One row a NIC, hosts in the order given. Evidence with fewer than two snapshots has no window:
/// its NICs have rows without numbers.
[[nodiscard]] std::vector<RailRow> rails_of(std::span<const evidence::Evidence> hosts);

/// What the NICs and switch ports at the ends of each link sent, over its line rate. A link of
/// which neither end has a window is left out.
[[nodiscard]] std::vector<LinkLoad> loads_of(const design::Intent& intent,
                                             std::span<const evidence::Evidence> all);

/// The platforms (finding::platforms()) of the fabric's NICs and switches.
[[nodiscard]] std::vector<std::string> platforms_of(const design::Intent& intent);

}  // namespace weir::render
