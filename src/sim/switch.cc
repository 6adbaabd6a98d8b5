// A switch: classify, admit, route, queue, schedule, mark.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/hpcc_peer.h"
#include "sim/sim.h"

namespace weir::sim {
namespace {

constexpr bool has_bit(std::uint8_t mask, std::uint32_t bit) {
  return ((mask >> bit) & 1U) != 0;
}

void mark_ce(Packet& packet) {
  packet.tos = static_cast<std::uint8_t>(packet.tos | kEcnCe);
}

constexpr bool is_ect(const Packet& packet) {
  return (packet.tos & kEcnMask) != 0;
}

}  // namespace

std::uint32_t Sim::choose_port(Switch& node, const Packet& packet,
                               std::span<const std::uint16_t> ports) {
  const auto count = static_cast<std::uint32_t>(ports.size());
  if (count == 1) return ports[0];
  if (hpcc_) {
    const bool back = packet.kind != PacketKind::kData;
    return ports[hpcc_hash(network_.qps[packet.qp], back, node.node) % count];
  }
  switch (node.config->balancing) {
    case LoadBalancing::kEcmp: return ports[pick(packet.key, node.config->ecmp_seed, count)];
    case LoadBalancing::kSpray: return ports[node.spray.below(count)];
    case LoadBalancing::kAdaptive: break;
  }
  // The shortest queue of the packet's class; the hash decides where the search begins.
  const std::uint32_t queue = node.classes[packet.tos >> 2U].queue;
  const std::uint32_t start = pick(packet.key, node.config->ecmp_seed, count);
  std::uint32_t best = ports[start];
  std::int64_t least = INT64_MAX;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t local = ports[(start + i) % count];
    const Port& port = ports_[node.first_port + local];
    std::int64_t load = queues_[std::size_t{node.first_port + local} * 8 + queue].bytes;
    if (port.busy_until > now()) load += 1;
    if (!port.up) load = INT64_MAX;
    if (load < least) {
      least = load;
      best = local;
    }
  }
  return best;
}

void Sim::switch_arrive(std::uint32_t port, Packet packet) {
  const Port& in = ports_[port];
  Switch& node = switches_[index_of_[in.node]];
  const Lookup lookup = node.classes[packet.tos >> 2U];
  PortCounters& counters = port_counters_[port];
  ++counters.rx_class_frames[lookup.group];
  counters.rx_class_bytes[lookup.group] += packet.size;
  const bool lossless = has_bit(node.lossless, lookup.group);
  if (packet.size > in.mtu) return drop(port, packet, DropReason::kMtu, lossless);
  if (packet.ttl <= 1) return drop(port, packet, DropReason::kTtl, lossless);
  --packet.ttl;
  const auto ports = routes_.next(in.node, packet.dst);
  if (ports.empty()) return drop(port, packet, DropReason::kNoRoute, lossless);
  const std::uint32_t local = choose_port(node, packet, ports);
  const std::uint32_t out = node.first_port + local;
  Port& o = ports_[out];
  if (!o.up) return drop(port, packet, DropReason::kLinkDown, lossless);
  if (packet.size > o.mtu) return drop(port, packet, DropReason::kMtu, lossless);
  if (has_bit(pauses_[out].tripped, lookup.queue) &&
      node.config->watchdog.action == WatchdogAction::kDrop)
    return drop(out, packet, DropReason::kWatchdog, lossless);

  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const auto admission = node.buffer.check(in.local, lookup.group, local, lookup.queue, charge);
  if (admission.is_refused()) return drop(port, packet, admission.reason, lossless);
  Queue& q = queues_[std::size_t{out} * 8 + lookup.queue];
  if (!lossless && !is_ect(packet) && q.bytes > q.mark_min && marks(out, q, q.bytes))
    return drop(port, packet, DropReason::kWred, lossless);
  node.buffer.update(in.local, lookup.group, local, lookup.queue, charge, admission.place);
  packet.in_port = in.local;
  if (node.buffer.should_pause(in.local, lookup.group)) {
    node.buffer.set_paused(in.local, lookup.group, true);
    announce(port, static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]),
             0);
  }
  if (node.config->pipeline.raw() == 0) return switch_queue(node, out, packet);
  node.in_pipeline += charge;
  Packet ticket;
  ticket.psn = pool_.take(packet);
  ticket.aux = out;
  const std::uint32_t tie = tie_of(EventKind::kForward, port);
  if (node.lane_pipeline != EventList::kNoLane)
    events_.push_lane(node.lane_pipeline, tie, ticket);
  else
    events_.push(now() + node.config->pipeline.raw(), tie, ticket);
}

/// An admitted frame comes out of the pipeline; what it was going to may have failed meanwhile.
void Sim::switch_forward(std::uint32_t port, std::uint32_t held, std::uint32_t out) {
  Switch& node = switches_[index_of_[ports_[port].node]];
  Packet packet = pool_[held].packet;
  pool_.give_back(held);
  node.in_pipeline -= node.buffer.charge_of(packet.size);
  if (!ports_[out].up) return discard(node, out, packet, DropReason::kLinkDown);
  if (has_bit(pauses_[out].tripped, node.classes[packet.tos >> 2U].queue) &&
      node.config->watchdog.action == WatchdogAction::kDrop)
    return discard(node, out, packet, DropReason::kWatchdog);
  switch_queue(node, out, packet);
}

/// Into the egress queue, or straight onto an idle wire.
void Sim::switch_queue(Switch& node, std::uint32_t out, Packet& packet) {
  const Lookup lookup = node.classes[packet.tos >> 2U];
  Port& o = ports_[out];
  Queue& q = queues_[std::size_t{out} * 8 + lookup.queue];
  if (node.config->mark_at == MarkAt::kEnqueue && is_ect(packet) && q.bytes > q.mark_min &&
      marks(out, q, q.bytes)) {
    mark_ce(packet);
    ++port_counters_[out].marked;
  }
  const bool idle = o.busy_until <= now() && !o.free_pending && (o.waiting & ~o.paused) == 0 &&
                    !has_bit(o.paused, lookup.queue) && (o.pause_due | o.resume_due) == 0;
  if (idle && q.head == kNone) {
    leave_switch(node, out, lookup.queue, packet, 0);
    return;
  }
  enqueue(out, lookup.queue, packet, node.buffer.charge_of(packet.size));
  if (!has_bit(o.paused, lookup.queue)) kick(out);
}

bool Sim::marks(std::uint32_t port, const Queue& queue, std::int64_t bytes) {
  if (bytes > queue.mark_max) return true;
  if (bytes <= queue.mark_min) return false;
  if (hpcc_) {
    const auto ramp = static_cast<double>(queue.mark_max - queue.mark_min);
    return peer_random_.next() <
           queue.mark_share * static_cast<double>(bytes - queue.mark_min) / ramp;
  }
  const auto above = static_cast<std::uint64_t>(bytes - queue.mark_min);
  return port_random_[port].chance((above * queue.mark_slope) >> 16U);
}

/// The packet leaves `port` of the switch now; `left_behind` bytes of its queue stay.
void Sim::leave_switch(Switch& node, std::uint32_t port, std::uint32_t queue, Packet& packet,
                       std::int64_t left_behind) {
  const Lookup lookup = node.classes[packet.tos >> 2U];
  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const std::uint32_t local = port - node.first_port;
  node.buffer.remove(packet.in_port, lookup.group, local, queue, charge);
  Queue& q = queues_[std::size_t{port} * 8 + queue];
  if (left_behind > q.mark_min && node.config->mark_at == MarkAt::kDequeue && is_ect(packet) &&
      marks(port, q, left_behind)) {
    mark_ce(packet);
    ++port_counters_[port].marked;
  }
  PortCounters& counters = port_counters_[port];
  ++counters.tx_class_frames[queue];
  counters.tx_class_bytes[queue] += packet.size;
  if (node.buffer.should_resume(packet.in_port, lookup.group)) {
    node.buffer.set_paused(packet.in_port, lookup.group, false);
    announce(node.first_port + packet.in_port, 0,
             static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]));
  }
  put_on_wire(port, packet);
}

std::uint32_t Sim::next_queue(Port& port, std::uint8_t eligible) {
  if (std::has_single_bit(eligible)) return static_cast<std::uint32_t>(std::countr_zero(eligible));
  const auto strict = static_cast<std::uint8_t>(eligible & switches_[index_of_[port.node]].strict);
  if (strict != 0) return 7U - static_cast<std::uint32_t>(std::countl_zero(strict));
  // Deficit round robin: a queue that comes to its turn gets its quantum, once.
  Queue* const queues = &queues_[std::size_t{port_of(port.node, port.local)} * 8];
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

void Sim::switch_send(std::uint32_t port) {
  Port& p = ports_[port];
  const auto eligible = static_cast<std::uint8_t>(p.waiting & ~p.paused);
  if (eligible == 0) return;
  Switch& node = switches_[index_of_[p.node]];
  const std::uint32_t queue = next_queue(p, eligible);
  Queue& q = queues_[std::size_t{port} * 8 + queue];
  const std::int64_t charge = node.buffer.charge_of(pool_[q.head].packet.size);
  Packet packet = dequeue(port, queue, charge);
  leave_switch(node, port, queue, packet, q.bytes);
  if (!hpcc_ && has_work(p)) schedule_free(port);
}

void Sim::flush_queue(std::uint32_t port, std::uint32_t queue, DropReason reason) {
  Switch& node = switches_[index_of_[ports_[port].node]];
  Queue& q = queues_[std::size_t{port} * 8 + queue];
  while (q.head != kNone) {
    const std::int64_t charge = node.buffer.charge_of(pool_[q.head].packet.size);
    discard(node, port, dequeue(port, queue, charge), reason);
  }
}

/// A frame that was admitted for `port` is dropped after all; its buffer is free again.
void Sim::discard(Switch& node, std::uint32_t port, const Packet& packet, DropReason reason) {
  const Lookup lookup = node.classes[packet.tos >> 2U];
  node.buffer.remove(packet.in_port, lookup.group, port - node.first_port, lookup.queue,
                     node.buffer.charge_of(packet.size));
  drop(port, packet, reason, has_bit(node.lossless, lookup.group));
  if (!node.buffer.should_resume(packet.in_port, lookup.group)) return;
  node.buffer.set_paused(packet.in_port, lookup.group, false);
  announce(node.first_port + packet.in_port, 0,
           static_cast<std::uint8_t>(1U << node.config->group_to_priority[lookup.group]));
}

/// Looks at a port that is or was paused: a queue stuck for the detection time comes under the
/// action; one whose peer has been silent for the restoration time is set free.
void Sim::watchdog(std::uint32_t port) {
  PauseState& state = pauses_[port];
  Port& p = ports_[port];
  const SwitchConfig& config = *switches_[index_of_[p.node]].config;
  const Watchdog& rule = config.watchdog;
  state.watchdog_pending = false;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::uint32_t queue = config.priority_to_queue[priority];
    const auto bit = static_cast<std::uint8_t>(1U << queue);
    if ((state.tripped & bit) != 0) {
      if (now() - state.last_rx[priority] < rule.restoration.raw()) continue;
      state.tripped = static_cast<std::uint8_t>(state.tripped & ~bit);
      ++port_counters_[port].watchdog_restores;
      continue;
    }
    const bool stuck = has_bit(state.paused, priority) &&
                       now() - state.since[priority] >= rule.detection.raw() &&
                       queues_[std::size_t{port} * 8 + queue].head != kNone;
    if (!stuck) continue;
    ++port_counters_[port].watchdog_trips;
    if (rule.action == WatchdogAction::kAlert) continue;
    state.tripped = static_cast<std::uint8_t>(state.tripped | bit);
    p.paused = static_cast<std::uint8_t>(p.paused & ~bit);
    if (rule.action == WatchdogAction::kDrop) flush_queue(port, queue, DropReason::kWatchdog);
  }
  if (has_work(p)) kick(port);
  if (state.paused == 0 && state.tripped == 0) return;
  state.watchdog_pending = true;
  const Ps period =
      state.tripped != 0 ? std::max<Ps>(rule.restoration.raw(), 1) : rule.detection.raw();
  events_.push(now() + std::min(period, rule.detection.raw()), tie_of(EventKind::kWatchdog, port));
}

}  // namespace weir::sim
