#include "sim/fabric/placement.h"

#include "base/check.h"

namespace weir::sim {

Placement placement_of(const design::Intent& intent, const Network& network) {
  WEIR_CHECK(network.links.size() == intent.links.size());
  Placement out;
  for (const design::HostIntent& host : intent.hosts)
    out.nics.emplace_back(host.nics.size(), NodeId{0});
  out.switches.assign(intent.switches.size(), NodeId{0});
  const auto put = [&](const design::PortRef& port, NodeId node) {
    const bool is_nic = network.nodes[node].kind == NodeKind::kNic;
    WEIR_CHECK(is_nic == (port.kind == design::NodeKind::kHost));
    if (is_nic)
      out.nics[port.node][port.port] = node;
    else
      out.switches[port.node] = node;
  };
  for (const LinkId l : network.links.ids()) {
    put(intent.links[to_index(l)].lower, network.links[l].a);
    put(intent.links[to_index(l)].upper, network.links[l].b);
  }
  return out;
}

}  // namespace weir::sim
