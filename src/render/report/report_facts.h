#pragma once
// Rails and link loads of a report, from the counters between the first and the last snapshot.
#include <span>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "render/report/report.h"

namespace weir::render {

/// One row per NIC, hosts in the order given. With fewer than two snapshots the rows have no
/// numbers.
[[nodiscard]] std::vector<RailRow> rails_of(std::span<const evidence::Evidence> hosts);

/// What the ports at the ends of each link sent, as a share of the line rate. Links without
/// counters at either end are left out.
[[nodiscard]] std::vector<LinkLoad> loads_of(const design::Intent& intent,
                                             std::span<const evidence::Evidence> all);

/// The platforms (finding::platforms()) of the fabric's NICs and switches.
[[nodiscard]] std::vector<std::string> platforms_of(const design::Intent& intent);

}  // namespace weir::render
