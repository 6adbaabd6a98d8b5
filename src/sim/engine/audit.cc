// What can be read from a simulation: counters, levels, and two checks of it all. In audit()
// packets, bytes and pauses are counted twice, by different code, and must agree; it runs at the
// end of every simulation and every few events in tests.
#include <fmt/format.h>

#include "base/digest.h"
#include "sim/domains/windows.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {

using engine::State;

Status expect_equal(std::string_view what, std::uint32_t where, std::uint64_t a, std::uint64_t b) {
  if (a == b) return {};
  return invalid_error(fmt::format("not conserved: {} at {}: {} against {}", what, where, a, b));
}

Status audit_frames(const engine::Tables& sim) {
  Table<PortId, std::uint64_t> flying(sim.ports.size(), 0);
  std::uint64_t in_flight = 0;
  std::uint64_t waiting = 0;
  for (const auto& domain : sim.domains) {
    domain->events.for_each([&](const Event& event) {
      if (kind_of(event.tie) != EventKind::kArrive) return;
      if ((event.packet.flags & kFlagReplayed) != 0) return;
      ++flying[PortId{entity_of(event.tie)}];
      ++in_flight;
    });
    waiting += domain->pool.used();
  }
  const std::uint64_t live = sim.sum(&State::live_frames);
  WEIR_TRY_STATUS(expect_equal("frames created", 0, sim.sum(&State::created),
                               sim.sum(&State::consumed) + sim.sum(&State::dropped) + live));
  WEIR_TRY_STATUS(expect_equal("frames alive", 0, live, in_flight + waiting));
  for (const PortId p : sim.ports.ids()) {
    const PortId peer = sim.ports[p].peer;
    WEIR_TRY_STATUS(expect_equal(
        "frames on the wire from port", to_index(p), sum_of(sim.traffic_of(p)).tx.frames,
        sum_of(sim.traffic_of(peer)).rx.frames + sim.port_counters[peer].rx_frames + flying[peer]));
  }
  return {};
}

Status audit_pauses(const engine::Tables& sim) {
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
      if (!sw.slots.contains(i)) continue;
      const SharedBuffer::Group group = sw.buffer.group(port, i);
      ingress += group.used + group.headroom_used;
      egress += sw.buffer.egress_used(port, i);
      queued += sw.ports[port].queues[sw.slots[i]].bytes;
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
  WEIR_TRY_STATUS(audit_frames(*all_));
  WEIR_TRY_STATUS(audit_pauses(*all_));
  for (const engine::Switch& sw : all_->switches)
    WEIR_TRY_STATUS(audit_buffer(sw));
  return {};
}

std::uint64_t Sim::digest() const {
  Digest digest;
  for (const PortId p : ports())
    add_port(digest, port_counters(p));
  for (const engine::Nic& nic : all_->nics)
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
  for (const engine::Sender& sender : all_->senders)
    digest.add(static_cast<std::uint64_t>(sender.control->rate()));
  for (const RandomStream& random : all_->port_random)
    digest.add(random.state());
  digest.add(static_cast<std::uint64_t>(now()));
  digest.add(hops());
  return digest.value();
}

const Network& Sim::network() const {
  return all_->network;
}
Ps Sim::now() const {
  return threads() == 1 ? all_->domains[0]->now() : all_->now;
}
std::uint32_t Sim::posted() const {
  return all_->message_count.load(std::memory_order_relaxed);
}
unsigned Sim::threads() const {
  return static_cast<unsigned>(all_->domains.size());
}
View<MessageId, const MessageRecord> Sim::messages() const {
  if (threads() > 1 && all_->in_order != all_->posted().end_id()) engine::number_messages(*all_);
  return {all_->message_room.data(), posted()};
}
const Routes& Sim::routes() const {
  return all_->routes;
}

PortId Sim::port_of(NodeId node, std::uint32_t local) const {
  return all_->first_port[node] + local;
}
NodeId Sim::node_of(PortId port) const {
  return all_->ports[port].node;
}
std::uint32_t Sim::local_port(PortId port) const {
  return all_->ports[port].local;
}
IdRange<PortId> Sim::ports() const {
  return all_->ports.ids();
}
std::uint32_t Sim::port_count() const {
  return to_index(all_->ports.end_id());
}

PortCounters Sim::port_counters(PortId port) const {
  PortCounters out = all_->port_counters[port];
  const std::span<const engine::ClassTraffic> traffic = std::as_const(*all_).traffic_of(port);
  const engine::ClassTraffic sum = sum_of(traffic);
  out.rx_frames += sum.rx.frames;
  out.rx_bytes += sum.rx.bytes;
  out.tx_frames = sum.tx.frames;
  out.tx_bytes = sum.tx.bytes;
  for (unsigned i = 0; i < 8; ++i) {
    if (!all_->slots.contains(i)) continue;
    const engine::ClassTraffic& part = traffic[all_->slots[i]];
    out.rx_class_frames[i] = part.rx.frames;
    out.rx_class_bytes[i] = part.rx.bytes;
    out.tx_class_frames[i] = part.tx.frames;
    out.tx_class_bytes[i] = part.tx.bytes;
  }
  return out;
}

const NicCounters& Sim::nic_counters(NodeId node) const {
  return all_->nic_at(node).counters;
}
const SharedBuffer& Sim::buffer_of(NodeId node) const {
  return all_->switches[all_->index_of[node]].buffer;
}
std::int64_t Sim::queue_bytes(PortId port, std::uint32_t queue) const {
  return all_->slots.contains(queue) ? all_->ports[port].queues[all_->slots[queue]].bytes : 0;
}
std::int64_t Sim::queue_peak(PortId port, std::uint32_t queue) const {
  return all_->slots.contains(queue) ? all_->ports[port].queues[all_->slots[queue]].peak : 0;
}
std::uint8_t Sim::paused_now(PortId port) const {
  return all_->ports[port].paused;
}
Ps Sim::paused_for(PortId port, unsigned priority) const {
  return paused_for(port, priority, now());
}
Ps Sim::paused_for(PortId port, unsigned priority, Ps at) const {
  return all_->port_counters[port].paused_time[priority] +
         all_->pauses[port].paused_since(priority, at);
}

std::int64_t Sim::qp_rate(QpId qp) const {
  return all_->senders[qp].control->rate();
}
std::int64_t Sim::qp_delivered(QpId qp) const {
  return all_->receivers[qp].bytes;
}
bool Sim::qp_failed(QpId qp) const {
  return all_->senders[qp].failed;
}

QueueWatch Sim::queue_watch() const {
  QueueWatch watch = all_->watch;
  watch.advance(now());
  return watch;
}

std::uint64_t Sim::data_hops() const {
  return all_->sum(&State::data_hops);
}
std::uint64_t Sim::events() const {
  std::uint64_t events = 0;
  for (const auto& domain : all_->domains)
    events += domain->events.events();
  return events;
}
std::uint64_t Sim::live_frames() const {
  return all_->sum(&State::live_frames);
}
std::uint64_t Sim::open_messages() const {
  return all_->sum(&State::open_messages);
}

std::uint64_t Sim::hops() const {
  std::uint64_t sum = 0;
  for (const PortId p : ports())
    sum += sum_of(all_->traffic_of(p)).tx.frames + all_->port_counters[p].pfc_tx_frames;
  return sum;
}

std::uint64_t Sim::drops(DropReason reason) const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : all_->port_counters)
    sum += counters.drops[static_cast<std::size_t>(reason)];
  return sum;
}

std::uint64_t Sim::lossless_drops() const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : all_->port_counters)
    sum += counters.lossless_drops;
  return sum;
}

}  // namespace weir::sim
