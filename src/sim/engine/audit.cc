// Nothing is lost track of: packets, bytes and pauses are counted twice, by different code, and
// must agree. Runs at the end of every simulation and every few events in tests.
#include <fmt/format.h>

#include "base/digest.h"
#include "sim/engine/sim.h"

namespace weir::sim {
namespace {

Status expect_equal(std::string_view what, std::uint32_t where, std::uint64_t a, std::uint64_t b) {
  if (a == b) return {};
  return invalid_error(fmt::format("not conserved: {} at {}: {} against {}", what, where, a, b));
}

}  // namespace

Status Sim::audit() const {
  std::vector<std::uint64_t> flying(ports_.size(), 0);
  std::uint64_t in_flight = 0;
  events_.for_each([&](const Event& event) {
    if (kind_of(event.tie) != EventKind::kArrive) return;
    ++flying[entity_of(event.tie)];
    ++in_flight;
  });
  WEIR_TRY_STATUS(expect_equal("frames created", 0, created_, consumed_ + dropped_ + live_frames_));
  WEIR_TRY_STATUS(expect_equal("frames alive", 0, live_frames_, in_flight + pool_.used()));
  for (std::uint32_t p = 0; p < ports_.size(); ++p) {
    const PortCounters& self = port_counters_[p];
    const std::uint32_t peer = ports_[p].peer;
    WEIR_TRY_STATUS(expect_equal(
        "frames on the wire from port", p, sum_of(traffic_[p]).tx.frames,
        sum_of(traffic_[peer]).rx.frames + port_counters_[peer].rx_frames + flying[peer]));
    for (unsigned priority = 0; priority < 8; ++priority)
      WEIR_TRY_STATUS(
          expect_equal("pauses announced by port", p, self.pause_tx[priority],
                       self.resume_tx[priority] + ((pauses_[p].announced >> priority) & 1U)));
  }
  for (const Switch& sw : switches_) {
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
    WEIR_TRY_STATUS(expect_equal("ingress bytes of switch", sw.node,
                                 static_cast<std::uint64_t>(ingress), total));
    WEIR_TRY_STATUS(
        expect_equal("egress bytes of switch", sw.node, static_cast<std::uint64_t>(egress), total));
    WEIR_TRY_STATUS(
        expect_equal("queued bytes of switch", sw.node, static_cast<std::uint64_t>(queued), total));
  }
  return {};
}

Sim::ClassTraffic Sim::sum_of(const Traffic& traffic) {
  ClassTraffic sum;
  for (const ClassTraffic& one : traffic.of) {
    sum.rx.frames += one.rx.frames;
    sum.rx.bytes += one.rx.bytes;
    sum.tx.frames += one.tx.frames;
    sum.tx.bytes += one.tx.bytes;
  }
  return sum;
}

PortCounters Sim::port_counters(std::uint32_t port) const {
  PortCounters out = port_counters_[port];
  const ClassTraffic sum = sum_of(traffic_[port]);
  out.rx_frames += sum.rx.frames;
  out.rx_bytes += sum.rx.bytes;
  out.tx_frames = sum.tx.frames;
  out.tx_bytes = sum.tx.bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    const ClassTraffic& one = traffic_[port].of[i];
    out.rx_class_frames[i] = one.rx.frames;
    out.rx_class_bytes[i] = one.rx.bytes;
    out.tx_class_frames[i] = one.tx.frames;
    out.tx_class_bytes[i] = one.tx.bytes;
  }
  return out;
}

std::uint64_t Sim::hops() const {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < ports_.size(); ++p)
    sum += sum_of(traffic_[p]).tx.frames + port_counters_[p].pfc_tx_frames;
  return sum;
}

std::uint64_t Sim::drops(DropReason reason) const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : port_counters_)
    sum += counters.drops[static_cast<std::size_t>(reason)];
  return sum;
}

std::uint64_t Sim::lossless_drops() const {
  std::uint64_t sum = 0;
  for (const PortCounters& counters : port_counters_)
    sum += counters.lossless_drops;
  return sum;
}

std::uint64_t Sim::digest() const {
  Digest digest;
  for (std::uint32_t p = 0; p < port_count(); ++p) {
    const PortCounters c = port_counters(p);
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
  for (const Nic& nic : nics_) {
    const NicCounters& c = nic.counters;
    for (const std::uint64_t word :
         {c.cnp_sent, c.ce_received, c.cnp_handled, c.out_of_sequence, c.packet_seq_err,
          c.duplicate_request, c.local_ack_timeout, c.rnr_nak_received, c.retransmitted})
      digest.add(word);
  }
  for (const MessageRecord& message : messages_) {
    digest.add(static_cast<std::uint64_t>(message.delivered));
    digest.add(static_cast<std::uint64_t>(message.done));
  }
  for (const Sender& sender : senders_)
    digest.add(static_cast<std::uint64_t>(sender.rp.rate()));
  for (const RandomStream& random : port_random_)
    digest.add(random.state());
  digest.add(static_cast<std::uint64_t>(now()));
  digest.add(hops());
  return digest.value();
}

}  // namespace weir::sim
