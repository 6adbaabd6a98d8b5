#include "sim/engine/wire.h"

#include <algorithm>

#include "base/check.h"
#include "sim/domains/windows.h"
#include "sim/engine/nic.h"
#include "sim/engine/switch.h"
#include "sim/replay/script.h"

namespace weir::sim::engine {
namespace {

/// Of a frame whose size has no lane of its own.
void push_arrival(State& sim, const Port& port, std::uint32_t tie, const Packet& packet) {
  const Ps at = (port.is_cut_through ? sim.now() : port.busy_until) + port.flight;
  if (port.peer_domain != Port::kHere)
    send_across(sim, port.peer_domain, {at, tie, packet});
  else if (port.is_cut_through && port.lane_full != EventList::kNoLane)
    sim.events.push_lane(port.lane_full, tie, packet);
  else
    sim.events.push(at, tie, packet);
}

void push_free(State& sim, Port& port) {
  port.free_pending = true;
  sim.events.push(port.busy_until, tie_of(EventKind::kPortFree, port.self));
}

void schedule_free(State& sim, Port& port) {
  if (port.free_pending) return;
  if (port.lane_free == EventList::kNoLane || port.busy_until != sim.now() + port.free_delay)
    return push_free(sim, port);
  port.free_pending = true;
  sim.events.push_lane(port.lane_free, tie_of(EventKind::kPortFree, port.self));
}

template <class World>
void send_pause_frame(Engine<World>& sim, Port& port) {
  PauseState& state = sim.pauses[port.self];
  Packet frame;
  frame.kind = PacketKind::kPfc;
  frame.size = static_cast<std::uint16_t>(sim.network.wire.pfc_frame);
  frame.aux = static_cast<std::uint16_t>(port.pause_due | (port.resume_due << 8U));
  frame.psn = state.quanta;
  const bool pauses = port.pause_due != 0;
  port.pause_due = port.resume_due = 0;
  port.busy_until = sim.now() + port.wire_time[frame.size];
  ++sim.port_counters[port.self].pfc_tx_frames;
  if (sim.observer != nullptr) sim.observer->on_frame(sim.now(), port.self, frame);
  if constexpr (!World::kFreesPortsLazily) push_free(sim, port);
  const Ps applies = port.busy_until + state.cable + sim.pauses[port.peer].reaction;
  const std::uint32_t tie = tie_of(EventKind::kPfcApply, port.peer);
  if (port.peer_domain != Port::kHere)
    send_across(sim, port.peer_domain, {applies, tie, frame});
  else
    sim.events.push(applies, tie, frame);
  if (World::kPausesExpire && pauses && !state.refresh_pending) {
    state.refresh_pending = true;
    sim.events.push(sim.now() + state.quanta_time / 2, tie_of(EventKind::kPauseRefresh, port.self));
  }
  send_rest_later(sim, port);
}

template <class World>
void send_next(Engine<World>& sim, Port& port) {
  if (port.down || port.busy_until > sim.now()) return;
  if (port.has_pause_frame())
    send_pause_frame(sim, port);
  else if (port.sw != nullptr)
    switch_send(sim, port);
  else
    nic_send(sim, port);
}

}  // namespace

template <class World>
[[gnu::always_inline]] inline void put_on_wire(Engine<World>& sim, Port& port,
                                               const Packet& packet) {
  port.busy_until = sim.now() + port.wire_time[packet.size];
  sim.data_hops += packet.kind == PacketKind::kData ? 1 : 0;
  if (sim.observer != nullptr) [[unlikely]]
    sim.observer->on_frame(sim.now(), port.self, packet);
  if constexpr (!World::kFreesPortsLazily) push_free(sim, port);
  const std::uint32_t tie = tie_of(EventKind::kArrive, port.peer);
  if (packet.size == port.full_size)
    sim.events.push_lane(port.lane_full, tie, packet);
  else if (packet.size == port.ack_size)
    sim.events.push_lane(port.lane_ack, tie, packet);
  else
    push_arrival(sim, port, tie, packet);
}

inline bool has_work(const Port& port) {
  if (port.has_pause_frame()) return true;
  const std::uint8_t ready = port.nic == nullptr ? 0 : port.nic->ready;
  return ((port.waiting | ready) & ~port.paused) != 0;
}

template <class World>
void kick(Engine<World>& sim, Port& port) {
  if (port.free_pending) return;
  if (port.busy_until <= sim.now()) return send_next(sim, port);
  push_free(sim, port);
}

template <class World>
void port_free(Engine<World>& sim, Port& port) {
  port.free_pending = false;
  send_next(sim, port);
}

template <class World>
inline void send_rest_later(Engine<World>& sim, Port& port) {
  if (World::kFreesPortsLazily && has_work(port)) schedule_free(sim, port);
}

void drop(State& sim, const Port& port, const Packet& packet, DropReason reason, bool lossless) {
  PortCounters& counters = sim.port_counters[port.self];
  ++counters.drops[static_cast<std::size_t>(reason)];
  if (lossless && is_buffer_shortage(reason)) ++counters.lossless_drops;
  if (sim.observer != nullptr) sim.observer->on_drop(sim.now(), port.self, packet, reason);
  ++sim.dropped;
  sim.frame_gone();
}

void refresh_disturbed(const Tables& all, Port& port) {
  port.is_disturbed = port.down || all.error_threshold[port.self] != 0;
}

bool survives_link(State& sim, const Port& port, const Packet& packet) {
  if ((packet.flags & kFlagReplayed) != 0) {
    script_arrive(sim, packet);
    return false;
  }
  const std::uint64_t errors = sim.error_threshold[port.self];
  const bool is_lost = !port.down && errors != 0 && sim.port_random[port.self].chance(errors);
  if (!port.down && !is_lost) return true;
  PortCounters& counters = sim.port_counters[port.self];
  ++counters.rx_frames;
  counters.rx_bytes += packet.size;
  drop(sim, port, packet, port.down ? DropReason::kLinkDown : DropReason::kBitError, false);
  return false;
}

inline void enqueue(State& sim, Port& port, std::uint32_t queue, const Packet& packet,
                    std::int64_t charge) {
  Queue& q = port.queues[sim.slots[queue]];
  const FrameId frame = sim.pool.take(packet);
  if (q.is_empty())
    q.head = frame;
  else
    sim.pool[q.tail].next = frame;
  q.tail = frame;
  q.bytes += charge;
  q.peak = std::max(q.peak, q.bytes);
  port.waiting = static_cast<std::uint8_t>(port.waiting | (1U << queue));
  if (port.watched && queue == sim.watch.queue) sim.watch.note(sim.now(), q.bytes);
}

[[gnu::always_inline]] inline void unlink(State& sim, Port& port, std::uint32_t queue,
                                          std::int64_t charge) {
  Queue& q = port.queues[sim.slots[queue]];
  q.head = sim.pool[q.head].next;
  q.bytes -= charge;
  if (q.is_empty()) {
    q.tail = kNo<FrameId>;
    q.deficit = 0;
    port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << queue));
  }
  if (port.watched && queue == sim.watch.queue) sim.watch.note(sim.now(), q.bytes);
}

template <class World>
void announce(Engine<World>& sim, Port& port, std::uint8_t pause, std::uint8_t resume) {
  PauseState& state = sim.pauses[port.self];
  sim.extra.on_announce();
  pause = static_cast<std::uint8_t>(pause & state.enabled);
  resume = static_cast<std::uint8_t>(resume & state.announced);
  state.announced = static_cast<std::uint8_t>((state.announced | pause) & ~resume);
  PortCounters& counters = sim.port_counters[port.self];
  for (unsigned priority = 0; priority < 8; ++priority) {
    counters.pause_tx[priority] += (pause >> priority) & 1U;
    counters.resume_tx[priority] += (resume >> priority) & 1U;
  }
  // A pause that never left needs no resume.
  const auto unsent = static_cast<std::uint8_t>(resume & port.pause_due);
  port.pause_due = static_cast<std::uint8_t>((port.pause_due | pause) & ~resume);
  port.resume_due = static_cast<std::uint8_t>((port.resume_due | (resume & ~unsent)) & ~pause);
  if (port.has_pause_frame()) kick(sim, port);
}

/// A pause lasts its quanta; one that is to last longer is sent again in good time.
template <class World>
void pause_refresh(Engine<World>& sim, Port& port) {
  PauseState& state = sim.pauses[port.self];
  state.refresh_pending = false;
  if (state.announced == 0) return;
  port.pause_due = static_cast<std::uint8_t>(port.pause_due | state.announced);
  kick(sim, port);
}

template <class World>
void apply_pause(Engine<World>& sim, Port& port, const Packet& frame) {
  PauseState& state = sim.pauses[port.self];
  PortCounters& counters = sim.port_counters[port.self];
  const auto pause = static_cast<std::uint8_t>(frame.aux & 0xFFU);
  const auto resume = static_cast<std::uint8_t>(frame.aux >> 8U);
  ++counters.pfc_rx_frames;
  if (sim.observer != nullptr) sim.observer->on_pause(sim.now(), port.self, pause, resume);
  if (port.down) return;
  const Ps end = World::kPausesExpire ? sim.now() + state.length_of(frame.psn) : kNever;
  for (unsigned priority = 0; priority < 8; ++priority) {
    if (has_bit(pause, priority)) {
      ++counters.pause_rx[priority];
      state.times->last_rx[priority] = sim.now();
      if (!has_bit(state.enabled, priority)) continue;
      state.times->until[priority] = end;
      set_pause(sim, port, priority, true);
      if (World::kPausesExpire && !state.expire_pending) {
        state.expire_pending = true;
        sim.events.push(end, tie_of(EventKind::kPauseExpire, port.self));
      }
    }
    if (has_bit(resume, priority)) {
      ++counters.resume_rx[priority];
      set_pause(sim, port, priority, false);
    }
  }
  if (!World::kListsReadyQps || has_work(port)) kick(sim, port);
}

void set_pause(State& sim, Port& port, unsigned priority, bool paused) {
  PauseState& state = sim.pauses[port.self];
  const std::uint8_t bit = bit_of(priority);
  const bool was = (state.paused & bit) != 0;
  if (was == paused) return;
  if (paused)
    state.times->since[priority] = sim.now();
  else
    sim.port_counters[port.self].paused_time[priority] += state.paused_since(priority, sim.now());
  state.paused = static_cast<std::uint8_t>(state.paused ^ bit);
  if (port.sw == nullptr) {
    port.paused = state.paused;
    return;
  }
  port.paused = static_cast<std::uint8_t>(port.sw->queues_of(state.paused) & ~port.tripped);
  const Ps detection = port.sw->config->watchdog.detection.raw();
  if (paused && detection > 0 && !state.watchdog_pending) {
    state.watchdog_pending = true;
    sim.events.push(sim.now() + detection, tie_of(EventKind::kWatchdog, port.self));
  }
}

template <class World>
void pause_expire(Engine<World>& sim, Port& port) {
  PauseState& state = sim.pauses[port.self];
  state.expire_pending = false;
  Ps next = kNever;
  for (unsigned priority = 0; priority < 8; ++priority) {
    if (!has_bit(state.paused, priority)) continue;
    if (state.times->until[priority] <= sim.now())
      set_pause(sim, port, priority, false);
    else
      next = std::min(next, state.times->until[priority]);
  }
  if (next != kNever) {
    state.expire_pending = true;
    sim.events.push(next, tie_of(EventKind::kPauseExpire, port.self));
  }
  if (has_work(port)) kick(sim, port);
}

}  // namespace weir::sim::engine
