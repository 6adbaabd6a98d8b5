#include "design/fabric/routes.h"

#include <algorithm>
#include <deque>
#include <map>

namespace weir::design {
namespace {

constexpr int kFar = 1 << 28;

/// Hops to the target over usable edges that `may_use` allows, breadth first from the target.
template <class MayUse>
std::vector<int> distances(const SwitchGraph& graph, std::uint32_t target, const Broken& broken,
                           const MayUse& may_use) {
  std::vector<int> distance(graph.size(), kFar);
  if (broken.has_switch(target)) return distance;
  distance[target] = 0;
  std::deque<std::uint32_t> frontier = {target};
  while (!frontier.empty()) {
    const std::uint32_t at = frontier.front();
    frontier.pop_front();
    for (const auto& [node, edge] : graph.neighbours[at]) {
      if (distance[node] != kFar || !may_use(node, at)) continue;
      if (broken.has_edge(edge) || broken.has_switch(node)) continue;
      distance[node] = distance[at] + 1;
      frontier.push_back(node);
    }
  }
  return distance;
}

/// Shortest ways that go up first and then down only: from the top tier downwards, a switch goes
/// down where it can, else up to the nearest that can.
std::vector<int> up_down_distances(const SwitchGraph& graph, std::uint32_t target,
                                   const Broken& broken) {
  std::vector<int> distance = distances(
      graph, target, broken,
      [&](std::uint32_t from, std::uint32_t to) { return graph.tier[from] > graph.tier[to]; });
  std::vector<std::uint32_t> by_tier(graph.size());
  for (std::uint32_t node = 0; node < by_tier.size(); ++node)
    by_tier[node] = node;
  std::stable_sort(by_tier.begin(), by_tier.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return graph.tier[a] > graph.tier[b]; });
  for (const std::uint32_t node : by_tier) {
    if (broken.has_switch(node)) continue;
    for (const auto& [upper, edge] : graph.neighbours[node]) {
      if (graph.tier[upper] <= graph.tier[node] || broken.has_edge(edge)) continue;
      if (!broken.has_switch(upper)) distance[node] = std::min(distance[node], distance[upper] + 1);
    }
  }
  return distance;
}

/// Follows packets for one destination from every leaf, as turns.
class Walk {
 public:
  Walk(const SwitchGraph& graph, Routing routing, const Broken& broken, std::uint32_t target,
       const NextHops& intact, std::vector<Turn>& out)
      : graph_(graph),
        broken_(broken),
        bounces_(routing == Routing::kBounce),
        target_(target),
        // Local rerouting keeps the tables of the whole fabric and steps aside; otherwise every
        // switch learns of the failure.
        next_(bounces_ ? usable(intact) : next_hops(graph, target, broken)),
        intact_(intact),
        out_(out),
        seen_(graph.size()) {}

  void run() {
    for (std::uint32_t leaf = 0; leaf < graph_.size(); ++leaf) {
      if (graph_.nics[leaf] == 0 || leaf == target_ || broken_.has_switch(leaf)) continue;
      source_ = leaf;
      for (const std::uint32_t next : next_[leaf])
        step(leaf, next, false);
    }
  }

 private:
  [[nodiscard]] NextHops usable(const NextHops& intact) const {
    NextHops next(intact.size());
    for (std::uint32_t node = 0; node < intact.size(); ++node)
      for (const std::uint32_t to : intact[node])
        if (is_up(node, to)) next[node].push_back(to);
    return next;
  }
  [[nodiscard]] bool is_up(std::uint32_t a, std::uint32_t b) const {
    if (broken_.has_switch(a) || broken_.has_switch(b)) return false;
    const auto& list = graph_.neighbours[a];
    return std::any_of(list.begin(), list.end(), [&](const SwitchGraph::Neighbour& neighbour) {
      return neighbour.node == b && !broken_.has_edge(neighbour.edge);
    });
  }

  // A packet came from `from` to `at`.
  void step(std::uint32_t from, std::uint32_t at, bool has_bounced) {
    if (at == target_) return;
    std::vector<std::uint32_t>& seen = seen_[at];
    const std::uint32_t key = from * 2 + (has_bounced ? 1 : 0);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) return;
    seen.push_back(key);
    for (const std::uint32_t to : next_[at])
      if (to != from) turn(from, at, to, has_bounced);
    if (!bounces_ || has_bounced || !next_[at].empty() || intact_[at].empty()) return;
    for (const auto& [down, edge] : graph_.neighbours[at])
      if (down != from && can_help(at, down)) bounce(from, at, down);
  }

  // A lower neighbour with a usable way that does not lead back.
  [[nodiscard]] bool can_help(std::uint32_t at, std::uint32_t down) const {
    if (graph_.tier[down] >= graph_.tier[at] || !is_up(at, down) || down == target_) return false;
    return std::any_of(next_[down].begin(), next_[down].end(), [&](std::uint32_t other) {
      return other != at && (other == target_ || !next_[other].empty());
    });
  }

  void bounce(std::uint32_t from, std::uint32_t at, std::uint32_t down) {
    out_.push_back({from, at, down, source_, target_});
    for (const std::uint32_t other : next_[down]) {
      if (other == at || (other != target_ && next_[other].empty())) continue;
      turn(at, down, other, true);
    }
  }

  void turn(std::uint32_t from, std::uint32_t at, std::uint32_t to, bool has_bounced) {
    out_.push_back({from, at, to, source_, target_});
    step(at, to, has_bounced);
  }

  const SwitchGraph& graph_;
  const Broken& broken_;
  bool bounces_;
  std::uint32_t target_;
  NextHops next_;
  const NextHops& intact_;
  std::vector<Turn>& out_;
  std::vector<std::vector<std::uint32_t>> seen_;  // by switch: where packets came from
  std::uint32_t source_ = 0;
};

}  // namespace

bool Broken::has_edge(std::uint32_t edge) const {
  return std::find(edges.begin(), edges.end(), edge) != edges.end();
}

bool Broken::has_switch(std::uint32_t node) const {
  return std::find(switches.begin(), switches.end(), node) != switches.end();
}

SwitchGraph switch_graph(const Intent& intent) {
  SwitchGraph graph;
  graph.neighbours.resize(intent.switches.size());
  graph.nics.resize(intent.switches.size());
  for (const SwitchIntent& node : intent.switches)
    graph.tier.push_back(node.tier);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (const LinkIntent& link : intent.links) {
    if (link.upper.kind != NodeKind::kSwitch) continue;
    if (link.lower.kind == NodeKind::kHost) {
      ++graph.nics[link.upper.node];
      continue;
    }
    const auto [low, high] = std::minmax(link.lower.node, link.upper.node);
    const auto [at, is_new] =
        known.emplace(std::pair(low, high), static_cast<std::uint32_t>(graph.edges.size()));
    if (is_new) {
      graph.edges.push_back({low, high, 0});
      graph.neighbours[low].push_back({high, at->second});
      graph.neighbours[high].push_back({low, at->second});
      graph.has_flat_edges = graph.has_flat_edges || graph.tier[low] == graph.tier[high];
    }
    ++graph.edges[at->second].cables;
  }
  return graph;
}

NextHops next_hops(const SwitchGraph& graph, std::uint32_t target, const Broken& broken) {
  const std::vector<int> distance =
      graph.has_flat_edges
          ? distances(graph, target, broken, [](std::uint32_t, std::uint32_t) { return true; })
          : up_down_distances(graph, target, broken);
  NextHops next(graph.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (node == target || distance[node] >= kFar) continue;
    for (const auto& [to, edge] : graph.neighbours[node]) {
      if (broken.has_edge(edge) || broken.has_switch(to)) continue;
      if (distance[to] + 1 == distance[node]) next[node].push_back(to);
    }
    std::sort(next[node].begin(), next[node].end());
  }
  return next;
}

std::vector<Turn> turns(const SwitchGraph& graph, Routing routing, const Broken& broken) {
  std::vector<Turn> out;
  for (std::uint32_t target = 0; target < graph.size(); ++target) {
    if (graph.nics[target] == 0 || broken.has_switch(target)) continue;
    const NextHops intact = next_hops(graph, target);
    Walk(graph, routing, broken, target, intact, out).run();
  }
  return out;
}

Reach reach(const SwitchGraph& graph, const Broken& broken) {
  const std::size_t words = (graph.size() + 63) / 64;
  Reach sets(graph.size(), std::vector<std::uint64_t>(words));
  std::vector<std::uint32_t> upwards(graph.size());
  for (std::uint32_t node = 0; node < upwards.size(); ++node)
    upwards[node] = node;
  std::stable_sort(upwards.begin(), upwards.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return graph.tier[a] < graph.tier[b]; });
  const auto take_over = [&](std::uint32_t node, bool from_above) {
    bool has_grown = false;
    for (const auto& [peer, edge] : graph.neighbours[node]) {
      const bool is_above = graph.tier[peer] > graph.tier[node];
      if ((is_above != from_above && !graph.has_flat_edges) || broken.has_edge(edge)) continue;
      for (std::size_t w = 0; w < words; ++w) {
        const std::uint64_t sum = sets[node][w] | sets[peer][w];
        has_grown = has_grown || sum != sets[node][w];
        sets[node][w] = sum;
      }
    }
    return has_grown;
  };
  for (const std::uint32_t node : upwards)
    if (!broken.has_switch(node) && graph.nics[node] > 0)
      sets[node][node / 64] |= std::uint64_t{1} << (node % 64);
  // Once up and once down is all there is, but where edges stay within a tier.
  bool has_grown = true;
  while (has_grown) {
    has_grown = false;
    for (const std::uint32_t node : upwards)
      if (!broken.has_switch(node)) has_grown = take_over(node, false) || has_grown;
    for (auto node = upwards.rbegin(); node != upwards.rend(); ++node)
      if (!broken.has_switch(*node)) has_grown = take_over(*node, true) || has_grown;
    has_grown = has_grown && graph.has_flat_edges;
  }
  return sets;
}

std::vector<CutOff> cut_off(const SwitchGraph& graph, const Reach& intact, const Reach& now,
                            const Broken& broken) {
  std::vector<CutOff> pairs;
  for (std::uint32_t leaf = 0; leaf < graph.size(); ++leaf) {
    if (graph.nics[leaf] == 0 || broken.has_switch(leaf)) continue;
    for (std::uint32_t target = leaf + 1; target < graph.size(); ++target) {
      if (graph.nics[target] == 0 || broken.has_switch(target)) continue;
      const std::uint64_t bit = std::uint64_t{1} << (target % 64);
      const std::size_t word = target / 64;
      if ((intact[leaf][word] & bit) != 0 && (now[leaf][word] & bit) == 0)
        pairs.push_back({leaf, target});
    }
  }
  return pairs;
}

}  // namespace weir::design
