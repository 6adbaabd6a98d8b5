#pragma once
// A lab remembers what its counters were before its last load, so that verbs that judge can look at
// that load alone and not at everything since the lab was made.
#include "cli/frame/transition.h"

namespace weir::cli {

/// Every host, and the switches, with the window of the lab's last load. As they are now where
/// nothing ran yet, where these are no hosts of a lab, or where the caller has snapshots of its own
/// to begin with.
[[nodiscard]] Result<std::vector<evidence::Evidence>> observe_last_load(const HostSet& hosts,
                                                                        bool has_snapshots,
                                                                        Context& context);

}  // namespace weir::cli
