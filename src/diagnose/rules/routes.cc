// Packets that a switch could not forward: their TTL expired, which takes a loop, or there was no
// route. No buffer setting helps against either.
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
     "with an expired TTL: they are in a routing loop"},
    {"switch.port.drop_no_route.packets", "path.loss", "without a route"},
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
    out.add({.id = reason.id,
             .verdict = fmt::format("{} dropped {} packets {}.", worst->switch_name,
                                    count_text(most), reason.words),
             .where = worst->where(),
             .confidence = finding::Confidence::kHigh,
             .evidence = {worst->counts.line(reason.counter)},
             .explains = congestion_anywhere()});
  }
}

}  // namespace weir::diagnose
