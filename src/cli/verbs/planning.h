#pragma once
// What `weir plan` and `weir apply` begin with: the hosts, the design, what was seen, and the plan
// of each host.
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/host_input.h"
#include "host/change/plan.h"

namespace weir::cli {

struct Planning {
  HostSet set;
  DesignInput input;
  Observation seen;
  std::vector<host::HostPlan> plans;  // one a host that was seen and is in the design

  /// The command line's words for the same hosts and design: " fabric.yaml --lab DIR".
  std::string words;
};

/// Where it cannot be had, says why and leaves the exit code in `code`. A host that the design does
/// not know counts as one that could not be looked at.
[[nodiscard]] std::optional<Planning> make_plans(const Args&, Context&, ExitCode& code);

}  // namespace weir::cli
