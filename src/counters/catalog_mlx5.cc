// NVIDIA ConnectX and BlueField (mlx5): names from the driver's tables (drivers/infiniband/hw/mlx5
// counters.c, drivers/net/ethernet/mellanox/mlx5 en_stats.c), inbox and OFED.
//
// The Q counters are 32 bits wide in the device and wrap; the congestion counters and everything in
// `ethtool -S` are 64 bits.
#include "counters/tables.h"

namespace weir::counters {
namespace mlx5_table {

constexpr std::string_view kPfcOn = "PFC is enabled for that priority";
constexpr std::string_view kPauseOn = "802.3x pause is on";
constexpr std::string_view kFirmware = "the firmware has the capability";
constexpr std::string_view kOptional =
    "root enabled it: `rdma statistic set link <device>/1 optional-counters …`";
constexpr std::string_view kNewer = "the kernel is of 2024 or later, or OFED";

constexpr RawName hw(std::string_view name, std::string_view id, std::uint8_t bits,
                     std::string_view condition = {}) {
  return {.driver = Driver::kMlx5,
          .place = Place::kHwCounters,
          .pattern = name,
          .id = id,
          .bits = bits,
          .condition = condition};
}

constexpr RawName eth(std::string_view name, std::string_view id, std::string_view condition = {}) {
  return {.driver = Driver::kMlx5,
          .place = Place::kEthtool,
          .pattern = name,
          .id = id,
          .condition = condition};
}

constexpr RawName kNames[] = {
    hw("rx_write_requests", "nic.resp.write_requests.requests", 32),
    hw("rx_read_requests", "nic.resp.read_requests.requests", 32),
    hw("rx_atomic_requests", "nic.resp.atomic_requests.requests", 32),
    hw("rx_dct_connect", "nic.resp.dct_connect.requests", 32),
    hw("out_of_buffer", "nic.resp.out_of_buffer.packets", 32),
    hw("out_of_sequence", "nic.resp.out_of_sequence.packets", 32),
    hw("duplicate_request", "nic.resp.duplicate_request.packets", 32),
    hw("packet_seq_err", "nic.req.seq_nak_received.packets", 32),
    hw("implied_nak_seq_err", "nic.req.implied_nak.events", 32),
    hw("local_ack_timeout_err", "nic.req.ack_timeout.events", 32),
    hw("rnr_nak_retry_err", "nic.req.rnr_nak_received.packets", 32),
    hw("req_transport_retries_exceeded", "nic.req.retry_exceeded.events", 32, kNewer),
    hw("req_rnr_retries_exceeded", "nic.req.rnr_retry_exceeded.events", 32, kNewer),
    hw("resp_local_length_error", "nic.resp.local_length_error.events", 32),
    hw("resp_cqe_error", "nic.resp.cqe_error.events", 32),
    hw("req_cqe_error", "nic.req.cqe_error.events", 32),
    hw("req_remote_invalid_request", "nic.req.remote_invalid_request.events", 32),
    hw("req_remote_access_errors", "nic.req.remote_access_error.events", 32),
    hw("resp_remote_access_errors", "nic.resp.remote_access_error.events", 32),
    hw("resp_cqe_flush_error", "nic.resp.cqe_flush.events", 32),
    hw("req_cqe_flush_error", "nic.req.cqe_flush.events", 32),
    hw("roce_adp_retrans", "nic.req.retransmit.events", 32),
    hw("roce_adp_retrans_to", "nic.req.retransmit_timeout.events", 32),
    hw("roce_slow_restart", "nic.rp.slow_restart.events", 32),
    hw("roce_slow_restart_cnps", "nic.rp.slow_restart_cnps.packets", 32),
    hw("roce_slow_restart_trans", "nic.rp.slow_restart_transitions.events", 32),
    hw("np_ecn_marked_roce_packets", "nic.np.ecn_marked.packets", 64),
    hw("np_cnp_sent", "nic.np.cnp_sent.packets", 64),
    hw("rp_cnp_handled", "nic.rp.cnp_handled.packets", 64),
    hw("rp_cnp_ignored", "nic.rp.cnp_ignored.packets", 64),
    hw("rx_icrc_encapsulated", "nic.rdma.icrc_error.packets", 64),
    hw("cc_rx_ce_pkts", "nic.np.ecn_marked.packets", 64, kOptional),
    hw("cc_rx_cnp_pkts", "nic.rp.cnp_received.packets", 64, kOptional),
    hw("cc_tx_cnp_pkts", "nic.np.cnp_sent.packets", 64, kOptional),
    hw("rdma_tx_packets", "nic.rdma.tx.packets", 64, kOptional),
    hw("rdma_tx_bytes", "nic.rdma.tx.bytes", 64, kOptional),
    hw("rdma_rx_packets", "nic.rdma.rx.packets", 64, kOptional),
    hw("rdma_rx_bytes", "nic.rdma.rx.bytes", 64, kOptional),

    eth("rx_prio#_bytes", "nic.prio.rx.bytes"),
    eth("rx_prio#_packets", "nic.prio.rx.packets"),
    eth("tx_prio#_bytes", "nic.prio.tx.bytes"),
    eth("tx_prio#_packets", "nic.prio.tx.packets"),
    eth("rx_prio#_discards", "nic.prio.rx_discard.packets", "the driver is recent"),
    eth("rx_prio#_buf_discard", "nic.prio.rx_buffer_discard.packets", kFirmware),
    eth("rx_prio#_cong_discard", "nic.prio.rx_congestion_discard.packets", kFirmware),
    eth("rx_prio#_marked", "nic.prio.rx_marked.packets", kFirmware),
    eth("rx_prio#_pause", "nic.prio.pause_rx.frames", kPfcOn),
    eth("tx_prio#_pause", "nic.prio.pause_tx.frames", kPfcOn),
    eth("rx_prio#_pause_duration", "nic.prio.pause_rx.microseconds", kPfcOn),
    eth("tx_prio#_pause_duration", "nic.prio.pause_tx.microseconds", kPfcOn),
    eth("rx_prio#_pause_transition", "nic.prio.pause_rx.transitions.events", kPfcOn),
    eth("rx_global_pause", "nic.pause.rx.frames", kPauseOn),
    eth("tx_global_pause", "nic.pause.tx.frames", kPauseOn),
    eth("rx_global_pause_duration", "nic.pause.rx.microseconds", kPauseOn),
    eth("tx_global_pause_duration", "nic.pause.tx.microseconds", kPauseOn),
    eth("rx_global_pause_transition", "nic.pause.rx.transitions.events", kPauseOn),
    eth("tx_pause_storm_warning_events", "nic.pfc.storm_warning.events", kFirmware),
    eth("tx_pause_storm_error_events", "nic.pfc.storm_error.events", kFirmware),
    eth("rx_pause_ctrl_phy", "nic.mac.pause_control_rx.frames"),
    eth("tx_pause_ctrl_phy", "nic.mac.pause_control_tx.frames"),
    eth("rx_mac_control_phy", "nic.mac.control_rx.frames"),
    eth("tx_mac_control_phy", "nic.mac.control_tx.frames"),
    eth("rx_unsupported_op_phy", "nic.mac.unknown_control_rx.frames"),

    eth("rx_bytes_phy", "nic.port.rx.bytes"),
    eth("tx_bytes_phy", "nic.port.tx.bytes"),
    eth("rx_packets_phy", "nic.port.rx.packets"),
    eth("tx_packets_phy", "nic.port.tx.packets"),
    eth("rx_multicast_phy", "nic.port.rx_multicast.packets"),
    eth("tx_multicast_phy", "nic.port.tx_multicast.packets"),
    eth("rx_broadcast_phy", "nic.port.rx_broadcast.packets"),
    eth("tx_broadcast_phy", "nic.port.tx_broadcast.packets"),
    eth("rx_discards_phy", "nic.port.rx_discard.packets"),
    eth("tx_discards_phy", "nic.port.tx_discard.packets"),
    eth("tx_errors_phy", "nic.port.tx_error.packets"),
    eth("rx_in_range_len_errors_phy", "nic.port.rx_length_error.packets"),
    eth("rx_out_of_range_len_phy", "nic.port.rx_length_range.packets"),
    eth("rx_oversize_pkts_phy", "nic.port.rx_oversize.packets"),
    eth("rx_undersize_pkts_phy", "nic.port.rx_undersize.packets"),
    eth("rx_fragments_phy", "nic.port.rx_fragment.packets"),
    eth("rx_jabbers_phy", "nic.port.rx_jabber.packets"),
    eth("rx_buffer_passed_thres_phy", "nic.port.rx_buffer_high.events", kFirmware),

    eth("rx_crc_errors_phy", "nic.phy.crc_error.packets"),
    eth("rx_symbol_err_phy", "nic.phy.symbol_error.events"),
    eth("rx_pcs_symbol_err_phy", "nic.phy.pcs_symbol_error.symbols", kFirmware),
    eth("rx_corrected_bits_phy", "nic.phy.corrected.bits", kFirmware),
    eth("rx_err_lane_#_phy", "nic.phy.lane_error.events", kFirmware),
    eth("link_down_events_phy", "nic.phy.link_down.events"),
    eth("total_success_recovery_phy", "nic.phy.recovery.events", kFirmware),

    eth("outbound_pci_stalled_rd", "nic.pcie.stalled_read.percent", kFirmware),
    eth("outbound_pci_stalled_wr", "nic.pcie.stalled_write.percent", kFirmware),
    eth("outbound_pci_stalled_rd_events", "nic.pcie.stalled_read.events", kFirmware),
    eth("outbound_pci_stalled_wr_events", "nic.pcie.stalled_write.events", kFirmware),
    eth("outbound_pci_buffer_overflow", "nic.pcie.buffer_overflow.packets", kFirmware),
    eth("rx_pci_signal_integrity", "nic.pcie.rx_signal_integrity.events", kFirmware),
    eth("tx_pci_signal_integrity", "nic.pcie.tx_signal_integrity.events", kFirmware),
    eth("module_unplug", "nic.module.unplug.events"),
    eth("module_bus_stuck", "nic.module.bus_stuck.events"),
    eth("module_high_temp", "nic.module.high_temperature.events"),
    eth("module_bad_shorted", "nic.module.shorted.events"),

    eth("rx_vport_rdma_unicast_bytes", "nic.rdma.rx_unicast.bytes"),
    eth("tx_vport_rdma_unicast_bytes", "nic.rdma.tx_unicast.bytes"),
    eth("rx_vport_rdma_unicast_packets", "nic.rdma.rx_unicast.packets"),
    eth("tx_vport_rdma_unicast_packets", "nic.rdma.tx_unicast.packets"),
    eth("rx_vport_rdma_multicast_bytes", "nic.rdma.rx_multicast.bytes"),
    eth("tx_vport_rdma_multicast_bytes", "nic.rdma.tx_multicast.bytes"),
    eth("rx_vport_rdma_multicast_packets", "nic.rdma.rx_multicast.packets"),
    eth("tx_vport_rdma_multicast_packets", "nic.rdma.tx_multicast.packets"),
    eth("rx_vport_unicast_bytes", "nic.netdev.rx_unicast.bytes"),
    eth("tx_vport_unicast_bytes", "nic.netdev.tx_unicast.bytes"),
    eth("rx_vport_unicast_packets", "nic.netdev.rx_unicast.packets"),
    eth("tx_vport_unicast_packets", "nic.netdev.tx_unicast.packets"),

    eth("rx_bytes", "nic.netdev.rx.bytes"),
    eth("tx_bytes", "nic.netdev.tx.bytes"),
    eth("rx_packets", "nic.netdev.rx.packets"),
    eth("tx_packets", "nic.netdev.tx.packets"),
    eth("rx_out_of_buffer", "nic.netdev.rx_out_of_buffer.packets"),
    eth("rx_if_down_packets", "nic.netdev.rx_if_down.packets"),
    eth("rx_steer_missed_packets", "nic.netdev.rx_steer_missed.packets"),
    eth("rx_oversize_pkts_buffer", "nic.netdev.rx_oversize.packets"),
    eth("rx_ecn_mark", "nic.netdev.rx_ecn_mark.packets"),
    eth("ch_events", "nic.netdev.channel.events"),
    eth("ch_poll", "nic.netdev.channel_poll.events"),
    eth("rx#_packets", "nic.ring.rx.packets"),
    eth("rx#_bytes", "nic.ring.rx.bytes"),
    eth("tx#_packets", "nic.ring.tx.packets"),
    eth("tx#_bytes", "nic.ring.tx.bytes"),
};

}  // namespace mlx5_table

std::span<const RawName> mlx5_names() {
  return mlx5_table::kNames;
}

}  // namespace weir::counters
