// The host of the model `hpcc`: one list of queue pairs, searched from the one after the last
// sender; ACKs first; one pending wake-up a host. peers.md §3 "Scheduling".
#include <algorithm>

#include "sim/engine/sim.h"
#include "sim/peer/hpcc_peer.h"

namespace weir::sim {
namespace {
constexpr std::uint8_t kAckBit = 1U << 7U;   // the priority that read_hpcc() gives to ACKs
constexpr std::uint8_t kDataBit = 1U << 3U;  // and to data
}  // namespace

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

void Sim::peer_start(std::uint32_t qp) {
  Nic& nic = *senders_[qp].nic;
  senders_[qp].next_send = now();
  nic.peer_qps.push_back(qp);
  kick(*nic.port);
}

/// The QP to send from, as a place in the list, or kNone. Finished ones leave the list on the way;
/// the place searched from stays what it was, as in the peer.
std::uint32_t Sim::peer_choose(Nic& nic) {
  const auto count = static_cast<std::uint32_t>(nic.peer_qps.size());
  const bool paused = (nic.port->paused & kDataBit) != 0;
  std::uint32_t chosen = kNone;
  std::uint32_t finished = kNone;
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::uint32_t place = (i + nic.peer_last) % count;
    const std::uint32_t qp = nic.peer_qps[place];
    if (!paused && has_data(qp)) {
      if (senders_[qp].next_send > now()) continue;
      chosen = place;
      break;
    }
    if (senders_[qp].oldest == kNone) finished = std::min(finished, place);
  }
  if (finished == kNone) return chosen;
  std::uint32_t to = finished;
  for (std::uint32_t place = finished + 1; place < count; ++place) {
    if (senders_[nic.peer_qps[place]].oldest == kNone) continue;
    if (place == chosen) chosen = to;
    nic.peer_qps[to++] = nic.peer_qps[place];
  }
  nic.peer_qps.resize(to);
  return chosen;
}

void Sim::peer_send(Port& port) {
  Nic& nic = *port.nic;
  if ((port.waiting & kAckBit) != 0) return send_queued(port, 7);
  const std::uint32_t place = peer_choose(nic);
  if (place != kNone) {
    const std::uint32_t qp = nic.peer_qps[place];
    nic.peer_last = place;
    peer_send_data(nic, qp);
    return;
  }
  Ps next = kNever;
  for (const std::uint32_t qp : nic.peer_qps)
    if (senders_[qp].current != kNone) next = std::min(next, senders_[qp].next_send);
  if (nic.peer_wake_pending || next == kNever || next <= now()) return;
  nic.peer_wake_pending = true;
  events_.push(next, tie_of(EventKind::kNicWake, port.self));
}

void Sim::peer_send_data(Nic& nic, std::uint32_t qp) {
  Sender& sender = senders_[qp];
  const DcqcnConfig& dcqcn = nic.config->dcqcn;
  const Packet packet = build_data(sender, qp);
  ++live_frames_;
  ++created_;
  // Of a cut and a packet at one instant the peer does first what it scheduled first: the packet,
  // when its wake-up was set before the window began.
  const Ps looked = sender.last_send + nic.port->wire_time[packet.size];
  const bool before_cut = sender.next_send == now() && looked < now() - dcqcn.cut_period.raw();
  sender.last_send = now();
  send_packet(nic, sender.priority, packet);
  const std::int64_t rate = sender.rp.rate_at(dcqcn, before_cut ? now() - 1 : now());
  sender.next_send = now() + hpcc_time(packet.size, rate);
}

void Sim::peer_wake(Port& port) {
  port.nic->peer_wake_pending = false;
  kick(port);
}

}  // namespace weir::sim
