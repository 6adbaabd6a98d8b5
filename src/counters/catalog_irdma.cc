// Intel (irdma over ice): names from drivers/infiniband/hw/irdma/verbs.c and
// drivers/net/ethernet/intel/ice/ice_ethtool.c.
//
// The third generation's names hold blanks, so the files under hw_counters do too. The driver adds
// up narrower registers in 64 bits before it shows them. Older releases prefix iWARP's names
// (`tcp`, `iw`). ice ticks every priority of a traffic class together.
#include "counters/tables.h"

namespace weir::counters {
namespace irdma_table {

constexpr std::string_view kGen3 = "the device is of the third generation";
constexpr std::string_view kOlder = "the kernel is older";
constexpr std::string_view kSharedTc = "counts every priority of the same traffic class together";

constexpr RawName hw(std::string_view name, std::string_view id, std::string_view condition = {},
                     std::string_view note = {}) {
  return {.driver = Driver::kIrdma,
          .place = Place::kHwCounters,
          .pattern = name,
          .id = id,
          .condition = condition,
          .note = note};
}

constexpr RawName eth(std::string_view name, std::string_view id, std::string_view note = {}) {
  return {
      .driver = Driver::kIrdma, .place = Place::kEthtool, .pattern = name, .id = id, .note = note};
}

constexpr RawName retransmitted(std::string_view name, std::string_view condition) {
  RawName raw = hw(name, "nic.req.retransmit.events", condition);
  raw.unit = Unit::kPackets;
  return raw;
}

constexpr RawName kNames[] = {
    hw("cnpSent", "nic.np.cnp_sent.packets"),
    hw("cnpHandled", "nic.rp.cnp_handled.packets"),
    hw("cnpIgnored", "nic.rp.cnp_ignored.packets"),
    hw("RxECNMrkd", "nic.np.ecn_marked.packets"),
    hw("Rcvd Out of order packets", "nic.resp.out_of_sequence.packets", kGen3),
    hw("Nak Sequence Error", "nic.req.seq_nak_received.packets", kGen3),
    hw("Nak Sequence Error Implied", "nic.req.implied_nak.events", kGen3),
    hw("RTO", "nic.req.ack_timeout.events", kGen3),
    hw("RNR received", "nic.req.rnr_nak_received.packets", kGen3),
    hw("RNR sent", "nic.resp.rnr_nak_sent.packets", kGen3),
    hw("CRC errors", "nic.rdma.icrc_error.packets", kGen3),
    hw("ord limit count", "nic.irdma.ord_limit.events", kGen3),
    hw("ird limit count", "nic.irdma.ird_limit.events", kGen3),
    hw("Rx atomics", "nic.resp.atomic_requests.requests", kGen3),
    hw("Tx atomics", "nic.req.atomic_requests.requests", kGen3),
    hw("Rx ATS", "nic.resp.atomic_requests.requests", kGen3, "some releases"),
    hw("Tx ATS", "nic.req.atomic_requests.requests", kGen3, "some releases"),
    retransmitted("RetransSegs", {}),
    retransmitted("tcpRetransSegs", kOlder),
    hw("InRdmaWrites", "nic.resp.write_requests.requests"),
    hw("iwInRdmaWrites", "nic.resp.write_requests.requests", kOlder),
    hw("InRdmaReads", "nic.resp.read_requests.requests"),
    hw("iwInRdmaReads", "nic.resp.read_requests.requests", kOlder),
    hw("InRdmaSends", "nic.resp.send_requests.requests"),
    hw("iwInRdmaSends", "nic.resp.send_requests.requests", kOlder),
    hw("OutRdmaWrites", "nic.req.write_requests.requests"),
    hw("iwOutRdmaWrites", "nic.req.write_requests.requests", kOlder),
    hw("OutRdmaReads", "nic.req.read_requests.requests"),
    hw("iwOutRdmaReads", "nic.req.read_requests.requests", kOlder),
    hw("OutRdmaSends", "nic.req.send_requests.requests"),
    hw("iwOutRdmaSends", "nic.req.send_requests.requests", kOlder),
    hw("RdmaBnd", "nic.irdma.window_bind.requests"),
    hw("iwRdmaBnd", "nic.irdma.window_bind.requests", kOlder),
    hw("RdmaInv", "nic.irdma.invalidate.requests"),
    hw("iwRdmaInv", "nic.irdma.invalidate.requests", kOlder),
    hw("InSegs", "nic.irdma.segments_rx.packets"),
    hw("tcpInSegs", "nic.irdma.segments_rx.packets", kOlder),
    hw("OutSegs", "nic.irdma.segments_tx.packets"),
    hw("tcpOutSegs", "nic.irdma.segments_tx.packets", kOlder),
    hw("InOptErrors", "nic.irdma.rx_option_error.packets"),
    hw("tcpInOptErrors", "nic.irdma.rx_option_error.packets", kOlder),
    hw("InProtoErrors", "nic.irdma.rx_protocol_error.packets"),
    hw("tcpInProtoErrors", "nic.irdma.rx_protocol_error.packets", kOlder),
    hw("RxUDP", "nic.irdma.udp_rx.packets"),
    hw("TxUDP", "nic.irdma.udp_tx.packets"),
    hw("rxVlanErrors", "nic.irdma.rx_vlan_error.packets"),
    hw("ip4InOctets", "nic.irdma.ip4_rx.bytes"),
    hw("ip4InPkts", "nic.irdma.ip4_rx.packets"),
    hw("ip4InReasmRqd", "nic.irdma.ip4_rx_fragments.packets"),
    hw("ip4InMcastOctets", "nic.irdma.ip4_rx_multicast.bytes"),
    hw("ip4InMcastPkts", "nic.irdma.ip4_rx_multicast.packets"),
    hw("ip4InDiscards", "nic.rdma.rx_discard.packets", {}, "IPv4"),
    hw("ip4InTruncatedPkts", "nic.irdma.ip4_rx_truncated.packets"),
    hw("ip4OutOctets", "nic.irdma.ip4_tx.bytes"),
    hw("ip4OutPkts", "nic.irdma.ip4_tx.packets"),
    hw("ip4OutSegRqd", "nic.irdma.ip4_tx_fragments.packets"),
    hw("ip4OutMcastOctets", "nic.irdma.ip4_tx_multicast.bytes"),
    hw("ip4OutMcastPkts", "nic.irdma.ip4_tx_multicast.packets"),
    hw("ip4OutNoRoutes", "nic.irdma.ip4_tx_no_route.packets"),
    hw("ip6InOctets", "nic.irdma.ip6_rx.bytes"),
    hw("ip6InPkts", "nic.irdma.ip6_rx.packets"),
    hw("ip6InReasmRqd", "nic.irdma.ip6_rx_fragments.packets"),
    hw("ip6InMcastOctets", "nic.irdma.ip6_rx_multicast.bytes"),
    hw("ip6InMcastPkts", "nic.irdma.ip6_rx_multicast.packets"),
    hw("ip6InDiscards", "nic.irdma.ip6_rx_discard.packets"),
    hw("ip6InTruncatedPkts", "nic.irdma.ip6_rx_truncated.packets"),
    hw("ip6OutOctets", "nic.irdma.ip6_tx.bytes"),
    hw("ip6OutPkts", "nic.irdma.ip6_tx.packets"),
    hw("ip6OutSegRqd", "nic.irdma.ip6_tx_fragments.packets"),
    hw("ip6OutMcastOctets", "nic.irdma.ip6_tx_multicast.bytes"),
    hw("ip6OutMcastPkts", "nic.irdma.ip6_tx_multicast.packets"),
    hw("ip6OutNoRoutes", "nic.irdma.ip6_tx_no_route.packets"),

    eth("rx_priority_#_xoff.nic", "nic.prio.pause_rx.frames", kSharedTc),
    eth("tx_priority_#_xoff.nic", "nic.prio.pause_tx.frames", kSharedTc),
    eth("rx_priority_#_xon.nic", "nic.prio.xon_rx.frames", kSharedTc),
    eth("tx_priority_#_xon.nic", "nic.prio.xon_tx.frames", kSharedTc),
    eth("link_xoff_rx.nic", "nic.pause.rx.frames"),
    eth("link_xoff_tx.nic", "nic.pause.tx.frames"),
    eth("link_xon_rx.nic", "nic.pause.xon_rx.frames"),
    eth("link_xon_tx.nic", "nic.pause.xon_tx.frames"),
    eth("rx_crc_errors.nic", "nic.phy.crc_error.packets"),
    eth("rx_dropped.nic", "nic.port.rx_discard.packets"),
    eth("rx_bytes.nic", "nic.port.rx.bytes"),
    eth("tx_bytes.nic", "nic.port.tx.bytes"),
};

}  // namespace irdma_table

std::span<const RawName> irdma_names() {
  return irdma_table::kNames;
}

}  // namespace weir::counters
