// The host and the switch of the HPCC simulator: one list of queue pairs, searched from the one
// after the last sender; ACKs first; one pending wake-up per host.
#include "sim/peer/hpcc_world.h"

#include <algorithm>

#include "sim/engine/nic.h"
#include "sim/engine/switch.h"
#include "sim/engine/transport.h"
#include "sim/engine/wire.h"

namespace weir::sim {

std::int64_t hpcc_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const double rest = seconds - static_cast<double>(whole);
  const auto fraction = static_cast<std::uint64_t>(rest * 18446744073709551616.0);
  const auto below = static_cast<std::int64_t>((Int128{fraction} * 1'000'000'000) >> 64U);
  return (whole * 1'000'000'000 + below) * 1000;
}

std::int64_t hpcc_time(std::int64_t bytes, std::int64_t rate) {
  return hpcc_time(static_cast<double>(bytes) * 8 / static_cast<double>(rate));
}

}  // namespace weir::sim

namespace weir::sim::engine {
namespace {

constexpr unsigned kAckPriority = 7;   // the priority that read_hpcc() gives to ACKs
constexpr unsigned kDataPriority = 3;  // and to data

PeerWorld::Host& host_of(Engine<PeerWorld>& sim, const Nic& nic) {
  return sim.extra.hosts[static_cast<std::size_t>(&nic - sim.all.nics.data())];
}

/// The QP to send from, as a place in the list, or kNone. Finished ones leave the list on the way;
/// the place searched from stays what it was, as in the peer.
std::uint32_t choose_qp(Engine<PeerWorld>& sim, const Nic& nic, PeerWorld::Host& host) {
  const auto count = static_cast<std::uint32_t>(host.qps.size());
  const bool paused = has_bit(nic.port->paused, kDataPriority);
  const auto is_finished = [&](QpId qp) { return sim.senders[qp].oldest == kNo<MessageId>; };
  std::uint32_t chosen = kNone;
  std::uint32_t finished = kNone;
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::uint32_t place = (i + host.last) % count;
    const QpId qp = host.qps[place];
    if (!paused && has_data(sim, qp)) {
      if (sim.senders[qp].next_send > sim.now()) continue;
      chosen = place;
      break;
    }
    if (is_finished(qp)) finished = std::min(finished, place);
  }
  if (finished == kNone) return chosen;
  std::uint32_t to = finished;
  for (std::uint32_t place = finished + 1; place < count; ++place) {
    if (is_finished(host.qps[place])) continue;
    if (place == chosen) chosen = to;
    host.qps[to++] = host.qps[place];
  }
  host.qps.resize(to);
  return chosen;
}

void send_data(Engine<PeerWorld>& sim, Nic& nic, QpId qp) {
  Sender& sender = sim.senders[qp];
  const Ps cut_period = nic.config->dcqcn.cut_period.raw();
  const Packet packet = build_data(sim, sender, qp);
  sim.frame_created();
  // Of a cut and a packet at one instant the peer does first what it scheduled first: the packet,
  // when its wake-up was set before the window began.
  const Ps looked = sender.last_send + nic.port->wire_time[packet.size];
  const bool before_cut = sender.next_send == sim.now() && looked < sim.now() - cut_period;
  sender.last_send = sim.now();
  send_packet(sim, nic, sender.priority, packet);
  const std::int64_t rate = sender.control->rate(before_cut ? sim.now() - 1 : sim.now());
  sender.next_send = sim.now() + hpcc_time(packet.size, rate);
}

}  // namespace

std::uint32_t balance(Engine<PeerWorld>& sim, Switch& node, const Packet& packet,
                      std::span<const std::uint16_t> ports) {
  const bool back = packet.kind != PacketKind::kData;
  const std::uint32_t hash = hpcc_hash(sim.network.qps[packet.qp], back, to_index(node.node));
  return ports[hash % static_cast<std::uint32_t>(ports.size())];
}

bool draw_mark(Engine<PeerWorld>& sim, const Port&, const Queue& queue, std::int64_t bytes) {
  const double share =
      sim.extra.mark_share[static_cast<std::size_t>(&queue - sim.all.queues.data())];
  const auto ramp = static_cast<double>(queue.mark_max - queue.mark_min);
  return sim.extra.random.next() < share * static_cast<double>(bytes - queue.mark_min) / ramp;
}

void nic_send(Engine<PeerWorld>& sim, Port& port) {
  Nic& nic = *port.nic;
  if (has_bit(port.waiting, kAckPriority)) return send_queued(sim, port, kAckPriority);
  PeerWorld::Host& host = host_of(sim, nic);
  const std::uint32_t place = choose_qp(sim, nic, host);
  if (place != kNone) {
    const QpId qp = host.qps[place];
    host.last = place;
    return send_data(sim, nic, qp);
  }
  Ps next = kNever;
  for (const QpId qp : host.qps)
    if (sim.senders[qp].current != kNo<MessageId>) next = std::min(next, sim.senders[qp].next_send);
  if (host.wake_pending || next == kNever || next <= sim.now()) return;
  host.wake_pending = true;
  sim.events.push(next, tie_of(EventKind::kNicWake, port.self));
}

void activate(Engine<PeerWorld>& sim, QpId qp) {
  kick(sim, *sim.senders[qp].nic->port);
}

void wake(Engine<PeerWorld>& sim, QpId qp) {
  Sender& sender = sim.senders[qp];
  // It is called just before: a flow of the peer begins by an event that is set only when its time
  // has come, so that whatever else happens at that instant happens before.
  const Ps begin = sim.messages[sender.current].post;
  if (begin > sim.now()) return sim.events.push(begin, tie_of(EventKind::kQpWake, qp));
  if (sender.wake_at == sim.now()) sender.wake_at = kNever;
  sender.next_send = sim.now();
  host_of(sim, *sender.nic).qps.push_back(qp);
  kick(sim, *sender.nic->port);
}

void nic_wake(Engine<PeerWorld>& sim, Port& port) {
  host_of(sim, *port.nic).wake_pending = false;
  kick(sim, port);
}

}  // namespace weir::sim::engine
