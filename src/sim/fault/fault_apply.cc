// What each fault does: to the intent, to the network, or during the run.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/fabric/from_design.h"
#include "sim/fabric/route.h"
#include "sim/fault/fault.h"

namespace weir::sim {
namespace {

using design::Intent;
using design::NicIntent;
using design::SwitchIntent;

PrioritySet only(Priority priority) {
  PrioritySet set;
  set.insert(priority);
  return set;
}

unsigned lowest(PrioritySet set) {
  return set.count() == 0 ? 0U : static_cast<unsigned>(std::countr_zero(set.mask()));
}

// ---- the intent ----

/// Most faults are no setting of a NIC.
template <class Kind>
void edit_nic(const Kind&, const Fault&, NicIntent&) {}

void edit_nic(const WrongTrust&, const Fault&, NicIntent& nic) {
  nic.trust = design::Trust::kPcp;
}
void edit_nic(const WrongDscp& wrong, const Fault&, NicIntent& nic) {
  nic.traffic_class = tos_byte(wrong.dscp, ecn_of(nic.traffic_class));
}
void edit_nic(const WrongTrafficClass& wrong, const Fault&, NicIntent& nic) {
  nic.traffic_class = wrong.tos.value_or(TosByte::of(dscp_of(nic.traffic_class).value()));
}
void edit_nic(const WrongNicMap& wrong, const Fault&, NicIntent& nic) {
  nic.dscp_to_priority.at(dscp_of(nic.traffic_class).value()) = wrong.priority;
}
void edit_nic(const WrongPfcPriority& wrong, const Fault&, NicIntent& nic) {
  nic.pfc = only(wrong.priority);
}
void edit_nic(const WrongMtu& wrong, const Fault&, NicIntent& nic) {
  nic.mtu = wrong.mtu;
  nic.rdma_mtu = rdma_payload(nic.rdma_mtu, nic.mtu);
}
void edit_nic(const NpOff&, const Fault& fault, NicIntent& nic) {
  if (fault.is_whole_run()) nic.ecn_np = {};
}
void edit_nic(const RpOff&, const Fault& fault, NicIntent& nic) {
  if (fault.is_whole_run()) nic.ecn_rp = {};
}

/// Headroom changed: its sums follow. The shared part is the caller's to change.
void resum_headroom(SwitchIntent& sw) {
  design::BufferIntent& buffers = sw.buffers;
  const Bytes old_sum = buffers.headroom_sum;
  buffers.headroom_sum = {};
  for (const design::SwitchPortIntent& port : sw.ports)
    buffers.headroom_sum += port.headroom * sw.lossless.count();
  buffers.headroom_pool =
      old_sum.raw() == 0
          ? buffers.headroom_sum
          : Bytes::raw(static_cast<std::int64_t>(Int128{buffers.headroom_sum.raw()} *
                                                 buffers.headroom_pool.raw() / old_sum.raw()));
}

void set_shared(SwitchIntent& sw, Bytes shared) {
  design::BufferIntent& buffers = sw.buffers;
  buffers.total -= buffers.lossless_shared - shared;
  buffers.lossless_shared = shared;
  if (buffers.plan) buffers.plan->lossless_shared = shared;
}

/// Eight lossless priorities: the headroom of the other seven comes out of what is shared. Where
/// that is not enough, systems oversubscribe the rest; one percent is left here.
void widen_pfc(SwitchIntent& sw) {
  const Bytes before = sw.buffers.headroom_sum;
  const Bytes shared = sw.buffers.lossless_shared;
  sw.pfc = PrioritySet::from_mask(0xFF);
  sw.lossless = PrioritySet::from_mask(0xFF);
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    sw.priority_to_pg.at(p) = PriorityGroup::of(p);
  resum_headroom(sw);
  set_shared(sw, std::max(shared - (sw.buffers.headroom_sum - before), shared / 100));
}

/// `any_nic` shows how the fabric marks its traffic.
template <class Kind>
void edit_switch(const Kind&, const NicIntent&, SwitchIntent&) {}

void edit_switch(const WrongSwitchMap& wrong, const NicIntent& any_nic, SwitchIntent& sw) {
  const Dscp dscp = wrong.dscp.value_or(dscp_of(any_nic.traffic_class));
  sw.dscp_to_priority.at(dscp.value()) = wrong.priority;
}
void edit_switch(const SharedQueue& wrong, const NicIntent& any_nic, SwitchIntent& sw) {
  const unsigned rdma = lowest(sw.lossless);
  const unsigned other = wrong.priority.value_or(any_nic.cnp_priority).value();
  sw.priority_to_queue.at(other) = sw.priority_to_queue.at(rdma);
  sw.priority_to_pg.at(other) = sw.priority_to_pg.at(rdma);
}
void edit_switch(const PfcTooWide&, const NicIntent&, SwitchIntent& sw) {
  widen_pfc(sw);
}
void edit_switch(const HeadroomTooSmall& wrong, const NicIntent&, SwitchIntent& sw) {
  for (design::SwitchPortIntent& port : sw.ports)
    port.headroom = share_of(port.headroom, wrong.share);
  resum_headroom(sw);
}
void edit_switch(const PoolTooSmall& wrong, const NicIntent&, SwitchIntent& sw) {
  set_shared(sw, share_of(sw.buffers.lossless_shared, wrong.share));
}
void edit_switch(const WrongEcnThresholds& wrong, const NicIntent&, SwitchIntent& sw) {
  for (design::SwitchPortIntent& port : sw.ports) {
    port.wred.min = wrong.min;
    port.wred.max = std::max(wrong.max, wrong.min);
  }
}
void edit_switch(const SameHashSeed&, const NicIntent&, SwitchIntent& sw) {
  sw.ecmp_seed = 0;
}
void edit_switch(const Reordering&, const NicIntent&, SwitchIntent& sw) {
  sw.load_balancing = design::LoadBalancing::kSpray;
}

// ---- the network ----

struct Edit {
  const Fault& fault;
  const FaultSite& site;
  const Intent& intent;
  const Placement& placement;
  Network& network;
  std::vector<FaultAction>& actions;
};

/// The NIC's own configuration: a fault of one must not be a fault of all that share it.
NicConfig& own_nic(Network& network, NodeId node) {
  const auto sharers =
      std::count_if(network.nodes.begin(), network.nodes.end(), [&](const Node& other) {
        return other.kind == NodeKind::kNic && other.config == network.nodes[node].config;
      });
  if (sharers > 1) {
    network.nics.push_back(network.nic_config(node));
    network.nodes[node].config = static_cast<std::uint32_t>(network.nics.size() - 1);
  }
  return network.nic_config(node);
}

/// `begin` when the fault begins, `end` when it ends.
template <class Change>
void schedule(Edit& edit, const Change& begin, const Change& end) {
  edit.actions.push_back({edit.fault.from, begin});
  if (edit.fault.until != Time::never()) edit.actions.push_back({edit.fault.until, end});
}

/// The NIC's receive buffer drains at `drain` while the fault lasts; pauses start at `xoff` where
/// one is given.
void slow_down(Edit& edit, BitRate drain, std::optional<Bytes> xoff) {
  for (const NicRef& ref : edit.site.nics) {
    const NodeId node = edit.placement.node_of(ref);
    NicConfig& nic = own_nic(edit.network, node);
    const NicIntent& intent = edit.intent.hosts[ref.host].nics[ref.rail];
    // Twice the line: as good as no limit while the fault is not there.
    if (nic.receive_buffer.raw() == 0)
      limit_receiver(nic, intent.xoff_need, intent.mtu, intent.speed * 2);
    if (xoff) nic.receive_xoff = nic.receive_xon = *xoff;
    if (edit.fault.is_whole_run())
      nic.drain = drain;
    else
      schedule<DrainChange>(edit, {node, drain}, {node, nic.drain});
  }
}

/// Switches CNPs or the reaction to them off for a while. For a whole run the intent says so.
void switch_off(Edit& edit, bool CongestionControlChange::*side) {
  if (edit.fault.is_whole_run()) return;
  for (const NicRef& ref : edit.site.nics) {
    const NodeId node = edit.placement.node_of(ref);
    const NicConfig& nic = own_nic(edit.network, node);
    const CongestionControlChange back{node, nic.np_enabled, nic.rp_enabled};
    CongestionControlChange off = back;
    off.*side = false;
    schedule(edit, off, back);
  }
}

bool is_at_site(const Edit& edit, NodeId node) {
  return std::any_of(edit.site.nics.begin(), edit.site.nics.end(),
                     [&](const NicRef& ref) { return edit.placement.node_of(ref) == node; });
}

/// Most faults are done once the intent is edited.
template <class Kind>
Status edit_network(const Kind&, Edit&) {
  return {};
}

/// Stuck: the first frame pauses the port, and nothing ever drains.
Status edit_network(const NicPauseStorm&, Edit& edit) {
  slow_down(edit, BitRate(), Bytes());
  return {};
}
Status edit_network(const SlowReceiver& wrong, Edit& edit) {
  slow_down(edit, wrong.rate, std::nullopt);
  return {};
}
Status edit_network(const NpOff&, Edit& edit) {
  switch_off(edit, &CongestionControlChange::np);
  return {};
}
Status edit_network(const RpOff&, Edit& edit) {
  switch_off(edit, &CongestionControlChange::rp);
  return {};
}
Status edit_network(const WrongRateIncrease& wrong, Edit& edit) {
  for (const NicRef& ref : edit.site.nics)
    own_nic(edit.network, edit.placement.node_of(ref)).dcqcn.ai_rate = wrong.rate.raw();
  return {};
}
Status edit_network(const WrongAlphaPeriod& wrong, Edit& edit) {
  for (const NicRef& ref : edit.site.nics)
    own_nic(edit.network, edit.placement.node_of(ref)).dcqcn.alpha_period = wrong.period;
  return {};
}

Status edit_network(const FewReceives& wrong, Edit& edit) {
  for (QueuePair& qp : edit.network.qps) {
    if (qp.operation == Operation::kRead || !is_at_site(edit, qp.target)) continue;
    qp.operation = Operation::kSend;
    qp.receives = wrong.receives;
    qp.receive_repost = wrong.repost;
  }
  return {};
}

/// A NIC that trusts PCP goes by the service level, and that is 0 unless the job sets it.
Status edit_network(const WrongTrust&, Edit& edit) {
  for (QueuePair& qp : edit.network.qps)
    if (is_at_site(edit, qp.source) || is_at_site(edit, qp.target)) qp.service_level = 0;
  return {};
}

/// Sockets: best effort, no ECN of RDMA's kind, no service level.
Status edit_network(const TcpFallback&, Edit& edit) {
  for (QueuePair& qp : edit.network.qps) {
    if (!is_at_site(edit, qp.source) && !is_at_site(edit, qp.target)) continue;
    qp.tos = 0;
    qp.service_level = 0;
    qp.is_socket = true;
  }
  return {};
}

Status edit_network(const Reordering&, Edit& edit) {
  for (NicConfig& nic : edit.network.nics)
    nic.accepts_reordering = false;
  return {};
}

/// Takes links down while the fault lasts; other paths are used after `reroute`.
void take_down(Edit& edit, std::span<const LinkId> links, Duration reroute) {
  std::vector<LinkChange>& changes = edit.network.changes;
  for (const LinkId link : links) {
    changes.push_back({edit.fault.from, link, false, reroute});
    if (edit.fault.until != Time::never())
      changes.push_back({edit.fault.until, link, true, reroute});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
}

Status edit_network(const LinkDown& wrong, Edit& edit) {
  take_down(edit, edit.site.links, wrong.reroute);
  return {};
}

Status edit_network(const SwitchDown& wrong, Edit& edit) {
  std::vector<LinkId> links;
  for (const std::uint32_t index : edit.site.switches)
    for (const design::SwitchPortIntent& port : edit.intent.switches[index].ports)
      links.push_back(LinkId{port.link});
  take_down(edit, links, wrong.reroute);
  return {};
}

/// The share of frames with an error in them: 1 - (1 - ber)^bits, of 2^32, for a full frame.
Status edit_network(const DegradedLink& wrong, Edit& edit) {
  std::int64_t payload = 0;
  for (const NicConfig& nic : edit.network.nics)
    payload = std::max(payload, nic.mtu.raw());
  const auto bits = static_cast<double>((payload + edit.network.wire.data_header) * 8);
  const double lost = -std::expm1(bits * std::log1p(-wrong.bit_error_rate));
  const auto threshold =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(std::ldexp(lost, 32))), 1);
  for (const LinkId link : edit.site.links) {
    if (edit.fault.is_whole_run()) {
      edit.network.links[link].error_threshold = threshold;
      continue;
    }
    schedule<ErrorChange>(edit, {link, threshold},
                          {link, edit.network.links[link].error_threshold});
  }
  return {};
}

// ---- routes ----

Table<NodeId, std::vector<NodeId>> neighbours_of(const Network& network) {
  Table<NodeId, std::vector<NodeId>> around(network.nodes.size());
  for (const Link& link : network.links) {
    around[link.a].push_back(link.b);
    around[link.b].push_back(link.a);
  }
  return around;
}

/// The shortest paths, written down, so that some of them can be bent.
void write_down_routes(Network& network) {
  if (network.routes) return;
  Routes routes;
  routes.build(network);
  const auto around = neighbours_of(network);
  ExplicitRoutes written;
  written.next.resize(network.nodes.size());
  for (const NodeId s : network.nodes.ids()) {
    if (network.nodes[s].kind != NodeKind::kSwitch) continue;
    written.next[s].resize(network.nodes.size());
    for (const NodeId d : network.nodes.ids()) {
      if (network.nodes[d].kind != NodeKind::kNic) continue;
      std::vector<NodeId>& hops = written.next[s][d];
      for (const std::uint16_t port : routes.next(s, d))
        if (std::find(hops.begin(), hops.end(), around[s][port]) == hops.end())
          hops.push_back(around[s][port]);
    }
  }
  network.routes = std::move(written);
}

bool is_below(const Network& network, NodeId nic, NodeId sw) {
  return std::any_of(network.links.begin(), network.links.end(), [&](const Link& link) {
    return (link.a == nic && link.b == sw) || (link.b == nic && link.a == sw);
  });
}

Result<std::uint32_t> looping_host(const Edit& edit, const std::string& to, NodeId sw) {
  std::vector<std::string> known;
  for (std::uint32_t h = 0; h < edit.intent.hosts.size(); ++h) {
    known.push_back(edit.intent.hosts[h].name);
    if (to == known.back()) return h;
    if (to.empty() && !is_below(edit.network, edit.placement.node_of({h, 0}), sw)) return h;
  }
  return not_found_error(fmt::format("routing-loop: no host '{}'{}", to, did_you_mean(to, known)));
}

Status edit_network(const RoutingLoop& wrong, Edit& edit) {
  Network& network = edit.network;
  write_down_routes(network);
  const auto around = neighbours_of(network);
  for (const std::uint32_t index : edit.site.switches) {
    const NodeId sw = edit.placement.switches[index];
    WEIR_TRY(host, looping_host(edit, wrong.to, sw));
    for (std::uint32_t rail = 0; rail < edit.intent.hosts[host].nics.size(); ++rail) {
      const NodeId nic = edit.placement.node_of({host, rail});
      auto& next = network.routes->next;
      const auto is_switch = [&](NodeId n) { return network.nodes[n].kind == NodeKind::kSwitch; };
      auto hop = std::find_if(next[sw][nic].begin(), next[sw][nic].end(), is_switch);
      const bool leads_on = hop != next[sw][nic].end();
      const auto beside = std::find_if(around[sw].begin(), around[sw].end(), is_switch);
      if (!leads_on && beside == around[sw].end())
        return invalid_error(fmt::format("routing-loop: {} has no other switch to loop with",
                                         edit.intent.switches[index].name));
      const NodeId other = leads_on ? *hop : *beside;
      next[sw][nic] = {other};
      next[other][nic] = {sw};
    }
  }
  return {};
}

/// Spines above the leaf, in the order of their links.
std::vector<NodeId> switches_above(const Edit& edit, std::uint32_t index) {
  std::vector<NodeId> above;
  const SwitchIntent& leaf = edit.intent.switches[index];
  for (const design::SwitchPortIntent& port : leaf.ports) {
    if (port.peer.kind != design::NodeKind::kSwitch) continue;
    if (edit.intent.switches[port.peer.node].tier <= leaf.tier) continue;
    const NodeId node = edit.placement.switches[port.peer.node];
    if (std::find(above.begin(), above.end(), node) == above.end()) above.push_back(node);
  }
  return above;
}

/// As after the loss of the first spine's links down: it hands packets for other leaves back to
/// this leaf, which sends them up to the second spine.
Status edit_network(const BounceRouting&, Edit& edit) {
  Network& network = edit.network;
  write_down_routes(network);
  for (const std::uint32_t index : edit.site.switches) {
    const SwitchIntent& intent = edit.intent.switches[index];
    const auto same_tier =
        std::count_if(edit.intent.switches.begin(), edit.intent.switches.end(),
                      [&](const SwitchIntent& other) { return other.tier == intent.tier; });
    const std::vector<NodeId> above = switches_above(edit, index);
    if (above.size() < 2 || same_tier < 3)
      return invalid_error(fmt::format(
          "bounce-routing at {}: needs two switches above it and two beside it; it has {} and {}",
          intent.name, above.size(), same_tier - 1));
    const NodeId leaf = edit.placement.switches[index];
    for (const NodeId d : network.nodes.ids()) {
      if (network.nodes[d].kind != NodeKind::kNic || is_below(network, d, leaf)) continue;
      network.routes->next[above[0]][d] = {leaf};
      network.routes->next[leaf][d] = {above[1]};
    }
  }
  return {};
}

}  // namespace

Status apply_to_intent(const Fault& fault, Intent& intent) {
  WEIR_TRY(site, resolve(fault, intent));
  for (const NicRef& ref : site.nics)
    std::visit(
        [&](const auto& kind) { edit_nic(kind, fault, intent.hosts[ref.host].nics[ref.rail]); },
        fault.kind);
  if (intent.hosts.empty() || intent.hosts.front().nics.empty()) return {};
  const NicIntent& any_nic = intent.hosts.front().nics.front();
  for (const std::uint32_t index : site.switches)
    std::visit([&](const auto& kind) { edit_switch(kind, any_nic, intent.switches[index]); },
               fault.kind);
  if (std::holds_alternative<BounceRouting>(fault.kind)) intent.routing = design::Routing::kBounce;
  // Everywhere means hosts too; one switch's mistake is its own.
  if (std::holds_alternative<PfcTooWide>(fault.kind) && fault.at.empty())
    for (design::HostIntent& host : intent.hosts)
      for (NicIntent& nic : host.nics)
        nic.pfc = PrioritySet::from_mask(0xFF);
  return {};
}

Status apply_to_network(const Fault& fault, const Intent& intent, const Placement& placement,
                        Network& network, std::vector<FaultAction>& actions) {
  WEIR_TRY(site, resolve(fault, intent));
  Edit edit{fault, site, intent, placement, network, actions};
  WEIR_TRY_STATUS(
      std::visit([&](const auto& kind) { return edit_network(kind, edit); }, fault.kind));
  std::stable_sort(actions.begin(), actions.end(),
                   [](const FaultAction& a, const FaultAction& b) { return a.at < b.at; });
  return {};
}

namespace {
struct Act {
  Sim& sim;
  void operator()(const DrainChange& change) const { sim.set_drain(change.nic, change.drain); }
  void operator()(const CongestionControlChange& change) const {
    sim.set_congestion_control(change.nic, change.np, change.rp);
  }
  void operator()(const ErrorChange& change) const {
    sim.set_errors(change.link, change.threshold);
  }
};
}  // namespace

void act(Sim& sim, const FaultAction& action) {
  std::visit(Act{sim}, action.change);
}

}  // namespace weir::sim
