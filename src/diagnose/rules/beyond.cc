// What a single host cannot show. With a design of many hosts and no switch read, a healthy host
// says nothing about the fabric: unknown is not healthy.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void look_beyond(const View& view, Suspicions& out) {
  if (!view.ports().empty() || view.nics().empty() || !view.has_counters()) return;
  const std::string how = "the counters of its switch and of its peers, twice: weir snapshot";
  for (const NicView& nic : view.nics()) {
    const auto share = nic.counts.share_of_window("nic.prio.pause_rx.microseconds", view.rdma());
    if (!share || *share < view.thresholds().pause_warning) continue;
    out.cannot_tell("cause of the pauses",
                    fmt::format("{} was paused for {} of the window, and no switch was read",
                                name_of(nic), percent(*share)),
                    how);
    break;
  }
  const std::string& first = view.nics().front().host;
  const bool is_alone = std::all_of(view.nics().begin(), view.nics().end(),
                                    [&](const NicView& nic) { return nic.host == first; });
  if (!is_alone || view.intent() == nullptr || view.intent()->hosts.size() < 2) return;
  out.cannot_tell(
      "the rest of the fabric",
      fmt::format("only 1 of {} hosts and no switch was read", view.intent()->hosts.size()), how);
}

}  // namespace weir::diagnose
