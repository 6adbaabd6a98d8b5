// Ports: putting frames on the wire, the lazy "port free", and pause frames both ways.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/engine/sim.h"

namespace weir::sim {

inline void Sim::put_on_wire(Port& port, const Packet& packet) {
  port.busy_until = now() + port.wire_time[packet.size];
  data_hops_ += packet.kind == PacketKind::kData ? 1 : 0;
  if (is_observed_) [[unlikely]]
    before_wire(port, packet);
  const std::uint32_t tie = tie_of(EventKind::kArrive, port.peer);
  if (packet.size == port.full_size)
    events_.push_lane(port.lane_full, tie, packet);
  else if (packet.size == port.ack_size)
    events_.push_lane(port.lane_ack, tie, packet);
  else
    push_arrival(port, tie, packet);
}

/// What only some runs do with a frame: show it, and (model `hpcc`) free the port by an event.
void Sim::before_wire(Port& port, const Packet& packet) {
  if (observer_ != nullptr) observer_->on_frame(now(), port.self, packet);
  if (!hpcc_) return;
  port.free_pending = true;
  events_.push(port.busy_until, tie_of(EventKind::kPortFree, port.self));
}

/// Of a frame whose size has no lane of its own.
void Sim::push_arrival(Port& port, std::uint32_t tie, const Packet& packet) {
  if (!port.is_cut_through)
    events_.push(port.busy_until + port.flight, tie, packet);
  else if (port.lane_full != EventList::kNoLane)
    events_.push_lane(port.lane_full, tie, packet);
  else
    events_.push(now() + port.flight, tie, packet);
}

inline bool Sim::has_work(const Port& port) const {
  if ((port.pause_due | port.resume_due) != 0) return true;
  const std::uint8_t ready = port.nic == nullptr ? 0 : port.nic->ready;
  return ((port.waiting | ready) & ~port.paused) != 0;
}

void Sim::schedule_free(Port& port) {
  if (port.free_pending) return;
  port.free_pending = true;
  const std::uint32_t tie = tie_of(EventKind::kPortFree, port.self);
  if (port.lane_free != EventList::kNoLane && port.busy_until == now() + port.free_delay)
    events_.push_lane(port.lane_free, tie);
  else
    events_.push(port.busy_until, tie);
}

/// Something may be sendable: sends it if the port is idle, else makes sure it wakes when it is.
void Sim::kick(Port& port) {
  if (port.free_pending) return;
  if (port.busy_until <= now()) return send_next(port);
  port.free_pending = true;
  events_.push(port.busy_until, tie_of(EventKind::kPortFree, port.self));
}

void Sim::port_free(Port& port) {
  port.free_pending = false;
  send_next(port);
}

void Sim::send_next(Port& port) {
  if (port.down || port.busy_until > now()) return;
  if ((port.pause_due | port.resume_due) != 0)
    send_pause_frame(port);
  else if (port.sw != nullptr)
    switch_send(port);
  else if (hpcc_)
    peer_send(port);
  else
    nic_send(port);
}

void Sim::drop(const Port& port, const Packet& packet, DropReason reason, bool lossless) {
  PortCounters& counters = port_counters_[port.self];
  ++counters.drops[static_cast<std::size_t>(reason)];
  if (lossless && is_want_of_buffer(reason)) ++counters.lossless_drops;
  if (observer_ != nullptr) observer_->on_drop(now(), port.self, packet, reason);
  ++dropped_;
  frame_gone();
}

/// Whether frames get through to this port undisturbed is one bit, looked at for each of them.
void Sim::refresh_disturbed(Port& port) {
  port.is_disturbed = port.down || error_threshold_[port.self] != 0;
}

/// A frame comes over a link that is down or makes errors.
void Sim::disturbed_arrive(Port& port, Packet& packet) {
  const std::uint64_t errors = error_threshold_[port.self];
  const bool is_lost = !port.down && errors != 0 && port_random_[port.self].chance(errors);
  if (!port.down && !is_lost) return port_arrive(port, packet);
  PortCounters& counters = port_counters_[port.self];
  ++counters.rx_frames;
  counters.rx_bytes += packet.size;
  drop(port, packet, port.down ? DropReason::kLinkDown : DropReason::kBitError, false);
}

inline void Sim::enqueue(Port& port, std::uint32_t queue, const Packet& packet,
                         std::int64_t charge) {
  Queue& q = port.queues[queue];
  const std::uint32_t node = pool_.take(packet);
  if (q.head == kNone)
    q.head = node;
  else
    pool_[q.tail].next = node;
  q.tail = node;
  q.bytes += charge;
  q.peak = std::max(q.peak, q.bytes);
  port.waiting = static_cast<std::uint8_t>(port.waiting | (1U << queue));
  if (port.watched && queue == watch_.queue) watch_note(q.bytes);
}

/// The first packet of the queue, which the caller reads and then gives back to the pool.
inline void Sim::unlink(Port& port, std::uint32_t queue, std::int64_t charge) {
  Queue& q = port.queues[queue];
  q.head = pool_[q.head].next;
  q.bytes -= charge;
  if (q.head == kNone) {
    q.tail = kNone;
    q.deficit = 0;
    port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << queue));
  }
  if (port.watched && queue == watch_.queue) watch_note(q.bytes);
}

void Sim::watch_note(std::int64_t bytes) {
  const std::int64_t level = watch_.level;
  const Ps span = now() - watch_.last;
  watch_.sum += Int128{level} * span;
  watch_.square += Int128{level} * level * span;
  watch_.last = now();
  watch_.level = bytes;
  watch_.low = std::min(watch_.low, bytes);
  watch_.high = std::max(watch_.high, bytes);
}

void Sim::watch_queue(std::uint32_t port, std::uint32_t queue) {
  if (watch_.port != kNone) ports_[watch_.port].watched = false;
  ports_[port].watched = true;
  watch_ = {};
  watch_.port = port;
  watch_.queue = queue;
  watch_.since = watch_.last = now();
  watch_.level = watch_.low = watch_.high = ports_[port].queues[queue].bytes;
}

QueueWatch Sim::queue_watch() const {
  QueueWatch watch = watch_;
  const Ps span = now() - watch.last;
  watch.sum += Int128{watch.level} * span;
  watch.square += Int128{watch.level} * watch.level * span;
  watch.last = now();
  return watch;
}

/// This port's own buffers changed state for these priorities: tell the peer.
void Sim::announce(Port& port, std::uint8_t pause, std::uint8_t resume) {
  PauseState& state = pauses_[port.self];
  if (hpcc_) peer_random_.skip();  // the peer draws an IP identification for its pause frame
  pause = static_cast<std::uint8_t>(pause & state.enabled);
  resume = static_cast<std::uint8_t>(resume & state.announced);
  state.announced = static_cast<std::uint8_t>((state.announced | pause) & ~resume);
  for (unsigned priority = 0; priority < 8; ++priority) {
    port_counters_[port.self].pause_tx[priority] += (pause >> priority) & 1U;
    port_counters_[port.self].resume_tx[priority] += (resume >> priority) & 1U;
  }
  // A pause that never left needs no resume.
  const auto unsent = static_cast<std::uint8_t>(resume & port.pause_due);
  port.pause_due = static_cast<std::uint8_t>((port.pause_due | pause) & ~resume);
  port.resume_due = static_cast<std::uint8_t>((port.resume_due | (resume & ~unsent)) & ~pause);
  if ((port.pause_due | port.resume_due) != 0) kick(port);
}

void Sim::send_pause_frame(Port& port) {
  PauseState& state = pauses_[port.self];
  Packet frame;
  frame.kind = PacketKind::kPfc;
  frame.size = static_cast<std::uint16_t>(network_.wire.pfc_frame);
  frame.aux = std::uint32_t{port.pause_due} | (std::uint32_t{port.resume_due} << 8U);
  frame.psn = state.quanta;
  const bool pauses = port.pause_due != 0;
  port.pause_due = port.resume_due = 0;
  const Ps serialisation = port.wire_time[frame.size];
  port.busy_until = now() + serialisation;
  ++port_counters_[port.self].pfc_tx_frames;
  if (observer_ != nullptr) observer_->on_frame(now(), port.self, frame);
  if (hpcc_) {
    port.free_pending = true;
    events_.push(port.busy_until, tie_of(EventKind::kPortFree, port.self));
  }
  events_.push(port.busy_until + state.cable + pauses_[port.peer].reaction,
               tie_of(EventKind::kPfcApply, port.peer), frame);
  if (!hpcc_ && pauses && !state.refresh_pending) {
    state.refresh_pending = true;
    events_.push(now() + state.quanta_time / 2, tie_of(EventKind::kPauseRefresh, port.self));
  }
  if (!hpcc_ && has_work(port)) schedule_free(port);
}

/// A pause lasts its quanta; while it is meant to last longer it is said again in good time.
void Sim::pause_refresh(Port& port) {
  PauseState& state = pauses_[port.self];
  state.refresh_pending = false;
  if (state.announced == 0) return;
  port.pause_due = static_cast<std::uint8_t>(port.pause_due | state.announced);
  kick(port);
}

void Sim::apply_pause(Port& port, const Packet& packet) {
  PauseState& state = pauses_[port.self];
  const auto pause = static_cast<std::uint8_t>(packet.aux & 0xFFU);
  const auto resume = static_cast<std::uint8_t>(packet.aux >> 8U);
  ++port_counters_[port.self].pfc_rx_frames;
  if (observer_ != nullptr) observer_->on_pause(now(), port.self, pause, resume);
  if (port.down) return;
  const Ps length = static_cast<Ps>(Int128{packet.psn} * 512 * kPicosecondsPerSecond / state.rate);
  for (unsigned priority = 0; priority < 8; ++priority) {
    if (((pause >> priority) & 1U) != 0) {
      ++port_counters_[port.self].pause_rx[priority];
      state.last_rx[priority] = now();
      if (((state.enabled >> priority) & 1U) == 0) continue;
      state.until[priority] = hpcc_ ? kNever : now() + length;
      set_pause(port, priority, true);
      if (!hpcc_ && !state.expire_pending) {
        state.expire_pending = true;
        events_.push(state.until[priority], tie_of(EventKind::kPauseExpire, port.self));
      }
    }
    if (((resume >> priority) & 1U) != 0) {
      ++port_counters_[port.self].resume_rx[priority];
      set_pause(port, priority, false);
    }
  }
  if (hpcc_ || has_work(port)) kick(port);
}

void Sim::set_pause(Port& port, unsigned priority, bool paused) {
  PauseState& state = pauses_[port.self];
  const auto bit = static_cast<std::uint8_t>(1U << priority);
  const bool was = (state.paused & bit) != 0;
  if (was == paused) return;
  state.paused = static_cast<std::uint8_t>(state.paused ^ bit);
  if (paused)
    state.since[priority] = now();
  else
    port_counters_[port.self].paused_time[priority] += now() - state.since[priority];
  if (port.sw == nullptr) {
    port.paused = state.paused;
    return;
  }
  const SwitchConfig& config = *port.sw->config;
  std::uint8_t queues = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (((state.paused >> i) & 1U) != 0)
      queues = static_cast<std::uint8_t>(queues | (1U << config.priority_to_queue[i]));
  port.paused = static_cast<std::uint8_t>(queues & ~port.tripped);
  if (paused && config.watchdog.detection.raw() > 0 && !state.watchdog_pending) {
    state.watchdog_pending = true;
    events_.push(now() + config.watchdog.detection.raw(), tie_of(EventKind::kWatchdog, port.self));
  }
}

void Sim::pause_expire(Port& port) {
  PauseState& state = pauses_[port.self];
  state.expire_pending = false;
  Ps next = kNever;
  for (unsigned priority = 0; priority < 8; ++priority) {
    if (((state.paused >> priority) & 1U) == 0) continue;
    if (state.until[priority] <= now())
      set_pause(port, priority, false);
    else
      next = std::min(next, state.until[priority]);
  }
  if (next != kNever) {
    state.expire_pending = true;
    events_.push(next, tie_of(EventKind::kPauseExpire, port.self));
  }
  if (has_work(port)) kick(port);
}

}  // namespace weir::sim
