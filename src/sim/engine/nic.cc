// A NIC: arbitration between queue pairs, pacing, the receive buffer, and congestion notification.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {

constexpr std::uint8_t bit_of(unsigned priority) {
  return static_cast<std::uint8_t>(1U << priority);
}

/// Strict priorities from the top, then the others in turn after `last`.
unsigned next_priority(std::uint8_t eligible, std::uint8_t strict, std::uint8_t last) {
  const auto first = static_cast<std::uint8_t>(eligible & strict);
  if (first != 0) return 7U - static_cast<unsigned>(std::countl_zero(first));
  const unsigned turn = (last + 1U) % 8U;
  const auto turned = static_cast<std::uint8_t>((eligible >> turn) | (eligible << (8U - turn)));
  return (turn + static_cast<unsigned>(std::countr_zero(turned))) % 8U;
}

}  // namespace

void Sim::nic_send(Port& port) {
  Nic& nic = *port.nic;
  for (;;) {
    const auto eligible = static_cast<std::uint8_t>((port.waiting | nic.ready) & ~port.paused);
    if (eligible == 0) return;
    const unsigned priority = next_priority(eligible, nic.strict, port.round_robin);
    if ((nic.strict & bit_of(priority)) == 0)
      port.round_robin = static_cast<std::uint8_t>(priority);
    if ((port.waiting & bit_of(priority)) != 0) {
      send_queued(port, priority);
      break;
    }
    const std::uint32_t qp = nic.ready_head[priority];
    Sender& sender = senders_[qp];
    nic.ready_head[priority] = sender.next_ready;
    if (sender.next_ready == kNone) {
      nic.ready_tail[priority] = kNone;
      nic.ready = static_cast<std::uint8_t>(nic.ready & ~bit_of(priority));
    }
    sender.in_ready = false;
    if (send_data(nic, qp)) break;
  }
  if (has_work(port)) schedule_free(port);
}

void Sim::send_queued(Port& port, unsigned priority) {
  const std::uint32_t node = port.queues[priority].head;
  const Packet& packet = pool_[node].packet;
  unlink(port, priority, packet.size);
  if (packet.kind == PacketKind::kAck) receivers_[packet.qp].queued_ack = kNone;
  send_packet(*port.nic, priority, packet);
  pool_.give_back(node);
}

void Sim::send_packet(Nic& nic, unsigned priority, const Packet& packet) {
  nic.port->traffic->of[priority].tx.add(packet.size);
  if ((packet.flags & kFlagSocket) != 0) {
    ++nic.counters.socket_tx_frames;
    nic.counters.socket_tx_bytes += packet.size;
  }
  put_on_wire(*nic.port, packet);
}

bool Sim::send_data(Nic& nic, std::uint32_t qp) {
  Sender& sender = senders_[qp];
  if (sender.failed || !has_data(qp)) return false;
  const Ps earliest = earliest_send(sender);
  if (earliest > now()) {
    wake_later(qp, retime_at(sender, earliest));
    return false;
  }
  const Packet packet = build_data(sender, qp);
  ++live_frames_;
  ++created_;
  sender.last_send = now();
  sender.last_wire = static_cast<std::uint16_t>(packet.size + network_.wire.gap);
  send_packet(nic, sender.priority, packet);
  sender.rp.on_sent(nic.config->dcqcn, packet.size, now());
  after_send(qp);
  if (!has_data(qp)) return true;
  const Ps next = earliest_send(sender);
  if (next <= nic.port->busy_until)
    make_ready(qp);
  else
    wake_later(qp, retime_at(sender, next));
  return true;
}

Ps Sim::pacing_gap(Sender& sender, std::int64_t wire_bytes, std::int64_t rate) const {
  if (rate != sender.gap_rate) {
    sender.gap_rate = rate;
    sender.gap_inverse = ((std::int64_t{8} * kPicosecondsPerSecond) << 16U) / rate;
  }
  return (wire_bytes * sender.gap_inverse) >> 16U;
}

/// When the QP's rate next allows a packet. A rate that changed since the last packet re-times it.
Ps Sim::earliest_send(Sender& sender) {
  const Nic& nic = *sender.nic;
  const std::int64_t rate = sender.rp.rate_at(nic.config->dcqcn, now());
  if (rate >= nic.line) return sender.hold_until;
  return std::max(sender.hold_until, sender.last_send + pacing_gap(sender, sender.last_wire, rate));
}

/// When to look at a waiting QP again: at `earliest`, or when its rate changes by itself before.
Ps Sim::retime_at(const Sender& sender, Ps earliest) const {
  if (sender.rp.next_due() <= now()) return earliest;
  return std::min(earliest, sender.rp.next_due());
}

void Sim::make_ready(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  Nic& nic = *sender.nic;
  const unsigned priority = sender.priority;
  sender.in_ready = true;
  sender.next_ready = kNone;
  if (nic.ready_tail[priority] == kNone)
    nic.ready_head[priority] = qp;
  else
    senders_[nic.ready_tail[priority]].next_ready = qp;
  nic.ready_tail[priority] = qp;
  nic.ready = static_cast<std::uint8_t>(nic.ready | bit_of(priority));
}

/// Something changed for the QP: lets it compete for the port now or when its rate allows.
void Sim::activate(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  if (sender.in_ready || sender.failed || !has_data(qp)) return;
  const Ps earliest = earliest_send(sender);
  if (earliest > now()) {
    wake_later(qp, retime_at(sender, earliest));
    return;
  }
  make_ready(qp);
  kick(*sender.nic->port);
}

void Sim::wake_later(std::uint32_t qp, Ps at) {
  Sender& sender = senders_[qp];
  if (sender.wake_at <= at) return;
  sender.wake_at = at;
  events_.push(at, tie_of(EventKind::kQpWake, qp));
}

void Sim::wake(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  if (sender.wake_at == now()) sender.wake_at = kNever;
  if (hpcc_) return peer_start(qp);
  if (sender.operation == Operation::kRead) post_reads(qp);
  activate(qp);
}

/// An answer: at once where the NIC is idle, else in front of the data of its priority.
void Sim::send_control(Nic& nic, unsigned priority, const Packet& packet) {
  ++live_frames_;
  ++created_;
  Port& port = *nic.port;
  Queue& q = port.queues[priority];
  if (port.is_plain() && nic.ready == 0 && port.busy_until <= now() && !hpcc_) {
    if ((nic.strict & bit_of(priority)) == 0)
      port.round_robin = static_cast<std::uint8_t>(priority);
    q.peak = std::max<std::int64_t>(q.peak, packet.size);
    return send_packet(nic, priority, packet);
  }
  enqueue(port, priority, packet, packet.size);
  if (packet.kind == PacketKind::kAck && !hpcc_) receivers_[packet.qp].queued_ack = q.tail;
  kick(port);
}

void Sim::nic_arrive(Port& port, const Packet& packet) {
  Nic& nic = *port.nic;
  const NicConfig& config = *nic.config;
  const unsigned priority =
      config.trust == Trust::kDscp ? config.dscp_to_priority[packet.tos >> 2U] : 0;
  port.traffic->of[priority].rx.add(packet.size);
  if ((packet.flags & kFlagSocket) != 0) {
    ++nic.counters.socket_rx_frames;
    nic.counters.socket_rx_bytes += packet.size;
  }
  if (packet.size > config.max_frame.raw())
    return drop(port, packet, DropReason::kMtu, config.pfc.contains(Priority::of(priority)));
  if (config.receive_buffer.raw() > 0 && !receive_into_buffer(nic, packet, priority))
    return drop(port, packet, DropReason::kReceiverBuffer,
                config.pfc.contains(Priority::of(priority)));
  switch (packet.kind) {
    case PacketKind::kData: on_data(nic, packet); break;
    case PacketKind::kAck:
    case PacketKind::kNak:
    case PacketKind::kRnr: on_ack(nic, packet); break;
    case PacketKind::kReadRequest: on_read_request(packet); break;
    case PacketKind::kCnp:
      if (config.rp_enabled) {
        ++nic.counters.cnp_handled;
        senders_[packet.qp].rp.on_cnp(config.dcqcn, now());
      } else {
        ++nic.counters.cnp_ignored;
      }
      break;
    case PacketKind::kDatagram: receivers_[packet.qp].bytes += packet.payload; break;
    case PacketKind::kPfc: WEIR_UNREACHABLE("pause frames do not go through nic_arrive");
  }
  ++consumed_;
  frame_gone();
}

/// Brings the level of the receive buffer up to now: PCIe drains it at a steady rate.
void Sim::drain_level(Nic& nic) {
  const Ps span = now() - nic.receive_at;
  nic.receive_at = now();
  const auto drained =
      static_cast<std::int64_t>(Int128{span} * nic.config->drain.raw() / 8 / kPicosecondsPerSecond);
  nic.receive_level = std::max<std::int64_t>(0, nic.receive_level - drained);
}

bool Sim::receive_into_buffer(Nic& nic, const Packet& packet, unsigned priority) {
  const NicConfig& config = *nic.config;
  drain_level(nic);
  if (nic.receive_level + packet.size > config.receive_buffer.raw()) return false;
  nic.receive_level += packet.size;
  if (nic.receive_level <= config.receive_xoff.raw()) return true;
  if ((nic.receive_paused & bit_of(priority)) == 0 && config.pfc.contains(Priority::of(priority))) {
    nic.receive_paused = static_cast<std::uint8_t>(nic.receive_paused | bit_of(priority));
    announce(*nic.port, bit_of(priority), 0);
  }
  if (!nic.drain_pending && config.drain.raw() > 0 && nic.receive_paused != 0) {
    nic.drain_pending = true;
    const Bytes above = Bytes::raw(nic.receive_level - config.receive_xon.raw());
    events_.push(now() + std::max<Ps>(serialization_time(above, config.drain).raw(), 1),
                 tie_of(EventKind::kNicDrain, nic.port->self));
  }
  return true;
}

void Sim::nic_drain(Nic& nic) {
  nic.drain_pending = false;
  if (nic.config->drain.raw() == 0) return;  // stuck since: set_drain() wakes it
  drain_level(nic);
  const std::int64_t above = nic.receive_level - nic.config->receive_xon.raw();
  if (above > 0) {
    nic.drain_pending = true;
    events_.push(now() + serialization_time(Bytes::raw(above), nic.config->drain).raw(),
                 tie_of(EventKind::kNicDrain, nic.port->self));
    return;
  }
  const std::uint8_t resumed = nic.receive_paused;
  nic.receive_paused = 0;
  announce(*nic.port, 0, resumed);
}

/// A CE mark arrived: at most one CNP a QP and interval, and what the NIC can make at all.
void Sim::notify_congestion(Nic& nic, Receiver& receiver, std::uint32_t qp) {
  const NicConfig& config = *nic.config;
  ++nic.counters.ce_received;
  if (!config.np_enabled || now() < receiver.next_cnp || now() < nic.next_cnp) return;
  receiver.next_cnp = now() + config.cnp_interval.raw();
  nic.next_cnp = now() + config.cnp_capacity_interval.raw();
  ++nic.counters.cnp_sent;
  Packet cnp;
  cnp.kind = PacketKind::kCnp;
  cnp.key = receiver.key;
  cnp.qp = qp;
  cnp.size = static_cast<std::uint16_t>(network_.wire.cnp_frame);
  cnp.dst = receiver.dst;
  cnp.tos = static_cast<std::uint8_t>((config.cnp_dscp.value() << 2U) | 1U);
  cnp.ttl = network_.ttl;
  send_control(nic, nic.cnp_priority, cnp);
}

}  // namespace weir::sim
