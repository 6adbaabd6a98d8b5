#include "sim/replay/steady.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "sim/replay/plain.h"

namespace weir::sim::engine {
namespace {

constexpr std::int64_t kLeastPackets = 512;      // of a message to come: fewer are not worth a look
constexpr std::uint32_t kPacketsToMeasure = 32;  // … the time between two of them
/// Periods that are tried, in packets of the queue pair that is measured: of one acknowledged every
/// so often, and of some that take turns.
constexpr std::array<Ps, 10> kPeriods{1, 2, 3, 4, 6, 8, 12, 16, 24, 48};

bool is_active(const Sender& sender) {
  return sender.una != sender.top_psn;
}

/// A message is posted for later, and nothing before it is under way.
bool waits_for_post(const Tables& all, const Sender& sender, Ps at) {
  return !is_active(sender) && sender.current != kNo<MessageId> &&
         all.posted()[sender.current].post >= at;
}

/// An event that is pending, and the domain whose pool its frame waits in.
struct Coming {
  const Event* event;
  const State* domain;
};

/// The state at an instant before which everything has happened: what must be the same again, and
/// what is counted.
class Snapshot {
 public:
  /// why() is not empty where the state is one that is not looked for.
  Snapshot(const Tables& all, Ps at) : all_(all), at_(at) {
    add_events();
    for (const PortId p : all.ports.ids())
      add_port(p);
    for (const Switch& sw : all.switches)
      add_switch(sw);
    for (const Nic& nic : all.nics)
      add_nic(nic);
    for (const QpId qp : all.senders.ids())
      add_qp(qp);
    if (!why_.empty()) return;
    incidents_ = incidents_of(all, all.whole);
    for (const RandomStream& random : all.port_random)
      random_.push_back(random.state());
    const auto count = [&](const std::uint64_t& counter) { counters_.push_back(counter); };
    for_each_counter(all, all.whole, count);
    for_each_sum(all, count);
  }

  [[nodiscard]] std::string_view why() const { return why_; }
  [[nodiscard]] Ps at() const { return at_; }
  [[nodiscard]] Ps next_external() const { return next_external_; }
  [[nodiscard]] const std::vector<std::uint32_t>& acknowledged() const { return acknowledged_; }
  [[nodiscard]] const std::vector<std::int64_t>& delivered() const { return delivered_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counters() const { return counters_; }

  [[nodiscard]] bool is_like(const Snapshot& before) const {
    return words_ == before.words_ && incidents_ == before.incidents_ &&
           random_ == before.random_ && next_external_ == before.next_external_;
  }

 private:
  template <class... Values>
  void put(Values... values) {
    (words_.push_back(static_cast<std::int64_t>(values)), ...);
  }
  void put(const Packet& packet) {
    if ((packet.flags & kFlagReplayed) != 0) why_ = "a region is replayed";
    if (packet.kind != PacketKind::kData && packet.kind != PacketKind::kAck)
      why_ = "there are frames that are neither data nor ACKs";
    put(packet.key, to_index(packet.qp), packet.psn - all_.senders[packet.qp].una,
        to_index(packet.dst), packet.size, packet.payload, packet.aux, packet.in_port, packet.kind,
        packet.flags, packet.tos, packet.ttl);
  }
  void add_external(const Event& event) { next_external_ = std::min(next_external_, event.at); }
  /// Of a queue pair that waits for its turn by its rate: part of the period.
  [[nodiscard]] bool is_external(const Event& event) const {
    const EventKind kind = kind_of(event.tie);
    if (kind == EventKind::kQpTimeout) return true;
    return kind == EventKind::kQpWake &&
           waits_for_post(all_, all_.senders[QpId{entity_of(event.tie)}], at_);
  }
  void add_events() {
    std::vector<Coming> coming;
    for (const auto& domain : all_.domains)
      domain->events.for_each([&](const Event& event) {
        if (is_external(event))
          add_external(event);
        else
          coming.push_back({&event, domain.get()});
      });
    std::sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) {
      return std::pair(a.event->at, a.event->tie) < std::pair(b.event->at, b.event->tie);
    });
    for (const auto& [event, domain] : coming) {
      put(event->at - at_, event->tie);
      switch (kind_of(event->tie)) {
        case EventKind::kArrive: put(event->packet); break;
        case EventKind::kForward:
          put(event->packet.key);
          put(domain->pool[FrameId{event->packet.psn}].packet);
          break;
        case EventKind::kPortFree:
        case EventKind::kQpWake: break;
        case EventKind::kLinkState:
        case EventKind::kPfcApply:
        case EventKind::kPauseExpire:
        case EventKind::kPauseRefresh:
        case EventKind::kNicDrain:
        case EventKind::kQpTimeout:
        case EventKind::kRecvRepost:
        case EventKind::kWatchdog:
        case EventKind::kUnused:
        case EventKind::kNicWake:
        case EventKind::kCnpDue: why_ = "there are pauses or marks"; return;
      }
    }
  }
  void add_port(PortId p) {
    const Port& port = all_.ports[p];
    const PauseState& pause = all_.pauses[p];
    if (pause.paused != 0 || pause.announced != 0 || pause.expire_pending ||
        pause.refresh_pending || pause.watchdog_pending)
      why_ = "there are pauses or marks";
    put(port.round_robin, std::max<Ps>(port.busy_until - at_, 0),
        std::bit_cast<std::uint64_t>(static_cast<const PortCondition&>(port)));
    for (std::uint32_t queue = 0; queue < 8; ++queue) {
      if (!has_bit(port.waiting, queue)) continue;
      const Queue& q = port.queues[all_.slots[queue]];
      put(q.bytes, q.deficit);
      const PacketPool& pool = all_.domains[all_.domain_of[port.node]]->pool;
      for (FrameId frame = q.head; frame != kNo<FrameId>; frame = pool[frame].next)
        put(pool[frame].packet);
    }
  }
  void add_switch(const Switch& sw) {
    put(sw.in_pipeline, sw.buffer.total_used(), sw.buffer.shared_used());
    if (sw.buffer.total_used() == 0) return;
    for (std::uint32_t port = 0; port < sw.port_count; ++port)
      for (std::uint32_t i = 0; i < 8; ++i) {
        if (!sw.slots.contains(i)) continue;
        const SharedBuffer::Group group = sw.buffer.group(port, i);
        put(group.used, group.headroom_used, group.paused, sw.buffer.egress_used(port, i));
      }
  }
  void add_nic(const Nic& nic) {
    if (nic.receive_paused != 0 || nic.drain_pending) why_ = "there are pauses or marks";
    put(nic.receive_level, nic.receive_level == 0 ? 0 : nic.receive_at - at_, nic.ready);
    for (unsigned priority = 0; priority < 8; ++priority)
      if (has_bit(nic.ready, priority))
        for (QpId qp = nic.ready_head[priority]; qp != kNo<QpId>; qp = all_.senders[qp].next_ready)
          put(to_index(qp));
  }
  void add_qp(QpId qp) {
    const Sender& sender = all_.senders[qp];
    const Receiver& receiver = all_.receivers[qp];
    acknowledged_.push_back(sender.una);
    delivered_.push_back(receiver.bytes);
    const bool has_work = is_active(sender) || sender.in_ready ||
                          (sender.current != kNo<MessageId> && !waits_for_post(all_, sender, at_));
    if (has_work && !sender.control->is_at_rest()) why_ = "congestion control has acted";
    if (sender.has_gap() || sender.retries != 0 || sender.rnr_retries != 0 ||
        receiver.retries != 0 || receiver.highest > receiver.expected || sender.hold_until > at_)
      why_ = "packets were lost";
    const auto since = [&](Ps time) { return has_work && time != kNever ? time - at_ : time; };
    put(has_work, sender.next_psn - sender.una, sender.top_psn - sender.una,
        receiver.expected - sender.una, receiver.unacked, sender.in_ready, to_index(sender.current),
        to_index(sender.oldest), to_index(receiver.message), receiver.queued_ack != kNo<FrameId>,
        sender.control->rate(), sender.failed, sender.last_wire, since(sender.wake_at),
        since(sender.last_send), is_active(sender) ? since(sender.timeout_at) : sender.timeout_at);
  }

  const Tables& all_;
  Ps at_;
  std::string_view why_;
  std::vector<std::int64_t> words_;  // relative to the instant and to each queue pair's `una`
  Ps next_external_ = kNever;        // a time-out, or a message posted for later
  std::uint64_t incidents_ = 0;
  std::vector<std::uint64_t> random_;
  std::vector<std::uint32_t> acknowledged_;
  std::vector<std::int64_t> delivered_;
  std::vector<std::uint64_t> counters_;
};

/// How often `packets` more fit before the last one of the message that `psn` belongs to; 0 where
/// the first one is among those that came before.
std::int64_t times_in(const Tables& all, MessageId message, std::uint32_t psn,
                      std::uint32_t packets) {
  if (message == kNo<MessageId>) return 0;
  const MessageRecord& record = all.posted()[message];
  if (psn <= record.first_psn + packets || psn + 1 >= record.end_psn()) return 0;
  return (record.end_psn() - 1 - psn) / packets;
}

/// Periods that can follow without anything but middles of messages in them, before `stop`.
std::int64_t most_periods(const Tables& all, const Snapshot& before, const Snapshot& now, Ps stop) {
  const Ps period = now.at() - before.at();
  std::int64_t most = (std::min(stop, now.next_external()) - now.at()) / period;
  for (const QpId qp : all.senders.ids()) {
    const Sender& sender = all.senders[qp];
    const Receiver& receiver = all.receivers[qp];
    const std::uint32_t packets = sender.una - before.acknowledged()[to_index(qp)];
    if (packets == 0) continue;
    most = std::min({most, times_in(all, sender.current, sender.next_psn, packets),
                     times_in(all, sender.oldest, sender.una, packets),
                     times_in(all, receiver.message, receiver.expected, packets)});
  }
  return most;
}

/// Takes the state on by so many periods.
class Advance {
 public:
  Advance(Tables& all, const Snapshot& before, const Snapshot& now, std::int64_t times)
      : all_(all),
        before_(before),
        now_(now),
        times_(times),
        shift_((now.at() - before.at()) * times) {}

  void run() {
    move_frames();
    for (Port& port : all_.ports)
      if (port.busy_until > now_.at()) port.busy_until += shift_;
    for (Nic& nic : all_.nics)
      if (nic.receive_level != 0) nic.receive_at += shift_;
    for (const QpId qp : all_.senders.ids())
      move_qp(qp);
    std::size_t i = 0;
    const auto count = [&](std::uint64_t& counter) {
      counter += (counter - before_.counters()[i++]) * static_cast<std::uint64_t>(times_);
    };
    for_each_counter(all_, all_.whole, count);
    for_each_sum(all_, count);
  }

 private:
  [[nodiscard]] std::uint32_t packets_of(QpId qp) const {
    return now_.acknowledged()[to_index(qp)] - before_.acknowledged()[to_index(qp)];
  }
  void renumber(Packet& packet) const {
    packet.psn += packets_of(packet.qp) * static_cast<std::uint32_t>(times_);
  }
  /// Those in events, in pipelines and in queues.
  void move_frames() {
    for (const auto& domain : all_.domains)
      domain->events.move_on(shift_, [&](Event& event) {
        const EventKind kind = kind_of(event.tie);
        if (kind == EventKind::kArrive) renumber(event.packet);
        if (kind == EventKind::kForward) renumber(domain->pool[FrameId{event.packet.psn}].packet);
        if (kind == EventKind::kQpTimeout) return false;
        return kind != EventKind::kQpWake ||
               !waits_for_post(all_, all_.senders[QpId{entity_of(event.tie)}], now_.at());
      });
    all_.now += shift_;
    for (Port& port : all_.ports) {
      PacketPool& pool = all_.domain_at(port.node).pool;
      for (std::uint32_t queue = 0; queue < 8; ++queue)
        if (has_bit(port.waiting, queue))
          for (FrameId frame = port.queues[all_.slots[queue]].head; frame != kNo<FrameId>;
               frame = pool[frame].next)
            renumber(pool[frame].packet);
    }
  }
  void move_qp(QpId qp) {
    const std::uint32_t packets = packets_of(qp);
    if (packets == 0) return;
    Sender& sender = all_.senders[qp];
    Receiver& receiver = all_.receivers[qp];
    const std::uint32_t on = packets * static_cast<std::uint32_t>(times_);
    for (std::uint32_t* const psn :
         {&sender.next_psn, &sender.una, &sender.top_psn, &receiver.expected})
      *psn += on;
    for (Ps* const time : {&sender.last_send, &sender.timeout_at, &sender.wake_at})
      if (*time != kNever) *time += shift_;
    receiver.bytes += (receiver.bytes - before_.delivered()[to_index(qp)]) * times_;
  }

  Tables& all_;
  const Snapshot& before_;
  const Snapshot& now_;
  std::int64_t times_;
  Ps shift_;
};

std::uint64_t hops_of(const Tables& all) {
  std::uint64_t sum = 0;
  for (const PortId p : all.ports.ids())
    sum += sum_of(all.traffic_of(p)).tx.frames;
  return sum;
}

/// The first queue pair that has many packets of a message to send still.
std::optional<QpId> long_sender(const Tables& all) {
  for (const QpId qp : all.senders.ids()) {
    const Sender& sender = all.senders[qp];
    if (!is_active(sender) || sender.current == kNo<MessageId>) continue;
    const MessageRecord& message = all.posted()[sender.current];
    if (sender.next_psn > message.first_psn && message.end_psn() - sender.next_psn > kLeastPackets)
      return qp;
  }
  return std::nullopt;
}

}  // namespace

Skipped skip_steady(Tables& all, Ps from, Ps stop, RunTo run_to) {
  if (std::any_of(all.senders.begin(), all.senders.end(), [](const Sender& sender) {
        return is_active(sender) && !sender.control->is_at_rest();
      }))
    return {.why_not = "congestion control has acted"};
  const std::optional<QpId> qp = long_sender(all);
  if (!qp) return {.why_not = "no message is long enough"};
  const Sender& sender = all.senders[*qp];
  const std::uint32_t first = sender.next_psn;
  const Ps sent = sender.last_send;
  const Ps packet_time = sender.nic->port->wire_time[sender.last_wire];
  Ps at = from;
  for (std::uint32_t i = 0; sender.next_psn - first < kPacketsToMeasure; ++i) {
    at += kPacketsToMeasure * packet_time;
    if (i == kPacketsToMeasure || at >= stop) return {.why_not = "nothing is sent"};
    run_to(all, at);
  }
  const Ps packets = sender.next_psn - first;
  if ((sender.last_send - sent) % packets != 0) return {.why_not = "packets are not evenly spaced"};
  const Ps spacing = (sender.last_send - sent) / packets;
  const Snapshot begin(all, at);
  if (!begin.why().empty()) return {.why_not = begin.why()};
  for (const Ps count : kPeriods) {
    if (at + count * spacing >= stop) break;
    run_to(all, at + count * spacing);
    const Snapshot now(all, at + count * spacing);
    if (!now.why().empty()) return {.why_not = now.why()};
    if (!now.is_like(begin)) continue;
    const std::int64_t times = most_periods(all, begin, now, stop);
    if (times <= 0) return {.why_not = "something else is due"};
    const std::uint64_t hops = hops_of(all);
    Advance(all, begin, now, times).run();
    return {static_cast<std::uint64_t>(times), hops_of(all) - hops, {}};
  }
  return {.why_not = "the state does not repeat"};
}

}  // namespace weir::sim::engine
