// Packets that a switch could not forward: their hops ran out, which takes a loop, or no route was
// there. Both are drops of their own kind, and no buffer helps.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

struct RouteReason {
  std::string_view counter;
  std::string_view id;
  std::string_view words;
};
constexpr RouteReason kRouteReasons[] = {
    {"switch.port.drop_ttl.packets", "routing.loop",
     "whose hops had run out: they go round in a loop"},
    {"switch.port.drop_no_route.packets", "path.loss", "that it has no route for"},
};

}  // namespace

void look_for_routes(const View& view, Suspicions& out) {
  for (const RouteReason& reason : kRouteReasons) {
    const PortView* worst = nullptr;
    std::uint64_t most = 0;
    for (const PortView& port : view.ports()) {
      const std::uint64_t drops = port.counts.of(reason.counter).value_or(0);
      if (drops <= most) continue;
      most = drops;
      worst = &port;
    }
    if (worst == nullptr) continue;
    finding::Finding finding =
        finding::make_finding(reason.id,
                              fmt::format("{} dropped {} packets {}.", worst->switch_name,
                                          count_text(most), reason.words),
                              worst->where());
    finding.confidence = finding::Confidence::kHigh;
    finding.evidence.push_back(worst->counts.line(reason.counter));
    out.add(std::move(finding), congestion_anywhere());
  }
}

}  // namespace weir::diagnose
