// What documents, dashboards and people call counters, and what the real name is.
//
// The first group are spellings that no driver has; the second are phrases of guides and
// check-lists
// ("ECN marks/sec"); the third are the names under which common exporters publish the same files.
#include "counters/tables.h"

namespace weir::counters {
namespace {

constexpr std::string_view kPrioSpelling =
    "No driver spells it with an underscore before the number: mlx5 has `tx_prio3_bytes`, "
    "`rx_prio3_packets` and so on. A search for `prio_3` in `ethtool -S` finds nothing.";
constexpr std::string_view kPrioPattern =
    "A search for `prio_3` finds nothing in mlx5's `ethtool -S`: the names are `tx_prio3_bytes`, "
    "`rx_prio3_pause` and so on. Search for `prio3`.";
constexpr std::string_view kEthtoolHasNoCnp =
    "mlx5 shows no CNP or RoCE ECN counters in `ethtool -S`; they are `np_cnp_sent`, "
    "`rp_cnp_handled` "
    "and `np_ecn_marked_roce_packets` in hw_counters.";
constexpr std::string_view kPausePattern =
    "On mlx5 the PFC counters are `rx_prio3_pause` and `tx_prio3_pause` (with `_duration` in "
    "microseconds), present only while PFC is on for that priority; `rx_pause_ctrl_phy` counts MAC "
    "control frames, `rx_global_pause` 802.3x.";
constexpr std::string_view kPfcPhrase =
    "On a NIC: `rx_prio3_pause` and `tx_prio3_pause` (mlx5), `rx_pfc_ena_frames_pri3` (bnxt), "
    "`rx_priority_3_xoff.nic` (ice). Received means the switch asked this NIC to stop; sent means "
    "this "
    "NIC asked the switch.";
constexpr std::string_view kPauseTimePhrase =
    "On a NIC: `rx_prio3_pause_duration` and `tx_prio3_pause_duration`, in microseconds (mlx5); "
    "`pfc_pri3_rx_duration_us` (bnxt). ice has none.";
constexpr std::string_view kMarksPhrase =
    "The switch counts the marks it makes per egress queue; what arrives marked is "
    "`np_ecn_marked_roce_packets` at the receiving NIC (mlx5).";
constexpr std::string_view kCnpPhrase =
    "Sent by the receiver: `np_cnp_sent`; acted on by the sender: `rp_cnp_handled` (mlx5 names).";
constexpr std::string_view kRetransPhrase =
    "`roce_adp_retrans` on mlx5 counts retransmissions, `packet_seq_err` the NAKs that cause them, "
    "`local_ack_timeout_err` the timeouts.";
constexpr std::string_view kTimeoutPhrase =
    "`local_ack_timeout_err` on mlx5: recoverable timeouts. A queue pair that gave up counts in "
    "`req_transport_retries_exceeded`.";
constexpr std::string_view kQueueDropPhrase =
    "On a switch: drops of the egress queue and of the ingress priority group, by reason. On the "
    "NIC "
    "`rx_prio3_discards`, `rx_prio3_buf_discard` and `rx_discards_phy` (mlx5).";
constexpr std::string_view kHeadroomPhrase =
    "A switch counts them at ingress: `no-buffer-discard` (Cumulus), `Ingress Overflow Drop` "
    "(NX-OS), "
    "`Resource errors` (Junos), priority-group drops (SONiC).";
constexpr std::string_view kBufferPhrase =
    "A level, not a count: the priority group's and the queue's watermark say how full it became.";
constexpr std::string_view kCrcPhrase =
    "`rx_crc_errors_phy` on mlx5, `rx_fcs_err_frames` on bnxt: FCS and CRC errors are the same "
    "thing.";
constexpr std::string_view kUtilisationPhrase =
    "Not a counter: bytes of the port over time, divided by its speed.";
constexpr std::string_view kFlapPhrase =
    "`link_down_events_phy` on mlx5, and the kernel's `carrier_changes`, which counts both down "
    "and up.";
constexpr std::string_view kPcieOverrun =
    "The kernel's receive overruns; for RDMA look at `rx_discards_phy` and pause sent by the NIC.";
constexpr std::string_view kExporter = "An exporter's name for the kernel's file.";

constexpr std::string_view kBothPauses =
    "nic.prio.pause_tx.frames switch.prio.pause_rx.frames switch.prio.pause_tx.frames";

constexpr Alias kAliases[] = {
    // ---- Spellings that no driver has ----
    {"tx_prio_#_bytes", "nic.prio.tx.bytes", kPrioSpelling, {}},
    {"rx_prio_#_bytes", "nic.prio.rx.bytes", kPrioSpelling, {}},
    {"tx_prio_#_packets", "nic.prio.tx.packets", kPrioSpelling, {}},
    {"rx_prio_#_packets", "nic.prio.rx.packets", kPrioSpelling, {}},
    {"tx_prio_#_pause", "nic.prio.pause_tx.frames", kPrioSpelling, {}},
    {"rx_prio_#_pause", "nic.prio.pause_rx.frames", kPrioSpelling, {}},
    {"prio_#", "nic.prio.tx.bytes", kPrioPattern, "nic.prio.rx.bytes nic.prio.pause_rx.frames"},
    {"pfc", "nic.prio.pause_rx.frames", kPausePattern, kBothPauses},
    {"pause", "nic.prio.pause_rx.frames", kPausePattern, kBothPauses},
    {"rx_pause", "nic.prio.pause_rx.frames", kPausePattern, "nic.pause.rx.frames"},
    {"tx_pause", "nic.prio.pause_tx.frames", kPausePattern, "nic.pause.tx.frames"},
    {"ecn", "nic.np.ecn_marked.packets", kEthtoolHasNoCnp, {}},
    {"cnp", "nic.np.cnp_sent.packets", kEthtoolHasNoCnp, "nic.rp.cnp_handled.packets"},
    {"adp_retrans",
     "nic.req.retransmit.events",
     "The file is `roce_adp_retrans`, in hw_counters.",
     {}},
    {"hw_counter",
     "nic.counters.lifespan.milliseconds",
     "`hw_counters` is the directory; after boot every file in it is zero but `lifespan`, which is "
     "a "
     "setting (nominally 10; 12 where the kernel ticks at 250 Hz).",
     {}},
    {"symbol_errors", "nic.phy.symbol_error.events",
     "`rx_symbol_err_phy` and `rx_pcs_symbol_err_phy` on mlx5; `symbol_error` under counters is "
     "InfiniBand's and stays 0 on Ethernet.",
     "nic.phy.pcs_symbol_error.symbols nic.ibspec.symbol_error.events"},
    {"excessive_buffer_overrun", "nic.ibspec.buffer_overrun.events",
     "The file is `excessive_buffer_overrun_errors`; on Ethernet look at `rx_discards_phy`.",
     "nic.port.rx_discard.packets"},
    {"error_recovery", "nic.ibspec.link_error_recovery.events",
     "The file is `link_error_recovery`; on Ethernet look at `link_down_events_phy`.",
     "nic.phy.link_down.events"},
    {"ibv_wc_retry_exc_err",
     "nic.req.retry_exceeded.events",
     "A completion status (12), not a counter; each one also counts in "
     "`req_transport_retries_exceeded` where the kernel has it.",
     {}},
    {"ibv_wc_rnr_retry_exc_err",
     "nic.req.rnr_retry_exceeded.events",
     "A completion status (13), not a counter; each one also counts in `req_rnr_retries_exceeded` "
     "where the kernel has it.",
     {}},

    // ---- Phrases ----
    {"pfc_counters", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pfc_pause", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pfc_pauses", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pfc_frames", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pfc_pause_frames", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pause_frames", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pause_frames_sent_received", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pfc_rx_tx_frames", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pause_count", "nic.prio.pause_rx.frames", kPfcPhrase, kBothPauses},
    {"pause_storms", "nic.pfc.storm_error.events",
     "`tx_pause_storm_warning_events` and `tx_pause_storm_error_events` on mlx5; a switch's "
     "watchdog "
     "counts the queues it found stuck.",
     "nic.pfc.storm_warning.events switch.queue.watchdog_storm.events"},
    {"pfc_pause_duration", "nic.prio.pause_rx.microseconds", kPauseTimePhrase,
     "nic.prio.pause_tx.microseconds switch.prio.pause_rx.microseconds"},
    {"pause_duration", "nic.prio.pause_rx.microseconds", kPauseTimePhrase,
     "nic.prio.pause_tx.microseconds switch.prio.pause_rx.microseconds"},
    {"pause_time", "nic.prio.pause_rx.microseconds", kPauseTimePhrase,
     "nic.prio.pause_tx.microseconds switch.prio.pause_rx.microseconds"},
    {"ecn_marks", "switch.queue.ecn_marked.packets", kMarksPhrase, "nic.np.ecn_marked.packets"},
    {"ecn_marks_sec", "switch.queue.ecn_marked.packets", kMarksPhrase, "nic.np.ecn_marked.packets"},
    {"ecn_marks_sec_per_port", "switch.queue.ecn_marked.packets", kMarksPhrase,
     "nic.np.ecn_marked.packets"},
    {"ecn_marked", "switch.queue.ecn_marked.packets", kMarksPhrase, "nic.np.ecn_marked.packets"},
    {"ecn_marked_packets", "switch.queue.ecn_marked.packets", kMarksPhrase,
     "nic.np.ecn_marked.packets"},
    {"ecn_counter", "switch.queue.ecn_marked.packets", kMarksPhrase, "nic.np.ecn_marked.packets"},
    {"ecn_counter_rate", "switch.queue.ecn_marked.packets", kMarksPhrase,
     "nic.np.ecn_marked.packets"},
    {"ecn_reaction", "nic.rp.cnp_handled.packets", kCnpPhrase, "nic.np.cnp_sent.packets"},
    {"ecn_cnp_counters", "nic.np.ecn_marked.packets", kCnpPhrase,
     "nic.np.cnp_sent.packets nic.rp.cnp_handled.packets"},
    {"cnps", "nic.np.cnp_sent.packets", kCnpPhrase, "nic.rp.cnp_handled.packets"},
    {"cnps_sent", "nic.np.cnp_sent.packets", kCnpPhrase, {}},
    {"cnps_received", "nic.rp.cnp_handled.packets", kCnpPhrase, "nic.rp.cnp_received.packets"},
    {"cnps_sent_received", "nic.np.cnp_sent.packets", kCnpPhrase, "nic.rp.cnp_handled.packets"},
    {"cnp_rate", "nic.np.cnp_sent.packets", kCnpPhrase, "nic.rp.cnp_handled.packets"},
    {"cnp_counters", "nic.np.cnp_sent.packets", kCnpPhrase, "nic.rp.cnp_handled.packets"},
    {"retries", "nic.req.retransmit.events", kRetransPhrase,
     "nic.req.seq_nak_received.packets nic.req.ack_timeout.events"},
    {"retransmits", "nic.req.retransmit.events", kRetransPhrase,
     "nic.req.seq_nak_received.packets nic.req.ack_timeout.events"},
    {"retries_retransmits", "nic.req.retransmit.events", kRetransPhrase,
     "nic.req.seq_nak_received.packets nic.req.ack_timeout.events"},
    {"rdma_retrans_timeout", "nic.req.retransmit.events", kRetransPhrase,
     "nic.req.ack_timeout.events"},
    {"timeouts", "nic.req.ack_timeout.events", kTimeoutPhrase, "nic.req.retry_exceeded.events"},
    {"rdma_timeouts", "nic.req.ack_timeout.events", kTimeoutPhrase,
     "nic.req.retry_exceeded.events"},
    {"rnr_nak", "nic.req.rnr_nak_received.packets",
     "`rnr_nak_retry_err` at the sender on mlx5; the receiver's side of it is `out_of_buffer`.",
     "nic.resp.out_of_buffer.packets"},
    {"cq_qp_errors", "nic.req.cqe_error.events",
     "`req_cqe_error` and `resp_cqe_error` on mlx5; the flush errors also grow when jobs end.",
     "nic.resp.cqe_error.events nic.req.retry_exceeded.events"},
    {"drops", "nic.port.rx_discard.packets", kQueueDropPhrase,
     "nic.prio.rx_discard.packets switch.port.drop.packets nic.netdev.rx_dropped.packets"},
    {"discards", "nic.port.rx_discard.packets", kQueueDropPhrase,
     "nic.port.tx_discard.packets switch.port.drop.packets"},
    {"drops_discards", "nic.port.rx_discard.packets", kQueueDropPhrase, "switch.port.drop.packets"},
    {"drop_counter", "switch.port.drop.packets", kQueueDropPhrase,
     "switch.pg.drop_headroom.packets"},
    {"drop_counters", "switch.port.drop.packets", kQueueDropPhrase,
     "switch.pg.drop_headroom.packets"},
    {"drops_in_the_rdma_class", "switch.pg.drop_headroom.packets", kQueueDropPhrase,
     "switch.queue.drop_tail.packets nic.prio.rx_discard.packets"},
    {"drops_per_queue", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.queue.drop_wred.packets switch.pg.drop_headroom.packets"},
    {"drops_per_queue_and_per_priority", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.pg.drop_headroom.packets"},
    {"drops_overruns_per_queue", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.pg.drop_headroom.packets"},
    {"queue_drops", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.queue.drop_wred.packets"},
    {"queue_drop_counters", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.queue.drop_wred.packets"},
    {"wred_tail_drop", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "switch.queue.drop_wred.packets"},
    {"per_queue_errors", "switch.queue.drop_tail.packets", kQueueDropPhrase,
     "nic.netdev.rx_out_of_buffer.packets"},
    {"switch_drop_counters", "switch.port.drop.packets", kQueueDropPhrase,
     "switch.pg.drop_headroom.packets"},
    {"headroom_drops", "switch.pg.drop_headroom.packets", kHeadroomPhrase, {}},
    {"buffer_occupancy", "switch.pg.occupancy_max.bytes", kBufferPhrase,
     "switch.queue.depth_max.bytes switch.pool.occupancy_max.bytes"},
    {"buffer_fill_levels", "switch.pg.occupancy_max.bytes", kBufferPhrase,
     "switch.queue.depth_max.bytes switch.pool.occupancy_max.bytes"},
    {"queue_sizes", "switch.queue.depth.bytes", kBufferPhrase, "switch.queue.depth_max.bytes"},
    {"microbursts",
     "switch.queue.depth_max.bytes",
     "No counter shows them; the queue's high-water mark is the nearest.",
     {}},
    {"fcs", "nic.phy.crc_error.packets", kCrcPhrase, "switch.port.crc_error.packets"},
    {"crc", "nic.phy.crc_error.packets", kCrcPhrase, "switch.port.crc_error.packets"},
    {"fcs_crc", "nic.phy.crc_error.packets", kCrcPhrase, "switch.port.crc_error.packets"},
    {"crc_fcs_errors", "nic.phy.crc_error.packets", kCrcPhrase, "switch.port.crc_error.packets"},
    {"fcs_errors", "nic.phy.crc_error.packets", kCrcPhrase, "switch.port.crc_error.packets"},
    {"fec_issues", "nic.phy.pcs_symbol_error.symbols",
     "What FEC could not repair: `rx_pcs_symbol_err_phy` (mlx5), `rx_fec_uncorrectable_blocks` "
     "(bnxt); "
     "what it repaired: `rx_corrected_bits_phy`.",
     "nic.phy.corrected.bits nic.phy.fec_uncorrectable.blocks"},
    {"flaps", "nic.phy.link_down.events", kFlapPhrase, "nic.link.carrier_change.events"},
    {"errors", "nic.netdev.rx_error.packets",
     "The kernel's total; `ethtool -S` names the kinds (`rx_crc_errors_phy`, `rx_symbol_err_phy`, "
     "…).",
     "nic.phy.crc_error.packets"},
    {"nic_errors", "nic.netdev.rx_error.packets",
     "The kernel's total; `ethtool -S` names the kinds (`rx_crc_errors_phy`, `rx_symbol_err_phy`, "
     "…).",
     "nic.phy.crc_error.packets"},
    {"overruns", "nic.netdev.rx_overrun.packets", kPcieOverrun, "nic.port.rx_discard.packets"},
    {"missed", "nic.netdev.rx_missed.packets", kPcieOverrun, {}},
    {"giants", "nic.port.rx_oversize.packets", "`rx_oversize_pkts_phy` on mlx5.", {}},
    {"errors_drops_giants", "nic.port.rx_oversize.packets",
     "`rx_oversize_pkts_phy` on mlx5; on a switch the MTU drops of the port.",
     "nic.netdev.rx_error.packets nic.port.rx_discard.packets switch.port.drop_mtu.packets"},
    {"qos_counters_by_class", "nic.prio.rx.bytes",
     "`rx_prio3_bytes`, `tx_prio3_bytes` and their kin on mlx5.", "nic.prio.tx.bytes"},
    {"queue_counters", "switch.queue.tx.bytes",
     "Bytes per egress queue on a switch; per priority on a NIC (`tx_prio3_bytes`).",
     "nic.prio.tx.bytes"},
    {"byte_packet_error_counters", "nic.netdev.rx.bytes",
     "What `ip -s link` prints: the kernel's traffic only, RDMA does not pass through it.",
     "nic.netdev.rx.packets nic.netdev.rx_error.packets"},
    {"link_utilization", "nic.port.tx.bytes", kUtilisationPhrase, "nic.port.rx.bytes"},
    {"port_utilization", "switch.port.tx.bytes", kUtilisationPhrase, "switch.port.rx.bytes"},
    {"throughput", "nic.port.tx.bytes", kUtilisationPhrase, "nic.rdma.tx.bytes"},
    {"ecmp_load_distribution",
     "switch.port.tx.bytes",
     "Not a counter: compare the bytes sent by the uplinks of one leaf.",
     {}},
    {"gpu_utilisation", "host.gpu.busy.percent", "As the GPU's driver reports it.", {}},
    {"gpu_utilization", "host.gpu.busy.percent", "As the GPU's driver reports it.", {}},
    {"cpu_utilisation", "host.cpu.busy.percent", "From /proc/stat.", {}},
    {"cpu_utilization", "host.cpu.busy.percent", "From /proc/stat.", {}},

    // ---- Exporters ----
    {"node_infiniband_port_data_transmitted_bytes",
     "nic.rdma.tx.bytes",
     "node_exporter's name for `port_xmit_data`, already multiplied by 4.",
     {}},
    {"node_infiniband_port_data_received_bytes",
     "nic.rdma.rx.bytes",
     "node_exporter's name for `port_rcv_data`, already multiplied by 4.",
     {}},
    {"node_infiniband_port_packets_transmitted", "nic.rdma.tx.packets", kExporter, {}},
    {"node_infiniband_port_packets_received", "nic.rdma.rx.packets", kExporter, {}},
    {"node_infiniband_port_transmit_wait", "nic.ibspec.xmit_wait.ticks", kExporter, {}},
    {"node_infiniband_port_discards_transmitted", "nic.ibspec.xmit_discard.packets", kExporter, {}},
    {"node_infiniband_port_errors_received", "nic.ibspec.rcv_error.packets", kExporter, {}},
    {"node_network_carrier_changes", "nic.link.carrier_change.events", kExporter, {}},
};

}  // namespace

std::span<const Alias> aliases() {
  return kAliases;
}

}  // namespace weir::counters
