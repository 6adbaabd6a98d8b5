#include "sim/engine/rest.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {

using engine::Nic;
using engine::Port;
using engine::Receiver;
using engine::Sender;
using engine::State;
using engine::Switch;
using engine::Tables;

// ---- is it at rest?

std::string_view moving_port(const Tables& sim, const Port& port, Ps origin) {
  if (port.waiting != 0 || port.free_pending || port.busy_until > origin) return "a frame waits";
  if (port.has_pause_frame() || port.paused != 0 || port.tripped != 0) return "a port is paused";
  const engine::PauseState& pause = sim.pauses[port.self];
  if (pause.paused != 0 || pause.announced != 0 || pause.expire_pending || pause.refresh_pending ||
      pause.watchdog_pending)
    return "a pause is not over";
  for (std::uint32_t queue = 0; queue < 8; ++queue)
    if (port.queues[queue].bytes != 0 || port.queues[queue].deficit != 0) return "a frame waits";
  return {};
}

/// Empty by `origin`, whenever it is looked at from then on.
bool is_drained(const Nic& nic, Ps origin) {
  if (nic.receive_paused != 0 || nic.drain_pending) return false;
  if (nic.receive_level == 0) return true;
  Nic later = nic;
  later.drain_until(origin);
  return later.receive_level == 0;
}

std::string_view moving_qp(Sender& sender, const Receiver& receiver, Ps origin) {
  if (sender.failed) return "a queue pair failed";
  if (!sender.control->is_at_rest()) return "congestion control has acted";
  if (sender.una != sender.top_psn || sender.next_psn != sender.top_psn || sender.has_gap())
    return "a packet is not acknowledged";
  if (sender.in_ready || sender.retries != 0 || sender.rnr_retries != 0)
    return "a packet is sent again";
  if (sender.earliest_send(sender.nic->line, origin) > origin) return "a rate holds a packet back";
  if (receiver.expected != sender.top_psn || receiver.unacked != 0 || receiver.retries != 0)
    return "a packet is not acknowledged";
  return {};
}

/// The only events allowed: a queue pair wakes for a message posted for then; time-outs.
template <class See>
void for_each_event(const Tables& sim, See&& see) {
  for (const auto& domain : sim.domains)
    domain->events.for_each(see);
}

std::string_view moving_event(const Tables& sim) {
  const engine::Messages messages = sim.posted();
  std::string_view found;
  for_each_event(sim, [&](const Event& event) {
    const EventKind kind = kind_of(event.tie);
    if (kind == EventKind::kQpTimeout) return;
    const QpId qp{entity_of(event.tie)};
    if (kind != EventKind::kQpWake) {
      found = "something else is to happen";
    } else if (const Sender& sender = sim.senders[qp]; sender.wake_at != event.at ||
                                                       sender.current == kNo<MessageId> ||
                                                       messages[sender.current].post != event.at) {
      found = "a queue pair wakes in between";
    }
  });
  return found;
}

std::string_view moving(Tables& sim, Ps origin) {
  for (const Port& port : sim.ports)
    if (const auto why = moving_port(sim, port, origin); !why.empty()) return why;
  for (const Switch& sw : sim.switches)
    if (sw.in_pipeline != 0 || sw.buffer.total_used() != 0 || sw.buffer.shared_used() != 0)
      return "a buffer is not empty";
  for (const Nic& nic : sim.nics)
    if (nic.ready != 0 || !is_drained(nic, origin)) return "a NIC has not taken everything in";
  for (const QpId qp : sim.senders.ids())
    if (const auto why = moving_qp(sim.senders[qp], sim.receivers[qp], origin); !why.empty())
      return why;
  return moving_event(sim);
}

// ---- what is remembered

/// Every counter that plain traffic leaves alone. They only grow, so that their sum stays the same
/// only if each of them does.
std::uint64_t incidents_of(const Tables& sim) {
  std::uint64_t sum = sim.sum(&State::dropped);
  const auto add = [&](const auto& counters) {
    for (const auto value : counters)
      sum += static_cast<std::uint64_t>(value);
  };
  for (const PortCounters& port : sim.port_counters) {
    sum += port.rx_frames + port.marked + port.pfc_tx_frames + port.pfc_rx_frames +
           port.lossless_drops + port.watchdog_trips + port.watchdog_restores;
    add(port.pause_tx);
    add(port.resume_tx);
    add(port.pause_rx);
    add(port.resume_rx);
    add(port.paused_time);
    add(port.drops);
  }
  for (const Nic& nic : sim.nics) {
    const NicCounters& c = nic.counters;
    sum += c.cnp_sent + c.ce_received + c.cnp_handled + c.cnp_ignored + c.out_of_sequence +
           c.packet_seq_err + c.duplicate_request + c.implied_nak_seq_err + c.local_ack_timeout +
           c.out_of_buffer + c.rnr_nak_received + c.retries_exhausted + c.retransmitted;
  }
  return sum;
}

/// By NIC: the priorities of the round robin that its queue pairs use.
std::vector<std::uint8_t> priorities_in_turn(const Tables& sim) {
  std::vector<std::uint8_t> used(sim.nics.size(), 0);
  const auto use = [&](const Nic& nic, std::uint8_t priority) {
    std::uint8_t& mask = used[static_cast<std::size_t>(&nic - sim.nics.data())];
    mask = static_cast<std::uint8_t>(mask | (engine::bit_of(priority) & ~nic.strict));
  };
  for (const QpId qp : sim.senders.ids()) {
    use(*sim.senders[qp].nic, sim.senders[qp].priority);
    use(*sim.receivers[qp].nic, sim.receivers[qp].priority);
  }
  return used;
}

std::vector<std::uint8_t> turns_of(const Tables& sim) {
  std::vector<std::uint8_t> turns;
  for (const Port& port : sim.ports)
    if (port.sw != nullptr) turns.push_back(port.round_robin);
  const std::vector<std::uint8_t> used = priorities_in_turn(sim);
  for (std::size_t n = 0; n < sim.nics.size(); ++n)
    if (std::popcount(used[n]) > 1) turns.push_back(sim.nics[n].port->round_robin);
  return turns;
}

void remember_messages(const Tables& sim, Rest& out) {
  const engine::Messages messages = sim.posted();
  const std::uint64_t open = sim.sum(&State::open_messages);
  out.end = messages.end_id();
  out.open = out.end;
  out.origin = kNever;
  std::uint64_t left = open;
  for (std::uint32_t m = to_index(out.end); left > 0 && m-- > 0;) {
    const MessageRecord& message = messages[MessageId{m}];
    if (message.state != MessageState::kPosted) continue;
    out.open = MessageId{m};
    out.origin = std::min(out.origin, message.post);
    --left;
  }
  out.is_compact = out.end - out.open == open;
  const auto relative = [&](Ps at) { return at == kNever ? kNever : at - out.origin; };
  for (const MessageId m : IdRange<MessageId>(out.open, out.end)) {
    const MessageRecord& message = messages[m];
    out.recent.push_back({message.qp, message.size, message.post - out.origin,
                          relative(message.delivered), relative(message.done)});
  }
}

/// Calls `see(std::uint64_t&)` for every counter that plain traffic moves, always in one order.
template <class AnyState, class See>
void for_each_counter(AnyState& sim, See&& see) {
  for (auto& port : sim.traffic)
    for (auto& part : port.by_class)
      for (auto* const tally : {&part.rx, &part.tx}) {
        see(tally->frames);
        see(tally->bytes);
      }
  for (auto& nic : sim.nics) {
    auto& c = nic.counters;
    for (auto* const counter : {&c.acks_sent, &c.socket_tx_frames, &c.socket_tx_bytes,
                                &c.socket_rx_frames, &c.socket_rx_bytes})
      see(*counter);
  }
  for (const auto& domain : sim.domains)
    for (std::uint64_t* const counter : {&domain->data_hops, &domain->created, &domain->consumed})
      see(*counter);
}

void remember_traffic(const Tables& sim, Rest& out) {
  for_each_counter(sim, [&](const std::uint64_t& counter) { out.counters.push_back(counter); });
  for (const QpId qp : sim.senders.ids()) {
    out.delivered.push_back(sim.receivers[qp].bytes);
    out.acknowledged.push_back(sim.senders[qp].una);
    out.rates.push_back(sim.senders[qp].control->rate());
  }
  for (const RandomStream& stream : sim.port_random)
    out.random.push_back(stream.state());
}

// ---- repeating

void count_up(Tables& sim, const Rest& before, std::uint64_t times) {
  std::size_t i = 0;
  for_each_counter(
      sim, [&](std::uint64_t& counter) { counter += (counter - before.counters[i++]) * times; });
}

/// What queue pairs with traffic in the period did last, they did later. PSNs stay: nothing depends
/// on them but on their differences.
void shift_qps(Tables& sim, const Rest& before, std::uint64_t times, Ps shift) {
  for (const QpId qp : sim.senders.ids()) {
    Sender& sender = sim.senders[qp];
    Receiver& receiver = sim.receivers[qp];
    sender.timer_pending = false;
    if (sender.una == before.acknowledged[qp]) continue;
    sender.last_send += shift;
    if (sender.timeout_at != kNever) sender.timeout_at += shift;
    receiver.bytes += (receiver.bytes - before.delivered[qp]) * static_cast<std::int64_t>(times);
  }
}

void shift_message(MessageRecord& message, Ps shift) {
  message.post += shift;
  if (message.delivered != kNever) message.delivered += shift;
  if (message.done != kNever) message.done += shift;
}

/// The messages of a period that does not follow after all are taken back.
void take_back(Tables& sim, MessageId first) {
  const engine::Messages messages = sim.posted();
  for (const MessageId m : IdRange<MessageId>(first, messages.end_id())) {
    Sender& sender = sim.senders[messages[m].qp];
    sender.current = sender.oldest = kNo<MessageId>;
    sender.wake_at = kNever;
    sim.receivers[messages[m].qp].message = kNo<MessageId>;
  }
  sim.message_count = to_index(first);
  sim.in_order = first;
  for (const auto& domain : sim.domains)
    domain->open_messages = domain->unsent = 0;
}

}  // namespace

std::string_view Rest::differs_from(const Rest& before) const {
  if (incidents != before.incidents || random != before.random)
    return "there were marks, pauses, drops or random draws";
  if (rates != before.rates) return "rates changed";
  if (turns != before.turns) return "the turns of the schedulers differ";
  if (recent != before.recent) return "other messages follow";
  return {};
}

std::string_view Sim::cannot_rest() const {
  const Tables& sim = *all_;
  if (sim.network.model != Model::kNative) return "the model of the HPCC simulator";
  if (sim.domains[0]->observer != nullptr) return "every frame is written down";
  if (sim.watch.port != kNo<PortId>) return "a queue is watched";
  if (!sim.network.changes.empty()) return "links change during the run";
  for (const Switch& sw : sim.switches)
    if (sw.config->balancing == LoadBalancing::kSpray) return "switches spray packets at random";
  for (const PortId p : sim.ports.ids())
    if (sim.error_threshold[p] != 0) return "a link loses frames at random";
  for (const QueuePair& qp : sim.network.qps) {
    if (qp.operation == Operation::kRead) return "a workload uses RDMA READ";
    if (qp.receives >= 0) return "receives are limited";
  }
  return {};
}

void Sim::set_stop_at_rest(bool stops) {
  for (const auto& domain : all_->domains)
    domain->stop_below = stops ? UINT64_MAX : 0;
}

std::unique_ptr<Rest> Sim::rest(std::string_view& why) const {
  Tables& sim = *all_;
  why = live_frames() != 0 ? "a frame is under way" : "";
  if (!why.empty() || open_messages() == 0) return nullptr;
  static_cast<void>(messages());  // numbers them
  auto out = std::make_unique<Rest>();
  remember_messages(sim, *out);
  out->since = now();
  if (out->origin <= now()) why = "a message is under way";
  if (why.empty()) why = moving(sim, out->origin);
  if (!why.empty()) return nullptr;
  out->turns = turns_of(sim);
  out->incidents = incidents_of(sim);
  remember_traffic(sim, *out);
  return out;
}

void Sim::repeat(const Rest& before, const Rest& now, std::uint64_t times, bool is_last) {
  Tables& sim = *all_;
  WEIR_CHECK(now.differs_from(before).empty() && now.since == this->now() && times > 0);
  WEIR_CHECK(!is_last || now.is_compact);
  const std::uint32_t count = now.end - before.end;
  const Ps period = now.period_since(before);
  const Ps shift = period * static_cast<Ps>(times);
  count_up(sim, before, times);
  shift_qps(sim, before, times, shift);
  for (const MessageId m : IdRange<MessageId>(now.open, now.end))
    shift_message(sim.posted()[m], shift);
  sim.repeats.push_back({MessageId{to_index(now.open) - count}, count, times, period});
  std::vector<std::pair<Ps, QpId>> wakes;
  for_each_event(sim, [&](const Event& event) {
    if (kind_of(event.tie) == EventKind::kQpWake)
      wakes.emplace_back(event.at, QpId{entity_of(event.tie)});
  });
  sim.now = now.since + shift;
  for (const auto& domain : sim.domains) {
    domain->events.restart(sim.now);
    domain->guards_timers = true;
  }
  if (is_last) return take_back(sim, now.open);
  for (const auto& [at, qp] : wakes) {
    sim.senders[qp].wake_at = at + shift;
    sim.domain_at(sim.network.qps[qp].source)
        .events.push(at + shift, tie_of(EventKind::kQpWake, qp));
  }
}

const std::vector<Repeat>& Sim::repeats() const {
  return all_->repeats;
}

std::uint64_t Sim::message_count() const {
  std::uint64_t count = all_->posted().size();
  for (const Repeat& repeat : all_->repeats)
    count += repeat.times * repeat.count;
  return count;
}

bool Sim::is_replay_in_doubt() const {
  return all_->sum(&State::is_replay_in_doubt) != 0;
}

}  // namespace weir::sim
