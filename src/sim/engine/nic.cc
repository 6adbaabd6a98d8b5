#include "sim/engine/nic.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/engine/transport.h"
#include "sim/engine/wire.h"

namespace weir::sim::engine {

unsigned Nic::next_priority(std::uint8_t eligible) const {
  const auto first = static_cast<std::uint8_t>(eligible & strict);
  if (first != 0) return 7U - static_cast<unsigned>(std::countl_zero(first));
  const unsigned turn = (port->round_robin + 1U) % 8U;
  const auto turned = static_cast<std::uint8_t>((eligible >> turn) | (eligible << (8U - turn)));
  return (turn + static_cast<unsigned>(std::countr_zero(turned))) % 8U;
}

inline void Nic::append_ready(QpId qp, const Senders& senders) {
  Sender& sender = senders[qp];
  const unsigned priority = sender.priority;
  sender.in_ready = true;
  sender.sure_until = sender.steady_until();
  sender.next_ready = kNo<QpId>;
  if (ready_tail[priority] == kNo<QpId>)
    ready_head[priority] = qp;
  else
    senders[ready_tail[priority]].next_ready = qp;
  ready_tail[priority] = qp;
  ready = static_cast<std::uint8_t>(ready | bit_of(priority));
}

inline QpId Nic::take_ready(unsigned priority, const Senders& senders) {
  const QpId qp = ready_head[priority];
  Sender& sender = senders[qp];
  ready_head[priority] = sender.next_ready;
  if (sender.next_ready == kNo<QpId>) {
    ready_tail[priority] = kNo<QpId>;
    ready = static_cast<std::uint8_t>(ready & ~bit_of(priority));
  }
  sender.in_ready = false;
  return qp;
}

void Nic::drain_until(Ps now) {
  const Ps span = now - receive_at;
  receive_at = now;
  const auto drained =
      static_cast<std::int64_t>(Int128{span} * config->drain.raw() / 8 / kPicosecondsPerSecond);
  receive_level = std::max<std::int64_t>(0, receive_level - drained);
}

bool Nic::receive(std::uint16_t size, Ps now) {
  drain_until(now);
  if (receive_level + size > config->receive_buffer.raw()) return false;
  receive_level += size;
  return true;
}

Ps Nic::time_to_resume() const {
  const std::int64_t above = receive_level - config->receive_xon.raw();
  return above <= 0 ? 0 : serialization_time(Bytes::raw(above), config->drain).raw();
}

bool Nic::may_notify(Receiver& receiver, Ps now) {
  if (!config->np_enabled || now < receiver.next_cnp || now < next_cnp) return false;
  receiver.next_cnp = now + config->cnp_interval.raw();
  next_cnp = now + config->cnp_capacity_interval.raw();
  return true;
}

namespace {

void push_drain(State& sim, Nic& nic, Ps after) {
  nic.drain_pending = true;
  sim.events.push(sim.now() + after, tie_of(EventKind::kNicDrain, nic.port->self));
}

/// False: nothing may go now; the QP wakes when something may.
bool may_send(Engine<NativeWorld>& sim, const Nic& nic, QpId qp, Sender& sender) {
  if (sender.failed || !has_data(sim, qp)) return false;
  const Ps earliest = sender.earliest_send(nic.line, sim.now());
  if (earliest <= sim.now()) return true;
  wake_later(sim, qp, sender.retime_at(earliest, sim.now()));
  return false;
}

/// False: as may_send().
bool send_data(Engine<NativeWorld>& sim, Nic& nic, QpId qp) {
  Sender& sender = sim.senders[qp];
  if (sim.now() >= sender.sure_until && !may_send(sim, nic, qp, sender)) return false;
  const Packet packet = build_data(sim, sender, qp);
  sim.frame_created();
  sender.last_send = sim.now();
  sender.last_wire = static_cast<std::uint16_t>(packet.size + sim.network.wire.gap);
  send_packet(sim, nic, sender.priority, packet);
  sender.control->on_sent(packet.size, sim.now());
  start_timer(sim, qp);
  if (!has_data(sim, qp)) return true;
  const Ps next = sender.earliest_send(nic.line, sim.now());
  if (next <= nic.port->busy_until)
    nic.append_ready(qp, sim.senders);
  else
    wake_later(sim, qp, sender.retime_at(next, sim.now()));
  return true;
}

/// False: it does not fit.
template <class World>
bool receive_into_buffer(Engine<World>& sim, Nic& nic, const Packet& packet, unsigned priority) {
  const NicConfig& config = *nic.config;
  if (!nic.receive(packet.size, sim.now())) return false;
  if (nic.receive_level <= config.receive_xoff.raw()) return true;
  if (!has_bit(nic.receive_paused, priority) && config.pfc.contains(Priority::of(priority))) {
    nic.receive_paused = static_cast<std::uint8_t>(nic.receive_paused | bit_of(priority));
    announce(sim, *nic.port, bit_of(priority), 0);
  }
  if (!nic.drain_pending && config.drain.raw() > 0 && nic.receive_paused != 0)
    push_drain(sim, nic, std::max<Ps>(nic.time_to_resume(), 1));
  return true;
}

void handle_cnp(State& sim, Nic& nic, QpId qp) {
  if (!nic.config->rp_enabled) {
    ++nic.counters.cnp_ignored;
    return;
  }
  ++nic.counters.cnp_handled;
  sim.senders[qp].on_cnp(sim.now());
}

}  // namespace

void nic_send(Engine<NativeWorld>& sim, Port& port) {
  Nic& nic = *port.nic;
  for (;;) {
    const auto eligible = static_cast<std::uint8_t>((port.waiting | nic.ready) & ~port.paused);
    if (eligible == 0) return;
    const unsigned priority = nic.next_priority(eligible);
    nic.note_served(priority);
    if (has_bit(port.waiting, priority)) {
      send_queued(sim, port, priority);
      break;
    }
    if (send_data(sim, nic, nic.take_ready(priority, sim.senders))) break;
  }
  send_rest_later(sim, port);
}

template <class World>
[[gnu::always_inline]] inline void send_queued(Engine<World>& sim, Port& port, unsigned priority) {
  const FrameId frame = port.queues[sim.slots[priority]].head;
  const Packet& packet = sim.pool[frame].packet;
  unlink(sim, port, priority, packet.size);
  if (packet.kind == PacketKind::kAck) sim.receivers[packet.qp].queued_ack = kNo<FrameId>;
  send_packet(sim, *port.nic, priority, packet);
  sim.pool.give_back(frame);
}

template <class World>
void send_packet(Engine<World>& sim, Nic& nic, unsigned priority, const Packet& packet) {
  nic.port->traffic[sim.slots[priority]].tx.add(packet.size);
  if ((packet.flags & kFlagSocket) != 0) {
    ++nic.counters.socket_tx_frames;
    nic.counters.socket_tx_bytes += packet.size;
  }
  put_on_wire(sim, *nic.port, packet);
}

void activate(Engine<NativeWorld>& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  if (sender.in_ready || !may_send(sim, *sender.nic, qp, sender)) return;
  sender.nic->append_ready(qp, sim.senders);
  kick(sim, *sender.nic->port);
}

void wake_later(State& sim, QpId qp, Ps at) {
  Sender& sender = sim.senders[qp];
  if (sender.wake_at <= at) return;
  sender.wake_at = at;
  sim.events.push(at, tie_of(EventKind::kQpWake, qp));
}

void wake(Engine<NativeWorld>& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  if (sender.wake_at == sim.now()) sender.wake_at = kNever;
  if (sender.is_read()) post_reads(sim, qp);
  activate(sim, qp);
}

void nic_wake(Engine<NativeWorld>&, Port&) {
  WEIR_UNREACHABLE("queue pairs wake one by one");
}

template <class World>
void send_control(Engine<World>& sim, Nic& nic, unsigned priority, const Packet& packet) {
  sim.frame_created();
  Port& port = *nic.port;
  Queue& q = port.queues[sim.slots[priority]];
  if (port.is_plain() && nic.ready == 0 && port.is_idle_at(sim.now())) {
    nic.note_served(priority);
    q.peak = std::max<std::int64_t>(q.peak, packet.size);
    return send_packet(sim, nic, priority, packet);
  }
  enqueue(sim, port, priority, packet, packet.size);
  if (packet.kind == PacketKind::kAck) sim.receivers[packet.qp].queued_ack = q.tail;
  kick(sim, port);
}

template <class World>
void nic_arrive(Engine<World>& sim, Port& port, const Packet& packet) {
  Nic& nic = *port.nic;
  const NicConfig& config = *nic.config;
  const unsigned priority = received_priority(config, packet.tos);
  port.traffic[sim.slots[priority]].rx.add(packet.size);
  if ((packet.flags & kFlagSocket) != 0) {
    ++nic.counters.socket_rx_frames;
    nic.counters.socket_rx_bytes += packet.size;
  }
  const auto is_lossless = [&] { return config.pfc.contains(Priority::of(priority)); };
  if (packet.size > config.max_frame.raw())
    return drop(sim, port, packet, DropReason::kMtu, is_lossless());
  if (config.receive_buffer.raw() > 0 && !receive_into_buffer(sim, nic, packet, priority))
    return drop(sim, port, packet, DropReason::kReceiverBuffer, is_lossless());
  switch (packet.kind) {
    case PacketKind::kData: on_data(sim, nic, packet); break;
    case PacketKind::kAck:
    case PacketKind::kNak:
    case PacketKind::kRnr: on_ack(sim, nic, packet); break;
    case PacketKind::kReadRequest: on_read_request(sim, packet); break;
    case PacketKind::kCnp: handle_cnp(sim, nic, packet.qp); break;
    case PacketKind::kDatagram: sim.receivers[packet.qp].bytes += packet.payload; break;
    case PacketKind::kPfc: WEIR_UNREACHABLE("pause frames do not go through nic_arrive");
  }
  ++sim.consumed;
  sim.frame_gone();
}

template <class World>
void nic_drain(Engine<World>& sim, Nic& nic) {
  nic.drain_pending = false;
  if (nic.config->drain.raw() == 0) return;  // stuck since: change_drain() wakes it
  nic.drain_until(sim.now());
  if (nic.receive_level > nic.config->receive_xon.raw())
    return push_drain(sim, nic, nic.time_to_resume());
  const std::uint8_t resumed = nic.receive_paused;
  nic.receive_paused = 0;
  announce(sim, *nic.port, 0, resumed);
}

void change_drain(State& sim, NodeId node, BitRate drain) {
  Nic& nic = sim.all.nic_at(node);
  if (nic.config->drain.raw() > 0) nic.drain_until(sim.now());
  nic.receive_at = sim.now();
  sim.all.network.nic_config(node).drain = drain;
  if (nic.receive_paused == 0 || nic.drain_pending || drain.raw() == 0) return;
  push_drain(sim, nic, std::max<Ps>(nic.time_to_resume(), 1));
}

template <class World>
void notify_congestion(Engine<World>& sim, Nic& nic, Receiver& receiver, QpId qp) {
  ++nic.counters.ce_received;
  Receiver& pacer = sim.cnp_pacer.empty() ? receiver : sim.receivers[sim.cnp_pacer[qp]];
  if (!nic.may_notify(pacer, sim.now())) return;
  const Ps delay = nic.config->cnp_delay.raw();
  if (delay == 0) return send_cnp(sim, receiver, qp);
  sim.events.push(sim.now() + delay, tie_of(EventKind::kCnpDue, qp));
}

template <class World>
void send_cnp(Engine<World>& sim, Receiver& receiver, QpId qp) {
  Nic& nic = *receiver.nic;
  ++nic.counters.cnp_sent;
  Packet cnp;
  cnp.kind = PacketKind::kCnp;
  cnp.key = receiver.key;
  cnp.qp = qp;
  cnp.size = static_cast<std::uint16_t>(sim.network.wire.cnp_frame);
  cnp.dst = receiver.dst;
  cnp.tos = static_cast<std::uint8_t>((nic.config->cnp_dscp.value() << 2U) | 1U);
  cnp.ttl = sim.network.ttl;
  send_control(sim, nic, nic.cnp_priority, cnp);
}

}  // namespace weir::sim::engine
