// Reliable connections: the requester (sends data, hears ACKs) and the responder (hears data, sends
// ACKs). PSNs are counted without wrap; the wire carries their low 24 bits.
#include <algorithm>

#include "base/check.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {
constexpr std::uint32_t kBitmapBits = kBitmapWords * 64;
constexpr std::uint32_t kEndless = 7;  // an RNR retry count that InfiniBand reads as "for ever"
}  // namespace

inline bool Sim::has_data(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  if (sender.gap_from < sender.gap_to) return true;
  if (sender.current == kNone || sender.next_psn >= sender.granted) return false;
  const MessageRecord& message = messages_[sender.current];
  if (message.post > now()) {
    if (sender.granted == kNone) wake_later(qp, message.post);
    return false;
  }
  const NicConfig& config = nic_config(sender);
  if (config.window == 0) return true;
  std::int64_t window = config.window;
  if (config.window_follows_rate)
    window = static_cast<std::int64_t>(Int128{window} * sender.rp.rate_at(config.dcqcn, now()) /
                                       sender.nic->line);
  return std::int64_t{sender.next_psn - sender.una} * config.mtu.raw() <
         std::max<std::int64_t>(window, 1);
}

Packet Sim::build_data(Sender& sender, std::uint32_t qp) {
  const std::int64_t mtu = nic_config(sender).mtu.raw();
  std::uint32_t psn = sender.next_psn;
  std::uint32_t at = sender.current;
  const bool fills_gap = sender.gap_from < sender.gap_to;
  if (fills_gap) {
    psn = sender.gap_from++;
    at = sender.oldest;
    while (psn >= messages_[at].first_psn + messages_[at].packets)
      at = messages_[at].next;
  }
  const MessageRecord& message = messages_[at];
  const std::uint32_t index = psn - message.first_psn;
  const Operation operation = sender.operation;
  Packet packet;
  if (sender.is_socket) packet.flags |= kFlagSocket;
  packet.kind = PacketKind::kData;
  packet.key = sender.key;
  packet.qp = qp;
  packet.psn = psn;
  packet.dst = sender.dst;
  packet.tos = sender.tos;
  packet.ttl = network_.ttl;
  if (index == 0) packet.flags |= kFlagFirst;
  if (operation == Operation::kSend) packet.flags |= kFlagSend;
  if (index + 1 == message.packets) {
    packet.flags |= kFlagLast;
    packet.payload = static_cast<std::uint16_t>(message.size - std::int64_t{index} * mtu);
  } else {
    packet.payload = static_cast<std::uint16_t>(mtu);
  }
  std::int64_t size = network_.wire.data_header + packet.payload;
  if (index == 0 && operation == Operation::kWrite) size += network_.wire.reth;
  packet.size = static_cast<std::uint16_t>(size);
  if (psn < sender.top_psn) ++sender.nic->counters.retransmitted;
  if (!fills_gap) {
    sender.next_psn = psn + 1;
    if (sender.next_psn == message.first_psn + message.packets) sender.current = message.next;
  }
  sender.top_psn = std::max(sender.top_psn, psn + 1);
  return packet;
}

void Sim::after_send(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  const Ps timeout = nic_config(sender).ack_timeout.raw();
  if (timeout == 0 || sender.granted != kNone || sender.timer_pending) return;
  sender.timeout_at = now() + timeout;
  arm_timeout(qp, sender.timeout_at);
}

void Sim::arm_timeout(std::uint32_t qp, Ps at) {
  senders_[qp].timer_pending = true;
  events_.push(at, tie_of(EventKind::kQpTimeout, qp));
}

void Sim::qp_timeout(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  Receiver& receiver = receivers_[qp];
  sender.timer_pending = false;
  const bool read = sender.operation == Operation::kRead;
  const bool idle = read ? receiver.message == receiver.requested : sender.una == sender.top_psn;
  if (idle || sender.failed) return;
  Ps& deadline = read ? receiver.timeout_at : sender.timeout_at;
  if (now() < deadline) return arm_timeout(qp, deadline);
  Nic& nic = read ? *receiver.nic : *sender.nic;
  const NicConfig& config = *nic.config;
  ++nic.counters.local_ack_timeout;
  std::uint8_t& retries = read ? receiver.retries : sender.retries;
  if (retries >= config.retries) {
    ++nic.counters.retries_exhausted;
    return fail(qp);
  }
  ++retries;
  deadline = now() + config.ack_timeout.raw();
  arm_timeout(qp, deadline);
  if (read)
    request_read(qp, receiver.expected);
  else
    recover(sender, sender.una);
  activate(qp);
}

void Sim::fail(std::uint32_t qp) {
  Sender& sender = senders_[qp];
  sender.failed = true;
  sender.current = kNone;
  sender.gap_from = sender.gap_to;
  const bool read = sender.operation == Operation::kRead;
  for (std::uint32_t m = read ? receivers_[qp].message : sender.oldest; m != kNone;
       m = messages_[m].next)
    message_failed(m);
}

/// The next packet to send is `psn` again.
void Sim::rewind(Sender& sender, std::uint32_t psn) {
  sender.next_psn = psn;
  sender.una = std::min(sender.una, psn);  // go-back-0 takes back what was acknowledged
  sender.gap_from = sender.gap_to = 0;
  std::uint32_t at = sender.oldest;
  while (at != kNone && psn >= messages_[at].first_psn + messages_[at].packets)
    at = messages_[at].next;
  sender.current = at;
}

void Sim::recover(Sender& sender, std::uint32_t psn) {
  if (nic_config(sender).recovery == Recovery::kGoBack0 && sender.oldest != kNone)
    psn = std::min(psn, messages_[sender.oldest].first_psn);
  rewind(sender, psn);
}

void Sim::acknowledge(Sender& sender, std::uint32_t psn) {
  if (psn <= sender.una) return;
  WEIR_CHECK(psn <= sender.top_psn);
  sender.una = psn;
  sender.retries = sender.rnr_retries = 0;
  sender.timeout_at = now() + nic_config(sender).ack_timeout.raw();
  while (sender.oldest != kNone) {
    const MessageRecord& message = messages_[sender.oldest];
    if (psn < message.first_psn + message.packets) break;
    const std::uint32_t done = sender.oldest;
    sender.oldest = message.next;
    if (sender.granted == kNone) message_done(done, now());
  }
  if (sender.gap_from < psn) sender.gap_from = std::min(psn, sender.gap_to);
  if (sender.next_psn < psn) {
    const std::uint32_t from = sender.gap_from;
    const std::uint32_t to = sender.gap_to;
    rewind(sender, psn);
    sender.gap_from = from;
    sender.gap_to = to;
  }
}

void Sim::on_ack(Nic& nic, const Packet& packet) {
  Sender& sender = senders_[packet.qp];
  if (sender.failed) return;
  acknowledge(sender, packet.psn);
  if (packet.kind == PacketKind::kNak) {
    ++nic.counters.packet_seq_err;
    if ((packet.flags & kFlagSelective) != 0) {
      const bool idle = sender.gap_from >= sender.gap_to;
      const std::uint32_t from = std::max(packet.aux - packet.payload, sender.una);
      sender.gap_from = idle ? from : std::min(sender.gap_from, from);
      sender.gap_to =
          std::min(idle ? packet.aux : std::max(sender.gap_to, packet.aux), sender.next_psn);
    } else if (packet.psn < sender.next_psn) {
      rewind(sender, packet.psn);
    }
  } else if (packet.kind == PacketKind::kRnr) {
    ++nic.counters.rnr_nak_received;
    if (nic.config->rnr_retries != kEndless && sender.rnr_retries >= nic.config->rnr_retries) {
      ++nic.counters.retries_exhausted;
      return fail(packet.qp);
    }
    ++sender.rnr_retries;
    sender.hold_until = now() + nic.config->rnr_delay.raw();
    if (packet.psn < sender.next_psn) rewind(sender, packet.psn);
  }
  if ((packet.flags & kFlagEcho) != 0 && nic.config->rp_enabled) {
    ++nic.counters.cnp_handled;
    sender.rp.on_cnp(nic.config->dcqcn, now());
  }
  if (hpcc_) kick(*nic.port);
  activate(packet.qp);
}

void Sim::on_data(Nic& nic, const Packet& packet) {
  Receiver& receiver = receivers_[packet.qp];
  const bool marked = (packet.tos & kEcnMask) == kEcnCe;
  if (marked && !hpcc_) notify_congestion(nic, receiver, packet.qp);
  if (marked && hpcc_) ++nic.counters.ce_received;
  if (packet.psn == receiver.expected) {
    const bool takes_receive = (packet.flags & kFlagSend) != 0 && (packet.flags & kFlagFirst) != 0;
    if (takes_receive && receiver.receives == 0) {
      ++nic.counters.out_of_buffer;
      send_ack(nic, receiver, packet.qp, {PacketKind::kRnr, packet.psn});
      return;
    }
    if (takes_receive && receiver.receives > 0) {
      --receiver.receives;
      events_.push(now() + std::max<Ps>(network_.qps[packet.qp].receive_repost.raw(), 1),
                   tie_of(EventKind::kRecvRepost, packet.qp));
    }
    accept_in_order(nic, receiver, packet);
  } else if (packet.psn > receiver.expected) {
    on_gap(nic, receiver, packet);
  } else {
    ++nic.counters.duplicate_request;
    // Duplicates are acknowledged again (InfiniBand C9-110); the peer ignores them.
    if (!hpcc_ && !receiver.is_read)
      send_ack(nic, receiver, packet.qp, {PacketKind::kAck, receiver.expected});
  }
}

void Sim::accept_in_order(Nic& nic, Receiver& receiver, const Packet& packet) {
  ++receiver.expected;
  ++receiver.unacked;
  receiver.bytes += packet.payload;
  receiver.retries = 0;
  if (receiver.bitmap != kNone) advance_past_early(receiver);
  finish_delivered(receiver);
  if (receiver.is_read) {
    receiver.timeout_at = now() + nic.config->ack_timeout.raw();
    return;
  }
  const bool due = (packet.flags & (kFlagLast | kFlagAckRequest)) != 0 ||
                   receiver.unacked >= nic.config->ack_every ||
                   receiver.highest > receiver.expected;
  if (!due) return;
  const bool echo = hpcc_ && (packet.tos & kEcnMask) == kEcnCe;
  send_ack(nic, receiver, packet.qp, {PacketKind::kAck, receiver.expected, 0, 0, echo});
}

void Sim::finish_delivered(Receiver& receiver) {
  while (receiver.message != kNone) {
    const std::uint32_t index = receiver.message;
    MessageRecord& message = messages_[index];
    if (receiver.expected < message.first_psn + message.packets) return;
    receiver.message = message.next;
    message.delivered = now();
    if (receiver.is_read) message_done(index, now());
    if (driver_ != nullptr) driver_->on_delivered(index);
  }
}

bool Sim::test_early(const Receiver& receiver, std::uint32_t psn) const {
  const std::uint32_t bit = psn % kBitmapBits;
  return ((bitmaps_[receiver.bitmap + bit / 64] >> (bit % 64)) & 1U) != 0;
}

void Sim::set_early(const Receiver& receiver, std::uint32_t psn, bool value) {
  const std::uint32_t bit = psn % kBitmapBits;
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  std::uint64_t& word = bitmaps_[receiver.bitmap + bit / 64];
  word = value ? word | mask : word & ~mask;
}

void Sim::advance_past_early(Receiver& receiver) {
  while (receiver.expected < receiver.highest && test_early(receiver, receiver.expected)) {
    set_early(receiver, receiver.expected, false);
    ++receiver.expected;
    ++receiver.unacked;
  }
}

void Sim::accept_early(Receiver& receiver, const Packet& packet) {
  if (packet.psn - receiver.expected >= kBitmapBits || test_early(receiver, packet.psn)) return;
  set_early(receiver, packet.psn, true);
  receiver.bytes += packet.payload;
}

/// A packet came too early: something before it is missing, or took a longer way.
void Sim::on_gap(Nic& nic, Receiver& receiver, const Packet& packet) {
  const NicConfig& config = *nic.config;
  const bool read = receiver.is_read;
  const std::uint32_t seen = std::max(receiver.highest, receiver.expected);
  ++(read ? nic.counters.implied_nak_seq_err : nic.counters.out_of_sequence);
  if (receiver.bitmap != kNone) {
    accept_early(receiver, packet);
    receiver.highest = std::max(seen, packet.psn + 1);
    if (config.accepts_reordering) return;
  }
  const bool new_gap = receiver.bitmap != kNone && packet.psn > seen;
  const bool again = config.nak_interval.raw() > 0 && now() >= receiver.nak_again;
  if (receiver.naked == receiver.expected && !again && !new_gap) return;
  if (config.recovery == Recovery::kGoBack0 && receiver.message != kNone) {
    const std::uint32_t first = messages_[receiver.message].first_psn;
    receiver.bytes -= std::int64_t{receiver.expected - first} * config.mtu.raw();
    receiver.expected = first;
  }
  receiver.naked = receiver.expected;
  receiver.nak_again = now() + config.nak_interval.raw();
  if (read) return request_read(packet.qp, receiver.expected);
  const bool echo = hpcc_ && (packet.tos & kEcnMask) == kEcnCe;
  if (receiver.bitmap != kNone) {
    std::uint32_t from = seen;
    std::uint32_t to = packet.psn;
    if (!new_gap) {
      from = to = receiver.expected;
      while (to < receiver.highest && !test_early(receiver, to))
        ++to;
    }
    send_ack(nic, receiver, packet.qp, {PacketKind::kNak, receiver.expected, from, to});
  } else {
    send_ack(nic, receiver, packet.qp, {PacketKind::kNak, receiver.expected, 0, 0, echo});
  }
}

void Sim::send_ack(Nic& nic, Receiver& receiver, std::uint32_t qp, const Answer& answer) {
  const PacketKind kind = answer.kind;
  if (kind != PacketKind::kRnr) receiver.unacked = 0;
  // An ACK that still waits in the NIC takes over the newer number: they are cumulative.
  if (kind == PacketKind::kAck && receiver.queued_ack != kNone && !hpcc_) {
    Packet& waiting = pool_[receiver.queued_ack].packet;
    waiting.psn = answer.psn;
    return;
  }
  ++nic.counters.acks_sent;
  Packet ack;
  ack.kind = kind;
  ack.key = receiver.key;
  ack.qp = qp;
  ack.psn = answer.psn;
  ack.aux = answer.gap_to;
  ack.payload =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(answer.gap_to - answer.gap_from, 0xFFFF));
  if (answer.echo) ack.flags |= kFlagEcho;
  if (receiver.is_socket) ack.flags |= kFlagSocket;
  if (answer.gap_to > answer.gap_from) ack.flags |= kFlagSelective;
  ack.size = static_cast<std::uint16_t>(network_.wire.ack_frame);
  ack.dst = receiver.dst;
  ack.tos = receiver.tos;
  ack.ttl = network_.ttl;
  send_control(nic, receiver.priority, ack);
}

void Sim::post_reads(std::uint32_t qp) {
  Receiver& receiver = receivers_[qp];
  while (receiver.requested != kNone) {
    const MessageRecord& message = messages_[receiver.requested];
    if (message.post > now()) return wake_later(qp, message.post);
    request_read(qp, message.first_psn);
    receiver.requested = message.next;
    const Ps timeout = receiver.nic->config->ack_timeout.raw();
    if (timeout == 0 || senders_[qp].timer_pending) continue;
    receiver.timeout_at = now() + timeout;
    arm_timeout(qp, receiver.timeout_at);
  }
}

void Sim::request_read(std::uint32_t qp, std::uint32_t psn) {
  Receiver& receiver = receivers_[qp];
  Nic& nic = *receiver.nic;
  Packet request;
  request.kind = PacketKind::kReadRequest;
  request.key = receiver.key;
  request.qp = qp;
  request.psn = psn;
  request.size = static_cast<std::uint16_t>(network_.wire.data_header + network_.wire.reth);
  request.dst = receiver.dst;
  request.tos = receiver.tos;
  request.ttl = network_.ttl;
  send_control(nic, receiver.priority, request);
}

void Sim::on_read_request(const Packet& packet) {
  Sender& sender = senders_[packet.qp];
  if (sender.failed) return;
  // Everything before the request has arrived: that is what a READ has instead of an ACK.
  acknowledge(sender, std::min(packet.psn, sender.top_psn));
  std::uint32_t at = sender.oldest;
  while (at != kNone && packet.psn >= messages_[at].first_psn + messages_[at].packets)
    at = messages_[at].next;
  if (at == kNone) return;
  sender.granted = std::max(sender.granted, messages_[at].first_psn + messages_[at].packets);
  if (packet.psn < sender.next_psn) rewind(sender, packet.psn);
  activate(packet.qp);
}

void Sim::recv_repost(std::uint32_t qp) {
  ++receivers_[qp].receives;
}

}  // namespace weir::sim
