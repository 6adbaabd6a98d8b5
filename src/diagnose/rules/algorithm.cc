// Congestion control that is not DCQCN: the NICs of a fabric must react to marks in the same way.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void look_at_algorithms(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics()) {
    if (nic.facts == nullptr || !nic.facts->ecn.algorithm.is_known()) continue;
    const std::string& found = *nic.facts->ecn.algorithm;
    // "none" is for a driver without a switch for it: whether it reacts shows in its counters.
    if (found.empty() || found == "dcqcn" || found == "none") continue;
    out.add({.id = "cc.wrong_algorithm",
             .verdict = fmt::format("{} runs {} for congestion control; marks and CNPs belong to "
                                    "DCQCN.",
                                    name_of(nic), found),
             .where = nic.where(),
             .evidence = {
                 fact_line(nic.counts.source(),
                           fmt::format("congestion control: expected dcqcn, found {}", found))}});
  }
}

}  // namespace weir::diagnose
