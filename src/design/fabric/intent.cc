#include "design/fabric/intent.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/fabric/patterns.h"
#include "design/fabric/port_plan.h"
#include "design/fabric/subnet.h"
#include "design/file/words.h"
#include "design/tables/nic_knobs.h"
#include "model/headroom.h"
#include "model/pause_loop.h"
#include "units/format.h"

namespace weir::design {
namespace {

/// DSCP → priority as the classes say; code points of no class follow best effort.
std::array<Priority, 64> dscp_map(const Design& design) {
  std::array<Priority, 64> map{};
  for (const auto& cls : design.classes)
    for (unsigned d = 0; d < Dscp::kLimit; ++d)
      if (cls.value.dscp->contains(Dscp::of(d))) map.at(d) = *cls.value.priority;
  return map;
}

/// A name with {rail} in it, or a pattern of names, one per rail: "mlx5_[0,3-6]".
std::string name_of_rail(std::string text, int rail) {
  if (text.find_first_of("[,") != std::string::npos) {
    const auto names = expand_names(text);
    const auto at = static_cast<std::size_t>(rail);
    if (names && at < names->size()) return (*names)[at];
  }
  constexpr std::string_view kRail = "{rail}";
  for (auto at = text.find(kRail); at != std::string::npos; at = text.find(kRail))
    text.replace(at, kRail.size(), std::to_string(rail));
  return text;
}

Bytes scaled(Bytes threshold, BitRate speed, BitRate at_speed) {
  return Bytes::raw(
      static_cast<std::int64_t>(Int128{threshold.raw()} * speed.raw() / at_speed.raw()));
}

class Deriver {
 public:
  explicit Deriver(const Design& design)
      : design_(design),
        profile_(model::find_buffer_profile(to_word(*design.buffers.profile)).value()),
        topology_(expand(design)) {}

  Derived derive() {
    out_.errors = topology_.errors;
    if (!out_.errors.empty()) return std::move(out_);
    Intent& intent = out_.intent;
    intent.routing = *design_.routing;
    intent.expected_incast = *design_.expect.incast;
    intent.dcqcn_variant = *design_.dcqcn.variant;
    intent.telemetry = {*design_.telemetry.gnmi, *design_.telemetry.sflow,
                        *design_.telemetry.interval};
    intent.tuning = {*design_.host_tuning.socket_buffers, *design_.host_tuning.irq_affinity,
                     *design_.host_tuning.stack_mtu};
    intent.vlan = *design_.addressing.vlan;
    intent.l3_from = *design_.addressing.l3_from;
    for (const auto& cls : design_.classes)
      intent.class_names.at(cls.value.priority->value()) = cls.name;
    base_map_ = dscp_map(design_);
    for (const auto& cls : design_.classes)
      if (*cls.value.lossless) lossless_.insert(*cls.value.priority);
    derive_knobs();
    derive_links();
    for (const Node& node : topology_.hosts)
      intent.hosts.push_back(host(node));
    for (std::uint32_t i = 0; i < topology_.switches.size(); ++i)
      intent.switches.push_back(switch_node(topology_.switches[i]));
    attach_links();
    assign_addresses();
    for (SwitchIntent& s : intent.switches)
      s.buffers = buffers(s);
    return std::move(out_);
  }

 private:
  void error(TextPosition at, std::string message) {
    out_.errors.push_back({at, std::move(message)});
  }

  // Knobs that exist and read well; the others are lint's to report.
  void derive_knobs() {
    for (const NicKnob& knob : nic_knobs())
      out_.intent.dcqcn.emplace(knob.name, knob.fallback);
    const auto* const cnp = design_.find_class(kCnpClass);
    if (cnp != nullptr) {
      out_.intent.dcqcn["cnp_dscp"] = cnp->value.dscp->marking.value();
      out_.intent.dcqcn["cnp_802p_prio"] = cnp->value.priority->value();
    }
    for (const Knob& written : design_.dcqcn.knobs) {
      const NicKnob* const knob = find_knob(written.name);
      if (knob == nullptr) continue;
      const auto value = parse_knob(*knob, written.text);
      if (!value) continue;
      out_.intent.dcqcn[std::string(knob->name)] = *value;
      out_.intent.dcqcn_stated.insert(std::string(knob->name));
    }
  }

  void derive_links() {
    for (const Cable& cable : topology_.cables) {
      const LinkGroup& group = design_.links[cable.group];
      LinkIntent link;
      link.lower = cable.lower;
      link.upper = cable.upper;
      link.speed = *group.speed;
      link.cable = *group.cable;
      link.length = *group.length;
      link.propagation = Duration::raw(static_cast<std::int64_t>(
          Int128{delay_per_metre(link.cable).raw()} * link.length.raw() / (1_m).raw()));
      link.group = cable.group;
      out_.intent.links.push_back(link);
    }
  }

  HostIntent host(const Node& node) {
    const HostGroup& group = design_.hosts[node.group].value;
    HostIntent host;
    host.name = node.name;
    host.group = node.group;
    host.nic_model = find_nic(*group.nic);
    host.stack = *group.stack;
    for (int rail = 0; rail < *group.rails; ++rail)
      host.nics.push_back(nic(group, rail, host));
    out_.intent.nic_count += host.nics.size();
    return host;
  }

  NicIntent nic(const HostGroup& group, int rail, const HostIntent& host) {
    NicIntent nic;
    nic.rail = rail;
    nic.device = name_of_rail(*group.device, rail);
    nic.netdev = name_of_rail(*group.netdev, rail);
    nic.mtu = group.mtu.value_or(*design_.mtu.host);
    nic.rdma_mtu = *design_.mtu.rdma;
    nic.vlan = *design_.addressing.vlan;
    nic.trust = group.trust.value_or(*design_.trust);
    nic.dscp_to_priority = base_map_;
    for (const auto& cls : design_.classes) {
      nic.priority_to_tc.at(cls.value.priority->value()) = *cls.value.traffic_class;
      Share8& tc = nic.traffic_classes.at(cls.value.traffic_class->value());
      tc.scheduling = *cls.value.scheduling;
      tc.minimum = tc.used ? tc.minimum + *cls.value.minimum : *cls.value.minimum;
      tc.used = true;
    }
    nic.pfc = *design_.pfc.priorities;
    nic.ecn_np = *design_.dcqcn.notification_point ? lossless_ : PrioritySet();
    nic.ecn_rp = *design_.dcqcn.reaction_point ? lossless_ : PrioritySet();
    nic.cnp_dscp = Dscp::of(static_cast<unsigned>(out_.intent.dcqcn["cnp_dscp"]));
    nic.cnp_priority = Priority::of(static_cast<unsigned>(out_.intent.dcqcn["cnp_802p_prio"]));
    nic.traffic_class = group.traffic_class.value_or(*design_.marking.traffic_class);
    nic.rdma_cm_tos = *design_.marking.rdma_cm_tos;
    nic.force_traffic_class = *design_.marking.force;
    nic.global_pause = *group.global_pause;
    constexpr int kUsualRing = 8192;
    nic.ring = design_.rings->is_auto ? std::min(kUsualRing, host.nic_model->max_ring)
                                      : design_.rings->value;
    return nic;
  }

  // ---- addresses ----

  /// Ordinals of leaves, and the pods that links with `groups` divide them into.
  void place_leaves() {
    leaf_.assign(topology_.switches.size(), 0);
    pod_.assign(topology_.switches.size(), 0);
    int next = 0;
    for (std::uint32_t i = 0; i < topology_.switches.size(); ++i)
      if (out_.intent.switches[i].tier == 1) leaf_[i] = next++;
    for (const Cable& cable : topology_.cables) {
      const bool joins = cable.lower.kind == NodeKind::kSwitch;
      if (joins && *design_.links[cable.group].groups > 1) pod_[cable.lower.node] = cable.part;
    }
    for (const Cable& cable : topology_.cables) {
      const bool is_access =
          cable.lower.kind == NodeKind::kHost && cable.upper.kind == NodeKind::kSwitch;
      if (is_access && *design_.links[cable.group].groups > 1) pod_[cable.upper.node] = cable.part;
    }
  }

  void assign_addresses() {
    place_leaves();
    for (std::size_t h = 0; h < out_.intent.hosts.size(); ++h)
      for (NicIntent& nic : out_.intent.hosts[h].nics)
        address(nic, h);
  }

  [[nodiscard]] Result<std::string> subnet_text_of(const NicIntent& nic) const {
    const LinkIntent& link = out_.intent.links[nic.link];
    const bool has_leaf = link.upper.kind == NodeKind::kSwitch;
    return subnet_of(design_.addressing, {nic.rail, has_leaf ? pod_.at(link.upper.node) : 0,
                                          has_leaf ? leaf_.at(link.upper.node) : 0});
  }

  /// All NICs that the design puts into a subnet; for a complaint.
  std::size_t nics_in(const std::string& subnet) {
    if (nics_in_.empty())
      for (const HostIntent& host : out_.intent.hosts)
        for (const NicIntent& nic : host.nics)
          if (const auto text = subnet_text_of(nic)) ++nics_in_[*text];
    return nics_in_[subnet];
  }

  void address(NicIntent& nic, std::size_t host_index) {
    const auto text = subnet_text_of(nic);
    const TextPosition at = design_.addressing.subnets.at();
    if (!text) return address_error(at, text.error().what);
    const auto subnet = parse_subnet(*text);
    if (!subnet) return address_error(at, "addressing.subnets: " + subnet.error().what);
    if (subnet->family != *design_.addressing.family)
      return address_error(at, fmt::format("addressing.subnets: {} is not of the family in "
                                           "addressing.family",
                                           *text));
    // Where a subnet is one leaf's or pod's, its hosts are numbered through; else the host's number
    // in the design is the same on every rail.
    const std::size_t in_subnet = used_addresses_[*text]++;
    const auto full = [&] {
      const bool is_shared =
          *design_.addressing.nic_prefix == 0 && !subnet_is_local(design_.addressing);
      address_error(at, fmt::format("addressing.subnets: {} has no room for {}", *text,
                                    is_shared ? counted(topology_.hosts.size(), "host")
                                              : counted(nics_in(*text), "NIC")));
    };
    if (*design_.addressing.nic_prefix != 0) {
      const auto own = subnet->part(*design_.addressing.nic_prefix, in_subnet);
      if (!own) return full();
      nic.subnet = own->to_text();
      nic.gateway = own->host(0).value_or("");
      nic.address = own->host(1).value_or("");
      return;
    }
    const std::size_t number = subnet_is_local(design_.addressing) ? in_subnet : host_index;
    const auto address = subnet->host(number + 1);
    if (!address) return full();
    nic.subnet = subnet->to_text();
    nic.address = *address;
  }

  // The same complaint for every host is one complaint.
  void address_error(TextPosition at, std::string message) {
    const bool is_known = std::any_of(out_.errors.begin(), out_.errors.end(),
                                      [&](const Diagnostic& e) { return e.message == message; });
    if (!is_known) error(at, std::move(message));
  }

  SwitchIntent switch_node(const Node& node) {
    const SwitchGroup& group = design_.switches[node.group].value;
    SwitchIntent s;
    s.name = node.name;
    s.group = node.group;
    s.system = *group.system;
    if (group.model.is_set()) s.model = find_switch_model(*group.model);
    s.asic = find_asic(*group.asic);
    s.tier = *group.tier;
    s.trust = group.trust.value_or(*design_.trust);
    s.dscp_to_priority = base_map_;
    for (const DscpOverride& over : group.dscp_overrides) {
      if (!over.dscp.is_set() || !over.priority.is_set()) continue;
      for (unsigned d = 0; d < Dscp::kLimit; ++d)
        if (over.dscp->contains(Dscp::of(d))) s.dscp_to_priority.at(d) = *over.priority;
    }
    for (const auto& cls : design_.classes) {
      const unsigned priority = cls.value.priority->value();
      s.pcp_to_priority.at(cls.value.pcp->value()) = *cls.value.priority;
      s.priority_to_queue.at(priority) = *cls.value.queue;
      s.priority_to_pg.at(priority) = PriorityGroup::of(*cls.value.lossless ? priority : 0);
      Share8& queue = s.queues.at(cls.value.queue->value());
      queue.scheduling = *cls.value.scheduling;
      queue.minimum = queue.used ? queue.minimum + *cls.value.minimum : *cls.value.minimum;
      queue.limit = queue.used ? std::max(queue.limit, *cls.value.limit) : *cls.value.limit;
      queue.used = true;
    }
    s.pfc = *design_.pfc.priorities;
    s.lossless = lossless_;
    s.global_pause = *group.global_pause;
    s.rewrites_dscp = *group.rewrites_dscp;
    s.watchdog = group.watchdog.value_or(*design_.watchdog.enabled);
    s.watchdog_detect = *design_.watchdog.detect;
    s.watchdog_restore = *design_.watchdog.restore;
    s.watchdog_action = *design_.watchdog.action;
    s.load_balancing = *design_.load_balancing.mode;
    s.forwarding = *group.forwarding;
    const bool same = *design_.load_balancing.seeds == EcmpSeeds::kSame;
    const auto own_seed = same ? 0U : static_cast<std::uint32_t>(out_.intent.switches.size()) + 1U;
    s.ecmp_seed =
        group.ecmp_seed.is_set() ? static_cast<std::uint32_t>(*group.ecmp_seed) : own_seed;
    return s;
  }

  void attach_links() {
    std::vector<SwitchIntent>& switches = out_.intent.switches;
    for (std::uint32_t i = 0; i < switches.size(); ++i)
      switches[i].ports.resize(topology_.switch_ports[i]);
    for (std::uint32_t i = 0; i < out_.intent.links.size(); ++i) {
      const LinkIntent& link = out_.intent.links[i];
      if (link.lower.kind == NodeKind::kHost) attach_nic(link, i, link.lower);
      if (link.upper.kind == NodeKind::kHost) attach_nic(link, i, link.upper);
      if (link.lower.kind == NodeKind::kSwitch) attach_port(link, i, link.lower, link.upper);
      if (link.upper.kind == NodeKind::kSwitch) attach_port(link, i, link.upper, link.lower);
    }
    for (SwitchIntent& s : switches) {
      name_ports(s);
      number_channels(s);
    }
  }

  /// Links of one group to one peer are a port-channel, where the group says so.
  void number_channels(SwitchIntent& s) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> channels;  // by group and peer
    for (SwitchPortIntent& port : s.ports) {
      const std::uint32_t group = out_.intent.links[port.link].group;
      if (!*design_.links[group].lag) continue;
      const int next = static_cast<int>(channels.size()) + 1;
      port.channel = channels.try_emplace({group, port.peer.node}, next).first->second;
    }
  }

  void name_ports(SwitchIntent& s) {
    const SwitchGroup& group = design_.switches[s.group].value;
    const PortSpec spec = group.ports.value_or({});
    std::vector<PortWish> wishes;
    for (const SwitchPortIntent& port : s.ports) {
      const bool is_host = port.peer.kind == NodeKind::kHost;
      const bool is_up = !is_host && out_.intent.switches[port.peer.node].tier > s.tier;
      const LinkGroup& cable = design_.links[out_.intent.links[port.link].group];
      wishes.push_back({port.speed, cable.split.value_or(0), is_up,
                        is_host ? out_.intent.hosts[port.peer.node].name
                                : out_.intent.switches[port.peer.node].name});
    }
    // Switches of a group are alike, unless their ports go by peer.
    const bool goes_by_peer = !spec.names.empty() && !spec.names.front().first.empty();
    if (!goes_by_peer)
      for (PortWish& wish : wishes)
        wish.peer.clear();
    if (!last_plan_ || last_plan_->group != s.group || last_plan_->wishes != wishes) {
      PortPlan plan = plan_ports(s.system, s.model, spec, wishes);
      last_plan_ = PlanOfGroup{s.group, std::move(wishes), std::move(plan)};
    }
    const PortPlan& plan = last_plan_->plan;
    s.ports_assumed = plan.is_assumed;
    s.ports_fault = plan.fault;
    for (std::size_t i = 0; i < s.ports.size(); ++i) {
      s.ports[i].name = plan.ports[i].name;
      s.ports[i].place = plan.ports[i].place;
    }
  }

  void attach_nic(const LinkIntent& link, std::uint32_t index, PortRef here) {
    NicIntent& nic = out_.intent.hosts[here.node].nics[here.port];
    nic.link = index;
    nic.speed = link.speed;
    nic.cable = link.length;
    model::HeadroomInput input;
    input.model = model::HeadroomModel::kMlx5Nic;
    input.speed = link.speed;
    input.cable = link.length;
    input.mtu = nic.mtu;
    const auto need = model::headroom(input);
    if (need) nic.xoff_need = need->xoff;
  }

  void attach_port(const LinkIntent& link, std::uint32_t index, PortRef here, PortRef peer) {
    SwitchIntent& s = out_.intent.switches[here.node];
    const SwitchGroup& group = design_.switches[s.group].value;
    const LinkGroup& cable = design_.links[link.group];
    SwitchPortIntent& port = s.ports[here.port];
    port.link = index;
    port.peer = peer;
    port.is_access = peer.kind == NodeKind::kHost;
    port.speed = link.speed;
    port.cable = link.length;
    port.mtu = cable.mtu.is_set() ? *cable.mtu : group.mtu.value_or(*design_.mtu.switch_port);
    port.headroom_need = headroom_need(s, link, port);
    const auto& designed = *design_.buffers.headroom;
    port.headroom = group.headroom.is_set() ? *group.headroom
                    : designed.is_auto
                        ? std::max(share_of(port.headroom_need, profile_.headroom_margin),
                                   exact_need(s, link, port))
                        : designed.value;
    port.headroom_is_auto = !group.headroom.is_set() && designed.is_auto;
    if (cable.shaper.is_set()) port.shaper = *cable.shaper;
    port.wred = wred(group.wred, port.speed);
  }

  WredIntent wred(const Wred& own, BitRate speed) const {
    const Wred& base = design_.wred;
    const auto pick = [](const auto& first, const auto& second) {
      return first.is_set() ? *first : *second;
    };
    const BitRate at_speed = pick(own.at_speed, base.at_speed);
    WredIntent out;
    out.ecn = pick(own.ecn, base.ecn);
    out.min = scaled(pick(own.min, base.min), speed, at_speed);
    out.max = scaled(pick(own.max, base.max), speed, at_speed);
    out.probability = pick(own.probability, base.probability);
    out.mark_at = pick(own.mark_at, base.mark_at);
    return out;
  }

  // Ports of one kind are many and alike: the last answer usually serves.
  Bytes headroom_need(const SwitchIntent& s, const LinkIntent& link, const SwitchPortIntent& port) {
    const std::string& named = *design_.buffers.headroom_model;
    const std::string_view model_name =
        named == "auto" ? s.asic->headroom_model : std::string_view(named);
    const HeadroomKey key{model_name, link.speed, link.length, port.mtu, port.is_access};
    if (last_headroom_ && last_headroom_->first == key) return last_headroom_->second;
    model::HeadroomInput input;
    input.speed = link.speed;
    input.cable = link.length;
    input.mtu = port.mtu;
    input.peer = port.is_access ? model::Peer::kNic : model::Peer::kSwitch;
    const auto parsed = model::parse_headroom_model(model_name);
    if (!parsed) {
      address_error(design_.buffers.headroom_model.at(),
                    "buffers.headroom_model: " + parsed.error().what);
      return {};
    }
    input.model = *parsed;
    auto need = model::headroom(input);
    // A vendor's table without a row for this speed or length: the standard's sum instead.
    if (!need) {
      input.model = model::HeadroomModel::kIeee;
      need = model::headroom(input);
    }
    if (!need) {
      address_error(design_.links[link.group].at, need.error().what);
      return {};
    }
    last_headroom_ = {key, need->xoff};
    return need->xoff;
  }

  /// What no mix of RDMA frames can exceed on this ASIC. The standard's sum knows no cells and
  /// vendors' formulas assume that half of the packets are large; a design that is left to derive
  /// its headroom loses nothing to small ones either.
  Bytes exact_need(const SwitchIntent& s, const LinkIntent& link, const SwitchPortIntent& port) {
    if (port.headroom_need == 0_B) return {};  // an error that was named already
    const Duration reaction = port.is_access
                                  ? out_.intent.hosts[port.peer.node].nic_model->pfc_reaction
                                  : out_.intent.switches[port.peer.node].asic->pfc_reaction;
    const Bytes cell = std::max(*design_.switches[s.group].value.cell, 1_B);
    const ExactKey key{s.asic, cell, link.speed, link.propagation, port.mtu, reaction};
    if (last_exact_ && last_exact_->first == key) return last_exact_->second;
    const bool is_ipv6 = *design_.addressing.family == AddressFamily::kIpv6;
    const model::RoceEncapsulation encapsulation{
        is_ipv6 ? model::IpVersion::kIpv6 : model::IpVersion::kIpv4, *design_.addressing.vlan != 0};
    model::PauseLoop loop;
    loop.rate = link.speed;
    loop.propagation = link.propagation;
    loop.max_reverse_frame = port.mtu + model::kEthernetFcs;
    loop.max_frame =
        std::min(loop.max_reverse_frame,
                 model::roce_frame(*design_.mtu.rdma, encapsulation, model::kRdmaExtended));
    loop.peer_reaction = reaction;
    loop.cell = cell;
    loop.descriptor = s.asic->packet_descriptor;
    last_exact_ = {key, model::exact_headroom_need(loop)};
    return last_exact_->second;
  }

  BufferIntent buffers(const SwitchIntent& s) const {
    const SwitchGroup& group = design_.switches[s.group].value;
    const Buffers& b = design_.buffers;
    BufferIntent out;
    out.total = *group.buffer;
    out.cell = *group.cell;
    out.packet_descriptor = s.asic->packet_descriptor;
    out.reserved_per_group = *b.reserved_per_port;
    out.threshold = *b.threshold;
    out.alpha = *b.alpha;
    out.egress_alpha = *b.egress_alpha;
    out.static_xoff = b.xoff.value_or({});
    out.xon_offset = *b.xon_offset;
    for (const SwitchPortIntent& port : s.ports)
      out.headroom_sum += port.headroom * s.lossless.count();
    out.headroom_oversubscription = *b.headroom_oversubscription;
    out.headroom_pool = out.headroom_sum / *b.headroom_oversubscription;
    out.plan = plan(s, out.total);
    out.lossless_shared = out.plan ? out.plan->lossless_shared : out.total - out.headroom_pool;
    return out;
  }

  std::optional<model::BufferPlan> plan(const SwitchIntent& s, Bytes total) const {
    const Buffers& b = design_.buffers;
    const bool pools_written = b.pools.lossless.is_written() || b.pools.lossy.is_written() ||
                               b.pools.storage.is_written() || b.pools.reserved.is_written();
    model::BufferInput input;
    input.total = total;
    input.is_single_pool = profile_.is_single_pool && !pools_written;
    input.shares = {*b.pools.lossless, *b.pools.lossy, *b.pools.storage, *b.pools.reserved};
    input.alpha = *b.alpha;
    input.headroom_oversubscription = *b.headroom_oversubscription;
    input.reserved_per_group = *b.reserved_per_port;
    input.ports = static_cast<int>(s.ports.size());
    input.groups_per_port = static_cast<int>(std::max<std::size_t>(design_.classes.size(), 1));
    input.lossless_classes = std::max(s.lossless.count(), 1);
    for (const SwitchPortIntent& port : s.ports) {
      const bool is_same =
          !input.headroom.empty() && input.headroom.back().per_group == port.headroom;
      if (!is_same) input.headroom.push_back({0, s.lossless.count(), port.headroom});
      ++input.headroom.back().ports;
    }
    const auto planned = model::plan_buffers(input);
    return planned ? std::optional(*planned) : std::nullopt;
  }

  struct HeadroomKey {
    std::string_view model;
    BitRate speed;
    Length length;
    Bytes mtu;
    bool is_access;
    friend bool operator==(const HeadroomKey&, const HeadroomKey&) = default;
  };

  struct ExactKey {
    const AsicModel* asic;
    Bytes cell;
    BitRate speed;
    Duration propagation;
    Bytes mtu;
    Duration reaction;
    friend bool operator==(const ExactKey&, const ExactKey&) = default;
  };

  struct PlanOfGroup {
    std::uint32_t group;
    std::vector<PortWish> wishes;
    PortPlan plan;
  };

  const Design& design_;
  const model::BufferProfile profile_;
  Topology topology_;
  Derived out_;
  std::array<Priority, 64> base_map_{};
  PrioritySet lossless_;
  std::optional<std::pair<HeadroomKey, Bytes>> last_headroom_;
  std::optional<std::pair<ExactKey, Bytes>> last_exact_;
  std::optional<PlanOfGroup> last_plan_;
  std::vector<int> leaf_;  // by switch
  std::vector<int> pod_;
  std::map<std::string, std::size_t, std::less<>> used_addresses_;  // by subnet
  std::map<std::string, std::size_t, std::less<>> nics_in_;         // by subnet, where asked for
};

}  // namespace

Derived derive(const Design& design) {
  return Deriver(design).derive();
}

}  // namespace weir::design
