#include "sim/fabric/from_design.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"
#include "design/file/words.h"
#include "design/prove/fluid.h"
#include "model/roce_wire.h"

namespace weir::sim {
namespace {

using design::Intent;

constexpr std::size_t kClasses = 8;

/// A quantum of one MTU per percent would let a queue send 50 frames in a row; hardware interleaves
/// more finely. Weights are the shares in units of the smallest, at most this many.
constexpr std::int64_t kLargestWeight = 16;

/// What was measured instead of what is configured; the same where nothing was.
template <class T>
T scaled(T configured, const design::Setting<Share>& ratio) {
  return ratio.is_set() ? share_of(configured, *ratio) : configured;
}

class Builder {
 public:
  Builder(const design::Design& design, const Intent& intent, const BuildOptions& options)
      : design_(design), intent_(intent), dcqcn_(dcqcn_of(design, intent)) {
    fabric_.network.seed = options.seed;
    fabric_.network.replica = options.replica;
    fabric_.qps_per_connection = *design.nccl.qps_per_connection;
  }

  Result<Fabric> build() {
    for (const auto& cls : design_.classes)
      fabric_.classes.push_back(
          {cls.name, cls.value.dscp->marking, *cls.value.priority, *cls.value.lossless});
    set_wire();
    for (const design::HostIntent& host : intent_.hosts)
      add_host(host);
    for (const design::SwitchIntent& s : intent_.switches)
      add_switch(s);
    for (const design::LinkIntent& link : intent_.links)
      fabric_.network.links.push_back({.a = node_of(link.lower),
                                       .b = node_of(link.upper),
                                       .rate = rate_of(link),
                                       .propagation = std::max(link.propagation, 1_ps)});
    note_what_is_left_out();
    find_components(fabric_);
    WEIR_TRY_STATUS(check_network(fabric_.network));
    return std::move(fabric_);
  }

 private:
  [[nodiscard]] NodeId node_of(design::PortRef end) const {
    if (end.kind == design::NodeKind::kHost) return first_nic_[end.node] + end.port;
    return fabric_.switch_node(end.node);
  }

  /// A host that cannot fill its link (PCIe, memory, a shaper) is a slower link.
  [[nodiscard]] BitRate rate_of(const design::LinkIntent& link) const {
    const design::Setting<Share>& ratio = design_.calibration.host_rate;
    const bool is_host = link.lower.kind == design::NodeKind::kHost;
    if (!is_host || !ratio.is_set()) return link.speed;
    return std::max(share_of(link.speed, *ratio), BitRate::raw(1'000));
  }

  /// A tag and the longer IPv6 header are in every frame that carries IP.
  void set_wire() {
    std::int64_t more = 0;
    if (*design_.addressing.family == design::AddressFamily::kIpv6)
      more += (model::kIpv6Header - model::kIpv4Header).raw();
    if (*design_.addressing.vlan != 0) more += model::kVlanTag.raw();
    WireFormat& wire = fabric_.network.wire;
    wire.data_header += more;
    wire.ack_frame += more;
    wire.cnp_frame += more;
  }

  void add_host(const design::HostIntent& host) {
    first_nic_.push_back(fabric_.nics.end_id());
    const auto index = static_cast<std::uint32_t>(fabric_.hosts.size());
    fabric_.hosts.push_back(host.name);
    for (const design::NicIntent& nic : host.nics) {
      Network& network = fabric_.network;
      network.nodes.push_back({NodeKind::kNic, static_cast<std::uint32_t>(network.nics.size()),
                               host.name + ":" + nic.device});
      network.nics.push_back(nic_config(host, nic));
      fabric_.nics.push_back({index, nic.rail, nic.device, nic.speed, nic.traffic_class, 0});
    }
  }

  [[nodiscard]] NicConfig nic_config(const design::HostIntent& host,
                                     const design::NicIntent& nic) const {
    NicConfig out;
    out.dcqcn = dcqcn_;
    out.rp_enabled = nic.ecn_rp.count() > 0;
    out.np_enabled = nic.ecn_np.count() > 0;
    if (!out.rp_enabled) out.congestion_control = "none";
    const design::Calibration& measured = design_.calibration;
    out.cnp_interval = scaled(1_us * intent_.dcqcn.at("min_time_between_cnps"), measured.cnp_gap);
    out.cnp_scope = measured.cnp_scope.value_or(host.nic_model->cnp_scope);
    out.cnp_delay = measured.cnp_delay.value_or({});
    out.message_latency = measured.nic_latency.value_or({});
    out.cnp_dscp = nic.cnp_dscp;
    out.cnp_priority = nic.cnp_priority;
    out.trust = nic.trust;
    for (std::size_t d = 0; d < 64; ++d)
      out.dscp_to_priority.at(d) = static_cast<std::uint8_t>(nic.dscp_to_priority.at(d).value());
    out.pfc = nic.pfc;
    out.pfc_reaction = scaled(host.nic_model->pfc_reaction, measured.pause_reaction);
    for (unsigned p = 0; p < kClasses; ++p) {
      const design::Share8& tc = nic.traffic_classes.at(nic.priority_to_tc.at(p).value());
      if (tc.used && tc.scheduling == Scheduling::kStrict) out.strict.insert(Priority::of(p));
    }
    out.mtu = rdma_payload(nic.rdma_mtu, nic.mtu);
    out.max_frame = nic.mtu + model::kEthernetHeader + model::kEthernetFcs +
                    (nic.vlan != 0 ? model::kVlanTag : 0_B);
    if (host.nic_model->has_selective_repeat) out.recovery = Recovery::kSelective;
    // A NIC that can take reordering is set to do so where the design spreads packets of one flow.
    out.accepts_reordering = out.recovery == Recovery::kSelective &&
                             host.nic_model->reordering != design::Reordering::kNone &&
                             *design_.load_balancing.mode != LoadBalancing::kEcmp;
    // InfiniBand 9.7.6.1.3: 4.096 us * 2^n.
    out.ack_timeout = 4096_ns * (std::int64_t{1} << *design_.nccl.timeout);
    out.retries = static_cast<std::uint32_t>(*design_.nccl.retry_count);
    return out;
  }

  void add_switch(const design::SwitchIntent& s) {
    SwitchConfig out;
    set_maps(s, out);
    set_buffers(s, out);
    set_queues(s, out);
    out.pfc = s.pfc;
    out.pfc_reaction = s.asic->pfc_reaction;
    out.pipeline = scaled(s.asic->pipeline_latency, design_.calibration.switch_latency);
    out.forwarding = s.forwarding;
    if (s.watchdog) out.watchdog = {s.watchdog_detect, s.watchdog_restore, s.watchdog_action};
    // Seeds are small numbers in a design; equal ones must still hash alike, others not.
    out.ecmp_seed = mix64(s.ecmp_seed);
    out.balancing = s.load_balancing;
    out.mtu = 0_B;
    for (const design::SwitchPortIntent& port : s.ports) {
      out.port_mtu.push_back(port.mtu);
      out.mtu = std::max(out.mtu, port.mtu);
    }
    Network& network = fabric_.network;
    network.nodes.push_back(
        {NodeKind::kSwitch, static_cast<std::uint32_t>(network.switches.size()), s.name});
    network.switches.push_back(std::move(out));
  }

  void set_maps(const design::SwitchIntent& s, SwitchConfig& out) const {
    // A tag carries the priority of the class, so PCP and DSCP say the same; without a tag a
    // switch that trusts PCP knows nothing and takes everything for priority 0.
    const bool tagged = *design_.addressing.vlan != 0;
    out.trust = s.trust == Trust::kPcp && !tagged ? Trust::kPcp : Trust::kDscp;
    for (std::size_t d = 0; d < 64; ++d)
      out.dscp_to_class.at(d) = static_cast<std::uint8_t>(s.dscp_to_priority.at(d).value());
    for (std::size_t p = 0; p < kClasses; ++p) {
      out.class_to_queue.at(p) = static_cast<std::uint8_t>(s.priority_to_queue.at(p).value());
      out.class_to_group.at(p) = static_cast<std::uint8_t>(s.priority_to_pg.at(p).value());
      out.priority_to_queue.at(p) = out.class_to_queue.at(p);
    }
    for (std::size_t p = 0; p < kClasses; ++p)
      if (s.lossless.contains(Priority::of(static_cast<unsigned>(p))))
        out.group_to_priority.at(out.class_to_group.at(p)) = static_cast<std::uint8_t>(p);
  }

  void set_buffers(const design::SwitchIntent& s, SwitchConfig& out) const {
    const design::BufferIntent& b = s.buffers;
    out.cell = std::max(b.cell, 1_B);
    out.descriptor = b.packet_descriptor;
    std::int64_t groups = 0;
    for (std::size_t p = 0; p < kClasses; ++p) {
      IngressGroup& group = out.groups.at(out.class_to_group.at(p));
      if (group.reserved != b.reserved_per_group) ++groups;
      group.reserved = b.reserved_per_group;
      if (!s.lossless.contains(Priority::of(static_cast<unsigned>(p)))) continue;
      group.lossless = true;
      group.xon_offset = b.xon_offset;
      if (b.threshold == design::Threshold::kStatic)
        group.static_threshold = scaled(b.static_xoff, design_.calibration.xoff);
      else
        group.alpha = b.alpha;
    }
    for (const design::SwitchPortIntent& port : s.ports)
      out.port_headroom.push_back(port.headroom);
    const bool pooled = *design_.buffers.headroom_oversubscription > 1;
    if (pooled) out.headroom_pool = b.headroom_pool;
    out.buffer = b.total;
    if (!b.plan || b.plan->lossless_shared <= 0_B) return;  // check_network says why it cannot be
    // What the lossless groups share is the plan's; the parts of the buffer that the plan gives to
    // nobody stay unused.
    const Bytes lossy = b.plan->lossy_pool + b.plan->storage_pool;
    if (lossy > 0_B) out.lossy_pool = lossy;
    const auto ports = static_cast<std::int64_t>(s.ports.size());
    const Bytes shared = b.threshold == design::Threshold::kStatic
                             ? b.plan->lossless_shared
                             : scaled(b.plan->lossless_shared, design_.calibration.xoff);
    out.buffer = shared + (pooled ? b.headroom_pool : b.headroom_sum) + lossy +
                 b.reserved_per_group * (groups * ports);
  }

  void set_queues(const design::SwitchIntent& s, SwitchConfig& out) const {
    Share smallest = Share::max();
    for (const design::Share8& queue : s.queues)
      if (queue.used && queue.minimum > Share()) smallest = std::min(smallest, queue.minimum);
    out.port_wred_queues = 0;
    for (std::size_t q = 0; q < kClasses; ++q) {
      const design::Share8& from = s.queues.at(q);
      EgressQueue& to = out.queues.at(q);
      if (from.used) to.scheduling = from.scheduling;
      if (from.used && from.minimum > Share())
        to.weight = std::min(kLargestWeight, from.minimum.raw() / smallest.raw());
      to.alpha = s.buffers.egress_alpha;
    }
    for (std::size_t p = 0; p < kClasses; ++p) {
      if (!s.lossless.contains(Priority::of(static_cast<unsigned>(p)))) continue;
      const std::uint8_t queue = out.class_to_queue.at(p);
      out.queues.at(queue).alpha.reset();
      out.port_wred_queues = static_cast<std::uint8_t>(out.port_wred_queues | (1U << queue));
    }
    for (const design::SwitchPortIntent& port : s.ports) {
      const design::WredIntent& wred = port.wred;
      const design::Calibration& measured = design_.calibration;
      const Bytes least = scaled(wred.min, measured.wred_min);
      out.port_wred.push_back(
          {wred.ecn, least, std::max(least, scaled(wred.max, measured.wred_max)),
           std::min(scaled(wred.probability, measured.wred_probability), 100_percent)});
      out.mark_at = wred.mark_at;
    }
  }

  void note_what_is_left_out() {
    const auto note = [&](std::string text) { fabric_.notes.push_back(std::move(text)); };
    for (const design::HostIntent& host : intent_.hosts)
      for (const design::NicIntent& nic : host.nics)
        if (nic.global_pause)
          note(fmt::format("{}:{} has global pause (802.3x) on; only priority pause is simulated",
                           host.name, nic.device));
    for (const design::SwitchIntent& s : intent_.switches) {
      if (s.global_pause)
        note(fmt::format("{} has global pause (802.3x) on; only priority pause is simulated",
                         s.name));
      if (s.rewrites_dscp)
        note(fmt::format("{} rewrites the TOS byte; simulated packets keep theirs", s.name));
      for (const design::SwitchPortIntent& port : s.ports)
        if (port.shaper) note(fmt::format("{} {}: its shaper is not simulated", s.name, port.name));
    }
    if (intent_.routing == design::Routing::kBounce)
      note("routing `bounce`: paths in the simulation are shortest paths until a link fails");
  }

  const design::Design& design_;
  const Intent& intent_;
  DcqcnConfig dcqcn_;
  Fabric fabric_;
  std::vector<NodeId> first_nic_;  // by host
};

}  // namespace

std::string Fabric::nic_name(NodeId node) const {
  WEIR_CHECK(nics.contains(node));
  return hosts[nics[node].host] + ":" + nics[node].device;
}

Result<Fabric> build_network(const design::Design& design, const Intent& intent,
                             const BuildOptions& options) {
  return Builder(design, intent, options).build();
}

DcqcnConfig dcqcn_of(const design::Design& design, const Intent& intent) {
  const bool connectx = intent.dcqcn_variant == DcqcnVariant::kConnectx;
  DcqcnConfig out = dcqcn_defaults(intent.dcqcn_variant);
  const auto set = [&](std::string_view name, auto apply) {
    if (connectx || design::written_knob(design, name) != nullptr)
      apply(intent.dcqcn.find(name)->second);
  };
  constexpr std::int64_t kMega = 1'000'000;
  constexpr std::int64_t kStep = kAlphaOne / 1024;  // alpha and its gain count 1024ths
  set("clamp_tgt_rate_after_time_inc", [&](std::int64_t v) { out.clamp_after_timer = v != 0; });
  set("clamp_tgt_rate", [&](std::int64_t v) { out.clamp_target = v != 0; });
  set("rpg_time_reset", [&](std::int64_t v) { out.increase_period = 1_us * v; });
  set("rpg_byte_reset", [&](std::int64_t v) { out.byte_reset = v * 64; });
  set("rpg_threshold", [&](std::int64_t v) { out.threshold = static_cast<std::uint32_t>(v); });
  set("rpg_max_rate", [&](std::int64_t v) { out.max_rate = v * kMega; });
  set("rpg_ai_rate", [&](std::int64_t v) { out.ai_rate = v * kMega; });
  set("rpg_hai_rate", [&](std::int64_t v) { out.hai_rate = v * kMega; });
  set("rpg_gd", [&](std::int64_t v) { out.gd = static_cast<std::uint32_t>(v); });
  set("rpg_min_dec_fac", [&](std::int64_t v) { out.min_dec_percent = v; });
  set("rpg_min_rate", [&](std::int64_t v) { out.min_rate = v * kMega; });
  set("rate_to_set_on_first_cnp", [&](std::int64_t v) { out.first_cnp_rate = v * kMega; });
  set("dce_tcp_g", [&](std::int64_t v) { out.g = (1024 - v) * kStep; });  // it weighs the old alpha
  set("dce_tcp_rtt", [&](std::int64_t v) { out.alpha_period = 1_us * v; });
  set("rate_reduce_monitor_period", [&](std::int64_t v) { out.cut_period = 1_us * v; });
  set("initial_alpha_value", [&](std::int64_t v) { out.initial_alpha = v * kStep; });
  prepare(out);
  return out;
}

Bytes rdma_payload(Bytes wanted, Bytes interface_mtu) {
  // What the kernel keeps free for the longest headers: GRH 40, UDP 8, BTH 12, XRC 4, atomic 28,
  // ICRC 4 (Linux, include/rdma/ib_addr.h, iboe_get_mtu).
  constexpr Bytes kHeaders = 96_B;
  Bytes fits = 256_B;
  for (const Bytes mtu : {512_B, 1024_B, 2048_B, 4096_B})
    if (mtu + kHeaders <= interface_mtu) fits = mtu;
  return std::min(wanted, fits);
}

void limit_receiver(NicConfig& nic, Bytes xoff_need, Bytes interface_mtu, BitRate drain) {
  // A lossless buffer of mlx5 pauses `xoff` below its end and resumes one MTU lower (Linux,
  // mlx5/core/en/port_buffer.c); as much again below XOFF is the smallest sensible size.
  nic.receive_buffer = xoff_need * 2;
  nic.receive_xoff = nic.receive_buffer - xoff_need;
  nic.receive_xon = std::max(nic.receive_xoff - interface_mtu, 0_B);
  nic.drain = drain;
}

void find_components(Fabric& fabric) {
  const Network& network = fabric.network;
  Table<NodeId, NodeId> parent;
  for (const NodeId node : network.nodes.ids())
    parent.push_back(node);
  const auto root = [&](NodeId node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  };
  // A NIC has one link, so that joining it to its neighbour makes no path through it.
  for (const Link& link : network.links)
    if (link.up) parent[root(link.a)] = root(link.b);
  for (const NodeId n : fabric.nics.ids())
    fabric.nics[n].component = to_index(root(n));
}

}  // namespace weir::sim
