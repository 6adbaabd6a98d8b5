#include "design/prove/prove.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "design/fabric/routes.h"
#include "design/prove/prove_walk.h"
#include "finding/catalog.h"

namespace weir::design {
namespace {

constexpr std::uint32_t kHosts = 0xFFFFFFFFU;  // in place of a switch: the hosts of a leaf

/// Which ways a packet takes through each switch: from a neighbour (or hosts) to neighbours (or
/// hosts), nothing broken. A fabric of a thousand switches has millions of them: bits, not sets.
class Ways {
 public:
  explicit Ways(const SwitchGraph& graph) : peers_(graph.size()), rows_(graph.size()) {
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      for (const auto& [peer, edge] : graph.neighbours[node])
        peers_[node].push_back(peer);
      std::sort(peers_[node].begin(), peers_[node].end());
      peers_[node].push_back(kHosts);
      rows_[node].assign(peers_[node].size(), Bits(peers_[node].size()));
      if (graph.nics[node] > 1) row(node, kHosts)[index_of(node, kHosts)] = true;
    }
    for (std::uint32_t target = 0; target < graph.size(); ++target) {
      if (graph.nics[target] == 0) continue;
      const NextHops next = next_hops(graph, target);
      follow(graph, target, next);
      count_paths(graph, target, next);
    }
  }

  /// The switches around `node`, ascending, and kHosts at the end.
  [[nodiscard]] const std::vector<std::uint32_t>& peers(std::uint32_t node) const {
    return peers_[node];
  }
  /// Whether packets that came from `before` go to each of peers(node).
  [[nodiscard]] const std::vector<bool>& from(std::uint32_t node, std::uint32_t before) const {
    return rows_[node][index_of(node, before)];
  }
  [[nodiscard]] std::uint64_t paths() const { return paths_; }
  /// Switches on the longest path.
  [[nodiscard]] std::uint32_t longest() const { return longest_; }

 private:
  using Bits = std::vector<bool>;

  [[nodiscard]] std::size_t index_of(std::uint32_t node, std::uint32_t peer) const {
    const auto at = std::lower_bound(peers_[node].begin(), peers_[node].end(), peer);
    return static_cast<std::size_t>(at - peers_[node].begin());
  }
  Bits& row(std::uint32_t node, std::uint32_t before) {
    return rows_[node][index_of(node, before)];
  }

  /// Packets for the hosts of `target`, from every leaf with hosts.
  void follow(const SwitchGraph& graph, std::uint32_t target, const NextHops& next) {
    std::vector<bool> is_reached(graph.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t leaf = 0; leaf < graph.size(); ++leaf) {
      if (graph.nics[leaf] == 0 || leaf == target) continue;
      is_reached[leaf] = true;
      open.push_back(leaf);
      for (const std::uint32_t to : next[leaf])
        row(leaf, kHosts)[index_of(leaf, to)] = true;
    }
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const std::uint32_t to : next[node]) {
        pass_on(node, to, target, next[to]);
        if (to == target || is_reached[to]) continue;
        is_reached[to] = true;
        open.push_back(to);
      }
    }
  }

  /// Packets for `target` that came from `before` to `node`.
  void pass_on(std::uint32_t before, std::uint32_t node, std::uint32_t target,
               const std::vector<std::uint32_t>& next) {
    Bits& ways = row(node, before);
    if (node == target) ways[index_of(node, kHosts)] = true;
    for (const std::uint32_t to : next)
      if (to != before) ways[index_of(node, to)] = true;
  }

  /// Over all pairs of NICs, parallel cables told apart.
  void count_paths(const SwitchGraph& graph, std::uint32_t target, const NextHops& next) {
    std::vector<double> ways(graph.size(), -1);
    std::vector<std::uint32_t> length(graph.size(), 1);
    ways[target] = 1;
    const auto count = [&](const auto& self, std::uint32_t node) -> double {
      if (ways[node] >= 0) return ways[node];
      ways[node] = 0;  // shortest paths have no cycles; this is for safety alone
      double sum = 0;
      for (const auto& [peer, edge] : graph.neighbours[node]) {
        if (!std::binary_search(next[node].begin(), next[node].end(), peer)) continue;
        sum += graph.edges[edge].cables * self(self, peer);
        length[node] = std::max(length[node], length[peer] + 1);
      }
      longest_ = std::max(longest_, length[node]);
      return ways[node] = sum;
    };
    const double here = graph.nics[target];
    double sum = here * (here - 1);
    for (std::uint32_t leaf = 0; leaf < graph.size(); ++leaf)
      if (leaf != target && graph.nics[leaf] > 0)
        sum += graph.nics[leaf] * here * count(count, leaf);
    constexpr double kMost = 9e18;
    paths_ = sum + static_cast<double>(paths_) > kMost ? std::numeric_limits<std::uint64_t>::max()
                                                       : paths_ + static_cast<std::uint64_t>(sum);
  }

  std::vector<std::vector<std::uint32_t>> peers_;
  std::vector<std::vector<Bits>> rows_;  // by switch and where packets came from
  std::uint64_t paths_ = 0;
  std::uint32_t longest_ = 1;
};

/// One class, breadth first from all NICs. Packets that look alike on a wire are one.
class Walk {
 public:
  Walk(const ProofCase& c, const Ways& ways, TrafficKind kind, Proof& out)
      : c_(c), ways_(ways), kind_(kind), out_(out), ports_to_(c.intent.switches.size()) {
    for (std::uint32_t node = 0; node < ports_to_.size(); ++node) {
      const std::vector<std::uint32_t>& peers = ways.peers(node);
      ports_to_[node].resize(peers.size());
      const std::vector<SwitchPortIntent>& ports = c.intent.switches[node].ports;
      for (std::uint32_t p = 0; p < ports.size(); ++p) {
        const PortRef& peer = ports[p].peer;
        const std::uint32_t to = peer.kind == NodeKind::kHost ? kHosts : peer.node;
        const auto at = std::lower_bound(peers.begin(), peers.end(), to);
        ports_to_[node][static_cast<std::size_t>(at - peers.begin())].push_back(p);
      }
    }
  }

  void run() {
    for (const HostIntent& host : c_.intent.hosts)
      for (const NicIntent& nic : host.nics)
        start(host, nic);
    while (!frontier_.empty()) {
      const std::size_t at = frontier_.front();
      frontier_.pop_front();
      pass(at);
    }
    report();
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// A packet as a switch sees it: the switch, priority, DSCP, PCP, who rewrote it, hops so far.
  using Seen =
      std::tuple<std::uint32_t, unsigned, unsigned, unsigned, std::uint32_t, std::uint32_t>;

  /// A packet on its way to the far end of a link.
  struct State {
    OnWire wire;
    PortRef to;
    std::size_t before = kNone;
    std::uint32_t hops = 0;
    const HostIntent* host = nullptr;  // sender, at the start
    const NicIntent* nic = nullptr;
  };

  void start(const HostIntent& host, const NicIntent& nic) {
    const Passed passed = leave_nic(c_, kind_, host, nic, Detail::kNone);
    ++out_.hops_checked;
    State state;
    state.host = &host;
    state.nic = &nic;
    state.wire = passed.out;
    const LinkIntent& link = c_.intent.links[nic.link];
    state.to = link.upper == PortRef{NodeKind::kHost, host_index(host), port_of(host, nic)}
                   ? link.lower
                   : link.upper;
    states_.push_back(state);
    if (passed.broken) return fail(states_.size() - 1, *passed.broken, group_key(host), {});
    frontier_.push_back(states_.size() - 1);
  }

  [[nodiscard]] std::uint32_t host_index(const HostIntent& host) const {
    return static_cast<std::uint32_t>(&host - c_.intent.hosts.data());
  }
  [[nodiscard]] static std::uint32_t port_of(const HostIntent& host, const NicIntent& nic) {
    return static_cast<std::uint32_t>(&nic - host.nics.data());
  }
  static std::string group_key(const HostIntent& host) {
    return fmt::format("hosts {}", host.group);
  }
  [[nodiscard]] std::string group_key(std::uint32_t node) const {
    const Hop& hop = c_.hops[node];
    return hop.source == "design" ? fmt::format("switches {}", c_.intent.switches[node].group)
                                  : hop.source;
  }

  void pass(std::size_t at) {
    const State state = states_[at];
    if (state.to.kind == NodeKind::kHost) return arrive(at);
    const std::uint32_t node = state.to.node;
    const Passed entered = enter_switch(c_, kind_, state.wire, node, state.to.port, Detail::kNone);
    ++out_.hops_checked;
    if (entered.broken)
      return fail(at, *entered.broken, group_key(blamed(*entered.broken, node)), [&] {
        return enter_switch(c_, kind_, state.wire, node, state.to.port, Detail::kSteps).steps;
      });
    const std::uint32_t before = state.wire.from_switch.value_or(kHosts);
    // What leaves depends on where it came from and how it was seen, not on the very cable.
    const Seen seen(node, entered.priority.value(), state.wire.dscp.value(),
                    state.wire.pcp ? state.wire.pcp->value() : 8U,
                    state.wire.rewriter.value_or(kHosts), state.hops);
    if (!passed_.emplace(before, seen).second) return;
    const std::vector<bool>& ways = ways_.from(node, before);
    std::vector<bool>& sent = sent_.try_emplace(seen, ways.size()).first->second;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (!ways[i]) continue;
      if (sent[i]) {
        out_.hops_checked += ports_to_[node][i].size();
      } else {
        sent[i] = send(at, entered, node, i);
      }
    }
  }

  [[nodiscard]] std::uint32_t blamed(const Break& why, std::uint32_t otherwise) const {
    for (std::uint32_t node = 0; node < c_.hops.size(); ++node)
      if (c_.hops[node].name == why.where.switch_name) return node;
    return otherwise;
  }

  /// To the peer of that index, by all cables. True where it left by all of them, so that the same
  /// packet from elsewhere need not be tried again.
  bool send(std::size_t at, const Passed& entered, std::uint32_t node, std::size_t peer_index) {
    const SwitchIntent& here = c_.intent.switches[node];
    const bool is_to_hosts = ways_.peers(node)[peer_index] == kHosts;
    // Told apart by length, so that the longest path can be shown; turns may close a cycle.
    const std::uint32_t hops = std::min(states_[at].hops + 1, ways_.longest());
    bool has_left = true;
    for (const std::uint32_t p : ports_to_[node][peer_index]) {
      const PortRef peer = here.ports[p].peer;
      if (is_to_hosts && states_[at].nic != nullptr && is_sender(states_[at], peer)) {
        has_left = false;
        continue;
      }
      const Passed left =
          leave_switch(c_, kind_, states_[at].wire, entered, node, p, Detail::kNone);
      ++out_.hops_checked;
      if (left.broken) {
        has_left = false;
        fail(at, *left.broken, group_key(node), [&] { return steps_through(states_[at], p); });
        continue;
      }
      const auto key = std::tuple(node, p, left.out.dscp.value(), left.priority.value(),
                                  left.out.rewriter.value_or(kHosts), hops);
      if (!on_wire_.insert(key).second) continue;
      State state;
      state.wire = left.out;
      state.to = peer;
      state.before = at;
      state.hops = hops;
      states_.push_back(std::move(state));
      frontier_.push_back(states_.size() - 1);
    }
    return has_left;
  }

  [[nodiscard]] bool is_sender(const State& state, const PortRef& peer) const {
    return host_index(*state.host) == peer.node;
  }

  void arrive(std::size_t at) {
    const State& state = states_[at];
    const HostIntent& host = c_.intent.hosts[state.to.node];
    const NicIntent& nic = host.nics[state.to.port];
    const Passed passed = arrive_at_nic(c_, kind_, state.wire, host, nic, Detail::kNone);
    ++out_.hops_checked;
    if (passed.broken) {
      const std::string key = passed.broken->where.host.empty()
                                  ? group_key(blamed(*passed.broken, 0))
                                  : group_key(host);
      return fail(at, *passed.broken, key, [&] {
        return arrive_at_nic(c_, kind_, state.wire, host, nic, Detail::kSteps).steps;
      });
    }
    if (is_better_example(at)) longest_ = at;
  }

  /// Of two paths as long, one between two hosts shows more than one between rails of a host.
  [[nodiscard]] bool is_better_example(std::size_t at) const {
    if (longest_ == kNone || states_[at].hops > states_[longest_].hops) return true;
    return states_[at].hops == states_[longest_].hops && is_to_itself(longest_) &&
           !is_to_itself(at);
  }

  [[nodiscard]] bool is_to_itself(std::size_t at) const {
    std::size_t first = at;
    while (states_[first].before != kNone)
      first = states_[first].before;
    return states_[first].host == &c_.intent.hosts[states_[at].to.node];
  }

  /// The steps of the packet of `state` through the switch it reaches, out by `port`.
  [[nodiscard]] std::vector<ChainStep> steps_through(const State& state, std::uint32_t port) const {
    Passed entered =
        enter_switch(c_, kind_, state.wire, state.to.node, state.to.port, Detail::kSteps);
    const Passed left =
        leave_switch(c_, kind_, state.wire, entered, state.to.node, port, Detail::kSteps);
    entered.steps.insert(entered.steps.end(), left.steps.begin(), left.steps.end());
    return std::move(entered.steps);
  }

  /// `last_steps` gives what the chain ends with, where it is shown.
  void fail(std::size_t at, const Break& why, const std::string& group,
            const std::function<std::vector<ChainStep>()>& last_steps) {
    const auto [cause, is_new] =
        causes_.emplace(std::tuple(why.proven == Proven::kUnknown, why.id, group), broken_.size());
    if (!is_new) {
      places_[cause->second].insert(place_key(why));
      return;
    }
    Chain chain = chain_to(at);
    chain.proven = why.proven;
    if (last_steps) append(chain.steps, last_steps());
    chain.id = why.id;
    chain.reason = why.reason;
    chain.where = why.where;
    chain.source = std::exchange(chain.where.file, {});
    broken_.push_back(std::move(chain));
    places_.push_back({place_key(why)});
  }

  static void append(std::vector<ChainStep>& steps, std::vector<ChainStep> more) {
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }

  static std::string place_key(const Break& why) {
    return why.where.host + why.where.rail + "/" + why.where.switch_name + "/" + why.where.port;
  }

  /// The steps from the job to where the packet of `at` is.
  [[nodiscard]] Chain chain_to(std::size_t at) const {
    std::vector<std::size_t> path;
    for (std::size_t back = at; back != kNone; back = states_[back].before)
      path.push_back(back);
    std::reverse(path.begin(), path.end());
    Chain chain;
    chain.kind = kind_;
    const State& first = states_[path.front()];
    chain.from = first.host->name;
    chain.steps = leave_nic(c_, kind_, *first.host, *first.nic, Detail::kSteps).steps;
    for (std::size_t i = 1; i < path.size(); ++i)
      append(chain.steps, steps_through(states_[path[i - 1]], states_[path[i]].wire.from_port));
    return chain;
  }

  void report() {
    if (broken_.empty() && longest_ != kNone) {
      Chain chain = chain_to(longest_);
      const State& last = states_[longest_];
      const HostIntent& host = c_.intent.hosts[last.to.node];
      append(
          chain.steps,
          arrive_at_nic(c_, kind_, last.wire, host, host.nics[last.to.port], Detail::kSteps).steps);
      chain.to = host.name;
      out_.chains.push_back(std::move(chain));
    }
    for (std::size_t i = 0; i < broken_.size(); ++i) {
      broken_[i].places = places_[i].size();
      out_.chains.push_back(std::move(broken_[i]));
    }
  }

  const ProofCase& c_;
  const Ways& ways_;
  TrafficKind kind_;
  Proof& out_;
  /// By switch and peer, as Ways::peers() lists them.
  std::vector<std::vector<std::vector<std::uint32_t>>> ports_to_;
  std::vector<State> states_;
  std::deque<std::size_t> frontier_;
  std::set<std::pair<std::uint32_t, Seen>> passed_;  // where it came from, and how it was seen
  std::map<Seen, std::vector<bool>> sent_;           // by peer: left to it from any neighbour
  std::set<
      std::tuple<std::uint32_t, std::uint32_t, unsigned, unsigned, std::uint32_t, std::uint32_t>>
      on_wire_;
  std::map<std::tuple<bool, std::string, std::string>, std::size_t> causes_;
  std::vector<Chain> broken_;
  std::vector<std::set<std::string>> places_;
  std::size_t longest_ = kNone;
};

std::vector<Hop> hops_of(const Intent& intent, std::span<const Hop> configured) {
  std::vector<Hop> hops;
  for (const SwitchIntent& node : intent.switches) {
    const auto own = std::find_if(configured.begin(), configured.end(),
                                  [&](const Hop& hop) { return hop.name == node.name; });
    hops.push_back(own == configured.end() ? hop_of(node) : *own);
  }
  return hops;
}

}  // namespace

std::string_view to_text(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kData: return "data";
    case TrafficKind::kAck: return "ack";
    case TrafficKind::kCnp: return "cnp";
  }
  WEIR_UNREACHABLE("every kind has a word");
}

std::string_view title_of(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kData: return "RDMA data";
    case TrafficKind::kAck: return "ACKs";
    case TrafficKind::kCnp: return "CNPs";
  }
  WEIR_UNREACHABLE("every kind has a title");
}

std::string_view to_text(Proven proven) {
  switch (proven) {
    case Proven::kHolds: return "proven";
    case Proven::kBroken: return "broken";
    case Proven::kUnknown: return "unknown";
  }
  WEIR_UNREACHABLE("every answer has a word");
}

bool Proof::holds() const {
  return !chains.empty() && std::all_of(chains.begin(), chains.end(), [](const Chain& chain) {
    return chain.proven == Proven::kHolds;
  });
}

Proof prove(const Design& design, const Intent& intent, std::span<const Hop> configured) {
  Proof proof;
  const auto* const rdma = design.find_class(kRdmaClass);
  const auto* const cnp = design.find_class(kCnpClass);
  if (rdma == nullptr || intent.hosts.empty()) return proof;
  const auto& cnp_class = cnp != nullptr ? cnp->value : rdma->value;
  const ProofCase c{design,
                    intent,
                    hops_of(intent, configured),
                    *rdma->value.priority,
                    *cnp_class.priority,
                    *cnp_class.queue};
  const Ways ways(switch_graph(intent));
  proof.paths = ways.paths();
  Walk(c, ways, TrafficKind::kData, proof).run();
  Walk(c, ways, TrafficKind::kAck, proof).run();
  if (cnp != nullptr) Walk(c, ways, TrafficKind::kCnp, proof).run();
  return proof;
}

namespace {

std::string more_places(const Chain& chain) {
  if (chain.places < 2) return {};
  return fmt::format(" The same at {} more place{}.", chain.places - 1,
                     chain.places == 2 ? "" : "s");
}

}  // namespace

finding::Judgement judge(const Proof& proof, const Design& design) {
  finding::Judgement judgement;
  for (const Chain& chain : proof.chains) {
    if (chain.proven == Proven::kHolds) continue;
    if (chain.proven == Proven::kUnknown) {
      judgement.unknown.push_back({fmt::format("{}: {}", title_of(chain.kind), chain.reason),
                                   "was not read",
                                   "a complete configuration: weir prove --switch NAME=FILE"});
      continue;
    }
    finding::Finding* known = nullptr;
    for (finding::Finding& finding : judgement.findings)
      if (finding.id == chain.id && finding.where == chain.where) known = &finding;
    if (known != nullptr) {
      finding::EvidenceLine line;
      line.source = title_of(chain.kind);
      line.line = "break at the same place";
      known->evidence.push_back(std::move(line));
      continue;
    }
    finding::Finding found = finding::make_finding(
        chain.id, fmt::format("{}: {}.{}", title_of(chain.kind), chain.reason, more_places(chain)),
        chain.where);
    for (const ChainStep& step : chain.steps)
      found.evidence.push_back({step.place, step.what, {}, std::nullopt});
    if (!chain.source.empty())
      found.evidence.push_back({chain.source, "the configuration that was read", {}, std::nullopt});
    judgement.findings.push_back(std::move(found));
  }
  finding::settle(judgement);
  if (judgement.findings.empty() && !judgement.unknown.empty())
    judgement.conclusion = finding::Conclusion::kInconclusive;
  if (!judgement.findings.empty())
    judgement.next.push_back(fmt::format("weir lint {}", design.file));
  return judgement;
}

}  // namespace weir::design
