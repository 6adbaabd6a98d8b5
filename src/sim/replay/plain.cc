#include "sim/replay/plain.h"

namespace weir::sim::engine {

std::uint64_t incidents_of(const Tables& sim, const Region& region) {
  std::uint64_t sum = 0;
  const auto add = [&](const auto& counters) {
    for (const auto value : counters)
      sum += static_cast<std::uint64_t>(value);
  };
  for (const PortId p : region.ports) {
    const PortCounters& port = sim.port_counters[p];
    sum += port.rx_frames + port.marked + port.pfc_tx_frames + port.pfc_rx_frames +
           port.lossless_drops + port.watchdog_trips + port.watchdog_restores;
    add(port.pause_tx);
    add(port.resume_tx);
    add(port.pause_rx);
    add(port.resume_rx);
    add(port.paused_time);
    add(port.drops);
  }
  for (const std::uint32_t n : region.nics) {
    const NicCounters& c = sim.nics[n].counters;
    sum += c.cnp_sent + c.ce_received + c.cnp_handled + c.cnp_ignored + c.out_of_sequence +
           c.packet_seq_err + c.duplicate_request + c.implied_nak_seq_err + c.local_ack_timeout +
           c.out_of_buffer + c.rnr_nak_received + c.retries_exhausted + c.retransmitted;
  }
  return sum;
}

void find_whole(Tables& sim) {
  Region& out = sim.whole;
  if (!out.ports.empty()) return;
  for (const PortId p : sim.ports.ids())
    out.ports.push_back(p);
  for (std::uint32_t s = 0; s < sim.switches.size(); ++s)
    out.switches.push_back(s);
  for (std::uint32_t n = 0; n < sim.nics.size(); ++n)
    out.nics.push_back(n);
  for (const QpId qp : sim.senders.ids())
    out.qps.push_back(qp);
}

}  // namespace weir::sim::engine
