#include "sim/route.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"

namespace weir::sim {
namespace {
constexpr std::uint32_t kFar = 0xFFFFFFFFU;
}

std::uint32_t flow_key(std::uint32_t source, std::uint32_t target, std::uint16_t source_port) {
  return static_cast<std::uint32_t>(
      mix64((std::uint64_t{source} << 40U) ^ (std::uint64_t{target} << 16U) ^ source_port) >> 32U);
}

void Routes::build(const Network& network) {
  const std::size_t nodes = network.nodes.size();
  row_.assign(nodes, 0);
  column_.assign(nodes, 0);
  neighbours_.assign(nodes, {});
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (network.nodes[n].kind == NodeKind::kSwitch) {
      row_[n] = static_cast<std::uint32_t>(switches_.size());
      switches_.push_back(n);
    } else {
      column_[n] = static_cast<std::uint32_t>(nics_.size());
      nics_.push_back(n);
    }
  }
  columns_ = nics_.size();
  link_up_.assign(network.links.size(), true);
  for (std::uint32_t l = 0; l < network.links.size(); ++l) {
    const Link& link = network.links[l];
    link_up_[l] = link.up;
    const auto port_a = static_cast<std::uint16_t>(neighbours_[link.a].size());
    neighbours_[link.a].push_back({link.b, l, port_a});
    const auto port_b = static_cast<std::uint16_t>(neighbours_[link.b].size());
    neighbours_[link.b].push_back({link.a, l, port_b});
  }
  std::size_t room = 0;
  for (const std::uint32_t s : switches_)
    room += neighbours_[s].size() * columns_;
  ports_.reserve(room);
  groups_.assign(switches_.size() * columns_, {});
  distance_.assign(nodes, kFar);
  frontier_.reserve(nodes);
  if (network.routes)
    use_explicit(network);
  else
    find_paths();
}

void Routes::use_explicit(const Network& network) {
  fixed_ = true;
  for (const std::uint32_t s : switches_) {
    for (const std::uint32_t d : nics_) {
      Group& group = groups_[std::size_t{row_[s]} * columns_ + column_[d]];
      group.first = static_cast<std::uint32_t>(ports_.size());
      for (const std::uint32_t neighbour : network.routes->next[s][d])
        for (const Neighbour& n : neighbours_[s])
          if (n.node == neighbour) ports_.push_back(n.port);
      group.count = static_cast<std::uint32_t>(ports_.size()) - group.first;
    }
  }
}

void Routes::set_link(std::uint32_t link, bool up) {
  link_up_[link] = up;
  if (!fixed_) find_paths();
}

void Routes::search_from(std::uint32_t destination) {
  std::fill(distance_.begin(), distance_.end(), kFar);
  frontier_.clear();
  frontier_.push_back(destination);
  distance_[destination] = 0;
  for (std::size_t i = 0; i < frontier_.size(); ++i) {
    const std::uint32_t node = frontier_[i];
    // A NIC forwards nothing: only the destination itself is searched through.
    if (node != destination && column_[node] < columns_ && nics_[column_[node]] == node) continue;
    for (const Neighbour& n : neighbours_[node]) {
      if (!link_up_[n.link] || distance_[n.node] != kFar) continue;
      distance_[n.node] = distance_[node] + 1;
      frontier_.push_back(n.node);
    }
  }
}

void Routes::find_paths() {
  ports_.clear();
  for (const std::uint32_t d : nics_) {
    search_from(d);
    for (const std::uint32_t s : switches_) {
      Group& group = groups_[std::size_t{row_[s]} * columns_ + column_[d]];
      group.first = static_cast<std::uint32_t>(ports_.size());
      for (const Neighbour& n : neighbours_[s])
        if (link_up_[n.link] && distance_[s] != kFar && distance_[n.node] + 1 == distance_[s])
          ports_.push_back(n.port);
      group.count = static_cast<std::uint32_t>(ports_.size()) - group.first;
    }
  }
}

std::uint32_t Routes::distance(std::uint32_t from, std::uint32_t destination) const {
  std::uint32_t links = 0;
  std::uint32_t node = from;
  while (node != destination) {
    const bool is_switch = row_[node] < switches_.size() && switches_[row_[node]] == node;
    const auto& around = neighbours_[node];
    if (is_switch) {
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
