// Software RoCE (rdma_rxe): names from drivers/infiniband/sw/rxe/rxe_hw_counters.c, and seen on
// running kernels 6.1 and 6.12. It has no DCQCN, so no CNP counters, and no `counters/` directory.
#include "counters/tables.h"

namespace weir::counters {
namespace rxe_table {

constexpr RawName hw(std::string_view name, std::string_view id, std::string_view note = {}) {
  return {
      .driver = Driver::kRxe, .place = Place::kHwCounters, .pattern = name, .id = id, .note = note};
}

constexpr RawName kNames[] = {
    hw("sent_pkts", "nic.rdma.tx.packets"),
    hw("rcvd_pkts", "nic.rdma.rx.packets"),
    hw("duplicate_request", "nic.resp.duplicate_request.packets"),
    hw("out_of_seq_request", "nic.resp.out_of_sequence.packets"),
    hw("rcvd_rnr_err", "nic.req.rnr_nak_received.packets"),
    hw("send_rnr_err", "nic.resp.rnr_nak_sent.packets"),
    hw("rcvd_seq_err", "nic.req.seq_nak_received.packets"),
    hw("ack_deferred", "nic.req.ack_deferred.events", "older kernels"),
    hw("retry_exceeded_err", "nic.req.retry_exceeded.events"),
    hw("retry_rnr_exceeded_err", "nic.req.rnr_retry_exceeded.events"),
    hw("completer_retry_err", "nic.req.retransmit.events",
       "every retry of the completer, after a NAK or a timeout"),
    hw("send_err", "nic.req.send_error.events"),
    hw("link_downed", "nic.phy.link_down.events"),
    hw("rdma_sends", "nic.req.send_requests.requests"),
    hw("rdma_recvs", "nic.resp.send_requests.requests"),
};

}  // namespace rxe_table

std::span<const RawName> rxe_names() {
  return rxe_table::kNames;
}

}  // namespace weir::counters
