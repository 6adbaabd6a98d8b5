#include "counters/metrics.h"

#include <algorithm>
#include <array>

namespace weir::counters {
namespace {

constexpr auto kLean = std::to_array<Metric>({
    {"nic.ibspec.link_downed.events", "weir_ib_link_downed_total"},
    {"nic.ibspec.rcv_error.packets", "weir_ib_receive_errors_total"},
    {"nic.ibspec.symbol_error.events", "weir_ib_symbol_errors_total"},
    {"nic.ibspec.xmit_discard.packets", "weir_ib_transmit_discards_total"},
    {"nic.link.carrier_down.events", "weir_port_carrier_down_changes_total"},
    {"nic.np.cnp_sent.packets", "weir_roce_cnps_sent_total"},
    {"nic.np.ecn_marked.packets", "weir_roce_ecn_marked_packets_received_total"},
    {"nic.pause.rx.frames", "weir_port_global_pause_received_frames_total"},
    {"nic.pause.rx.microseconds", "weir_port_global_paused_seconds_total"},
    {"nic.pause.tx.frames", "weir_port_global_pause_transmitted_frames_total"},
    {"nic.pause.tx.microseconds", "weir_port_global_pausing_peer_seconds_total"},
    {"nic.pcie.buffer_overflow.packets", "weir_port_pcie_buffer_overflow_packets_total"},
    // The driver counts seconds in which a transfer stalled; it calls them events.
    {"nic.pcie.stalled_read.events", "weir_port_pcie_stalled_seconds_total", "operation", "read"},
    {"nic.pcie.stalled_write.events", "weir_port_pcie_stalled_seconds_total", "operation", "write"},
    {"nic.pfc.storm_error.events", "weir_port_pause_storm_events_total", "severity", "error"},
    {"nic.pfc.storm_warning.events", "weir_port_pause_storm_events_total", "severity", "warning"},
    {"nic.phy.corrected.bits", "weir_port_fec_corrected_errors_total"},
    {"nic.phy.crc_error.packets", "weir_port_crc_errors_total"},
    {"nic.phy.link_down.events", "weir_port_link_down_events_total"},
    {"nic.phy.pcs_symbol_error.symbols", "weir_port_symbol_errors_total"},
    {"nic.port.rx.bytes", "weir_port_received_bytes_total"},
    {"nic.port.rx_discard.packets", "weir_port_received_discards_total"},
    {"nic.port.tx.bytes", "weir_port_transmitted_bytes_total"},
    {"nic.port.tx_discard.packets", "weir_port_transmitted_discards_total"},
    {"nic.prio.pause_rx.frames", "weir_port_pfc_received_pause_frames_total"},
    {"nic.prio.pause_rx.microseconds", "weir_port_pfc_paused_seconds_total"},
    {"nic.prio.pause_rx.transitions.events", "weir_port_pfc_received_pause_transitions_total"},
    {"nic.prio.pause_tx.frames", "weir_port_pfc_transmitted_pause_frames_total"},
    {"nic.prio.pause_tx.microseconds", "weir_port_pfc_pausing_peer_seconds_total"},
    {"nic.prio.rx.bytes", "weir_port_priority_received_bytes_total"},
    {"nic.prio.rx_buffer_discard.packets", "weir_port_priority_buffer_discards_total"},
    {"nic.prio.rx_discard.packets", "weir_port_priority_discards_total"},
    {"nic.prio.rx_marked.packets", "weir_port_priority_nic_marked_packets_total"},
    {"nic.prio.tx.bytes", "weir_port_priority_transmitted_bytes_total"},
    {"nic.rdma.icrc_error.packets", "weir_roce_icrc_errors_total"},
    {"nic.rdma.rx.bytes", "weir_rdma_received_bytes_total"},
    {"nic.rdma.tx.bytes", "weir_rdma_transmitted_bytes_total"},
    {"nic.req.ack_timeout.events", "weir_roce_ack_timeouts_total"},
    {"nic.req.implied_nak.events", "weir_roce_implied_naks_total"},
    {"nic.req.retransmit.events", "weir_roce_adaptive_retransmits_total"},
    {"nic.req.retransmit_timeout.events", "weir_roce_adaptive_retransmit_timeouts_total"},
    {"nic.req.retry_exceeded.events", "weir_roce_transport_retries_exceeded_total"},
    {"nic.req.rnr_nak_received.packets", "weir_roce_rnr_naks_received_total"},
    {"nic.req.rnr_retry_exceeded.events", "weir_roce_rnr_retries_exceeded_total"},
    {"nic.req.seq_nak_received.packets", "weir_roce_sequence_naks_received_total"},
    {"nic.resp.duplicate_request.packets", "weir_roce_duplicate_requests_total"},
    {"nic.resp.out_of_buffer.packets", "weir_roce_receive_not_posted_drops_total"},
    {"nic.resp.out_of_sequence.packets", "weir_roce_out_of_sequence_packets_total"},
    {"nic.rp.cnp_handled.packets", "weir_roce_cnps_handled_total"},
    {"nic.rp.cnp_ignored.packets", "weir_roce_cnps_ignored_total"},
    {"nic.rp.slow_restart.events", "weir_roce_slow_restarts_total"},
    {"switch.pg.drop_headroom.packets", "weir_switch_headroom_dropped_packets_total"},
    {"switch.port.drop.packets", "weir_switch_port_dropped_packets_total"},
    {"switch.port.link_down.events", "weir_switch_port_link_down_events_total"},
    {"switch.port.rx.bytes", "weir_switch_port_received_bytes_total"},
    {"switch.port.tx.bytes", "weir_switch_port_transmitted_bytes_total"},
    {"switch.prio.pause_rx.frames", "weir_switch_pfc_received_pause_frames_total"},
    {"switch.prio.pause_rx.microseconds", "weir_switch_pfc_paused_seconds_total"},
    {"switch.prio.pause_tx.frames", "weir_switch_pfc_transmitted_pause_frames_total"},
    {"switch.prio.pause_tx.microseconds", "weir_switch_pfc_pausing_peer_seconds_total"},
    {"switch.queue.depth_max.bytes", "weir_switch_queue_depth_max_bytes"},
    {"switch.queue.drop_tail.packets", "weir_switch_queue_tail_dropped_packets_total"},
    {"switch.queue.drop_wred.packets", "weir_switch_queue_wred_dropped_packets_total"},
    {"switch.queue.ecn_marked.packets", "weir_switch_queue_ecn_marked_packets_total"},
    {"switch.queue.tx.bytes", "weir_switch_queue_transmitted_bytes_total"},
    {"switch.queue.watchdog_storm.events", "weir_switch_watchdog_storms_total"},
});
static_assert(std::ranges::is_sorted(kLean, {}, &Metric::id));

/// The unit in which Prometheus wants it; `said` is the last word of the id.
std::string_view exported_unit(Unit unit, std::string_view said) {
  if (unit == Unit::kMicroseconds || unit == Unit::kMilliseconds) return "seconds";
  if (unit == Unit::kWords) return "bytes";
  if (unit == Unit::kPercent) return "ratio";
  if (unit == Unit::kBits) return "errors";
  return said;
}

}  // namespace

std::span<const Metric> lean_metrics() {
  return kLean;
}

const Metric* lean_metric(std::string_view id) {
  const auto* const found = std::ranges::lower_bound(kLean, id, {}, &Metric::id);
  return found != kLean.end() && found->id == id ? found : nullptr;
}

std::string metric_name(const Counter& counter) {
  if (const Metric* lean = lean_metric(counter.id)) return std::string(lean->name);
  const std::size_t dot = counter.id.rfind('.');
  std::string name = "weir_" + std::string(counter.id.substr(0, dot));
  std::ranges::replace(name, '.', '_');
  name += '_';
  name += exported_unit(counter.unit, counter.id.substr(dot + 1));
  if (counter.kind == Kind::kCounter) name += "_total";
  return name;
}

double metric_scale(Unit unit) {
  if (unit == Unit::kMicroseconds) return 1e-6;
  if (unit == Unit::kMilliseconds) return 1e-3;
  if (unit == Unit::kWords) return 4;
  if (unit == Unit::kPercent) return 1e-2;
  return 1;
}

std::string_view number_label(Per per) {
  switch (per) {
    case Per::kNothing: return {};
    case Per::kPriority: return "priority";
    case Per::kCos: return "cos";
    case Per::kQueue: return "queue";
    case Per::kGroup: return "group";
    case Per::kLane: return "lane";
    case Per::kRing: return "ring";
  }
  return {};
}

}  // namespace weir::counters
