#include "sim/fabric/path.h"

#include <algorithm>

namespace weir::sim {

QpPaths::QpPaths(const Network& network, const Routes& routes)
    : network_(network), routes_(routes), links_at_(network.nodes.size()) {
  for (const LinkId l : network.links.ids()) {
    links_at_[network.links[l].a].push_back(l);
    links_at_[network.links[l].b].push_back(l);
  }
}

std::vector<PathStep> QpPaths::of(const QueuePair& qp, PathChoice choice) const {
  const std::uint32_t key = flow_key(qp.source, qp.target, qp.source_port);
  std::vector<PathStep> path;
  NodeId node = qp.source;
  while (node != qp.target && path.size() <= network_.nodes.size()) {
    std::uint32_t port = 0;
    if (node != qp.source) {
      const auto ports = routes_.next(node, qp.target);
      if (ports.empty()) return {};
      const auto count = static_cast<std::uint32_t>(ports.size());
      port = ports[choice == PathChoice::kFirst
                       ? 0
                       : pick(key, network_.switch_config(node).ecmp_seed, count)];
    }
    if (links_at_[node].empty()) return {};
    const LinkId l = links_at_[node][port];
    path.push_back({node, port, l});
    const Link& link = network_.links[l];
    node = link.a == node ? link.b : link.a;
  }
  return node == qp.target ? path : std::vector<PathStep>();
}

PathTimes QpPaths::times(const std::vector<PathStep>& path, std::int64_t full_frame) const {
  constexpr std::int64_t kHeader = 64;  // what a cut-through switch reads before it acts
  const auto takes = [&](std::int64_t frame, BitRate rate) {
    return serialization_time(Bytes::raw(frame + network_.wire.gap), rate);
  };
  PathTimes out;
  out.slowest = BitRate::max();
  for (const PathStep& step : path)
    out.slowest = std::min(out.slowest, network_.links[step.link].rate);
  bool is_slowest_counted = false;
  for (const PathStep& step : path) {
    const Link& link = network_.links[step.link];
    const NodeId node = link.a == step.node ? link.b : link.a;
    out.delay += link.propagation;
    bool cuts_through = false;
    if (network_.nodes[node].kind == NodeKind::kSwitch) {
      const SwitchConfig& config = network_.switch_config(node);
      out.delay += config.pipeline;
      cuts_through = config.forwarding == Forwarding::kCutThrough;
    }
    const std::int64_t header = kHeader - network_.wire.gap;
    out.ack += takes(cuts_through ? header : network_.wire.ack_frame, link.rate);
    if (!is_slowest_counted && link.rate == out.slowest && !cuts_through) {
      is_slowest_counted = true;
      continue;
    }
    out.frame += takes(cuts_through ? header : full_frame, link.rate);
  }
  return out;
}

Bytes QpPaths::on_wire(const QueuePair& qp, Bytes size) const {
  const std::int64_t mtu = network_.nic_config(qp.source).mtu.raw();
  const std::int64_t packets = std::max<std::int64_t>((size.raw() + mtu - 1) / mtu, 1);
  const std::int64_t bytes = size.raw() + packets * (network_.wire.data_header + network_.wire.gap);
  return Bytes::raw(bytes + (qp.operation == Operation::kWrite ? network_.wire.reth : 0));
}

std::int64_t QpPaths::full_frame(const QueuePair& qp, Bytes size) const {
  return std::min(network_.nic_config(qp.source).mtu, size).raw() + network_.wire.data_header;
}

Duration QpPaths::ideal(const QueuePair& qp, Bytes size) const {
  const std::vector<PathStep> path = of(qp, PathChoice::kFirst);
  if (path.empty()) return {};
  const PathTimes alone = times(path, full_frame(qp, size));
  return serialization_time(on_wire(qp, size), alone.slowest) + alone.frame + alone.delay * 2 +
         alone.ack;
}

}  // namespace weir::sim
