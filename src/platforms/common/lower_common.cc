#include "platforms/common/lower_common.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "design/file/words.h"
#include "model/headroom.h"
#include "platforms/common/breakout.h"
#include "units/format.h"

namespace weir::platforms {

// ---- remarks ----

void Remarks::add(std::string what, std::string wanted, std::string becomes, std::string why,
                  const std::string& port) {
  Remark remark{std::move(what), std::move(wanted), std::move(becomes), std::move(why)};
  for (Many& many : all_) {
    if (many.remark != remark) continue;
    if (!port.empty()) many.ports.push_back(port);
    return;
  }
  all_.push_back({std::move(remark), {}});
  if (!port.empty()) all_.back().ports.push_back(port);
}

std::vector<Remark> Remarks::take() const {
  std::vector<Remark> out;
  for (const Many& many : all_) {
    Remark remark = many.remark;
    if (!many.ports.empty()) remark.what += ", " + ports_text(many.ports);
    out.push_back(std::move(remark));
  }
  return out;
}

// ---- rounding ----

Bytes whole_cells_up(Bytes bytes, Bytes cell) {
  const std::int64_t size = std::max<std::int64_t>(cell.raw(), 1);
  return Bytes::raw((bytes.raw() + size - 1) / size * size);
}

Bytes whole_cells_down(Bytes bytes, Bytes cell) {
  const std::int64_t size = std::max<std::int64_t>(cell.raw(), 1);
  return Bytes::raw(bytes.raw() / size * size);
}

Length whole_metres_up(Length length) {
  const std::int64_t metre = (1_m).raw();
  return Length::raw((length.raw() + metre - 1) / metre * metre);
}

BitRate whole_kilobits_down(BitRate rate) {
  constexpr std::int64_t kKilobit = 1000;
  return BitRate::raw(rate.raw() / kKilobit * kKilobit);
}

std::int64_t percent_of(Share share) {
  return share.raw() / (1_percent).raw();
}

unsigned whole_percent(Share share) {
  const std::int64_t percent = (1_percent).raw();
  const std::int64_t nearest = (share.raw() + percent / 2) / percent;
  return static_cast<unsigned>(share.raw() > 0 ? std::max<std::int64_t>(nearest, 1) : 0);
}

Duration to_step(Duration time, Duration step, Duration low, Duration high) {
  const std::int64_t nearest = (time.raw() + step.raw() / 2) / step.raw() * step.raw();
  return std::clamp(Duration::raw(nearest), low, high);
}

// ---- shares ----

std::array<unsigned, 8> queue_percents(const SwitchIntent& node) {
  constexpr std::int64_t kLeast = 1;  // of a queue with no minimum: one part in a million
  std::array<std::int64_t, 8> parts{};
  std::int64_t sum = 0;
  for (std::size_t q = 0; q < 8; ++q) {
    const design::Share8& queue = node.queues.at(q);
    if (!queue.used || queue.scheduling == design::Scheduling::kStrict) continue;
    parts.at(q) = std::max(queue.minimum.raw(), kLeast);
    sum += parts.at(q);
  }
  std::array<unsigned, 8> percents{};
  if (sum == 0) return percents;
  // The largest remainders are rounded up; a queue in use never has 0.
  std::array<std::int64_t, 8> rest{};
  std::int64_t left = 100;
  for (std::size_t q = 0; q < 8; ++q) {
    if (parts.at(q) == 0) continue;
    const std::int64_t exact = parts.at(q) * 100;
    percents.at(q) = static_cast<unsigned>(std::max<std::int64_t>(exact / sum, 1));
    rest.at(q) = exact - std::int64_t{percents.at(q)} * sum;
    left -= percents.at(q);
  }
  while (left != 0) {
    const auto best = left > 0 ? std::max_element(rest.begin(), rest.end())
                               : std::min_element(rest.begin(), rest.end());
    const auto q = static_cast<std::size_t>(best - rest.begin());
    const std::int64_t step = left > 0 ? 1 : -1;
    percents.at(q) = static_cast<unsigned>(std::int64_t{percents.at(q)} + step);
    rest.at(q) -= step * sum;
    left -= step;
  }
  return percents;
}

BitRate limit_of(const SwitchIntent& node, const SwitchPortIntent& port, unsigned queue) {
  const design::Share8& share = node.queues.at(queue);
  if (!port.is_access || !share.used || share.limit >= 100_percent) return {};
  return whole_kilobits_down(share_of(port.speed, share.limit));
}

// ---- what is used ----

PrioritySet used_priorities(const SwitchIntent& node, const design::Intent& intent) {
  PrioritySet used = node.pfc;
  for (const Priority p : node.dscp_to_priority)
    used.insert(p);
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (!intent.class_names.at(p).empty()) used.insert(Priority::of(p));
  return used;
}

bool is_queue_of(const SwitchIntent& node, PrioritySet priorities, unsigned queue) {
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (priorities.contains(Priority::of(p)) && node.priority_to_queue.at(p).value() == queue)
      return true;
  return false;
}

PrioritySet pausable(const SwitchIntent& node, Remarks& remarks) {
  const int most = design::system_model(node.system).max_lossless_priorities;
  if (node.pfc.count() <= most) return node.pfc;
  PrioritySet kept;
  for (unsigned p = 0; p < Priority::kLimit && kept.count() < most; ++p)
    if (node.pfc.contains(Priority::of(p))) kept.insert(Priority::of(p));
  remarks.add("PFC", "priorities " + to_text(node.pfc), "priorities " + to_text(kept),
              fmt::format("at most {} lossless classes", most));
  return kept;
}

// ---- clamps ----

Bytes port_mtu(const SwitchIntent& node, const SwitchPortIntent& port, Remarks& remarks) {
  const Bytes most = design::system_model(node.system).max_mtu;
  if (port.mtu <= most) return port.mtu;
  remarks.add("MTU", fmt::format("{}B", port.mtu.raw()), fmt::format("{}B", most.raw()),
              node.system == design::SwitchSystem::kEos
                  ? "the EOS maximum; EOS counts the IP packet, so no frame gets smaller"
                  : "the system's maximum",
              port.name);
  return most;
}

Alpha clamp_alpha(const SwitchIntent& node, Alpha alpha, std::string_view what, Remarks& remarks) {
  const design::SystemModel& system = design::system_model(node.system);
  const Alpha kept = std::clamp(alpha, system.min_alpha, system.max_alpha);
  remarks.changed(std::string(what), alpha, kept,
                  fmt::format("the system accepts {} to {}", to_text(system.min_alpha),
                              to_text(system.max_alpha)));
  return kept;
}

Alpha ingress_alpha(const SwitchIntent& node, Remarks& remarks) {
  return clamp_alpha(node, node.buffers.alpha, "alpha", remarks);
}

Share marking_probability(const SwitchIntent& node, const SwitchPortIntent& port,
                          Remarks& remarks) {
  const std::int64_t step = design::system_model(node.system).probability_step.raw();
  const Share wanted = port.wred.probability;
  const std::int64_t steps = std::max<std::int64_t>((wanted.raw() + step / 2) / step, 1);
  const Share kept = std::min(Share::raw(steps * step), 100_percent);
  remarks.changed("marking probability", wanted, kept,
                  fmt::format("in steps of {}", to_text(Share::raw(step))), port.name);
  return kept;
}

Length cable_length(const SwitchPortIntent& port, Remarks& remarks) {
  const Length metres = std::max(whole_metres_up(port.cable), 1_m);
  remarks.changed("cable length", port.cable, metres,
                  "whole metres, rounded up so that headroom is never too small", port.name);
  return metres;
}

Bytes lossless_reserve(const SwitchIntent& node, const SwitchPortIntent& port) {
  const Bytes designed = node.buffers.reserved_per_group;
  if (node.asic->family != design::AsicFamily::kSpectrum) return designed;
  const auto model = model::parse_headroom_model(node.asic->headroom_model);
  if (!model) return designed;
  model::HeadroomInput input;
  input.model = *model;
  input.speed = port.speed;
  input.cable = port.cable;
  input.mtu = std::min(port.mtu, design::system_model(node.system).max_mtu);
  const auto computed = model::headroom(input);
  return std::max(computed && computed->xon ? *computed->xon : 0_B, designed);
}

std::string balancing(const SwitchIntent& node, Remarks& remarks) {
  const bool can =
      node.load_balancing == design::LoadBalancing::kEcmp ||
      (node.load_balancing == design::LoadBalancing::kSpray && node.asic->can_spray) ||
      (node.load_balancing == design::LoadBalancing::kAdaptive && node.asic->can_adapt);
  if (can) return std::string(design::to_word(node.load_balancing));
  remarks.add("load balancing", std::string(design::to_word(node.load_balancing)), "ecmp",
              fmt::format("not supported by {}", node.asic->title));
  return "ecmp";
}

std::array<std::optional<Dscp>, 8> rewrite_map(const SwitchIntent& node) {
  std::array<std::optional<Dscp>, 8> map{};
  if (!node.rewrites_dscp) return map;
  for (unsigned d = Dscp::kLimit; d-- > 0;)
    map.at(node.dscp_to_priority.at(d).value()) = Dscp::of(d);
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (node.dscp_to_priority.at(std::size_t{p} * 8).value() == p) map.at(p) = Dscp::of(p * 8);
  return map;
}

// ---- the steps that systems share ----

Lowering::Lowering(const design::Intent& intent, const SwitchIntent& node,
                   vocab::SwitchSystem system)
    : intent_(intent), node_(node), percents_(queue_percents(node)) {
  out_.name = node.name;
  out_.platform = platform_fact(system);
}

int Lowering::channel_of(std::string_view port) const {
  return intent_of(node_, port).channel;
}

void Lowering::join_channel(const SwitchPort& port) {
  evidence::SwitchInterface& channel = interface_named(out_, *port.channel, "port-channel");
  channel.mtu = port.mtu;
  add_member(channel, port.name);
}

void Lowering::add_vlan(std::string_view prefix, Bytes link_header) {
  const int gateway = intent_.l3_from == design::Boundary::kLeaf    ? 1
                      : intent_.l3_from == design::Boundary::kSpine ? 2
                                                                    : 0;
  if (intent_.vlan == 0 || node_.tier > gateway) return;
  const bool is_gateway = node_.tier == gateway;
  Bytes widest;
  evidence::SwitchInterface vlan;
  for (const evidence::SwitchPort& port : out_.ports) {
    if (port.mtu.is_known()) widest = std::max(widest, *port.mtu);
    const design::PortRef peer = intent_of(node_, port.name).peer;
    const bool is_down =
        peer.kind == design::NodeKind::kHost || intent_.switches[peer.node].tier < node_.tier;
    if (!is_down && is_gateway) continue;
    const bool is_bundled = port.channel.is_known() && !port.channel->empty();
    add_member(vlan, is_bundled ? *port.channel : port.name);
  }
  vlan.name = fmt::format("{}{}", prefix, intent_.vlan);
  vlan.kind = "svi";
  if (is_gateway) vlan.mtu = known(std::max(widest - link_header, 0_B));
  interface_named(out_, vlan.name, vlan.kind) = vlan;
}

Lowered Lowering::finish() {
  std::vector<std::string> names;
  for (const SwitchPortIntent& port : node_.ports)
    names.push_back(port.name);
  if (node_.ports_assumed && !names.empty())
    remarks_.add("port names", counted(node_.ports.size(), "link"), ports_text(names),
                 "assumed, one per cage: the switch has no `model` and no `ports` in the design");
  return {std::move(out_), remarks_.take()};
}

void Lowering::set_maps_by_priority(PrioritySet paused, const std::array<Queue, 8>& queues,
                                    unsigned (*class_of_pcp)(unsigned pcp)) {
  const auto same = [](unsigned priority) { return priority; };
  set_dscp_map(same);
  std::array<std::optional<TrafficClass>, 8> pcp{};
  std::array<PriorityGroup, 8> groups{};
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    pcp.at(p) = TrafficClass::of(class_of_pcp(p));
    if (paused.contains(Priority::of(p))) groups.at(p) = PriorityGroup::of(p);
  }
  if (node_.trust == design::Trust::kPcp)
    set_pcp_map(same);
  else
    out_.pcp_to_tc = known(pcp);
  out_.tc_to_queue = known(queues);
  out_.tc_to_group = known(groups);
  out_.pfc_to_queue = known(queues);
  out_.tc_to_dscp = known(rewrite_map(node_));
}

void Lowering::remark_no_pools(std::string_view system) {
  const auto& plan = node_.buffers.plan;
  if (plan && plan->lossy_pool + plan->storage_pool > 0_B)
    remarks_.add("buffer pools", "shares per class", "",
                 fmt::format("{} has no buffer pools", system));
}

void Lowering::remark_no_shared_headroom(std::string why) {
  const int ratio = node_.buffers.headroom_oversubscription;
  if (ratio > 1) remarks_.add("shared headroom", fmt::format("1/{}", ratio), "", std::move(why));
}

std::string Lowering::balancing_without_spray(std::string why) {
  std::string mode = balancing(node_, remarks_);
  if (mode != "spray") return mode;
  remarks_.add("load balancing", "spray", "adaptive", std::move(why));
  return "adaptive";
}

bool Lowering::has_watchdog(PrioritySet paused, std::string_view why_not) {
  const bool is_on = node_.watchdog && paused.count() > 0;
  if (node_.watchdog && !is_on) remarks_.add("PFC watchdog", "on", "", std::string(why_not));
  out_.watchdog.enabled = known(is_on);
  return is_on;
}

void Lowering::set_telemetry(Duration most) {
  const design::TelemetryIntent& wanted = intent_.telemetry;
  out_.telemetry.gnmi = known(wanted.gnmi);
  out_.telemetry.sflow = known(wanted.sflow);
  if (wanted.sflow)
    out_.telemetry.interval = known(to_step(wanted.interval, 1_s, 1_s, most));
  else if (wanted.gnmi)
    remarks_.add("telemetry interval", to_text(wanted.interval), "",
                 "the gNMI subscriber chooses it");
}

evidence::SwitchPort Lowering::base_port(const SwitchPortIntent& from, PrioritySet paused) {
  evidence::SwitchPort port;
  port.name = from.name;
  port.mtu = known(port_mtu(node_, from, remarks_));
  port.trust = known(node_.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp
                                                         : evidence::TrustMode::kPcp);
  port.pfc = known(paused);
  port.global_pause = known(node_.global_pause);
  port.watchdog = known(node_.watchdog && paused.count() > 0);
  port.rewrites_dscp = known(node_.rewrites_dscp);
  port.max_rate = known(from.shaper ? whole_kilobits_down(*from.shaper) : BitRate());
  return port;
}

SwitchPort Lowering::announcing_port(const SwitchPortIntent& from, PrioritySet paused) {
  SwitchPort port = base_port(from, paused);
  port.pfc_negotiated = known(false);
  port.lldp = known(true);
  port.dcbx = known(paused.count() > 0);
  return port;
}

void Lowering::raise_mtu(Bytes least, std::string why, SwitchPort& port) {
  if (*port.mtu >= least) return;
  remarks_.changed("MTU", *port.mtu, least, std::move(why), port.name);
  port.mtu = known(least);
}

EgressQueue Lowering::plain_queue(unsigned index) {
  EgressQueue queue;
  queue.queue = Queue::of(index);
  queue.ecn = known(false);
  queue.wred_drop = known(false);
  return queue;
}

EgressQueue& Lowering::add_cli_queue(const SwitchPortIntent& from, unsigned index, bool is_lossless,
                                     SwitchPort& port) {
  EgressQueue& queue = queue_at(port, Queue::of(index));
  const design::Share8& share = node_.queues.at(index);
  set_marking(from, is_lossless, queue);
  if (*queue.ecn) queue.ecn_weight = known(0U);
  set_scheduler(share.used && share.scheduling == design::Scheduling::kStrict, percents_.at(index),
                queue);
  queue.max_rate = known(limit_of(node_, from, index));
  return queue;
}

void Lowering::set_marking(const SwitchPortIntent& from, bool is_lossless,
                           evidence::EgressQueue& queue) {
  queue.ecn = known(is_lossless && from.wred.ecn);
  queue.wred_drop = known(false);
  if (!*queue.ecn) return;
  queue.ecn_min = known(from.wred.min);
  queue.ecn_max = known(from.wred.max);
  queue.ecn_probability = known(marking_probability(node_, from, remarks_));
}

void Lowering::set_scheduler(bool is_strict, unsigned percent, evidence::EgressQueue& queue) {
  queue.scheduler =
      known(is_strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted);
  if (!is_strict) queue.weight = known(percent);
}

// ---- the state ----

void settle_queue(evidence::EgressQueue& queue) {
  const bool marks = queue.ecn.is_known() && *queue.ecn;
  const bool drops = queue.wred_drop.is_known() && *queue.wred_drop;
  if (marks || drops || !queue.ecn.is_known()) return;
  queue.ecn_min = {};
  queue.ecn_max = {};
  queue.ecn_probability = {};
  queue.ecn_weight = {};
}

namespace {

/// The element that `is_it`, or a new one before the first that `comes_after`.
template <class T, class IsIt, class ComesAfter>
T& find_or_insert(std::vector<T>& list, IsIt is_it, ComesAfter comes_after) {
  const auto found = std::find_if(list.begin(), list.end(), is_it);
  if (found != list.end()) return *found;
  return *list.insert(std::find_if(list.begin(), list.end(), comes_after), T{});
}

}  // namespace

evidence::SwitchPort& port_named(evidence::Switch& state, std::string_view name) {
  evidence::SwitchPort& port = find_or_insert(
      state.ports, [&](const evidence::SwitchPort& other) { return other.name == name; },
      [&](const evidence::SwitchPort& other) { return natural_order(other.name, name) > 0; });
  port.name = name;
  return port;
}

void sort_ports(evidence::Switch& state) {
  std::stable_sort(state.ports.begin(), state.ports.end(),
                   [](const auto& a, const auto& b) { return natural_order(a.name, b.name) < 0; });
}

evidence::EgressQueue& queue_at(evidence::SwitchPort& port, Queue queue) {
  evidence::EgressQueue& out = find_or_insert(
      port.queues.edit(), [&](const evidence::EgressQueue& other) { return other.queue == queue; },
      [&](const evidence::EgressQueue& other) { return other.queue > queue; });
  out.queue = queue;
  return out;
}

evidence::GroupBuffer& group_at(evidence::SwitchPort& port, PriorityGroup group) {
  evidence::GroupBuffer& out = find_or_insert(
      port.groups.edit(), [&](const evidence::GroupBuffer& other) { return other.group == group; },
      [&](const evidence::GroupBuffer& other) { return other.group > group; });
  out.group = group;
  return out;
}

evidence::SwitchInterface& interface_named(evidence::Switch& state, std::string_view name,
                                           std::string_view kind) {
  evidence::SwitchInterface& out = find_or_insert(
      state.interfaces,
      [&](const evidence::SwitchInterface& interface) { return interface.name == name; },
      [&](const evidence::SwitchInterface& other) { return natural_order(other.name, name) > 0; });
  out.name = name;
  out.kind = kind;
  return out;
}

void add_member(evidence::SwitchInterface& interface, const std::string& port, std::string source) {
  std::vector<std::string> members =
      interface.members.is_known() ? *interface.members : std::vector<std::string>();
  const auto at = std::find_if(members.begin(), members.end(), [&](const std::string& other) {
    return natural_order(other, port) >= 0;
  });
  if (at == members.end() || *at != port) members.insert(at, port);
  interface.members = known(std::move(members), std::move(source));
}

// ---- comments ----

std::string comment(std::string_view mark, std::string_view text) {
  constexpr std::size_t kColumns = 98;
  std::string out;
  const std::string wrapped = wrap(text, kColumns - mark.size() - 1);
  for (const std::string_view line : split(wrapped, '\n'))
    out += fmt::format("{} {}\n", mark, line);
  return out;
}

std::string remarks_comment(std::string_view mark, const std::vector<Remark>& remarks) {
  std::string out;
  for (const Remark& remark : remarks) {
    const auto& [what, wanted, becomes, why] = remark;
    out += comment(mark, becomes.empty()
                             ? fmt::format("Not expressed: {} ({}): {}.", what, wanted, why)
                             : fmt::format("{}: {} becomes {}: {}.", what, wanted, becomes, why));
  }
  return out;
}

}  // namespace weir::platforms
