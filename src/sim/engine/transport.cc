#include "sim/engine/transport.h"

#include <algorithm>

#include "base/check.h"
#include "sim/engine/nic.h"
#include "sim/engine/wire.h"
#include "sim/replay/script.h"

namespace weir::sim::engine {
namespace {
constexpr std::uint32_t kEndless = 7;  // an RNR retry count that InfiniBand reads as "for ever"
}  // namespace

// ---- state

MessageId message_with(const Messages& messages, MessageId from, std::uint32_t psn) {
  while (from != kNo<MessageId> && psn >= messages[from].end_psn())
    from = messages[from].next;
  return from;
}

void Sender::rewind(const Messages& messages, std::uint32_t psn) {
  sure_until = 0;
  next_psn = psn;
  una = std::min(una, psn);  // go-back-0 takes back what was acknowledged
  gap_from = gap_to = 0;
  current = message_with(messages, oldest, psn);
}

void Sender::recover(const Messages& messages, Recovery recovery, std::uint32_t psn) {
  if (recovery == Recovery::kGoBack0 && oldest != kNo<MessageId>)
    psn = std::min(psn, messages[oldest].first_psn);
  rewind(messages, psn);
}

void Sender::add_gap(std::uint32_t from, std::uint32_t to) {
  keeps_answers = false;  // an ACK closes a gap, and with it what there is to send
  const bool is_first = !has_gap();
  from = std::max(from, una);
  gap_from = is_first ? from : std::min(gap_from, from);
  gap_to = std::min(is_first ? to : std::max(gap_to, to), next_psn);
}

void EarlyPackets::set(std::uint32_t slot, std::uint32_t psn, bool value) {
  const std::uint32_t bit = psn % kBits;
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  std::uint64_t& word = words_[slot + bit / 64];
  word = value ? word | mask : word & ~mask;
}

void EarlyPackets::advance(Receiver& receiver) {
  while (receiver.expected < receiver.highest && contains(receiver.early, receiver.expected)) {
    set(receiver.early, receiver.expected, false);
    ++receiver.expected;
    ++receiver.unacked;
  }
}

void EarlyPackets::accept(Receiver& receiver, const Packet& packet) {
  if (packet.psn - receiver.expected >= kBits || contains(receiver.early, packet.psn)) return;
  set(receiver.early, packet.psn, true);
  receiver.bytes += packet.payload;
}

std::uint32_t EarlyPackets::end_of_gap(const Receiver& receiver) const {
  std::uint32_t psn = receiver.expected;
  while (psn < receiver.highest && !contains(receiver.early, psn))
    ++psn;
  return psn;
}

// ---- messages

void message_done(State& sim, MessageId message) {
  MessageRecord& record = sim.messages[message];
  if (record.state != MessageState::kPosted) return;
  record.state = MessageState::kDone;
  record.done = sim.now();
  --sim.open_messages;
  if (sim.driver != nullptr) sim.driver->on_sent(message, sim.now());
}

void doubt_replay(State& sim) {
  sim.is_replay_in_doubt = true;
  sim.events.stop();
}

namespace {

void message_failed(State& sim, MessageId message) {
  MessageRecord& record = sim.messages[message];
  if (record.state != MessageState::kPosted) return;
  record.state = MessageState::kFailed;
  --sim.open_messages;
}

/// Where the responder may be on another thread than the requester, which appends messages: it goes
/// on to the next one when a packet of that has come, and not before.
void finish_delivered(State& sim, Receiver& receiver) {
  while (receiver.message != kNo<MessageId>) {
    const MessageId index = receiver.message;
    MessageRecord& message = sim.messages[index];
    if (receiver.expected < message.end_psn()) return;
    if (message.delivered == kNever) {
      message.delivered = sim.now();
      --sim.undelivered;
      if (receiver.is_read) message_done(sim, index);
      if (sim.driver != nullptr) sim.driver->on_delivered(index, sim.now());
    }
    if (receiver.expected == message.end_psn() && !receiver.is_read) return;
    receiver.message = message.next;
  }
}

/// The queue pair is broken, and with it every message that is not complete.
void fail(State& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  sender.failed = true;
  sender.sure_until = 0;
  sender.current = kNo<MessageId>;
  sender.gap_from = sender.gap_to;
  for (MessageId m = sender.is_read() ? sim.receivers[qp].message : sender.oldest;
       m != kNo<MessageId>; m = sim.messages[m].next) {
    if (sim.messages[m].end_psn() > sender.top_psn) --sim.unsent;
    message_failed(sim, m);
  }
}

}  // namespace

template <class World>
void add_message(Engine<World>& sim, MessageId index) {
  MessageRecord& message = sim.messages[index];
  Sender& sender = sim.senders[message.qp];
  Receiver& receiver = sim.receivers[message.qp];
  if (sender.is_scripted) [[unlikely]]
    return script_post(sim, index);
  if (sender.failed) return message_failed(sim, index);
  ++sim.unsent;
  ++sim.undelivered;
  const bool is_first = sender.last == kNo<MessageId>;
  if (!is_first) {
    MessageRecord& last = sim.messages[sender.last];
    last.next = index;
    message.first_psn = last.end_psn();
  }
  sender.last = index;
  for (MessageId* const waits_for : {&sender.current, &sender.oldest})
    if (*waits_for == kNo<MessageId>) *waits_for = index;
  if (is_first || sender.is_read())
    for (MessageId* const waits_for : {&receiver.message, &receiver.requested})
      if (*waits_for == kNo<MessageId>) *waits_for = index;
  if (message.post > sim.now())
    wake_later(sim, message.qp, std::max(message.post - World::kWakesBefore, sim.now() + 1));
  else
    wake(sim, message.qp);
}

// ---- requester

[[gnu::always_inline]] inline bool has_data(State& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  if (sender.has_gap()) return true;
  if (sender.current == kNo<MessageId> || sender.next_psn >= sender.granted) return false;
  const MessageRecord& message = sim.messages[sender.current];
  if (message.post > sim.now()) {
    if (sender.granted == kNone) wake_later(sim, qp, message.post);
    return false;
  }
  const NicConfig& config = *sender.nic->config;
  if (config.window == 0) return true;
  std::int64_t window = config.window;
  if (config.window_follows_rate)
    window = static_cast<std::int64_t>(Int128{window} * sender.control->rate(sim.now()) /
                                       sender.nic->line);
  return std::int64_t{sender.next_psn - sender.una} * config.mtu.raw() <
         std::max<std::int64_t>(window, 1);
}

Packet build_data(State& sim, Sender& sender, QpId qp) {
  const std::int64_t mtu = sender.nic->config->mtu.raw();
  std::uint32_t psn = sender.next_psn;
  MessageId at = sender.current;
  const bool fills_gap = sender.has_gap();
  if (fills_gap) {
    psn = sender.gap_from++;
    at = message_with(sim.messages, sender.oldest, psn);
  }
  const MessageRecord& message = sim.messages[at];
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
  packet.ttl = sim.network.ttl;
  if (index == 0) packet.flags |= kFlagFirst;
  if (operation == Operation::kSend) packet.flags |= kFlagSend;
  if (index + 1 == message.packets) {
    packet.flags |= kFlagLast;
    packet.payload = static_cast<std::uint16_t>(message.size - std::int64_t{index} * mtu);
    if (psn >= sender.top_psn) --sim.unsent;
  } else {
    packet.payload = static_cast<std::uint16_t>(mtu);
  }
  std::int64_t size = sim.network.wire.data_header + packet.payload;
  if (index == 0 && operation == Operation::kWrite) size += sim.network.wire.reth;
  packet.size = static_cast<std::uint16_t>(size);
  if (psn < sender.top_psn) ++sender.nic->counters.retransmitted;
  if (!fills_gap) {
    sender.next_psn = psn + 1;
    if (sender.next_psn == message.end_psn()) sender.current = message.next;
  }
  sender.top_psn = std::max(sender.top_psn, psn + 1);
  return packet;
}

namespace {

void arm_timeout(State& sim, QpId qp, Ps at) {
  sim.senders[qp].timer_pending = true;
  sim.events.push(at, tie_of(EventKind::kQpTimeout, qp));
}

/// Everything below `psn` has arrived.
void acknowledge(State& sim, Sender& sender, std::uint32_t psn) {
  if (psn <= sender.una) return;
  WEIR_CHECK(psn <= sender.top_psn);
  const NicConfig& config = *sender.nic->config;
  sender.control->on_ack(std::int64_t{psn - sender.una} * config.mtu.raw(), sim.now());
  sender.una = psn;
  sender.retries = sender.rnr_retries = 0;
  sender.timeout_at = sim.now() + config.ack_timeout.raw();
  while (sender.oldest != kNo<MessageId>) {
    const MessageRecord& message = sim.messages[sender.oldest];
    if (psn < message.end_psn()) break;
    const MessageId done = sender.oldest;
    sender.oldest = message.next;
    if (sender.granted == kNone) message_done(sim, done);
  }
  if (sender.gap_from < psn) sender.gap_from = std::min(psn, sender.gap_to);
  if (sender.next_psn < psn) {
    const std::uint32_t from = sender.gap_from;
    const std::uint32_t to = sender.gap_to;
    sender.rewind(sim.messages, psn);
    sender.gap_from = from;
    sender.gap_to = to;
  }
}

void on_nak(State& sim, Sender& sender, const Packet& packet) {
  ++sender.nic->counters.packet_seq_err;
  if ((packet.flags & kFlagSelective) != 0)
    sender.add_gap(packet.psn + packet.aux - packet.payload, packet.psn + packet.aux);
  else if (packet.psn < sender.next_psn)
    sender.rewind(sim.messages, packet.psn);
}

/// False: too often, and the QP has failed.
bool on_rnr(State& sim, Sender& sender, const Packet& packet) {
  Nic& nic = *sender.nic;
  ++nic.counters.rnr_nak_received;
  if (nic.config->rnr_retries != kEndless && sender.rnr_retries >= nic.config->rnr_retries) {
    ++nic.counters.retries_exhausted;
    fail(sim, packet.qp);
    return false;
  }
  ++sender.rnr_retries;
  sender.sure_until = 0;
  sender.hold_until = sim.now() + nic.config->rnr_delay.raw();
  if (packet.psn < sender.next_psn) sender.rewind(sim.messages, packet.psn);
  return true;
}

template <class World>
void request_read(Engine<World>& sim, QpId qp, std::uint32_t psn) {
  Receiver& receiver = sim.receivers[qp];
  Packet request;
  request.kind = PacketKind::kReadRequest;
  request.key = receiver.key;
  request.qp = qp;
  request.psn = psn;
  request.size = static_cast<std::uint16_t>(sim.network.wire.data_header + sim.network.wire.reth);
  request.dst = receiver.dst;
  request.tos = receiver.tos;
  request.ttl = sim.network.ttl;
  send_control(sim, *receiver.nic, receiver.priority, request);
}

}  // namespace

void start_timer(State& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  const Ps timeout = sender.nic->config->ack_timeout.raw();
  if (timeout == 0 || sender.granted != kNone || sender.timer_pending) return;
  // Where periods were repeated, it is not known whether an older timer still runs; if it does, it
  // is due at the old deadline. That one is kept then: silence until it comes is a doubt.
  const Ps old = sender.timeout_at;
  const bool may_run = sender.is_guarded && old != kNever && old >= sim.now();
  if (!may_run) sender.timeout_at = sim.now() + timeout;
  if (may_run && old == sim.now()) return doubt_replay(sim);
  arm_timeout(sim, qp, sender.timeout_at);
}

template <class World>
void qp_timeout(Engine<World>& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  Receiver& receiver = sim.receivers[qp];
  sender.timer_pending = false;
  const bool read = sender.is_read();
  const bool idle = read ? receiver.message == receiver.requested : sender.una == sender.top_psn;
  if (idle || sender.failed) return;
  Ps& deadline = read ? receiver.timeout_at : sender.timeout_at;
  if (sim.now() < deadline) return arm_timeout(sim, qp, deadline);
  if (sender.is_guarded) return doubt_replay(sim);
  Nic& nic = read ? *receiver.nic : *sender.nic;
  const NicConfig& config = *nic.config;
  sim.may_fail = true;
  ++nic.counters.local_ack_timeout;
  std::uint8_t& retries = read ? receiver.retries : sender.retries;
  if (retries >= config.retries) {
    ++nic.counters.retries_exhausted;
    return fail(sim, qp);
  }
  ++retries;
  deadline = sim.now() + config.ack_timeout.raw();
  arm_timeout(sim, qp, deadline);
  if (read)
    request_read(sim, qp, receiver.expected);
  else
    sender.recover(sim.messages, config.recovery, sender.una);
  activate(sim, qp);
}

template <class World>
void on_ack(Engine<World>& sim, Nic& nic, const Packet& packet) {
  Sender& sender = sim.senders[packet.qp];
  if (sender.failed) return;
  acknowledge(sim, sender, packet.psn);
  if (packet.kind == PacketKind::kNak) {
    on_nak(sim, sender, packet);
  } else if (packet.kind == PacketKind::kRnr) {
    if (!on_rnr(sim, sender, packet)) return;
  }
  if ((packet.flags & kFlagEcho) != 0 && nic.config->rp_enabled) {
    ++nic.counters.cnp_handled;
    sender.on_cnp(sim.now());
  }
  activate(sim, packet.qp);
}

template <class World>
void on_read_request(Engine<World>& sim, const Packet& packet) {
  Sender& sender = sim.senders[packet.qp];
  if (sender.failed) return;
  // Everything before the request has arrived: that is what a READ has instead of an ACK.
  acknowledge(sim, sender, std::min(packet.psn, sender.top_psn));
  const MessageId at = message_with(sim.messages, sender.oldest, packet.psn);
  if (at == kNo<MessageId>) return;
  sender.granted = std::max(sender.granted, sim.messages[at].end_psn());
  if (packet.psn < sender.next_psn) sender.rewind(sim.messages, packet.psn);
  activate(sim, packet.qp);
}

// ---- responder

namespace {

template <class World>
void send_ack(Engine<World>& sim, Nic& nic, Receiver& receiver, QpId qp, const Answer& answer) {
  const PacketKind kind = answer.kind;
  if (kind != PacketKind::kRnr) receiver.unacked = 0;
  if (World::kMergesAcks && kind == PacketKind::kAck && receiver.queued_ack != kNo<FrameId>) {
    sim.pool[receiver.queued_ack].packet.psn = answer.psn;
    return;
  }
  ++nic.counters.acks_sent;
  Packet ack;
  ack.kind = kind;
  ack.key = receiver.key;
  ack.qp = qp;
  ack.psn = answer.psn;
  if (answer.gap_to > answer.gap_from) {
    constexpr std::uint32_t kMost = 0xFFFF;
    ack.aux = static_cast<std::uint16_t>(std::min(answer.gap_to - answer.psn, kMost));
    ack.payload = static_cast<std::uint16_t>(std::min(answer.gap_to - answer.gap_from, kMost));
    ack.flags |= kFlagSelective;
  }
  if (answer.echo) ack.flags |= kFlagEcho;
  if (receiver.is_socket) ack.flags |= kFlagSocket;
  ack.size = static_cast<std::uint16_t>(sim.network.wire.ack_frame);
  ack.dst = receiver.dst;
  ack.tos = receiver.tos;
  ack.ttl = sim.network.ttl;
  send_control(sim, nic, receiver.priority, ack);
}

template <class World>
void accept_in_order(Engine<World>& sim, Nic& nic, Receiver& receiver, const Packet& packet) {
  ++receiver.expected;
  ++receiver.unacked;
  receiver.bytes += packet.payload;
  receiver.retries = 0;
  if (receiver.is_selective()) sim.early.advance(receiver);
  finish_delivered(sim, receiver);
  if (receiver.is_read) {
    receiver.timeout_at = sim.now() + nic.config->ack_timeout.raw();
    return;
  }
  const bool due = (packet.flags & (kFlagLast | kFlagAckRequest)) != 0 ||
                   receiver.unacked >= nic.config->ack_every ||
                   receiver.highest > receiver.expected;
  if (!due) return;
  const bool echo = !World::kSendsCnps && packet.is_marked();
  send_ack(sim, nic, receiver, packet.qp, {PacketKind::kAck, receiver.expected, 0, 0, echo});
}

/// A packet came too early: something before it is missing, or took a longer way.
template <class World>
void on_gap(Engine<World>& sim, Nic& nic, Receiver& receiver, const Packet& packet) {
  const NicConfig& config = *nic.config;
  const bool read = receiver.is_read;
  const std::uint32_t seen = std::max(receiver.highest, receiver.expected);
  ++(read ? nic.counters.implied_nak_seq_err : nic.counters.out_of_sequence);
  if (receiver.is_selective()) {
    sim.early.accept(receiver, packet);
    receiver.highest = std::max(seen, packet.psn + 1);
    if (config.accepts_reordering) return;
  }
  const bool new_gap = receiver.is_selective() && packet.psn > seen;
  const bool again = config.nak_interval.raw() > 0 && sim.now() >= receiver.nak_again;
  if (receiver.naked == receiver.expected && !again && !new_gap) return;
  const bool goes_to_start = config.recovery == Recovery::kGoBack0 &&
                             receiver.message != kNo<MessageId> &&
                             receiver.expected < sim.messages[receiver.message].end_psn();
  if (goes_to_start) {
    const std::uint32_t first = sim.messages[receiver.message].first_psn;
    receiver.bytes -= std::int64_t{receiver.expected - first} * config.mtu.raw();
    receiver.expected = first;
  }
  receiver.naked = receiver.expected;
  receiver.nak_again = sim.now() + config.nak_interval.raw();
  if (read) return request_read(sim, packet.qp, receiver.expected);
  Answer nak{PacketKind::kNak, receiver.expected};
  if (!receiver.is_selective()) {
    nak.echo = !World::kSendsCnps && packet.is_marked();
  } else if (new_gap) {
    nak.gap_from = seen;
    nak.gap_to = packet.psn;
  } else {
    nak.gap_from = receiver.expected;
    nak.gap_to = sim.early.end_of_gap(receiver);
  }
  send_ack(sim, nic, receiver, packet.qp, nak);
}

}  // namespace

template <class World>
void on_data(Engine<World>& sim, Nic& nic, const Packet& packet) {
  Receiver& receiver = sim.receivers[packet.qp];
  if (packet.is_marked()) {
    if constexpr (World::kSendsCnps)
      notify_congestion(sim, nic, receiver, packet.qp);
    else
      ++nic.counters.ce_received;
  }
  if (packet.psn == receiver.expected) {
    const bool takes_receive = (packet.flags & kFlagSend) != 0 && (packet.flags & kFlagFirst) != 0;
    if (takes_receive && receiver.receives == 0) {
      sim.may_fail = true;
      ++nic.counters.out_of_buffer;
      send_ack(sim, nic, receiver, packet.qp, {PacketKind::kRnr, packet.psn});
      return;
    }
    if (takes_receive && receiver.receives > 0) {
      --receiver.receives;
      sim.events.push(sim.now() + std::max<Ps>(sim.network.qps[packet.qp].receive_repost.raw(), 1),
                      tie_of(EventKind::kRecvRepost, packet.qp));
    }
    accept_in_order(sim, nic, receiver, packet);
  } else if (packet.psn > receiver.expected) {
    on_gap(sim, nic, receiver, packet);
  } else {
    ++nic.counters.duplicate_request;
    if (World::kAnswersDuplicates && !receiver.is_read)
      send_ack(sim, nic, receiver, packet.qp, {PacketKind::kAck, receiver.expected});
  }
}

template <class World>
void post_reads(Engine<World>& sim, QpId qp) {
  Receiver& receiver = sim.receivers[qp];
  while (receiver.requested != kNo<MessageId>) {
    const MessageRecord& message = sim.messages[receiver.requested];
    if (message.post > sim.now()) return wake_later(sim, qp, message.post);
    request_read(sim, qp, message.first_psn);
    receiver.requested = message.next;
    const Ps timeout = receiver.nic->config->ack_timeout.raw();
    if (timeout == 0 || sim.senders[qp].timer_pending) continue;
    receiver.timeout_at = sim.now() + timeout;
    arm_timeout(sim, qp, receiver.timeout_at);
  }
}

}  // namespace weir::sim::engine
