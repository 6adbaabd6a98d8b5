// AMD Pensando (ionic): `ethtool -S` names from drivers/net/ethernet/pensando/ionic/ionic_stats.c;
// the RDMA names are those the vendor's RDMA driver and tools print (`resp_rx_outouf_seq` is
// spelled so).
//
// A port counter the device does not have reads as 2^64-1: that is no value, not a large one.
#include "counters/tables.h"

namespace weir::counters {
namespace ionic_table {

constexpr RawName hw(std::string_view name, std::string_view id, std::string_view note = {}) {
  return {.driver = Driver::kIonic,
          .place = Place::kHwCounters,
          .pattern = name,
          .id = id,
          .trust = Trust::kDocumented,
          .maximum_is_invalid = true,
          .note = note};
}

constexpr RawName retransmitted(std::string_view name) {
  RawName raw = hw(name, "nic.req.retransmit.events");
  raw.unit = Unit::kPackets;
  return raw;
}

constexpr RawName eth(std::string_view name, std::string_view id, std::string_view note = {}) {
  return {.driver = Driver::kIonic,
          .place = Place::kEthtool,
          .pattern = name,
          .id = id,
          .maximum_is_invalid = true,
          .note = note};
}

constexpr RawName kNames[] = {
    hw("tx_rdma_cnp_pkts", "nic.np.cnp_sent.packets"),
    hw("rx_rdma_cnp_pkts", "nic.rp.cnp_handled.packets",
       "CNPs received; the driver does not say whether it acted on them"),
    hw("rx_rdma_ecn_pkts", "nic.np.ecn_marked.packets"),
    hw("resp_rx_outouf_seq", "nic.resp.out_of_sequence.packets"),
    hw("resp_rx_dup_request", "nic.resp.duplicate_request.packets"),
    hw("resp_rx_outof_buf", "nic.resp.out_of_buffer.packets"),
    hw("resp_tx_pkt_seq_err", "nic.resp.seq_nak_sent.packets"),
    hw("resp_tx_rnr_retry_err", "nic.resp.rnr_nak_sent.packets"),
    hw("resp_rx_cqe_err", "nic.resp.cqe_error.events"),
    hw("resp_rx_cqe_flush", "nic.resp.cqe_flush.events"),
    hw("resp_rx_loc_len_err", "nic.resp.local_length_error.events"),
    hw("req_rx_pkt_seq_err", "nic.req.seq_nak_received.packets"),
    hw("req_rx_impl_nak_seq_err", "nic.req.implied_nak.events"),
    hw("req_rx_rnr_retry_err", "nic.req.rnr_nak_received.packets"),
    hw("req_rx_rmt_acc_err", "nic.req.remote_access_error.events"),
    hw("req_rx_rmt_req_err", "nic.req.remote_invalid_request.events"),
    hw("req_rx_oper_err", "nic.req.remote_operation_error.events"),
    hw("req_rx_cqe_err", "nic.req.cqe_error.events"),
    hw("req_rx_cqe_flush", "nic.req.cqe_flush.events"),
    hw("req_tx_retry_excd_err", "nic.req.retry_exceeded.events"),
    hw("req_tx_loc_oper_err", "nic.req.local_operation_error.events"),
    hw("req_tx_loc_acc_err", "nic.req.local_protection_error.events"),
    hw("req_tx_mem_mgmt_err", "nic.req.memory_operation_error.events"),
    hw("tx_rdma_ack_timeout", "nic.req.ack_timeout.events"),
    retransmitted("tx_rdma_retx_pkts"),
    hw("tx_rdma_retx_bytes", "nic.req.retransmit.bytes"),
    hw("rx_rdma_mtu_discard_pkts", "nic.rdma.rx_mtu_discard.packets"),
    hw("rx_rdma_ucast_bytes", "nic.rdma.rx_unicast.bytes"),
    hw("tx_rdma_ucast_bytes", "nic.rdma.tx_unicast.bytes"),
    hw("rx_rdma_ucast_pkts", "nic.rdma.rx_unicast.packets"),
    hw("tx_rdma_ucast_pkts", "nic.rdma.tx_unicast.packets"),
    hw("rx_rdma_mcast_bytes", "nic.rdma.rx_multicast.bytes"),
    hw("tx_rdma_mcast_bytes", "nic.rdma.tx_multicast.bytes"),
    hw("rx_rdma_mcast_pkts", "nic.rdma.rx_multicast.packets"),
    hw("tx_rdma_mcast_pkts", "nic.rdma.tx_multicast.packets"),
    hw("req_rx_dup_response", "nic.ionic.duplicate_response.packets"),
    hw("req_rx_inval_pkts", "nic.ionic.invalid_packet.packets"),
    hw("req_tx_loc_sgl_inv_err", "nic.ionic.requester_gather_error.events"),
    hw("resp_rx_inval_request", "nic.ionic.invalid_request.events"),
    hw("resp_rx_loc_oper_err", "nic.ionic.responder_operation_error.events"),
    hw("resp_rx_outof_atomic", "nic.ionic.atomic_resources.events"),
    hw("resp_tx_rmt_inval_req_err", "nic.ionic.invalid_request_nak.packets"),
    hw("resp_tx_rmt_acc_err", "nic.ionic.access_nak.packets"),
    hw("resp_tx_rmt_oper_err", "nic.ionic.operation_nak.packets"),
    hw("resp_tx_loc_sgl_inv_err", "nic.ionic.responder_gather_error.events"),
    hw("resp_rx_s0_table_err", "nic.ionic.responder_table_error.events"),
    hw("resp_rx_ccl_cts_outouf_seq", "nic.ionic.cts_out_of_sequence.packets"),
    hw("tx_rdma_ccl_cts_ack_timeout", "nic.ionic.cts_ack_timeout.events"),
    hw("tx_rdma_ccl_cts_retx_pkts", "nic.ionic.cts_retransmit.packets"),
    hw("tx_rdma_ccl_cts_retx_bytes", "nic.ionic.cts_retransmit.bytes"),
    hw("rx_rdma_ccl_cts_bytes", "nic.ionic.cts_rx.bytes"),
    hw("tx_rdma_ccl_cts_bytes", "nic.ionic.cts_tx.bytes"),
    hw("rx_rdma_ccl_cts_pkts", "nic.ionic.cts_rx.packets"),
    hw("tx_rdma_ccl_cts_pkts", "nic.ionic.cts_tx.packets"),

    eth("frames_rx_pri_#", "nic.prio.rx.packets"),
    eth("frames_tx_pri_#", "nic.prio.tx.packets"),
    eth("rx_pripause_#_1us_count", "nic.prio.pause_rx.microseconds"),
    eth("tx_pripause_#_1us_count", "nic.prio.pause_tx.microseconds"),
    eth("frames_rx_pripause", "nic.pfc.rx.frames"),
    eth("frames_tx_pripause", "nic.pfc.tx.frames"),
    eth("frames_rx_pause", "nic.pause.rx.frames"),
    eth("frames_tx_pause", "nic.pause.tx.frames"),
    eth("rx_pause_1us_count", "nic.pause.rx.microseconds"),
    eth("frames_rx_bad_fcs", "nic.phy.crc_error.packets"),
    eth("frames_rx_bad_all", "nic.port.rx_error.packets"),
    eth("frames_tx_bad", "nic.port.tx_error.packets"),
    eth("frames_rx_dropped", "nic.port.rx_discard.packets"),
    eth("frames_rx_ok", "nic.port.rx.packets"),
    eth("frames_tx_ok", "nic.port.tx.packets"),
    eth("octets_rx_ok", "nic.port.rx.bytes"),
    eth("octets_tx_ok", "nic.port.tx.bytes"),
    eth("frames_rx_unicast", "nic.port.rx_unicast.packets"),
    eth("frames_tx_unicast", "nic.port.tx_unicast.packets"),
    eth("frames_rx_multicast", "nic.port.rx_multicast.packets"),
    eth("frames_tx_multicast", "nic.port.tx_multicast.packets"),
    eth("frames_rx_broadcast", "nic.port.rx_broadcast.packets"),
    eth("frames_tx_broadcast", "nic.port.tx_broadcast.packets"),
    eth("frames_rx_bad_length", "nic.port.rx_length_error.packets"),
    eth("frames_rx_undersized", "nic.port.rx_undersize.packets"),
    eth("frames_rx_oversized", "nic.port.rx_oversize.packets"),
    eth("frames_rx_fragments", "nic.port.rx_fragment.packets"),
    eth("frames_rx_jabber", "nic.port.rx_jabber.packets"),
    eth("frames_rx_stomped_crc", "nic.ionic.rx_stomped.packets"),
    eth("frames_tx_truncated", "nic.ionic.tx_truncated.packets"),
    eth("hw_rx_dropped", "nic.netdev.rx_dropped.packets"),
    eth("hw_tx_dropped", "nic.netdev.tx_dropped.packets"),
    eth("hw_rx_over_errors", "nic.netdev.rx_overrun.packets"),
    eth("hw_rx_missed_errors", "nic.netdev.rx_missed.packets"),
    eth("hw_tx_aborted_errors", "nic.netdev.tx_aborted.packets"),
};

}  // namespace ionic_table

std::span<const RawName> ionic_names() {
  return ionic_table::kNames;
}

}  // namespace weir::counters
