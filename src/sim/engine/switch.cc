#include "sim/engine/switch.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/engine/wire.h"

namespace weir::sim::engine {

std::uint8_t Switch::queues_of(std::uint8_t priorities) const {
  std::uint8_t queues = 0;
  for (unsigned priority = 0; priority < 8; ++priority)
    if (has_bit(priorities, priority))
      queues = static_cast<std::uint8_t>(queues | (1U << config->priority_to_queue[priority]));
  return queues;
}

std::uint32_t Switch::least_loaded(const Packet& packet, std::span<const std::uint16_t> candidates,
                                   Ps now) const {
  const auto count = static_cast<std::uint32_t>(candidates.size());
  const std::uint32_t slot = classify(packet).queue_slot;
  const std::uint32_t start = pick(packet.key, config->ecmp_seed, count);
  std::uint32_t best = candidates[start];
  std::int64_t least = INT64_MAX;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t local = candidates[(start + i) % count];
    const Port& port = ports[local];
    std::int64_t load = port.queues[slot].bytes;
    if (port.busy_until > now) load += 1;
    if (port.down) load = INT64_MAX;
    if (load < least) {
      least = load;
      best = local;
    }
  }
  return best;
}

std::uint32_t Switch::next_queue(Port& port, std::uint8_t eligible, const PacketPool& pool) const {
  if ((eligible & (eligible - 1)) == 0)
    return static_cast<std::uint32_t>(std::countr_zero(eligible));
  const auto first = static_cast<std::uint8_t>(eligible & strict);
  if (first != 0) return 7U - static_cast<std::uint32_t>(std::countl_zero(first));
  // Deficit round robin: a queue that comes to its turn gets its quantum, once.
  const auto queue = [&](std::uint32_t at) -> Queue& { return port.queues[slots[at]]; };
  std::uint32_t at = port.round_robin;
  for (;;) {
    if (has_bit(eligible, at)) {
      Queue& q = queue(at);
      const std::int32_t size = pool[q.head].packet.size;
      if (q.deficit >= size) {
        q.deficit -= size;
        port.round_robin = static_cast<std::uint8_t>(at);
        return at;
      }
    }
    at = (at + 1) % 8;
    if (has_bit(eligible, at)) queue(at).deficit += queue(at).quantum;
  }
}

std::uint32_t balance(Engine<NativeWorld>& sim, Switch& node, const Packet& packet,
                      std::span<const std::uint16_t> ports) {
  if (node.config->balancing == LoadBalancing::kSpray)
    return ports[node.spray.below(static_cast<std::uint32_t>(ports.size()))];
  return node.least_loaded(packet, ports, sim.now());
}

bool draw_mark(Engine<NativeWorld>& sim, const Port& port, const Queue& queue, std::int64_t bytes) {
  const auto above = static_cast<std::uint64_t>(bytes - queue.mark_min);
  return sim.port_random[port.self].chance((above * queue.mark_slope) >> 16U);
}

namespace {

template <class World>
inline std::uint32_t choose_port(Engine<World>& sim, Switch& node, const Packet& packet,
                                 std::span<const std::uint16_t> ports) {
  if (ports.size() == 1) return ports[0];
  if (!node.has_plain_ecmp) return balance(sim, node, packet, ports);
  return ports[pick(packet.key, node.ecmp_seed, static_cast<std::uint32_t>(ports.size()))];
}

/// By WRED, at the queue's present level.
template <class World>
bool marks(Engine<World>& sim, const Port& port, const Queue& queue) {
  if (queue.bytes > queue.mark_max) return true;
  if (queue.bytes <= queue.mark_min) return false;
  return draw_mark(sim, port, queue, queue.bytes);
}

template <class World>
inline void mark_if(Engine<World>& sim, const Port& port, const Queue& queue, MarkAt at,
                    Packet& packet) {
  if (queue.bytes <= queue.mark_min || port.sw->config->mark_at != at) return;
  if (!packet.is_ect() || !marks(sim, port, queue)) return;
  packet.tos = static_cast<std::uint8_t>(packet.tos | kEcnCe);
  ++sim.port_counters[port.self].marked;
}

/// The group has room again: the sender may go on.
template <class World>
void resume_sender(Engine<World>& sim, Switch& node, const SharedBuffer::Account& account,
                   std::uint16_t in_port, Lookup lookup) {
  account.in->paused = false;
  announce(sim, node.ports[in_port], 0, node.pause_bit(lookup));
}

/// The packet, which is in no queue any more, leaves `port` of the switch now.
template <class World>
void leave_switch(Engine<World>& sim, Port& port, Packet& packet, std::int64_t charge) {
  Switch& node = *port.sw;
  const Lookup& lookup = node.classify(packet);
  const auto account =
      node.buffer.account(packet.in_port, lookup.group_slot, port.local, lookup.queue_slot);
  node.buffer.remove(account, charge);
  mark_if(sim, port, port.queues[lookup.queue_slot], MarkAt::kDequeue, packet);
  port.traffic[lookup.queue_slot].tx.add(packet.size);
  if (node.buffer.should_resume(*account.in))
    resume_sender(sim, node, account, packet.in_port, lookup);
  put_on_wire(sim, port, packet);
}

/// Into the egress queue, or straight onto an idle wire.
template <class World>
inline void switch_queue(Engine<World>& sim, Port& out, std::uint32_t queue, Packet& packet,
                         std::int64_t charge) {
  const Queue& q = out.queues[sim.slots[queue]];
  mark_if(sim, out, q, MarkAt::kEnqueue, packet);
  const bool idle = out.is_idle_at(sim.now()) && !out.free_pending &&
                    (out.waiting & ~out.paused) == 0 && !has_bit(out.paused, queue) &&
                    !out.has_pause_frame();
  if (idle && q.is_empty()) return leave_switch(sim, out, packet, charge);
  enqueue(sim, out, queue, packet, charge);
  if (!has_bit(out.paused, queue)) kick(sim, out);
}

/// Straight from wire to wire, where the egress is idle and the frame changes nothing but peaks and
/// tallies: no queue, no mark (nothing waits), no pause. False: nothing was done.
template <class World>
inline bool cross_idle(Engine<World>& sim, Port& in, Port& out, const Lookup& lookup,
                       const Packet& packet) {
  Switch& node = *in.sw;
  if (!out.is_plain() || out.busy_until > sim.now() || packet.size > out.mtu || node.has_pipeline)
    return false;
  const auto account =
      node.buffer.account(in.local, lookup.group_slot, out.local, lookup.queue_slot);
  if (!node.buffer.pass(account, node.buffer.charge_of(packet.size))) return false;
  out.traffic[lookup.queue_slot].tx.add(packet.size);
  put_on_wire(sim, out, packet);
  return true;
}

void enter_pipeline(State& sim, Switch& node, const Port& in, const Port& out,
                    const Packet& packet) {
  Packet ticket;
  ticket.psn = to_index(sim.pool.take(packet));
  ticket.key = to_index(out.self);
  const std::uint32_t tie = tie_of(EventKind::kForward, in.self);
  if (node.lane_pipeline != EventList::kNoLane)
    sim.events.push_lane(node.lane_pipeline, tie, ticket);
  else
    sim.events.push(sim.now() + node.config->pipeline.raw(), tie, ticket);
}

/// The general way: everything that can refuse, delay, mark or pause.
template <class World>
void switch_admit(Engine<World>& sim, Port& in, Port& out, Lookup lookup, Packet& packet) {
  Switch& node = *in.sw;
  const bool lossless = node.is_lossless(lookup);
  if (out.down) return drop(sim, in, packet, DropReason::kLinkDown, lossless);
  if (packet.size > out.mtu) return drop(sim, in, packet, DropReason::kMtu, lossless);
  if (node.discards(out, lookup.queue))
    return drop(sim, out, packet, DropReason::kWatchdog, lossless);

  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const auto account =
      node.buffer.account(in.local, lookup.group_slot, out.local, lookup.queue_slot);
  const auto admission = node.buffer.check(account, charge);
  if (admission.is_refused()) return drop(sim, in, packet, admission.reason, lossless);
  const Queue& q = out.queues[lookup.queue_slot];
  if (!lossless && !packet.is_ect() && q.bytes > q.mark_min && marks(sim, out, q))
    return drop(sim, in, packet, DropReason::kWred, lossless);
  node.buffer.update(account, charge, admission.place);
  if (node.buffer.should_pause(*account.in)) {
    account.in->paused = true;
    announce(sim, in, node.pause_bit(lookup), 0);
  }
  if (!node.has_pipeline) return switch_queue(sim, out, lookup.queue, packet, charge);
  node.in_pipeline += charge;
  enter_pipeline(sim, node, in, out, packet);
}

/// A frame that was admitted for `port` is dropped after all; its buffer is free again.
template <class World>
void discard(Engine<World>& sim, Port& port, const Packet& packet, DropReason reason) {
  Switch& node = *port.sw;
  const Lookup& lookup = node.classify(packet);
  const auto account =
      node.buffer.account(packet.in_port, lookup.group_slot, port.local, lookup.queue_slot);
  node.buffer.remove(account, node.buffer.charge_of(packet.size));
  drop(sim, port, packet, reason, node.is_lossless(lookup));
  if (node.buffer.should_resume(*account.in))
    resume_sender(sim, node, account, packet.in_port, lookup);
}

}  // namespace

template <class World>
void switch_arrive(Engine<World>& sim, Port& in, Packet& packet) {
  Switch& node = *in.sw;
  const Lookup& lookup = node.classify(packet);
  in.traffic[lookup.group_slot].rx.add(packet.size);
  if (packet.size > in.mtu || packet.ttl <= 1) [[unlikely]] {
    const DropReason reason = packet.size > in.mtu ? DropReason::kMtu : DropReason::kTtl;
    return drop(sim, in, packet, reason, node.is_lossless(lookup));
  }
  --packet.ttl;
  packet.in_port = in.local;
  const auto ports = sim.routes.next_in(node.route_row, node.node, packet.dst);
  if (ports.empty()) [[unlikely]]
    return drop(sim, in, packet, DropReason::kNoRoute, node.is_lossless(lookup));
  Port& out = node.ports[choose_port(sim, node, packet, ports)];
  if (cross_idle(sim, in, out, lookup, packet)) return;
  switch_admit(sim, in, out, lookup, packet);
}

template <class World>
void switch_forward(Engine<World>& sim, Port& in, FrameId held, PortId to) {
  Switch& node = *in.sw;
  Port& out = sim.ports[to];
  Packet packet = sim.pool[held].packet;
  sim.pool.give_back(held);
  const std::int64_t charge = node.buffer.charge_of(packet.size);
  const std::uint32_t queue = node.classify(packet).queue;
  node.in_pipeline -= charge;
  if (out.down) return discard(sim, out, packet, DropReason::kLinkDown);
  if (node.discards(out, queue)) return discard(sim, out, packet, DropReason::kWatchdog);
  switch_queue(sim, out, queue, packet, charge);
}

template <class World>
[[gnu::always_inline]] inline void switch_send(Engine<World>& sim, Port& port) {
  const auto eligible = static_cast<std::uint8_t>(port.waiting & ~port.paused);
  if (eligible == 0) return;
  const std::uint32_t queue = port.sw->next_queue(port, eligible, sim.pool);
  const FrameId frame = port.queues[sim.slots[queue]].head;
  Packet& packet = sim.pool[frame].packet;
  const std::int64_t charge = port.sw->buffer.charge_of(packet.size);
  unlink(sim, port, queue, charge);
  leave_switch(sim, port, packet, charge);
  sim.pool.give_back(frame);
  send_rest_later(sim, port);
}

template <class World>
void flush_queue(Engine<World>& sim, Port& port, std::uint32_t queue, DropReason reason) {
  while (has_bit(port.waiting, queue)) {
    const FrameId frame = port.queues[sim.slots[queue]].head;
    unlink(sim, port, queue, port.sw->buffer.charge_of(sim.pool[frame].packet.size));
    discard(sim, port, sim.pool[frame].packet, reason);
    sim.pool.give_back(frame);
  }
}

template <class World>
void watchdog(Engine<World>& sim, Port& port) {
  PauseState& state = sim.pauses[port.self];
  PortCounters& counters = sim.port_counters[port.self];
  const SwitchConfig& config = *port.sw->config;
  const Watchdog& rule = config.watchdog;
  state.watchdog_pending = false;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::uint32_t queue = config.priority_to_queue[priority];
    const std::uint8_t bit = bit_of(queue);
    if ((port.tripped & bit) != 0) {
      if (sim.now() - state.times->last_rx[priority] < rule.restoration.raw()) continue;
      port.tripped = static_cast<std::uint8_t>(port.tripped & ~bit);
      ++counters.watchdog_restores;
      continue;
    }
    const bool stuck = has_bit(state.paused, priority) &&
                       sim.now() - state.times->since[priority] >= rule.detection.raw() &&
                       has_bit(port.waiting, queue);
    if (!stuck) continue;
    ++counters.watchdog_trips;
    if (rule.action == WatchdogAction::kAlert) continue;
    port.tripped = static_cast<std::uint8_t>(port.tripped | bit);
    port.paused = static_cast<std::uint8_t>(port.paused & ~bit);
    if (rule.action == WatchdogAction::kDrop) flush_queue(sim, port, queue, DropReason::kWatchdog);
  }
  if (has_work(port)) kick(sim, port);
  if (state.paused == 0 && port.tripped == 0) return;
  state.watchdog_pending = true;
  const Ps period =
      port.tripped != 0 ? std::max<Ps>(rule.restoration.raw(), 1) : rule.detection.raw();
  sim.events.push(sim.now() + std::min(period, rule.detection.raw()),
                  tie_of(EventKind::kWatchdog, port.self));
}

}  // namespace weir::sim::engine
