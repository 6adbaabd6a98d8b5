#include "sim/replay/rest.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "sim/domains/windows.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim.h"
#include "sim/replay/plain.h"
#include "sim/replay/script.h"

namespace weir::sim {
namespace {

using engine::Nic;
using engine::Port;
using engine::Receiver;
using engine::Region;
using engine::Sender;
using engine::State;
using engine::Switch;
using engine::Tables;

constexpr std::uint32_t kNoRegion = 0xFFFFFFFFU;

// ---- is it at rest?

std::string_view moving_port(const Tables& sim, const Port& port, Ps origin) {
  if (port.waiting != 0 || port.free_pending || port.busy_until > origin) return "a frame waits";
  if (port.has_pause_frame() || port.paused != 0 || port.tripped != 0) return "a port is paused";
  const engine::PauseState& pause = sim.pauses[port.self];
  if (pause.paused != 0 || pause.announced != 0 || pause.expire_pending || pause.refresh_pending ||
      pause.watchdog_pending)
    return "a pause is not over";
  for (std::uint32_t queue = 0; queue < sim.slots.count(); ++queue)
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

/// Of a port or a queue pair of another region.
bool is_elsewhere(const Tables& sim, const Event& event, std::uint32_t region) {
  const std::uint32_t entity = entity_of(event.tie);
  switch (kind_of(event.tie)) {
    case EventKind::kPfcApply:
    case EventKind::kPauseExpire:
    case EventKind::kPortFree:
    case EventKind::kArrive:
    case EventKind::kForward:
    case EventKind::kPauseRefresh:
    case EventKind::kNicDrain:
    case EventKind::kWatchdog:
    case EventKind::kNicWake: return sim.region_of_node[sim.ports[PortId{entity}].node] != region;
    case EventKind::kQpWake:
    case EventKind::kQpTimeout:
    case EventKind::kRecvRepost:
    case EventKind::kCnpDue: return sim.region_of[QpId{entity}] != region;
    case EventKind::kLinkState:
    case EventKind::kUnused: break;
  }
  return false;
}

/// Everything, or one of Tables::regions.
struct Scope {
  const Region& region;
  std::optional<std::uint32_t> index;

  [[nodiscard]] bool contains(const Tables& sim, QpId qp) const {
    return !index || sim.region_of[qp] == *index;
  }
};

std::string_view moving_event(const Tables& sim, const Scope& scope) {
  const engine::Messages messages = sim.posted();
  std::string_view found;
  for_each_event(sim, [&](const Event& event) {
    const EventKind kind = kind_of(event.tie);
    if (kind == EventKind::kQpTimeout) return;
    const QpId qp{entity_of(event.tie)};
    if (kind != EventKind::kQpWake) {
      if (scope.index && is_elsewhere(sim, event, *scope.index)) return;
      found = "something else is to happen";
      return;
    }
    if (!scope.contains(sim, qp)) return;
    if (const Sender& sender = sim.senders[qp]; sender.wake_at != event.at ||
                                                sender.current == kNo<MessageId> ||
                                                messages[sender.current].post != event.at) {
      found = "a queue pair wakes in between";
    }
  });
  return found;
}

std::string_view moving(Tables& sim, const Scope& scope, Ps origin) {
  for (const PortId p : scope.region.ports)
    if (const auto why = moving_port(sim, sim.ports[p], origin); !why.empty()) return why;
  for (const std::uint32_t s : scope.region.switches) {
    const Switch& sw = sim.switches[s];
    if (sw.in_pipeline != 0 || sw.buffer.total_used() != 0 || sw.buffer.shared_used() != 0)
      return "a buffer is not empty";
  }
  for (const std::uint32_t n : scope.region.nics)
    if (sim.nics[n].ready != 0 || !is_drained(sim.nics[n], origin))
      return "a NIC has not taken everything in";
  for (const QpId qp : scope.region.qps)
    if (const auto why = moving_qp(sim.senders[qp], sim.receivers[qp], origin); !why.empty())
      return why;
  return moving_event(sim, scope);
}

// ---- what is remembered

/// By NIC: the priorities of the round robin that its queue pairs use.
std::vector<std::uint8_t> priorities_in_turn(const Tables& sim, const Region& region) {
  std::vector<std::uint8_t> used(sim.nics.size(), 0);
  const auto use = [&](const Nic& nic, std::uint8_t priority) {
    std::uint8_t& mask = used[static_cast<std::size_t>(&nic - sim.nics.data())];
    mask = static_cast<std::uint8_t>(mask | (engine::bit_of(priority) & ~nic.strict));
  };
  for (const QpId qp : region.qps) {
    use(*sim.senders[qp].nic, sim.senders[qp].priority);
    use(*sim.receivers[qp].nic, sim.receivers[qp].priority);
  }
  return used;
}

std::vector<std::uint8_t> turns_of(const Tables& sim, const Region& region) {
  std::vector<std::uint8_t> turns;
  for (const PortId p : region.ports)
    if (sim.ports[p].sw != nullptr) turns.push_back(sim.ports[p].round_robin);
  const std::vector<std::uint8_t> used = priorities_in_turn(sim, region);
  for (const std::uint32_t n : region.nics)
    if (std::popcount(used[n]) > 1) turns.push_back(sim.nics[n].port->round_robin);
  return turns;
}

void remember_messages(const Tables& sim, const Scope& scope, Rest& out) {
  const engine::Messages messages = sim.posted();
  std::uint64_t left = sim.sum(&State::open_messages);
  std::uint64_t open = 0;
  out.end = messages.end_id();
  out.open = out.end;
  out.origin = kNever;
  for (std::uint32_t m = to_index(out.end); left > 0 && m-- > 0;) {
    const MessageRecord& message = messages[MessageId{m}];
    if (message.state != MessageState::kPosted) continue;
    --left;
    if (!scope.contains(sim, message.qp)) continue;
    out.open = MessageId{m};
    out.origin = std::min(out.origin, message.post);
    ++open;
  }
  out.is_compact = out.end - out.open == open;
  const auto relative = [&](Ps at) { return at == kNever ? kNever : at - out.origin; };
  for (const MessageId m : IdRange<MessageId>(out.open, out.end)) {
    const MessageRecord& message = messages[m];
    if (!scope.contains(sim, message.qp)) continue;
    out.recent.push_back({message.qp, message.size, message.post - out.origin,
                          relative(message.delivered), relative(message.done)});
  }
}

void remember_traffic(const Tables& sim, const Scope& scope, Rest& out) {
  const auto add = [&](const std::uint64_t& counter) { out.counters.push_back(counter); };
  for_each_counter(sim, scope.region, add);
  if (!scope.index) for_each_sum(sim, add);
  for (const QpId qp : scope.region.qps) {
    out.delivered.push_back(sim.receivers[qp].bytes);
    out.acknowledged.push_back(sim.senders[qp].una);
    out.rates.push_back(sim.senders[qp].control->rate());
  }
  for (const PortId p : scope.region.ports) {
    out.random.push_back(sim.port_random[p].state());
    const std::uint64_t sent = sum_of(sim.traffic_of(p)).tx.frames;
    out.hops += sent;
    if (sim.ports[p].nic != nullptr) out.frames += sent;
  }
}

std::unique_ptr<Rest> rest_in(Tables& sim, const Scope& scope, Ps now, std::string_view& why) {
  auto out = std::make_unique<Rest>();
  remember_messages(sim, scope, *out);
  out->since = now;
  if (out->open == out->end) why = "nothing follows";
  if (why.empty() && out->origin <= now) why = "a message is under way";
  if (why.empty()) why = moving(sim, scope, out->origin);
  if (!why.empty()) return nullptr;
  out->turns = turns_of(sim, scope.region);
  out->incidents = incidents_of(sim, scope.region);
  remember_traffic(sim, scope, *out);
  return out;
}

// ---- repeating

void count_up(Tables& sim, const Rest& before, std::uint64_t times) {
  std::size_t i = 0;
  const auto count = [&](std::uint64_t& counter) {
    counter += (counter - before.counters[i++]) * times;
  };
  for_each_counter(sim, sim.whole, count);
  for_each_sum(sim, count);
}

/// What queue pairs with traffic in the period did last, they did later. PSNs stay: nothing depends
/// on them but on their differences.
void shift_qps(Tables& sim, const Rest& before, std::uint64_t times, Ps shift) {
  for (const QpId qp : sim.senders.ids()) {
    Sender& sender = sim.senders[qp];
    Receiver& receiver = sim.receivers[qp];
    sender.timer_pending = false;
    sender.is_guarded = true;
    if (sender.una == before.acknowledged[to_index(qp)]) continue;
    sender.last_send += shift;
    if (sender.timeout_at != kNever) sender.timeout_at += shift;
    receiver.bytes +=
        (receiver.bytes - before.delivered[to_index(qp)]) * static_cast<std::int64_t>(times);
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
    domain->open_messages = domain->unsent = domain->undelivered = 0;
}

// ---- regions

/// Into regions with traffic, in the order of their first queue pairs.
void divide(Tables& sim) {
  const auto part_of = engine::parts_of(sim.network, sim.routes);
  std::map<std::uint32_t, std::uint32_t> number;
  for (const QueuePair& qp : sim.network.qps)
    sim.region_of.push_back(
        number.emplace(part_of[qp.source], static_cast<std::uint32_t>(number.size()))
            .first->second);
  sim.regions.resize(number.size());
  sim.scripts.resize(number.size());
  sim.region_of_node.assign(sim.network.nodes.size(), kNoRegion);
  for (const NodeId n : sim.network.nodes.ids())
    if (const auto found = number.find(part_of[n]); found != number.end())
      sim.region_of_node[n] = found->second;
  for (const QpId qp : sim.senders.ids())
    sim.regions[sim.region_of[qp]].qps.push_back(qp);
  for (const NodeId n : sim.network.nodes.ids()) {
    if (sim.region_of_node[n] == kNoRegion) continue;
    Region& region = sim.regions[sim.region_of_node[n]];
    if (region.ports.empty()) region.domain = sim.domain_of[n];
    region.is_whole = region.is_whole && region.domain == sim.domain_of[n];
    for (const PortId p : sim.ports_of(n))
      region.ports.push_back(p);
    const bool is_switch = sim.network.nodes[n].kind == NodeKind::kSwitch;
    (is_switch ? region.switches : region.nics).push_back(sim.index_of[n]);
  }
}

/// Links that every packet of the queue pair crosses: all of its paths are shortest ones.
std::uint64_t links_of(const Tables& sim, const QueuePair& qp) {
  std::uint64_t links = 1;
  PortId port = sim.ports[sim.first_port[qp.source]].peer;
  while (sim.ports[port].node != qp.target) {
    const NodeId node = sim.ports[port].node;
    port = sim.ports[sim.first_port[node] + sim.routes.next(node, qp.target)[0]].peer;
    ++links;
  }
  return links;
}

void add_qps(const Tables& sim, const Region& region, const Rest& before, Episode& out) {
  std::map<QpId, std::uint32_t> last;
  for (std::uint32_t m = 0; m < out.messages.size(); ++m)
    last[out.messages[m].qp] = m;
  for (std::size_t i = 0; i < region.qps.size(); ++i) {
    const auto found = last.find(region.qps[i]);
    if (found == last.end()) continue;
    const Sender& sender = sim.senders[region.qps[i]];
    const bool has_deadline = sender.timeout_at != kNever;
    out.qps.push_back({region.qps[i], found->second, sender.last_wire,
                       sender.last_send - before.origin,
                       has_deadline ? sender.timeout_at - before.origin : kNever,
                       sim.receivers[region.qps[i]].bytes - before.delivered[i]});
  }
}

}  // namespace

std::string_view Rest::is_touched_since(const Rest& before) const {
  if (incidents != before.incidents || random != before.random)
    return "there were marks, pauses, drops or random draws";
  if (rates != before.rates) return "rates changed";
  if (turns != before.turns) return "the turns of the schedulers differ";
  return {};
}

std::string_view Rest::differs_from(const Rest& before) const {
  if (const auto why = is_touched_since(before); !why.empty()) return why;
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
  engine::find_whole(sim);
  return rest_in(sim, {sim.whole, std::nullopt}, now(), why);
}

// ---- regions

std::uint32_t Sim::find_regions() {
  Tables& sim = *all_;
  if (sim.regions.empty()) divide(sim);
  return static_cast<std::uint32_t>(sim.regions.size());
}

std::unique_ptr<Rest> Sim::rest_of(std::uint32_t region, std::string_view& why) const {
  Tables& sim = *all_;
  why = sim.regions[region].is_whole ? "" : "two threads simulate the region";
  if (!why.empty()) return nullptr;
  static_cast<void>(messages());
  return rest_in(sim, {sim.regions[region], region}, now(), why);
}

std::shared_ptr<const Episode> Sim::episode(std::uint32_t region, const Rest& before,
                                            const Rest& now) const {
  const Tables& sim = *all_;
  const Region& scope = sim.regions[region];
  auto out = std::make_shared<Episode>();
  out->begin = before;
  for (const MessageId m : IdRange<MessageId>(before.open, now.end)) {
    const MessageRecord& message = sim.posted()[m];
    if (sim.region_of[message.qp] != region || message.state == MessageState::kPosted) continue;
    if (message.done < before.origin) continue;  // of the step before
    if (message.state != MessageState::kDone || message.delivered == kNever) return nullptr;
    const auto index = static_cast<std::uint32_t>(out->messages.size());
    const QueuePair& qp = sim.network.qps[message.qp];
    out->data_hops += message.packets * links_of(sim, qp);
    out->messages.push_back({message.qp, message.size, message.post - before.origin});
    out->entries.push_back(
        {message.delivered - before.origin, sim.first_port[qp.target], index, false});
    out->entries.push_back({message.done - before.origin, sim.first_port[qp.source], index, true});
  }
  if (out->entries.empty()) return nullptr;
  std::stable_sort(out->entries.begin(), out->entries.end(),
                   [](const Episode::Entry& a, const Episode::Entry& b) {
                     return std::pair(a.at, a.port) < std::pair(b.at, b.port);
                   });
  add_qps(sim, scope, before, *out);
  for (std::size_t i = 0; i < before.counters.size(); ++i)
    out->counters.push_back(now.counters[i] - before.counters[i]);
  // Every frame of plain traffic comes from a NIC and ends at one.
  out->frames = now.frames - before.frames;
  out->hops = now.hops - before.hops;
  return out;
}

void Sim::play(std::uint32_t region, std::shared_ptr<const Episode> episode, const Rest& now) {
  Tables& sim = *all_;
  WEIR_CHECK(now.begins_like(episode->begin) && now.since == this->now());
  std::vector<MessageId> posted;
  for (const MessageId m : IdRange<MessageId>(now.open, now.end)) {
    const MessageRecord& message = sim.posted()[m];
    if (sim.region_of[message.qp] == region && message.state == MessageState::kPosted)
      posted.push_back(m);
  }
  engine::begin_script(sim, region, std::move(episode), now.origin, std::move(posted));
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
