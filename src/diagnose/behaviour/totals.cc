#include "diagnose/behaviour/totals.h"

#include <algorithm>
#include <initializer_list>

namespace weir::diagnose {
namespace {

void add_amount(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

void add_share(std::optional<double>& most, const std::optional<double>& part) {
  if (part) most = std::max(most.value_or(0), *part);
}

void add_nic(const Counts& counts, unsigned rdma, Totals& out) {
  add_amount(out.pauses, counts.of("nic.prio.pause_rx.frames", rdma));
  add_amount(out.pauses, counts.of("nic.prio.pause_tx.frames", rdma));
  add_share(out.pause_share, counts.share_of_window("nic.prio.pause_rx.microseconds", rdma));
  add_share(out.pause_share, counts.share_of_window("nic.prio.pause_tx.microseconds", rdma));
  add_amount(out.marks, counts.of("nic.np.ecn_marked.packets"));
  add_amount(out.cnps, counts.of("nic.np.cnp_sent.packets"));
  add_amount(out.sent_bytes, counts.of("nic.prio.tx.bytes", rdma));
  add_amount(out.dropped, counts.of("nic.prio.rx_discard.packets", rdma));
  add_amount(out.dropped, counts.of("nic.prio.rx_buffer_discard.packets", rdma));
  add_amount(out.loss_signs, counts.of("nic.req.seq_nak_received.packets"));
  add_amount(out.disordered, counts.of("nic.resp.out_of_sequence.packets"));
  for (const std::string_view id :
       {"nic.req.ack_timeout.events", "nic.req.retransmit_timeout.events",
        "nic.req.retry_exceeded.events"})
    add_amount(out.timeouts, counts.of(id));
  add_amount(out.watchdog, counts.of("nic.pfc.storm_error.events"));
}

void add_port(const Counts& counts, unsigned rdma, Totals& out) {
  add_amount(out.pauses, counts.of("switch.prio.pause_tx.frames", rdma));
  add_share(out.pause_share, counts.share_of_window("switch.prio.pause_rx.microseconds", rdma));
  add_share(out.pause_share, counts.share_of_window("switch.prio.pause_tx.microseconds", rdma));
  add_amount(out.dropped, counts.sum("switch.pg.drop_headroom.packets"));
  add_amount(out.watchdog, counts.sum("switch.queue.watchdog_storm.events"));
  add_amount(out.watchdog, counts.sum("switch.queue.drop_watchdog.packets"));
}

}  // namespace

Totals totals_of(const View& view) {
  Totals out;
  for (const NicView& nic : view.nics()) {
    out.window = std::max(out.window, nic.counts.window());
    add_nic(nic.counts, view.rdma(), out);
  }
  for (const PortView& port : view.ports()) {
    out.window = std::max(out.window, port.counts.window());
    add_port(port.counts, view.rdma(), out);
  }
  return out;
}

}  // namespace weir::diagnose
