#include "sim/engine/sim.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "sim/peer/hpcc_peer.h"

namespace weir::sim {
namespace {

constexpr std::int64_t kCutThroughHeader = 64;  // bytes a cut-through switch reads before it acts

enum Purpose : std::uint64_t { kPortStream = 1, kSprayStream = 2 };

std::vector<std::uint32_t> wire_table(BitRate rate, std::int64_t gap, bool as_peer) {
  std::vector<std::uint32_t> table(kLargestFrame + 1);
  for (std::size_t size = 0; size < table.size(); ++size) {
    const auto bytes = Bytes::raw(static_cast<std::int64_t>(size) + gap);
    std::int64_t time = serialization_time(bytes, rate).raw();
    if (as_peer) time = hpcc_time(bytes.raw(), rate.raw());
    time = std::max<std::int64_t>(time, 1);  // the peer's short frames on fast links take no time
    table[size] = static_cast<std::uint32_t>(std::min<std::int64_t>(time, UINT32_MAX));
  }
  return table;
}

}  // namespace

std::string_view to_text(DropReason reason) {
  switch (reason) {
    case DropReason::kIngressBuffer: return "ingress_buffer";
    case DropReason::kEgressBuffer: return "egress_buffer";
    case DropReason::kHeadroom: return "headroom";
    case DropReason::kHeadroomPool: return "headroom_pool";
    case DropReason::kReceiverBuffer: return "receiver_buffer";
    case DropReason::kWatchdog: return "watchdog";
    case DropReason::kLinkDown: return "link_down";
    case DropReason::kBitError: return "bit_error";
    case DropReason::kTtl: return "ttl";
    case DropReason::kMtu: return "mtu";
    case DropReason::kNoRoute: return "no_route";
    case DropReason::kWred: return "wred";
    case DropReason::kCount: break;
  }
  WEIR_UNREACHABLE("not a drop reason");
}

Result<std::unique_ptr<Sim>> Sim::make(Network network) {
  WEIR_TRY_STATUS(check_network(network));
  return std::unique_ptr<Sim>(new Sim(std::move(network)));
}

Sim::Sim(Network network)
    : network_(std::move(network)),
      hpcc_(network_.model == Model::kHpcc),
      is_observed_(hpcc_),
      events_(hpcc_ ? Ties::kInsertion : Ties::kCanonical),
      peer_random_(network_.peer_streams) {
  for (NicConfig& nic : network_.nics)
    prepare(nic.dcqcn);
  routes_.build(network_);
  set_up_ports();
  set_up_switches();
  set_up_nics();
  set_up_owners();
  set_up_qps();
  reserve_peer_lists();
  set_up_lanes();
  reserve_events();
  messages_.reserve(network_.messages.size() + network_.spare_messages);
  for (const Message& message : network_.messages)
    post(message.qp, message.size, message.post);
  for (std::uint32_t i = 0; i < network_.changes.size(); ++i)
    events_.push(network_.changes[i].at.since_start().raw(), tie_of(EventKind::kLinkState, i));
}

void Sim::set_up_ports() {
  const std::size_t nodes = network_.nodes.size();
  std::vector<std::uint32_t> count(nodes, 0);
  for (const Link& link : network_.links) {
    ++count[link.a];
    ++count[link.b];
  }
  first_port_.assign(nodes + 1, 0);
  for (std::size_t n = 0; n < nodes; ++n)
    first_port_[n + 1] = first_port_[n] + count[n];
  const std::size_t total = first_port_[nodes];
  ports_.resize(total);
  queues_.resize(total * 8);
  if (hpcc_) peer_mark_share_.resize(total * 8);
  pauses_.resize(total);
  traffic_.resize(total);
  port_counters_.resize(total);
  error_threshold_.assign(total, 0);
  for (std::uint32_t p = 0; p < total; ++p)
    port_random_.emplace_back(network_.replica_seed(), p, kPortStream);
  std::map<std::int64_t, std::size_t> tables;
  for (const Link& link : network_.links)
    if (tables.emplace(link.rate.raw(), wire_times_.size()).second)
      wire_times_.push_back(wire_table(link.rate, network_.wire.gap, hpcc_));
  std::vector<std::uint32_t> next(first_port_.begin(), first_port_.end() - 1);
  for (const Link& link : network_.links) {
    const std::uint32_t a = next[link.a]++;
    const std::uint32_t b = next[link.b]++;
    link_ports_.push_back(a);
    link_ports_.push_back(b);
    for (const auto& [self, peer, node] : {std::tuple{a, b, link.a}, std::tuple{b, a, link.b}}) {
      Port& port = ports_[self];
      port.self = self;
      port.peer = peer;
      port.node = node;
      port.local = static_cast<std::uint16_t>(self - first_port_[node]);
      port.queues = &queues_[std::size_t{self} * 8];
      port.traffic = &traffic_[self];
      port.down = !link.up;
      port.wire_time = wire_times_[tables[link.rate.raw()]].data();
      port.flight = link.propagation.raw();
      pauses_[self].cable = link.propagation.raw();
      pauses_[self].rate = link.rate.raw();
      const bool clean = link.errors_to_b_only && self == a;
      error_threshold_[self] = clean ? 0 : link.error_threshold;
      refresh_disturbed(port);
    }
  }
}

void Sim::set_up_queues(std::uint32_t node, const SwitchConfig& config) {
  for (std::uint32_t p = first_port_[node]; p < first_port_[node + 1]; ++p) {
    PauseState& pause = pauses_[p];
    pause.reaction = config.pfc_reaction.raw();
    pause.quanta = config.pause_quanta;
    pause.enabled = config.pfc.mask();
    pause.quanta_time =
        static_cast<Ps>(Int128{config.pause_quanta} * 512 * kPicosecondsPerSecond / pause.rate);
    const std::uint32_t local = p - first_port_[node];
    const Bytes mtu = local < config.port_mtu.size() ? config.port_mtu[local] : config.mtu;
    ports_[p].mtu = static_cast<std::uint16_t>(mtu.raw());
    for (std::uint32_t q = 0; q < 8; ++q) {
      const EgressQueue& from = config.queues[q];
      Queue& queue = queues_[std::size_t{p} * 8 + q];
      queue.quantum = std::max<std::int64_t>(from.weight, 1) * config.mtu.raw();
      const bool by_port =
          local < config.port_wred.size() && ((config.port_wred_queues >> q) & 1U) != 0;
      const Wred& wred = by_port ? config.port_wred[local] : from.wred;
      if (!wred.enabled) continue;
      queue.mark_min = wred.min.raw();
      queue.mark_max = wred.max.raw();
      if (hpcc_)
        peer_mark_share_[std::size_t{p} * 8 + q] =
            static_cast<double>(wred.max_probability.raw()) / kSharePerWhole;
      const std::int64_t range = std::max<std::int64_t>(queue.mark_max - queue.mark_min, 1);
      queue.mark_slope = static_cast<std::uint64_t>((Int128{wred.max_probability.raw()} << 48U) /
                                                    kSharePerWhole / range);
    }
  }
}

void Sim::set_up_switches() {
  index_of_.assign(network_.nodes.size(), 0);
  for (std::uint32_t n = 0; n < network_.nodes.size(); ++n) {
    if (network_.nodes[n].kind != NodeKind::kSwitch) continue;
    const SwitchConfig& config = network_.switches[network_.nodes[n].config];
    const std::uint32_t count = first_port_[n + 1] - first_port_[n];
    index_of_[n] = static_cast<std::uint32_t>(switches_.size());
    Switch sw{n,
              first_port_[n],
              count,
              &config,
              SharedBuffer(config, count, network_.model),
              RandomStream(network_.replica_seed(), n, kSprayStream)};
    sw.ports = &ports_[first_port_[n]];
    sw.route_row = routes_.row_of(n);
    sw.has_pipeline = config.pipeline.raw() > 0;
    sw.has_plain_ecmp = !hpcc_ && config.balancing == LoadBalancing::kEcmp;
    sw.ecmp_seed = config.ecmp_seed;
    for (std::size_t dscp = 0; dscp < 64; ++dscp) {
      const std::uint8_t tc =
          config.trust == Trust::kDscp ? config.dscp_to_class[dscp] : config.untrusted_class;
      sw.classes[dscp] = {config.class_to_queue[tc], config.class_to_group[tc]};
    }
    for (unsigned i = 0; i < 8; ++i) {
      if (config.queues[i].scheduling == Scheduling::kStrict)
        sw.strict = static_cast<std::uint8_t>(sw.strict | (1U << i));
      if (config.groups[i].lossless)
        sw.lossless = static_cast<std::uint8_t>(sw.lossless | (1U << i));
    }
    switches_.push_back(std::move(sw));
    set_up_queues(n, config);
    // A cut-through switch acts on the header, provided no port of its own is faster than the wire
    // the frame comes in by.
    std::int64_t fastest = 0;
    for (std::uint32_t p = first_port_[n]; p < first_port_[n + 1]; ++p)
      fastest = std::max(fastest, pauses_[p].rate);
    for (std::uint32_t p = first_port_[n]; p < first_port_[n + 1]; ++p) {
      Port& from = ports_[ports_[p].peer];
      if (config.forwarding != Forwarding::kCutThrough || pauses_[p].rate < fastest) continue;
      from.is_cut_through = true;
      from.flight +=
          serialization_time(Bytes::raw(kCutThroughHeader), BitRate::raw(pauses_[p].rate)).raw();
    }
  }
}

void Sim::set_up_owners() {
  for (Switch& sw : switches_)
    for (std::uint32_t local = 0; local < sw.port_count; ++local)
      sw.ports[local].sw = &sw;
  for (Nic& nic : nics_)
    if (nic.port != nullptr) nic.port->nic = &nic;
}

void Sim::set_up_nics() {
  for (std::uint32_t n = 0; n < network_.nodes.size(); ++n) {
    if (network_.nodes[n].kind != NodeKind::kNic) continue;
    const NicConfig& config = network_.nics[network_.nodes[n].config];
    index_of_[n] = static_cast<std::uint32_t>(nics_.size());
    Nic nic;
    nic.node = n;
    nic.config = &config;
    nic.ready_head.fill(kNone);
    nic.ready_tail.fill(kNone);
    nic.strict = config.strict.mask();
    nic.cnp_priority = static_cast<std::uint8_t>(
        config.trust == Trust::kDscp ? config.dscp_to_priority[config.cnp_dscp.value()]
                                     : config.cnp_priority.value());
    if (first_port_[n] < first_port_[n + 1]) {
      nic.port = &ports_[first_port_[n]];
      PauseState& pause = pauses_[first_port_[n]];
      nic.line = pause.rate;
      pause.reaction = config.pfc_reaction.raw();
      pause.quanta = config.pause_quanta;
      pause.enabled = config.pfc.mask();
      pause.quanta_time =
          static_cast<Ps>(Int128{config.pause_quanta} * 512 * kPicosecondsPerSecond / pause.rate);
    }
    nics_.push_back(nic);
  }
}

void Sim::set_up_qps() {
  for (std::uint32_t q = 0; q < network_.qps.size(); ++q) {
    const QueuePair& qp = network_.qps[q];
    const auto priority_at = [&](const NicConfig& config) {
      return config.trust == Trust::kDscp ? config.dscp_to_priority[qp.tos >> 2U]
                                          : qp.service_level;
    };
    Sender sender;
    sender.nic = &nics_[index_of_[qp.source]];
    const NicConfig& config = *sender.nic->config;
    sender.key = flow_key(qp.source, qp.target, qp.source_port);
    sender.dst = static_cast<std::uint16_t>(qp.target);
    sender.tos = qp.tos;
    sender.priority = priority_at(config);
    sender.operation = qp.operation;
    sender.is_socket = qp.is_socket;
    sender.rp.start(config.dcqcn, sender.nic->line, qp.start_rate);
    if (qp.operation == Operation::kRead) sender.granted = 0;
    senders_.push_back(sender);
    if (hpcc_) ++sender.nic->peer_last;
    Receiver receiver;
    receiver.nic = &nics_[index_of_[qp.target]];
    const NicConfig& other = *receiver.nic->config;
    receiver.key = flow_key(qp.target, qp.source, qp.source_port);
    receiver.dst = static_cast<std::uint16_t>(qp.source);
    receiver.tos = qp.tos;
    receiver.is_socket = qp.is_socket;
    receiver.is_read = qp.operation == Operation::kRead;
    receiver.priority = other.ack_priority ? static_cast<std::uint8_t>(other.ack_priority->value())
                                           : priority_at(other);
    receiver.receives = qp.receives;
    if (other.recovery == Recovery::kSelective && qp.operation != Operation::kRead) {
      receiver.bitmap = static_cast<std::uint32_t>(bitmaps_.size());
      bitmaps_.resize(bitmaps_.size() + kBitmapWords, 0);
    }
    receivers_.push_back(receiver);
  }
}

/// Room for every QP that a host of the model `hpcc` will ever have.
void Sim::reserve_peer_lists() {
  for (Nic& nic : nics_) {
    nic.peer_qps.reserve(nic.peer_last);
    nic.peer_last = 0;
  }
}

void Sim::set_up_lanes() {
  std::int64_t mtu = 0;
  for (const QueuePair& qp : network_.qps)
    mtu = std::max(mtu, network_.nics[network_.nodes[qp.source].config].mtu.raw());
  const auto full = static_cast<std::uint16_t>(network_.wire.data_header + mtu);
  const auto ack = static_cast<std::uint16_t>(network_.wire.ack_frame);
  struct Wanted {
    std::size_t bound = 0;
    std::size_t ports = 0;
  };
  std::map<Ps, Wanted> wanted;
  const auto delay_full = [&](const Port& p) {
    return p.flight + (p.is_cut_through ? 0 : Ps{p.wire_time[full]});
  };
  for (const Port& p : ports_) {
    const auto want = [&](Ps delay, Ps spacing) {
      wanted[delay].bound += static_cast<std::size_t>(delay / spacing) + 2;
      ++wanted[delay].ports;
    };
    want(delay_full(p), p.wire_time[p.is_cut_through ? std::min<std::size_t>(ack, 60) : full]);
    if (!p.is_cut_through) want(p.flight + p.wire_time[ack], p.wire_time[ack]);
    wanted[p.wire_time[full]].bound += 2;
    ++wanted[p.wire_time[full]].ports;
    const Ps pipeline = p.sw != nullptr ? p.sw->config->pipeline.raw() : 0;
    if (pipeline > 0) want(pipeline, p.wire_time[std::min<std::size_t>(ack, 60)]);
  }
  std::vector<std::pair<std::size_t, Ps>> order;
  for (const auto& [delay, want] : wanted)
    order.emplace_back(want.ports, delay);
  std::sort(order.begin(), order.end(), std::greater<>());
  std::map<Ps, std::uint8_t> lanes;
  for (const auto& [ports, delay] : order) {
    const std::uint8_t lane = events_.add_lane(delay, wanted[delay].bound);
    if (lane != EventList::kNoLane) lanes[delay] = lane;
  }
  const auto lane_of = [&](Ps delay) {
    const auto found = lanes.find(delay);
    return found == lanes.end() ? EventList::kNoLane : found->second;
  };
  for (Port& p : ports_) {
    p.lane_full = lane_of(delay_full(p));
    p.lane_ack = p.is_cut_through ? EventList::kNoLane : lane_of(p.flight + p.wire_time[ack]);
    p.lane_free = lane_of(p.wire_time[full]);
    p.free_delay = p.wire_time[full];
    if (p.lane_full != EventList::kNoLane) p.full_size = full;
    if (p.lane_ack != EventList::kNoLane) p.ack_size = ack;
  }
  for (Switch& sw : switches_)
    sw.lane_pipeline = lane_of(sw.config->pipeline.raw());
}

void Sim::reserve_events() {
  std::size_t frames = 0;
  std::int64_t smallest = std::min({network_.wire.ack_frame, network_.wire.cnp_frame,
                                    network_.wire.pfc_frame, network_.wire.data_header});
  smallest = std::max<std::int64_t>(smallest, 1);
  for (const Port& p : ports_) {
    const Ps pipeline = p.sw != nullptr ? p.sw->config->pipeline.raw() : 0;
    frames +=
        static_cast<std::size_t>((p.flight + pipeline) / std::max<Ps>(p.wire_time[smallest], 100)) +
        24;
  }
  std::size_t receives = 0;
  for (const QueuePair& qp : network_.qps)
    receives += static_cast<std::size_t>(std::max(qp.receives, 0));
  const std::size_t qps = network_.qps.size();
  const std::size_t timers =
      qps * 8 + receives + network_.changes.size() * 2 + network_.spare_messages + 4096;
  events_.reserve(frames + timers, ports_.size() * 8 + timers, ports_.size());
  std::size_t packets = qps * (hpcc_ ? 256 : 4) + 4096;
  for (const Switch& sw : switches_)
    packets += static_cast<std::size_t>(sw.config->buffer.raw() /
                                        std::max<std::int64_t>(sw.buffer.charge_of(60), 1));
  pool_.reserve(packets);
}

std::uint32_t Sim::post(std::uint32_t qp, Bytes size, Time at) {
  WEIR_CHECK(messages_.size() < messages_.capacity());
  const auto index = static_cast<std::uint32_t>(messages_.size());
  MessageRecord message;
  message.qp = qp;
  message.size = size.raw();
  message.post = at.since_start().raw();
  const std::int64_t mtu = nic_config(senders_[qp]).mtu.raw();
  message.packets =
      static_cast<std::uint32_t>(std::max<std::int64_t>((size.raw() + mtu - 1) / mtu, 1));
  messages_.push_back(message);
  ++open_messages_;
  add_message(index);
  return index;
}

void Sim::add_message(std::uint32_t index) {
  MessageRecord& message = messages_[index];
  Sender& sender = senders_[message.qp];
  Receiver& receiver = receivers_[message.qp];
  if (sender.failed) return message_failed(index);
  if (sender.last != kNone) {
    MessageRecord& last = messages_[sender.last];
    last.next = index;
    message.first_psn = last.first_psn + last.packets;
  }
  sender.last = index;
  if (sender.current == kNone) sender.current = index;
  if (sender.oldest == kNone) sender.oldest = index;
  if (receiver.message == kNone) receiver.message = index;
  if (receiver.requested == kNone) receiver.requested = index;
  if (message.post > now())
    wake_later(message.qp, message.post);
  else
    wake(message.qp);
}

void Sim::message_done(std::uint32_t message, Ps at) {
  MessageRecord& record = messages_[message];
  if (record.state != MessageState::kPosted) return;
  record.state = MessageState::kDone;
  record.done = at;
  --open_messages_;
  if (driver_ != nullptr) driver_->on_sent(message);
}

void Sim::message_failed(std::uint32_t message) {
  MessageRecord& record = messages_[message];
  if (record.state != MessageState::kPosted) return;
  record.state = MessageState::kFailed;
  --open_messages_;
}

void Sim::call_at(Time at, std::uint32_t token) {
  events_.push(at.since_start().raw(), tie_of(EventKind::kDriver, token));
}

inline void Sim::port_arrive(Port& port, Packet& packet) {
  if (port.sw != nullptr)
    switch_arrive(port, packet);
  else
    nic_arrive(port, packet);
}

inline void Sim::dispatch(Event& event) {
  const std::uint32_t entity = entity_of(event.tie);
  if (kind_of(event.tie) == EventKind::kArrive) {
    Port& port = ports_[entity];
    if (port.is_disturbed) [[unlikely]]
      return disturbed_arrive(port, event.packet);
    return port_arrive(port, event.packet);
  }
  if (kind_of(event.tie) == EventKind::kPortFree) return port_free(ports_[entity]);
  dispatch_rare(event);
}

void Sim::dispatch_rare(const Event& event) {
  const std::uint32_t entity = entity_of(event.tie);
  switch (kind_of(event.tie)) {
    case EventKind::kArrive:
    case EventKind::kPortFree: WEIR_UNREACHABLE("dispatch() has these");
    case EventKind::kForward:
      return switch_forward(ports_[entity], event.packet.psn, event.packet.aux);
    case EventKind::kQpWake: return wake(entity);
    case EventKind::kPfcApply: return apply_pause(ports_[entity], event.packet);
    case EventKind::kPauseExpire: return pause_expire(ports_[entity]);
    case EventKind::kPauseRefresh: return pause_refresh(ports_[entity]);
    case EventKind::kNicDrain: return nic_drain(*ports_[entity].nic);
    case EventKind::kQpTimeout: return qp_timeout(entity);
    case EventKind::kRecvRepost: return recv_repost(entity);
    case EventKind::kWatchdog: return watchdog(ports_[entity]);
    case EventKind::kLinkState: return change_link(entity);
    case EventKind::kNicWake: return peer_wake(ports_[entity]);
    case EventKind::kDriver:
      if (driver_ != nullptr) driver_->on_call(entity);
      return;
  }
}

void Sim::run(Time end) {
  if (open_messages_ == 0 && live_frames_ == 0) return;
  events_.run_before(end.since_start().raw(), [this](Event& event) { dispatch(event); });
}

void Sim::run_until(Time end) {
  while (events_.next_time() < end.since_start().raw())
    events_.run_before(end.since_start().raw(), [this](Event& event) { dispatch(event); });
}

/// A LinkChange has two events: the link itself, and then the fabric's new paths.
void Sim::change_link(std::uint32_t change) {
  const bool reroutes = change >= network_.changes.size();
  const auto index =
      reroutes ? change - static_cast<std::uint32_t>(network_.changes.size()) : change;
  const LinkChange& what = network_.changes[index];
  if (reroutes) return routes_.set_link(what.link, what.up);
  set_link(what.link, what.up, what.reroute.raw() == 0);
  if (what.reroute.raw() > 0)
    events_.push(
        now() + what.reroute.raw(),
        tie_of(EventKind::kLinkState, index + static_cast<std::uint32_t>(network_.changes.size())));
}

void Sim::set_link(std::uint32_t link, bool up, bool reroute) {
  for (const std::uint32_t p : {link_ports_[2 * link], link_ports_[2 * link + 1]}) {
    Port& port = ports_[p];
    port.down = !up;
    refresh_disturbed(port);
    for (unsigned priority = 0; priority < 8; ++priority)
      set_pause(port, priority, false);
    if (!up && port.sw != nullptr)
      for (std::uint32_t queue = 0; queue < 8; ++queue)
        flush_queue(port, queue, DropReason::kLinkDown);
    if (up && has_work(port)) kick(port);
  }
  if (reroute) routes_.set_link(link, up);
}

}  // namespace weir::sim
