// A switch: classify, admit, route, queue, schedule, mark.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/engine/sim.h"
#include "sim/peer/hpcc_peer.h"

namespace weir::sim {
namespace {

constexpr bool has_bit(std::uint8_t mask, std::uint32_t bit) {
  return ((mask >> bit) & 1U) != 0;
}

constexpr bool is_ect(const Packet& packet) {
  return (packet.tos & kEcnMask) != 0;
}

}  // namespace

inline std::uint32_t Sim::choose_port(Switch& node, const Packet& packet,
                                      std::span<const std::uint16_t> ports) {
  if (ports.size() == 1) return ports[0];
  if (!node.has_plain_ecmp) return balance(node, packet, ports);
  return ports[pick(packet.key, node.ecmp_seed, static_cast<std::uint32_t>(ports.size()))];
}

/// By every rule but plain ECMP.
std::uint32_t Sim::balance(Switch& node, const Packet& packet,
                           std::span<const std::uint16_t> ports) {
  const auto count = static_cast<std::uint32_t>(ports.size());
  if (hpcc_) {
    const bool back = packet.kind != PacketKind::kData;
    return ports[hpcc_hash(network_.qps[packet.qp], back, node.node) % count];
  }
  if (node.config->balancing == LoadBalancing::kSpray) return ports[node.spray.below(count)];
  // The shortest queue of the packet's class; the hash decides where the search begins.
  const std::uint32_t queue = node.classes[packet.tos >> 2U].queue;
  const std::uint32_t start = pick(packet.key, node.config->ecmp_seed, count);
  std::uint32_t best = ports[start];
  std::int64_t least = INT64_MAX;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t local = ports[(start + i) % count];
    const Port& port = node.ports[local];
    std::int64_t load = port.queues[queue].bytes;
    if (port.busy_until > now()) load += 1;
    if (port.down) load = INT64_MAX;
    if (load < least) {
      least = load;
      best = local;
    }
  }
  return best;
}

/// `packet` is the event's own: what changes on the way is changed in place.
void Sim::switch_arrive(Port& in, Packet& packet) {
  Switch& node = *in.sw;
  const Lookup lookup = node.classes[packet.tos >> 2U];
  in.traffic->of[lookup.group].rx.add(packet.size);
  if (packet.size > in.mtu || packet.ttl <= 1) [[unlikely]] {
    const DropReason reason = packet.size > in.mtu ? DropReason::kMtu : DropReason::kTtl;
    return drop(in, packet, reason, has_bit(node.lossless, lookup.group));
  }
  --packet.ttl;
  packet.in_port = in.local;
  const auto ports = routes_.next_in(node.route_row, node.node, packet.dst);
  if (ports.empty()) [[unlikely]]
    return drop(in, packet, DropReason::kNoRoute, has_bit(node.lossless, lookup.group));
  Port& out = node.ports[choose_port(node, packet, ports)];
  if (cross_idle(in, out, lookup, packet)) return;
  switch_admit(in, out, lookup, packet);
}

/// Straight from wire to wire, where the egress is idle and the frame changes nothing but peaks and
/// tallies: no queue, no mark (nothing waits), no pause. False: nothing was done.
inline bool Sim::cross_idle(Port& in, Port& out, Lookup lookup, const Packet& packet) {
  Switch& node = *in.sw;
  if (!out.is_plain() || out.busy_until > now() || packet.size > out.mtu || node.has_pipeline)
    return false;
  const auto account = node.buffer.account(in.local, lookup.group, out.local, lookup.queue);
  if (!node.buffer.pass(account, node.buffer.charge_of(packet.size))) return false;
  out.traffic->of[lookup.queue].tx.add(packet.size);
  put_on_wire(out, packet);
  return true;
}

/// The general way: everything that can refuse, delay, mark or pause.
void Sim::switch_admit(Port& in, Port& out, Lookup lookup, Packet& packet) {
  Switch& node = *in.sw;
  const bool lossless = has_bit(node.lossless, lookup.group);
  if (out.down) return drop(in, packet, DropReason::kLinkDown, lossless);
  if (packet.size > out.mtu) return drop(in, packet, DropReason::kMtu, lossless);
  if (has_bit(out.tripped, lookup.queue) && node.config->watchdog.action == WatchdogAction::kDrop)
    return drop(out, packet, DropReason::kWatchdog, lossless);

  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const auto account = node.buffer.account(in.local, lookup.group, out.local, lookup.queue);
  const auto admission = node.buffer.check(account, charge);
  if (admission.is_refused()) return drop(in, packet, admission.reason, lossless);
  const Queue& q = out.queues[lookup.queue];
  if (!lossless && !is_ect(packet) && q.bytes > q.mark_min && marks(out, q, q.bytes))
    return drop(in, packet, DropReason::kWred, lossless);
  node.buffer.update(account, charge, admission.place);
  if (node.buffer.should_pause(*account.in)) {
    account.in->paused = true;
    announce(in, static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]), 0);
  }
  if (!node.has_pipeline) return switch_queue(out, lookup.queue, packet, charge);
  node.in_pipeline += charge;
  Packet ticket;
  ticket.psn = pool_.take(packet);
  ticket.aux = out.self;
  const std::uint32_t tie = tie_of(EventKind::kForward, in.self);
  if (node.lane_pipeline != EventList::kNoLane)
    events_.push_lane(node.lane_pipeline, tie, ticket);
  else
    events_.push(now() + node.config->pipeline.raw(), tie, ticket);
}

/// An admitted frame comes out of the pipeline; what it was going to may have failed meanwhile.
void Sim::switch_forward(Port& in, std::uint32_t held, std::uint32_t to) {
  Switch& node = *in.sw;
  Port& out = ports_[to];
  Packet packet = pool_[held].packet;
  pool_.give_back(held);
  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const std::uint32_t queue = node.classes[packet.tos >> 2U].queue;
  node.in_pipeline -= charge;
  if (out.down) return discard(out, packet, DropReason::kLinkDown);
  if (has_bit(out.tripped, queue) && node.config->watchdog.action == WatchdogAction::kDrop)
    return discard(out, packet, DropReason::kWatchdog);
  switch_queue(out, queue, packet, charge);
}

void Sim::mark(const Port& port, Packet& packet) {
  packet.tos = static_cast<std::uint8_t>(packet.tos | kEcnCe);
  ++port_counters_[port.self].marked;
}

/// Into the egress queue, or straight onto an idle wire.
inline void Sim::switch_queue(Port& out, std::uint32_t queue, Packet& packet, std::int64_t charge) {
  const Queue& q = out.queues[queue];
  if (q.bytes > q.mark_min && out.sw->config->mark_at == MarkAt::kEnqueue && is_ect(packet) &&
      marks(out, q, q.bytes))
    mark(out, packet);
  const bool idle = out.busy_until <= now() && !out.free_pending &&
                    (out.waiting & ~out.paused) == 0 && !has_bit(out.paused, queue) &&
                    (out.pause_due | out.resume_due) == 0;
  if (idle && q.head == kNone) return leave_switch(out, queue, packet, charge);
  enqueue(out, queue, packet, charge);
  if (!has_bit(out.paused, queue)) kick(out);
}

bool Sim::marks(const Port& port, const Queue& queue, std::int64_t bytes) {
  if (bytes > queue.mark_max) return true;
  if (bytes <= queue.mark_min) return false;
  if (hpcc_) {
    const double share = peer_mark_share_[static_cast<std::size_t>(&queue - queues_.data())];
    const auto ramp = static_cast<double>(queue.mark_max - queue.mark_min);
    return peer_random_.next() < share * static_cast<double>(bytes - queue.mark_min) / ramp;
  }
  const auto above = static_cast<std::uint64_t>(bytes - queue.mark_min);
  return port_random_[port.self].chance((above * queue.mark_slope) >> 16U);
}

/// The packet, which is in no queue any more, leaves `port` of the switch now.
void Sim::leave_switch(Port& port, std::uint32_t queue, Packet& packet, std::int64_t charge) {
  Switch& node = *port.sw;
  const Lookup lookup = node.classes[packet.tos >> 2U];
  const auto account = node.buffer.account(packet.in_port, lookup.group, port.local, queue);
  node.buffer.remove(account, charge);
  const Queue& q = port.queues[queue];
  if (q.bytes > q.mark_min && node.config->mark_at == MarkAt::kDequeue && is_ect(packet) &&
      marks(port, q, q.bytes))
    mark(port, packet);
  port.traffic->of[queue].tx.add(packet.size);
  if (node.buffer.should_resume(*account.in)) {
    account.in->paused = false;
    announce(node.ports[packet.in_port], 0,
             static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]));
  }
  put_on_wire(port, packet);
}

std::uint32_t Sim::next_queue(Port& port, std::uint8_t eligible) {
  if ((eligible & (eligible - 1)) == 0)
    return static_cast<std::uint32_t>(std::countr_zero(eligible));
  const auto strict = static_cast<std::uint8_t>(eligible & port.sw->strict);
  if (strict != 0) return 7U - static_cast<std::uint32_t>(std::countl_zero(strict));
  // Deficit round robin: a queue that comes to its turn gets its quantum, once.
  Queue* const queues = port.queues;
  std::uint32_t at = port.round_robin;
  for (;;) {
    if (has_bit(eligible, at)) {
      const std::int64_t size = pool_[queues[at].head].packet.size;
      if (queues[at].deficit >= size) {
        queues[at].deficit -= size;
        port.round_robin = static_cast<std::uint8_t>(at);
        return at;
      }
    }
    at = (at + 1) % 8;
    if (has_bit(eligible, at)) queues[at].deficit += queues[at].quantum;
  }
}

void Sim::switch_send(Port& port) {
  const auto eligible = static_cast<std::uint8_t>(port.waiting & ~port.paused);
  if (eligible == 0) return;
  const std::uint32_t queue = next_queue(port, eligible);
  const std::uint32_t node = port.queues[queue].head;
  Packet& packet = pool_[node].packet;
  const std::int64_t charge = port.sw->buffer.charge_of(packet.size);
  unlink(port, queue, charge);
  leave_switch(port, queue, packet, charge);
  pool_.give_back(node);
  if (!hpcc_ && has_work(port)) schedule_free(port);
}

void Sim::flush_queue(Port& port, std::uint32_t queue, DropReason reason) {
  const Queue& q = port.queues[queue];
  while (q.head != kNone) {
    const std::uint32_t node = q.head;
    unlink(port, queue, port.sw->buffer.charge_of(pool_[node].packet.size));
    discard(port, pool_[node].packet, reason);
    pool_.give_back(node);
  }
}

/// A frame that was admitted for `port` is dropped after all; its buffer is free again.
void Sim::discard(Port& port, const Packet& packet, DropReason reason) {
  Switch& node = *port.sw;
  const Lookup lookup = node.classes[packet.tos >> 2U];
  const auto account = node.buffer.account(packet.in_port, lookup.group, port.local, lookup.queue);
  node.buffer.remove(account, node.buffer.charge_of(packet.size));
  drop(port, packet, reason, has_bit(node.lossless, lookup.group));
  if (!node.buffer.should_resume(*account.in)) return;
  account.in->paused = false;
  announce(node.ports[packet.in_port], 0,
           static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]));
}

/// Looks at a port that is or was paused: a queue stuck for the detection time comes under the
/// action; one whose peer has been silent for the restoration time is set free.
void Sim::watchdog(Port& port) {
  PauseState& state = pauses_[port.self];
  const SwitchConfig& config = *port.sw->config;
  const Watchdog& rule = config.watchdog;
  state.watchdog_pending = false;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::uint32_t queue = config.priority_to_queue[priority];
    const auto bit = static_cast<std::uint8_t>(1U << queue);
    if ((port.tripped & bit) != 0) {
      if (now() - state.last_rx[priority] < rule.restoration.raw()) continue;
      port.tripped = static_cast<std::uint8_t>(port.tripped & ~bit);
      ++port_counters_[port.self].watchdog_restores;
      continue;
    }
    const bool stuck = has_bit(state.paused, priority) &&
                       now() - state.since[priority] >= rule.detection.raw() &&
                       port.queues[queue].head != kNone;
    if (!stuck) continue;
    ++port_counters_[port.self].watchdog_trips;
    if (rule.action == WatchdogAction::kAlert) continue;
    port.tripped = static_cast<std::uint8_t>(port.tripped | bit);
    port.paused = static_cast<std::uint8_t>(port.paused & ~bit);
    if (rule.action == WatchdogAction::kDrop) flush_queue(port, queue, DropReason::kWatchdog);
  }
  if (has_work(port)) kick(port);
  if (state.paused == 0 && port.tripped == 0) return;
  state.watchdog_pending = true;
  const Ps period =
      port.tripped != 0 ? std::max<Ps>(rule.restoration.raw(), 1) : rule.detection.raw();
  events_.push(now() + std::min(period, rule.detection.raw()),
               tie_of(EventKind::kWatchdog, port.self));
}

}  // namespace weir::sim
