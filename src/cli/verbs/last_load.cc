#include "cli/verbs/last_load.h"

namespace weir::cli {

Result<std::vector<evidence::Evidence>> observe_last_load(const HostSet& hosts, bool has_snapshots,
                                                          Context& context) {
  if (has_snapshots || !hosts.lab || !hosts.lab->last_run()) return observe(hosts, context).all();
  return hosts.lab->observe_last_run();
}

}  // namespace weir::cli
