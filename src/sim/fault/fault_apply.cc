// What each fault does: to the intent, to the network, or during the run.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/fabric/from_design.h"
#include "sim/fabric/route.h"
#include "sim/fault/fault.h"
#include "units/format.h"

namespace weir::sim {
namespace {

using design::Intent;
using design::NicIntent;
using design::SwitchIntent;

// parse_fault() has checked every value.
const std::string& text_of(const Fault& fault, std::string_view key) {
  return fault.values.find(key)->second;
}
BitRate rate_of(const Fault& fault, std::string_view key) {
  return parse_rate(text_of(fault, key)).value();
}
Bytes bytes_of(const Fault& fault, std::string_view key) {
  return parse_bytes(text_of(fault, key)).value();
}
Duration duration_of(const Fault& fault, std::string_view key) {
  return parse_duration(text_of(fault, key)).value();
}
Share share_value(const Fault& fault, std::string_view key) {
  return parse_share(text_of(fault, key)).value();
}
unsigned number_of(const Fault& fault, std::string_view key) {
  return static_cast<unsigned>(parse_u64(text_of(fault, key)).value());
}
double error_rate_of(const Fault& fault, std::string_view key) {
  const std::string& text = text_of(fault, key);
  double rate = 0;
  std::from_chars(text.data(), text.data() + text.size(), rate);
  return rate;
}

PrioritySet only(unsigned priority) {
  PrioritySet set;
  set.insert(Priority::of(priority));
  return set;
}

unsigned lowest(PrioritySet set) {
  return set.count() == 0 ? 0U : static_cast<unsigned>(std::countr_zero(set.mask()));
}

// ---- the intent ----

void edit_nic(const Fault& fault, NicIntent& nic) {
  const std::string_view name = fault.type->name;
  const Dscp marked = dscp_of(nic.traffic_class);
  if (name == "wrong-trust") {
    nic.trust = design::Trust::kPcp;
  } else if (name == "wrong-dscp") {
    nic.traffic_class = tos_byte(Dscp::of(number_of(fault, "dscp")), ecn_of(nic.traffic_class));
  } else if (name == "wrong-tc") {
    const bool is_given = !text_of(fault, "tos").empty();
    nic.traffic_class = TosByte::of(is_given ? number_of(fault, "tos") : marked.value());
  } else if (name == "wrong-nic-map") {
    nic.dscp_to_priority.at(marked.value()) = Priority::of(number_of(fault, "priority"));
  } else if (name == "wrong-pfc-priority") {
    nic.pfc = only(number_of(fault, "priority"));
  } else if (name == "wrong-mtu") {
    nic.mtu = bytes_of(fault, "mtu");
    nic.rdma_mtu = rdma_payload(nic.rdma_mtu, nic.mtu);
  } else if (name == "np-off" && fault.from == Time() && fault.until == Time::never()) {
    nic.ecn_np = {};
  } else if (name == "rp-off" && fault.from == Time() && fault.until == Time::never()) {
    nic.ecn_rp = {};
  }
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

void set_thresholds(const Fault& fault, SwitchIntent& sw) {
  for (design::SwitchPortIntent& port : sw.ports) {
    port.wred.min = bytes_of(fault, "min");
    port.wred.max = std::max(bytes_of(fault, "max"), port.wred.min);
  }
}

void edit_switch(const Fault& fault, const NicIntent& any_nic, SwitchIntent& sw) {
  const std::string_view name = fault.type->name;
  const unsigned rdma = lowest(sw.lossless);
  if (name == "switch-wrong-map") {
    const bool is_given = !text_of(fault, "dscp").empty();
    const unsigned dscp =
        is_given ? number_of(fault, "dscp") : dscp_of(any_nic.traffic_class).value();
    sw.dscp_to_priority.at(dscp) = Priority::of(number_of(fault, "priority"));
  } else if (name == "shared-queue") {
    const bool is_given = !text_of(fault, "priority").empty();
    const unsigned other = is_given ? number_of(fault, "priority") : any_nic.cnp_priority.value();
    sw.priority_to_queue.at(other) = sw.priority_to_queue.at(rdma);
    sw.priority_to_pg.at(other) = sw.priority_to_pg.at(rdma);
  } else if (name == "pfc-too-wide") {
    widen_pfc(sw);
  } else if (name == "headroom-too-small") {
    for (design::SwitchPortIntent& port : sw.ports)
      port.headroom = share_of(port.headroom, share_value(fault, "share"));
    resum_headroom(sw);
  } else if (name == "pool-too-small") {
    set_shared(sw, share_of(sw.buffers.lossless_shared, share_value(fault, "share")));
  } else if (name == "ecn-too-low" || name == "ecn-too-high") {
    set_thresholds(fault, sw);
  } else if (name == "same-hash-seed") {
    sw.ecmp_seed = 0;
  } else if (name == "reordering") {
    sw.load_balancing = design::LoadBalancing::kSpray;
  }
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
NicConfig& own_nic(Network& network, std::uint32_t node) {
  const auto sharers =
      std::count_if(network.nodes.begin(), network.nodes.end(), [&](const Node& other) {
        return other.kind == NodeKind::kNic && other.config == network.nodes[node].config;
      });
  if (sharers > 1) {
    network.nics.push_back(network.nics[network.nodes[node].config]);
    network.nodes[node].config = static_cast<std::uint32_t>(network.nics.size() - 1);
  }
  return network.nics[network.nodes[node].config];
}

bool is_whole_run(const Fault& fault) {
  return fault.from == Time() && fault.until == Time::never();
}

/// `begin` when the fault begins, `end` when it ends.
void schedule(Edit& edit, FaultAction begin, FaultAction end) {
  begin.at = edit.fault.from;
  end.at = edit.fault.until;
  edit.actions.push_back(begin);
  if (edit.fault.until != Time::never()) edit.actions.push_back(end);
}

Status slow_receiver(Edit& edit) {
  const bool is_storm = edit.fault.type->name == "nic-pause-storm";
  for (const NicRef& ref : edit.site.nics) {
    const std::uint32_t node = edit.placement.node_of(ref);
    NicConfig& nic = own_nic(edit.network, node);
    const NicIntent& intent = edit.intent.hosts[ref.host].nics[ref.rail];
    // Twice the line: as good as no limit while the fault is not there.
    if (nic.receive_buffer.raw() == 0)
      limit_receiver(nic, intent.xoff_need, intent.mtu, intent.speed * 2);
    const BitRate slow = is_storm ? BitRate() : rate_of(edit.fault, "rate");
    // Stuck: the first frame pauses the port, and nothing ever drains.
    if (is_storm) nic.receive_xoff = nic.receive_xon = Bytes();
    const FaultAction back = {.entity = node, .drain = nic.drain};
    if (is_whole_run(edit.fault)) {
      nic.drain = slow;
      continue;
    }
    schedule(edit, {.entity = node, .drain = slow}, back);
  }
  return {};
}

Status congestion_control(Edit& edit) {
  if (is_whole_run(edit.fault)) return {};
  const bool is_np = edit.fault.type->name == "np-off";
  for (const NicRef& ref : edit.site.nics) {
    const std::uint32_t node = edit.placement.node_of(ref);
    const NicConfig& nic = own_nic(edit.network, node);
    const FaultAction back = {.what = FaultAction::What::kCongestionControl,
                              .entity = node,
                              .np = nic.np_enabled,
                              .rp = nic.rp_enabled};
    FaultAction off = back;
    (is_np ? off.np : off.rp) = false;
    schedule(edit, off, back);
  }
  return {};
}

Status dcqcn_knob(Edit& edit) {
  for (const NicRef& ref : edit.site.nics) {
    DcqcnConfig& dcqcn = own_nic(edit.network, edit.placement.node_of(ref)).dcqcn;
    if (edit.fault.type->name == "dcqcn-rate-ai")
      dcqcn.ai_rate = rate_of(edit.fault, "rate").raw();
    else
      dcqcn.alpha_period = duration_of(edit.fault, "period");
  }
  return {};
}

bool is_at_site(const Edit& edit, std::uint32_t node) {
  return std::any_of(edit.site.nics.begin(), edit.site.nics.end(),
                     [&](const NicRef& ref) { return edit.placement.node_of(ref) == node; });
}

Status few_receives(Edit& edit) {
  for (QueuePair& qp : edit.network.qps) {
    if (qp.operation == Operation::kRead || !is_at_site(edit, qp.target)) continue;
    qp.operation = Operation::kSend;
    qp.receives = static_cast<std::int32_t>(number_of(edit.fault, "receives"));
    qp.receive_repost = duration_of(edit.fault, "repost");
  }
  return {};
}

/// A NIC that trusts PCP goes by the service level, and that is 0 unless the job sets it.
Status wrong_trust(Edit& edit) {
  for (QueuePair& qp : edit.network.qps)
    if (is_at_site(edit, qp.source) || is_at_site(edit, qp.target)) qp.service_level = 0;
  return {};
}

/// Sockets: best effort, no ECN of RDMA's kind, no service level.
Status tcp_fallback(Edit& edit) {
  for (QueuePair& qp : edit.network.qps) {
    if (!is_at_site(edit, qp.source) && !is_at_site(edit, qp.target)) continue;
    qp.tos = 0;
    qp.service_level = 0;
    qp.is_socket = true;
  }
  return {};
}

Status no_reordering(Edit& edit) {
  for (NicConfig& nic : edit.network.nics)
    nic.accepts_reordering = false;
  return {};
}

Status link_down(Edit& edit) {
  const Duration reroute = duration_of(edit.fault, "reroute");
  std::vector<LinkChange>& changes = edit.network.changes;
  for (const std::uint32_t link : edit.site.links) {
    changes.push_back({edit.fault.from, link, false, reroute});
    if (edit.fault.until != Time::never())
      changes.push_back({edit.fault.until, link, true, reroute});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  return {};
}

/// The share of frames with an error in them: 1 - (1 - ber)^bits, of 2^32, for a full frame.
Status degraded_link(Edit& edit) {
  const double ber = error_rate_of(edit.fault, "ber");
  std::int64_t payload = 0;
  for (const NicConfig& nic : edit.network.nics)
    payload = std::max(payload, nic.mtu.raw());
  const auto bits = static_cast<double>((payload + edit.network.wire.data_header) * 8);
  const double lost = -std::expm1(bits * std::log1p(-ber));
  const auto threshold =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(std::ldexp(lost, 32))), 1);
  for (const std::uint32_t link : edit.site.links) {
    if (is_whole_run(edit.fault)) {
      edit.network.links[link].error_threshold = threshold;
      continue;
    }
    const FaultAction back = {.what = FaultAction::What::kErrors,
                              .entity = link,
                              .errors = edit.network.links[link].error_threshold};
    FaultAction bad = back;
    bad.errors = threshold;
    schedule(edit, bad, back);
  }
  return {};
}

// ---- routes ----

std::vector<std::vector<std::uint32_t>> neighbours_of(const Network& network) {
  std::vector<std::vector<std::uint32_t>> around(network.nodes.size());
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
  for (std::uint32_t s = 0; s < network.nodes.size(); ++s) {
    if (network.nodes[s].kind != NodeKind::kSwitch) continue;
    written.next[s].resize(network.nodes.size());
    for (std::uint32_t d = 0; d < network.nodes.size(); ++d) {
      if (network.nodes[d].kind != NodeKind::kNic) continue;
      std::vector<std::uint32_t>& hops = written.next[s][d];
      for (const std::uint16_t port : routes.next(s, d))
        if (std::find(hops.begin(), hops.end(), around[s][port]) == hops.end())
          hops.push_back(around[s][port]);
    }
  }
  network.routes = std::move(written);
}

bool is_below(const Network& network, std::uint32_t nic, std::uint32_t sw) {
  return std::any_of(network.links.begin(), network.links.end(), [&](const Link& link) {
    return (link.a == nic && link.b == sw) || (link.b == nic && link.a == sw);
  });
}

Result<std::uint32_t> looping_host(const Edit& edit, std::uint32_t sw) {
  const std::string& to = text_of(edit.fault, "to");
  std::vector<std::string> known;
  for (std::uint32_t h = 0; h < edit.intent.hosts.size(); ++h) {
    known.push_back(edit.intent.hosts[h].name);
    if (to == known.back()) return h;
    if (to.empty() && !is_below(edit.network, edit.placement.node_of({h, 0}), sw)) return h;
  }
  return not_found_error(fmt::format("routing-loop: no host '{}'{}", to, did_you_mean(to, known)));
}

Status routing_loop(Edit& edit) {
  Network& network = edit.network;
  write_down_routes(network);
  const auto around = neighbours_of(network);
  for (const std::uint32_t index : edit.site.switches) {
    const std::uint32_t sw = edit.placement.switches[index];
    WEIR_TRY(host, looping_host(edit, sw));
    for (std::uint32_t rail = 0; rail < edit.intent.hosts[host].nics.size(); ++rail) {
      const std::uint32_t nic = edit.placement.node_of({host, rail});
      auto& next = network.routes->next;
      const auto is_switch = [&](std::uint32_t n) {
        return network.nodes[n].kind == NodeKind::kSwitch;
      };
      auto hop = std::find_if(next[sw][nic].begin(), next[sw][nic].end(), is_switch);
      const bool leads_on = hop != next[sw][nic].end();
      const auto beside = std::find_if(around[sw].begin(), around[sw].end(), is_switch);
      if (!leads_on && beside == around[sw].end())
        return invalid_error(fmt::format("routing-loop: {} has no other switch to loop with",
                                         edit.intent.switches[index].name));
      const std::uint32_t other = leads_on ? *hop : *beside;
      next[sw][nic] = {other};
      next[other][nic] = {sw};
    }
  }
  return {};
}

/// Spines above the leaf, in the order of their links.
std::vector<std::uint32_t> switches_above(const Edit& edit, std::uint32_t index) {
  std::vector<std::uint32_t> above;
  const SwitchIntent& leaf = edit.intent.switches[index];
  for (const design::SwitchPortIntent& port : leaf.ports) {
    if (port.peer.kind != design::NodeKind::kSwitch) continue;
    if (edit.intent.switches[port.peer.node].tier <= leaf.tier) continue;
    const std::uint32_t node = edit.placement.switches[port.peer.node];
    if (std::find(above.begin(), above.end(), node) == above.end()) above.push_back(node);
  }
  return above;
}

/// As after the loss of the first spine's links down: it hands packets for other leaves back to
/// this leaf, which sends them up to the second spine.
Status bounce_routing(Edit& edit) {
  Network& network = edit.network;
  write_down_routes(network);
  for (const std::uint32_t index : edit.site.switches) {
    const SwitchIntent& intent = edit.intent.switches[index];
    const auto same_tier =
        std::count_if(edit.intent.switches.begin(), edit.intent.switches.end(),
                      [&](const SwitchIntent& other) { return other.tier == intent.tier; });
    const std::vector<std::uint32_t> above = switches_above(edit, index);
    if (above.size() < 2 || same_tier < 3)
      return invalid_error(fmt::format(
          "bounce-routing at {}: needs two switches above it and two beside it; it has {} and {}",
          intent.name, above.size(), same_tier - 1));
    const std::uint32_t leaf = edit.placement.switches[index];
    for (std::uint32_t d = 0; d < network.nodes.size(); ++d) {
      if (network.nodes[d].kind != NodeKind::kNic || is_below(network, d, leaf)) continue;
      network.routes->next[above[0]][d] = {leaf};
      network.routes->next[leaf][d] = {above[1]};
    }
  }
  return {};
}

using NetworkEdit = Status (*)(Edit&);

NetworkEdit network_edit(std::string_view name) {
  struct Row {
    std::string_view name;
    NetworkEdit edit;
  };
  static constexpr Row kRows[] = {
      {"slow-receiver", slow_receiver}, {"nic-pause-storm", slow_receiver},
      {"np-off", congestion_control},   {"rp-off", congestion_control},
      {"dcqcn-rate-ai", dcqcn_knob},    {"dcqcn-alpha-period", dcqcn_knob},
      {"wrong-trust", wrong_trust},     {"few-receives", few_receives},
      {"tcp-fallback", tcp_fallback},   {"reordering", no_reordering},
      {"link-down", link_down},         {"degraded-link", degraded_link},
      {"routing-loop", routing_loop},   {"bounce-routing", bounce_routing},
  };
  for (const Row& row : kRows)
    if (row.name == name) return row.edit;
  return nullptr;
}

}  // namespace

Status apply_to_intent(const Fault& fault, Intent& intent) {
  WEIR_TRY(site, resolve(fault, intent));
  for (const NicRef& ref : site.nics)
    edit_nic(fault, intent.hosts[ref.host].nics[ref.rail]);
  if (intent.hosts.empty() || intent.hosts.front().nics.empty()) return {};
  const NicIntent& any_nic = intent.hosts.front().nics.front();
  for (const std::uint32_t index : site.switches)
    edit_switch(fault, any_nic, intent.switches[index]);
  if (fault.type->name == "bounce-routing") intent.routing = design::Routing::kBounce;
  if (fault.type->name == "pfc-too-wide")
    for (design::HostIntent& host : intent.hosts)
      for (NicIntent& nic : host.nics)
        nic.pfc = PrioritySet::from_mask(0xFF);
  return {};
}

Status apply_to_network(const Fault& fault, const Intent& intent, const Placement& placement,
                        Network& network, std::vector<FaultAction>& actions) {
  const NetworkEdit edit_function = network_edit(fault.type->name);
  if (edit_function == nullptr) return {};
  WEIR_TRY(site, resolve(fault, intent));
  Edit edit{fault, site, intent, placement, network, actions};
  WEIR_TRY_STATUS(edit_function(edit));
  std::stable_sort(actions.begin(), actions.end(),
                   [](const FaultAction& a, const FaultAction& b) { return a.at < b.at; });
  return {};
}

void act(Sim& sim, const FaultAction& action) {
  switch (action.what) {
    case FaultAction::What::kDrain: return sim.set_drain(action.entity, action.drain);
    case FaultAction::What::kCongestionControl:
      return sim.set_congestion_control(action.entity, action.np, action.rp);
    case FaultAction::What::kErrors: return sim.set_errors(action.entity, action.errors);
  }
}

}  // namespace weir::sim
