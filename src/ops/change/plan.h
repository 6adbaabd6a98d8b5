#pragma once
// What would have to change on the hosts to match the design. Changes nothing.
#include <string>
#include <vector>

#include "host/change/plan.h"
#include "ops/source/hosts.h"

namespace weir::ops {

struct PlanRequest {
  Source source;
  std::string design = {};  // empty: the lab's own
};

struct Plan {
  HostSet set;
  Fabric fabric;
  Observation seen;                   // a host that the design does not know counts as unseen
  std::vector<host::HostPlan> hosts;  // one per host that was seen and is in the design

  [[nodiscard]] std::size_t step_count() const;
  [[nodiscard]] std::size_t leftover_count() const;  // differences that no step removes
  /// Some host was not seen, or a setting not read: nobody knows whether that is right.
  [[nodiscard]] bool is_partial() const;
};

[[nodiscard]] Result<Plan> plan(const PlanRequest& request);
/// The same of hosts that are open already.
[[nodiscard]] Result<Plan> plan_hosts(HostSet set, Fabric fabric);

}  // namespace weir::ops
