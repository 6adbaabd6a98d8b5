#include "sim/replay/script.h"

#include <utility>

#include "base/check.h"
#include "sim/engine/nic.h"
#include "sim/engine/transport.h"
#include "sim/engine/wire.h"
#include "sim/replay/plain.h"

namespace weir::sim::engine {
namespace {

/// All of the next instant: nothing can be pushed for an instant that has begun.
void push_instant(State& sim, std::uint32_t region, Script& script) {
  const std::vector<Episode::Entry>& entries = script.episode->entries;
  const Ps at = entries[script.pushed].at;
  while (script.pushed < entries.size() && entries[script.pushed].at == at) {
    const PortId port = entries[script.pushed].port;
    Packet packet;
    packet.flags = kFlagReplayed;
    packet.key = region;
    packet.psn = static_cast<std::uint32_t>(script.pushed);
    sim.events.push(script.origin + at, tie_of(EventKind::kArrive, port), packet);
    while (script.pushed < entries.size() && entries[script.pushed].at == at &&
           entries[script.pushed].port == port)
      ++script.pushed;
  }
}

void deliver(State& sim, MessageId message) {
  sim.messages[message].delivered = sim.now();
  if (sim.driver != nullptr) sim.driver->on_delivered(message, sim.now());
}

/// As they are after the packets of the episode.
void bring_up_to_date(Tables& all, const Script& script, const Episode::Qp& end) {
  Sender& sender = all.senders[end.qp];
  Receiver& receiver = all.receivers[end.qp];
  const MessageId last = script.messages[end.last];
  sender.next_psn = sender.una = sender.top_psn = all.posted()[last].end_psn();
  sender.last_send = script.origin + end.last_send;
  sender.last_wire = end.last_wire;
  sender.timeout_at = end.timeout_at == kNever ? kNever : script.origin + end.timeout_at;
  receiver.expected = sender.una;
  receiver.message = last;
  receiver.bytes += end.bytes;
}

void end_script(State& sim, std::uint32_t index, Script& script) {
  Tables& all = sim.all;
  const Region& region = all.regions[index];
  const Episode& episode = *script.episode;
  for (const Episode::Qp& end : episode.qps)
    bring_up_to_date(all, script, end);
  for (const QpId qp : region.qps)
    all.senders[qp].is_scripted = false;
  for (const MessageId m : script.later) {
    Sender& sender = all.senders[sim.messages[m].qp];
    if (sender.current == kNo<MessageId>) sender.current = sender.oldest = m;
  }
  for (const std::uint32_t n : region.nics)
    refresh_disturbed(all, *all.nics[n].port);
  std::size_t i = 0;
  for_each_counter(all, region, [&](std::uint64_t& counter) { counter += episode.counters[i++]; });
  sim.created += episode.frames;
  sim.consumed += episode.frames;
  sim.data_hops += episode.data_hops;
  script = {};
  sim.frame_gone();
}

}  // namespace

void begin_script(Tables& all, std::uint32_t index, std::shared_ptr<const Episode> episode,
                  Ps origin, std::vector<MessageId> posted) {
  const Region& region = all.regions[index];
  State& sim = *all.domains[region.domain];
  WEIR_CHECK(region.is_whole && !episode->entries.empty());
  for (const QpId qp : region.qps) {
    Sender& sender = all.senders[qp];
    sender.is_scripted = sender.is_guarded = true;
    sender.current = sender.oldest = kNo<MessageId>;
  }
  for (const std::uint32_t n : region.nics)
    all.nics[n].port->is_disturbed = true;
  sim.unsent -= posted.size();
  sim.undelivered -= posted.size();
  ++sim.live_frames;  // so that nobody takes it for one at rest
  Script& script = all.scripts[index];
  script = {std::move(episode), origin, std::move(posted), {}, 0, 0};
  push_instant(sim, index, script);
}

void script_post(State& sim, MessageId index) {
  MessageRecord& message = sim.messages[index];
  Script& script = sim.all.scripts[sim.all.region_of[message.qp]];
  const Episode& episode = *script.episode;
  Sender& sender = sim.senders[message.qp];
  if (sender.last == kNo<MessageId>) return doubt_replay(sim);  // it never sent anything before
  MessageRecord& last = sim.messages[sender.last];
  last.next = index;
  message.first_psn = last.end_psn();
  sender.last = index;
  if (script.messages.size() < episode.messages.size()) {
    const Episode::Message& expected = episode.messages[script.messages.size()];
    const bool is_same = expected.qp == message.qp && expected.size == message.size &&
                         script.origin + expected.post == message.post;
    if (!is_same) doubt_replay(sim);
    script.messages.push_back(index);
    return;
  }
  ++sim.unsent;
  ++sim.undelivered;
  if (message.post <= script.origin + episode.entries.back().at) doubt_replay(sim);
  script.later.push_back(index);
  wake_later(sim, message.qp, message.post);
}

void script_arrive(State& sim, const Packet& packet) {
  const std::uint32_t region = packet.key;
  Script& script = sim.all.scripts[region];
  const std::vector<Episode::Entry>& entries = script.episode->entries;
  const std::size_t first = packet.psn;
  if (script.pushed < entries.size() && entries[script.pushed - 1].at == entries[first].at)
    push_instant(sim, region, script);
  for (std::size_t i = first; i < entries.size() && entries[i].at == entries[first].at &&
                              entries[i].port == entries[first].port;
       ++i) {
    if (entries[i].message >= script.messages.size()) return doubt_replay(sim);
    const MessageId message = script.messages[entries[i].message];
    if (entries[i].is_done)
      message_done(sim, message);
    else
      deliver(sim, message);
    ++script.handled;
  }
  if (script.handled == entries.size()) end_script(sim, region, script);
}

}  // namespace weir::sim::engine
