#include "sim/fabric/route.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"

namespace weir::sim {
namespace {
constexpr std::uint32_t kFar = 0xFFFFFFFFU;
}

std::uint32_t flow_key(NodeId source, NodeId target, std::uint16_t source_port) {
  return static_cast<std::uint32_t>(mix64((std::uint64_t{to_index(source)} << 40U) ^
                                          (std::uint64_t{to_index(target)} << 16U) ^ source_port) >>
                                    32U);
}

void Routes::build(const Network& network) {
  const std::size_t nodes = network.nodes.size();
  row_.assign(nodes, 0);
  is_switch_.assign(nodes, 0);
  attached_.assign(nodes, {});
  neighbours_.assign(nodes, {});
  for (const NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind == NodeKind::kSwitch) {
      is_switch_[n] = 1;
      row_[n] = static_cast<std::uint32_t>(switches_.size());
      switches_.push_back(n);
    } else {
      nics_.push_back(n);
    }
  }
  link_up_.assign(network.links.size(), 1);
  for (const LinkId l : network.links.ids()) {
    const Link& link = network.links[l];
    link_up_[l] = link.up ? 1 : 0;
    const auto port_a = static_cast<std::uint16_t>(neighbours_[link.a].size());
    neighbours_[link.a].push_back({link.b, l, port_a});
    const auto port_b = static_cast<std::uint16_t>(neighbours_[link.b].size());
    neighbours_[link.b].push_back({link.a, l, port_b});
  }
  if (network.routes) return use_explicit(network);
  number_columns();
  std::size_t room = 0;
  for (const NodeId s : switches_)
    room += neighbours_[s].size() * columns_;
  ports_.reserve(room);
  groups_.assign(switches_.size() * columns_, {});
  last_group_.assign(switches_.size(), {});
  distance_.assign(nodes, kFar);
  frontier_.reserve(nodes);
  find_paths();
}

void Routes::use_explicit(const Network& network) {
  fixed_ = true;
  columns_ = nics_.size() + 1;
  groups_.assign(switches_.size() * columns_, {});
  for (std::uint32_t i = 0; i < nics_.size(); ++i)
    attached_[nics_[i]].column = i + 1;
  for (const NodeId s : switches_) {
    for (const NodeId d : nics_) {
      Group& group = groups_[row_of(s) + attached_[d].column];
      group.first = static_cast<std::uint32_t>(ports_.size());
      for (const NodeId neighbour : network.routes->next[s][d])
        for (const Neighbour& n : neighbours_[s])
          if (n.node == neighbour) ports_.push_back(n.port);
      group.count = static_cast<std::uint32_t>(ports_.size()) - group.first;
    }
  }
}

void Routes::number_columns() {
  column_.assign(neighbours_.size(), 0);
  roots_.assign(1, kNo<NodeId>);
  for (const NodeId d : nics_) {
    for (const Neighbour& n : neighbours_[d]) {
      if (is_switch_[n.node] == 0 || column_[n.node] != 0) continue;
      column_[n.node] = static_cast<std::uint32_t>(roots_.size());
      roots_.push_back(n.node);
    }
  }
  columns_ = roots_.size();
}

void Routes::set_link(LinkId link, bool up) {
  link_up_[link] = up ? 1 : 0;
  if (!fixed_) find_paths();
}

void Routes::attach(NodeId nic) {
  attached_[nic] = {};
  for (const Neighbour& to : neighbours_[nic]) {
    if (link_up_[to.link] == 0 || is_switch_[to.node] == 0) continue;
    for (const Neighbour& back : neighbours_[to.node])
      if (back.link == to.link) attached_[nic] = {to.node, column_[to.node], back.port};
  }
}

/// Distances of all switches to the switch `root`.
void Routes::search_from(NodeId root) {
  std::fill(distance_.begin(), distance_.end(), kFar);
  frontier_.clear();
  frontier_.push_back(root);
  distance_[root] = 0;
  for (std::size_t i = 0; i < frontier_.size(); ++i) {
    const NodeId node = frontier_[i];
    for (const Neighbour& n : neighbours_[node]) {
      if (link_up_[n.link] == 0 || distance_[n.node] != kFar || is_switch_[n.node] == 0) continue;
      distance_[n.node] = distance_[node] + 1;
      frontier_.push_back(n.node);
    }
  }
}

void Routes::find_paths() {
  ports_.clear();
  std::fill(last_group_.begin(), last_group_.end(), Group{});
  for (const NodeId d : nics_)
    attach(d);
  for (std::size_t column = 1; column < columns_; ++column) {
    search_from(roots_[column]);
    for (const NodeId s : switches_) {
      add_group(s);
      groups_[row_of(s) + column] = last_group_[row_[s]];
    }
  }
}

/// The ports of `node` on shortest paths to where search_from() began become its last group, which
/// stays what it was where they are the same.
void Routes::add_group(NodeId node) {
  Group& last = last_group_[row_[node]];
  const auto first = static_cast<std::uint32_t>(ports_.size());
  const std::uint32_t distance = distance_[node];
  if (distance != kFar && distance > 0)
    for (const Neighbour& n : neighbours_[node])
      if (link_up_[n.link] != 0 && distance_[n.node] == distance - 1) ports_.push_back(n.port);
  const std::uint32_t count = static_cast<std::uint32_t>(ports_.size()) - first;
  if (count == last.count &&
      std::equal(ports_.begin() + first, ports_.end(), ports_.begin() + last.first))
    ports_.resize(first);
  else
    last = {first, count};
}

std::uint32_t Routes::distance(NodeId from, NodeId destination) const {
  std::uint32_t links = 0;
  NodeId node = from;
  while (node != destination) {
    const auto& around = neighbours_[node];
    if (is_switch_[node] != 0) {
      const auto ports = next(node, destination);
      if (ports.empty()) return 0;
      node = around[ports[0]].node;
    } else {
      if (around.empty() || links > 0) return 0;
      node = around[0].node;
    }
    ++links;
    if (links > neighbours_.size()) return 0;
  }
  return links;
}

}  // namespace weir::sim
