// A host that is paused by its switch suffers from something beyond it. With no switch in the case
// nobody can say whether that is a fault or a busy fabric: unknown is not healthy.
#include <fmt/format.h>

#include "diagnose/rule.h"

namespace weir::diagnose {

void look_beyond(const View& view, Suspicions& out) {
  if (!view.ports().empty()) return;
  for (const NicView& nic : view.nics()) {
    const auto share = nic.counts.share_of_window("nic.prio.pause_rx.microseconds", view.rdma());
    if (!share || *share < view.thresholds().pause_warning) continue;
    out.cannot_tell("what pauses the hosts",
                    fmt::format("{} was paused for {} of the window, and no switch was looked at",
                                name_of(nic), percent(*share)),
                    "the counters of its switch, twice: weir diagnose BEFORE AFTER");
    return;
  }
}

}  // namespace weir::diagnose
