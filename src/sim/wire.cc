// Ports: putting frames on the wire, the lazy "port free", and pause frames both ways.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sim/sim.h"

namespace weir::sim {

void Sim::put_on_wire(std::uint32_t port, const Packet& packet) {
  Port& p = ports_[port];
  PortCounters& counters = port_counters_[port];
  const Ps serialisation = p.wire_time[packet.size];
  p.busy_until = now() + serialisation;
  ++counters.tx_frames;
  counters.tx_bytes += packet.size;
  ++hops_;
  data_hops_ += packet.kind == PacketKind::kData ? 1 : 0;
  if (observer_ != nullptr) observer_->on_frame(now(), port, packet);
  if (hpcc_) {
    p.free_pending = true;
    events_.push(p.busy_until, tie_of(EventKind::kPortFree, port));
  }
  const std::uint32_t tie = tie_of(EventKind::kArrive, p.peer);
  if (p.lane_full != EventList::kNoLane && (p.cut_through || packet.size == p.full_size))
    events_.push_lane(p.lane_full, tie, packet);
  else if (p.lane_ack != EventList::kNoLane && packet.size == p.ack_size)
    events_.push_lane(p.lane_ack, tie, packet);
  else
    events_.push(now() + p.flight + (p.cut_through ? 0 : serialisation), tie, packet);
}

bool Sim::has_work(const Port& port) const {
  if ((port.pause_due | port.resume_due) != 0) return true;
  const std::uint8_t ready = port.is_switch ? 0 : nics_[index_of_[port.node]].ready;
  return ((port.waiting | ready) & ~port.paused) != 0;
}

void Sim::schedule_free(std::uint32_t port) {
  Port& p = ports_[port];
  if (p.free_pending) return;
  p.free_pending = true;
  const std::uint32_t tie = tie_of(EventKind::kPortFree, port);
  if (p.lane_free != EventList::kNoLane && p.busy_until == now() + p.wire_time[p.full_size])
    events_.push_lane(p.lane_free, tie, {});
  else
    events_.push(p.busy_until, tie);
}

/// Something may be sendable: sends it if the port is idle, else makes sure it wakes when it is.
void Sim::kick(std::uint32_t port) {
  Port& p = ports_[port];
  if (p.busy_until <= now()) {
    if (!p.free_pending) send_next(port);
  } else if (!p.free_pending) {
    p.free_pending = true;
    events_.push(p.busy_until, tie_of(EventKind::kPortFree, port));
  }
}

void Sim::port_free(std::uint32_t port) {
  ports_[port].free_pending = false;
  send_next(port);
}

void Sim::send_next(std::uint32_t port) {
  Port& p = ports_[port];
  if (!p.up || p.busy_until > now()) return;
  if ((p.pause_due | p.resume_due) != 0)
    send_pause_frame(port);
  else if (p.is_switch)
    switch_send(port);
  else if (hpcc_)
    peer_send(port);
  else
    nic_send(port);
}

void Sim::drop(std::uint32_t port, const Packet& packet, DropReason reason, bool lossless) {
  PortCounters& counters = port_counters_[port];
  ++counters.drops[static_cast<std::size_t>(reason)];
  if (lossless && is_want_of_buffer(reason)) ++counters.lossless_drops;
  if (observer_ != nullptr) observer_->on_drop(now(), port, packet, reason);
  ++dropped_;
  frame_gone();
}

void Sim::enqueue(std::uint32_t port, std::uint32_t queue, const Packet& packet,
                  std::int64_t charge) {
  Queue& q = queues_[std::size_t{port} * 8 + queue];
  const std::uint32_t node = pool_.take(packet);
  if (q.head == kNone)
    q.head = node;
  else
    pool_[q.tail].next = node;
  q.tail = node;
  ++q.count;
  q.bytes += charge;
  q.peak = std::max(q.peak, q.bytes);
  ports_[port].waiting = static_cast<std::uint8_t>(ports_[port].waiting | (1U << queue));
  if (port == watch_.port && queue == watch_.queue) watch_note(q.bytes);
}

Packet Sim::dequeue(std::uint32_t port, std::uint32_t queue, std::int64_t charge) {
  Queue& q = queues_[std::size_t{port} * 8 + queue];
  const std::uint32_t node = q.head;
  const Packet packet = pool_[node].packet;
  q.head = pool_[node].next;
  pool_.give_back(node);
  --q.count;
  q.bytes -= charge;
  if (q.head == kNone) {
    q.tail = kNone;
    q.deficit = 0;
    ports_[port].waiting = static_cast<std::uint8_t>(ports_[port].waiting & ~(1U << queue));
  }
  if (port == watch_.port && queue == watch_.queue) watch_note(q.bytes);
  return packet;
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
  watch_ = {};
  watch_.port = port;
  watch_.queue = queue;
  watch_.since = watch_.last = now();
  watch_.level = watch_.low = watch_.high = queues_[std::size_t{port} * 8 + queue].bytes;
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
void Sim::announce(std::uint32_t port, std::uint8_t pause, std::uint8_t resume) {
  Port& p = ports_[port];
  PauseState& state = pauses_[port];
  if (hpcc_) peer_random_.skip();  // the peer draws an IP identification for its pause frame
  pause = static_cast<std::uint8_t>(pause & state.enabled);
  resume = static_cast<std::uint8_t>(resume & state.announced);
  state.announced = static_cast<std::uint8_t>((state.announced | pause) & ~resume);
  for (unsigned priority = 0; priority < 8; ++priority) {
    port_counters_[port].pause_tx[priority] += (pause >> priority) & 1U;
    port_counters_[port].resume_tx[priority] += (resume >> priority) & 1U;
  }
  // A pause that never left needs no resume.
  const auto unsent = static_cast<std::uint8_t>(resume & p.pause_due);
  p.pause_due = static_cast<std::uint8_t>((p.pause_due | pause) & ~resume);
  p.resume_due = static_cast<std::uint8_t>((p.resume_due | (resume & ~unsent)) & ~pause);
  if ((p.pause_due | p.resume_due) != 0) kick(port);
}

void Sim::send_pause_frame(std::uint32_t port) {
  Port& p = ports_[port];
  PauseState& state = pauses_[port];
  Packet frame;
  frame.kind = PacketKind::kPfc;
  frame.size = static_cast<std::uint16_t>(network_.wire.pfc_frame);
  frame.aux = std::uint32_t{p.pause_due} | (std::uint32_t{p.resume_due} << 8U);
  frame.psn = state.quanta;
  const bool pauses = p.pause_due != 0;
  p.pause_due = p.resume_due = 0;
  const Ps serialisation = p.wire_time[frame.size];
  p.busy_until = now() + serialisation;
  ++port_counters_[port].pfc_tx_frames;
  ++hops_;
  if (observer_ != nullptr) observer_->on_frame(now(), port, frame);
  if (hpcc_) {
    p.free_pending = true;
    events_.push(p.busy_until, tie_of(EventKind::kPortFree, port));
  }
  events_.push(p.busy_until + state.cable + pauses_[p.peer].reaction,
               tie_of(EventKind::kPfcApply, p.peer), frame);
  if (!hpcc_ && pauses && !state.refresh_pending) {
    state.refresh_pending = true;
    events_.push(now() + state.quanta_time / 2, tie_of(EventKind::kPauseRefresh, port));
  }
  if (!hpcc_ && has_work(p)) schedule_free(port);
}

/// A pause lasts its quanta; while it is meant to last longer it is said again in good time.
void Sim::pause_refresh(std::uint32_t port) {
  PauseState& state = pauses_[port];
  state.refresh_pending = false;
  if (state.announced == 0) return;
  ports_[port].pause_due = static_cast<std::uint8_t>(ports_[port].pause_due | state.announced);
  kick(port);
}

void Sim::apply_pause(std::uint32_t port, const Packet& packet) {
  PauseState& state = pauses_[port];
  const auto pause = static_cast<std::uint8_t>(packet.aux & 0xFFU);
  const auto resume = static_cast<std::uint8_t>(packet.aux >> 8U);
  ++port_counters_[port].pfc_rx_frames;
  if (observer_ != nullptr) observer_->on_pause(now(), port, pause, resume);
  if (!ports_[port].up) return;
  const Ps length = static_cast<Ps>(Int128{packet.psn} * 512 * kPicosecondsPerSecond / state.rate);
  for (unsigned priority = 0; priority < 8; ++priority) {
    if (((pause >> priority) & 1U) != 0) {
      ++port_counters_[port].pause_rx[priority];
      state.last_rx[priority] = now();
      if (((state.enabled >> priority) & 1U) == 0) continue;
      state.until[priority] = hpcc_ ? kNever : now() + length;
      set_pause(port, priority, true);
      if (!hpcc_ && !state.expire_pending) {
        state.expire_pending = true;
        events_.push(state.until[priority], tie_of(EventKind::kPauseExpire, port));
      }
    }
    if (((resume >> priority) & 1U) != 0) {
      ++port_counters_[port].resume_rx[priority];
      set_pause(port, priority, false);
    }
  }
  if (hpcc_ || has_work(ports_[port])) kick(port);
}

void Sim::set_pause(std::uint32_t port, unsigned priority, bool paused) {
  PauseState& state = pauses_[port];
  Port& p = ports_[port];
  const auto bit = static_cast<std::uint8_t>(1U << priority);
  const bool was = (state.paused & bit) != 0;
  if (was == paused) return;
  state.paused = static_cast<std::uint8_t>(state.paused ^ bit);
  if (paused)
    state.since[priority] = now();
  else
    port_counters_[port].paused_time[priority] += now() - state.since[priority];
  if (!p.is_switch) {
    p.paused = state.paused;
    return;
  }
  const SwitchConfig& config = *switches_[index_of_[p.node]].config;
  std::uint8_t queues = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (((state.paused >> i) & 1U) != 0)
      queues = static_cast<std::uint8_t>(queues | (1U << config.priority_to_queue[i]));
  p.paused = static_cast<std::uint8_t>(queues & ~state.tripped);
  if (paused && config.watchdog.detection.raw() > 0 && !state.watchdog_pending) {
    state.watchdog_pending = true;
    events_.push(now() + config.watchdog.detection.raw(), tie_of(EventKind::kWatchdog, port));
  }
}

void Sim::pause_expire(std::uint32_t port) {
  PauseState& state = pauses_[port];
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
    events_.push(next, tie_of(EventKind::kPauseExpire, port));
  }
  if (has_work(ports_[port])) kick(port);
}

}  // namespace weir::sim
