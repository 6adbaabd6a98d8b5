// What can be read from a simulation: counters, levels, and two checks of it all. In audit()
// packets, bytes and pauses are counted twice, by different code, and must agree; it runs at the
// end of every simulation and every few events in tests.
#include <fmt/format.h>

#include "base/digest.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {

Status expect_equal(std::string_view what, std::uint32_t where, std::uint64_t a, std::uint64_t b) {
  if (a == b) return {};
  return invalid_error(fmt::format("not conserved: {} at {}: {} against {}", what, where, a, b));
}

Status audit_frames(const engine::State& sim) {
  Table<PortId, std::uint64_t> flying(sim.ports.size(), 0);
  std::uint64_t in_flight = 0;
  sim.events.for_each([&](const Event& event) {
    if (kind_of(event.tie) != EventKind::kArrive) return;
    ++flying[PortId{entity_of(event.tie)}];
    ++in_flight;
  });
  WEIR_TRY_STATUS(
      expect_equal("frames created", 0, sim.created, sim.consumed + sim.dropped + sim.live_frames));
  WEIR_TRY_STATUS(expect_equal("frames alive", 0, sim.live_frames, in_flight + sim.pool.used()));
  for (const PortId p : sim.ports.ids()) {
    const PortId peer = sim.ports[p].peer;
    WEIR_TRY_STATUS(expect_equal(
        "frames on the wire from port", to_index(p), sim.traffic[p].sum().tx.frames,
        sim.traffic[peer].sum().rx.frames + sim.port_counters[peer].rx_frames + flying[peer]));
  }
  return {};
}

Status audit_pauses(const engine::State& sim) {
  for (const PortId p : sim.ports.ids()) {
    const PortCounters& self = sim.port_counters[p];
    for (unsigned priority = 0; priority < 8; ++priority)
      WEIR_TRY_STATUS(expect_equal(
          "pauses announced by port", to_index(p), self.pause_tx[priority],
          self.resume_tx[priority] + (engine::has_bit(sim.pauses[p].announced, priority) ? 1 : 0)));
  }
  return {};
}

Status audit_buffer(const engine::Switch& sw) {
  std::int64_t ingress = 0;
  std::int64_t egress = 0;
  std::int64_t queued = sw.in_pipeline;
  for (std::uint32_t port = 0; port < sw.port_count; ++port) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const SharedBuffer::Group& group = sw.buffer.group(port, i);
      ingress += group.used + group.headroom_used;
      egress += sw.buffer.egress_used(port, i);
      queued += sw.ports[port].queues[i].bytes;
    }
  }
  const auto total = static_cast<std::uint64_t>(sw.buffer.total_used());
  const std::uint32_t node = to_index(sw.node);
  WEIR_TRY_STATUS(
      expect_equal("ingress bytes of switch", node, static_cast<std::uint64_t>(ingress), total));
  WEIR_TRY_STATUS(
      expect_equal("egress bytes of switch", node, static_cast<std::uint64_t>(egress), total));
  return expect_equal("queued bytes of switch", node, static_cast<std::uint64_t>(queued), total);
}

void add_port(Digest& digest, const PortCounters& c) {
  for (const std::uint64_t word :
       {c.tx_frames, c.tx_bytes, c.rx_frames, c.rx_bytes, c.marked, c.pfc_tx_frames,
        c.pfc_rx_frames, c.lossless_drops, c.watchdog_trips})
    digest.add(word);
  for (std::size_t i = 0; i < 8; ++i) {
    digest.add(c.pause_tx[i]);
    digest.add(c.resume_tx[i]);
    digest.add(static_cast<std::uint64_t>(c.paused_time[i]));
  }
  for (const std::uint64_t drops : c.drops)
    digest.add(drops);
}

void add_nic(Digest& digest, const NicCounters& c) {
  for (const std::uint64_t word :
       {c.cnp_sent, c.ce_received, c.cnp_handled, c.out_of_sequence, c.packet_seq_err,
        c.duplicate_request, c.local_ack_timeout, c.rnr_nak_received, c.retransmitted})
    digest.add(word);
}

}  // namespace

Status Sim::audit() const {
  WEIR_TRY_STATUS(audit_frames(*state_));
  WEIR_TRY_STATUS(audit_pauses(*state_));
  for (const engine::Switch& sw : state_->switches)
    WEIR_TRY_STATUS(audit_buffer(sw));
  return {};
}

std::uint64_t Sim::digest() const {
  Digest digest;
  for (const PortId p : ports())
    add_port(digest, port_counters(p));
  for (const engine::Nic& nic : state_->nics)
    add_nic(digest, nic.counters);
  const auto add_time = [&](Ps at, Ps shift) {
    digest.add(static_cast<std::uint64_t>(at == kNever ? kNever : at + shift));
  };
  const auto add_message = [&](MessageId m, Ps shift) {
    add_time(messages()[m].delivered, shift);
    add_time(messages()[m].done, shift);
  };
  if (message_count() <= kMostMessages) {
    for_each_in_order(repeats(), messages().end_id(), add_message);
  } else {  // only a run with repeats has that many, and to add each of them would take minutes
    for_each_in_order({}, messages().end_id(), add_message);
    for (const Repeat& repeat : repeats())
      for (const std::uint64_t word :
           {std::uint64_t{to_index(repeat.first)}, std::uint64_t{repeat.count}, repeat.times,
            static_cast<std::uint64_t>(repeat.period)})
        digest.add(word);
  }
  for (const engine::Sender& sender : state_->senders)
    digest.add(static_cast<std::uint64_t>(sender.control->rate()));
  for (const RandomStream& random : state_->port_random)
    digest.add(random.state());
  digest.add(static_cast<std::uint64_t>(now()));
  digest.add(hops());
  return digest.value();
}

const Network& Sim::network() const {
  return state_->network;
}
Ps Sim::now() const {
  return state_->now();
}
const Table<MessageId, MessageRecord>& Sim::messages() const {
  return state_->messages;
}
const Routes& Sim::routes() const {
  return state_->routes;
}

PortId Sim::port_of(NodeId node, std::uint32_t local) const {
  return state_->first_port[node] + local;
}
NodeId Sim::node_of(PortId port) const {
  return state_->ports[port].node;
}
std::uint32_t Sim::local_port(PortId port) const {
  return state_->ports[port].local;
}
IdRange<PortId> Sim::ports() const {
  return state_->ports.ids();
}
std::uint32_t Sim::port_count() const {
  return to_index(state_->ports.end_id());
}

PortCounters Sim::port_counters(PortId port) const {
  PortCounters out = state_->port_counters[port];
  const engine::Traffic& traffic = state_->traffic[port];
  const engine::ClassTraffic sum = traffic.sum();
  out.rx_frames += sum.rx.frames;
  out.rx_bytes += sum.rx.bytes;
  out.tx_frames = sum.tx.frames;
  out.tx_bytes = sum.tx.bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    const engine::ClassTraffic& part = traffic.by_class[i];
    out.rx_class_frames[i] = part.rx.frames;
    out.rx_class_bytes[i] = part.rx.bytes;
    out.tx_class_frames[i] = part.tx.frames;
    out.tx_class_bytes[i] = part.tx.bytes;
  }
  return out;
}

const NicCounters& Sim::nic_counters(NodeId node) const {
  return state_->nic_at(node).counters;
}
const SharedBuffer& Sim::buffer_of(NodeId node) const {
  return state_->switches[state_->index_of[node]].buffer;
}
std::int64_t Sim::queue_bytes(PortId port, std::uint32_t queue) const {
  return state_->ports[port].queues[queue].bytes;
}
std::int64_t Sim::queue_peak(PortId port, std::uint32_t queue) const {
  return state_->ports[port].queues[queue].peak;
}
std::uint8_t Sim::paused_now(PortId port) const {
  return state_->ports[port].paused;
}
Ps Sim::paused_for(PortId port, unsigned priority) const {
  return paused_for(port, priority, now());
}
Ps Sim::paused_for(PortId port, unsigned priority, Ps at) const {
  return state_->port_counters[port].paused_time[priority] +
         state_->pauses[port].paused_since(priority, at);
}

std::int64_t Sim::qp_rate(QpId qp) const {
  return state_->senders[qp].control->rate();
}
std::int64_t Sim::qp_delivered(QpId qp) const {
  return state_->receivers[qp].bytes;
}
bool Sim::qp_failed(QpId qp) const {
  return state_->senders[qp].failed;
}

QueueWatch Sim::queue_watch() const {
  QueueWatch watch = state_->watch;
  watch.advance(now());
  return watch;
}

std::uint64_t Sim::data_hops() const {
  return state_->data_hops;
}
std::uint64_t Sim::events() const {
  return state_->events.events();
}
std::uint64_t Sim::live_frames() const {
  return state_->live_frames;
}
std::uint64_t Sim::open_messages() const {
  return state_->open_messages;
}
Ps Sim::next_event() {
  return state_->events.next_time();
}

std::uint64_t Sim::hops() const {
  std::uint64_t sum = 0;
  for (const PortId p : ports())
    sum += state_->traffic[p].sum().tx.frames + state_->port_counters[p].pfc_tx_frames;
  return sum;
}

std::uint64_t Sim::drops(DropReason reason) const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : state_->port_counters)
    sum += counters.drops[static_cast<std::size_t>(reason)];
  return sum;
}

std::uint64_t Sim::lossless_drops() const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : state_->port_counters)
    sum += counters.lossless_drops;
  return sum;
}

}  // namespace weir::sim
