// Cables that lead elsewhere than in the design, as LLDP shows them.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void look_at_wiring(const View& view, Suspicions& out) {
  if (view.intent() == nullptr) return;
  for (const PortView& port : view.ports()) {
    if (port.wanted == nullptr || port.facts == nullptr || !port.facts->neighbour.is_known())
      continue;
    const std::string& found = port.facts->neighbour->system;
    if (found.empty() || port.neighbour.empty() || found == port.neighbour) continue;
    out.add(
        {.id = "wiring.mismatch",
         .verdict = fmt::format("{} leads to {}; the design has {} there.", name_of(port), found,
                                port.neighbour),
         .where = port.where(),
         .evidence = {fact_line(name_of(port), fmt::format("LLDP neighbour: expected {}, found {}",
                                                           port.neighbour, found))}});
  }
}

}  // namespace weir::diagnose
