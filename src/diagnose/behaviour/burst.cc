#include "diagnose/behaviour/burst.h"

#include <fmt/format.h>

#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

void add_count(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

/// The switch at the other end of the receiver's cable, where the case knows it.
std::string switch_of(const View& view, const std::string& receiver) {
  for (const NicView& nic : view.nics())
    if (nic.host == receiver && nic.port) return view.ports()[*nic.port].switch_name;
  return {};
}

void count_nics(const View& view, Burst& burst) {
  for (const NicView& nic : view.nics()) {
    const Counts& counts = nic.counts;
    add_count(burst.pauses, counts.of("nic.prio.pause_rx.frames", view.rdma()));
    add_count(burst.pauses, counts.of("nic.prio.pause_tx.frames", view.rdma()));
    add_count(burst.marks, counts.of("nic.np.ecn_marked.packets"));
    add_count(burst.cnps, counts.of("nic.np.cnp_sent.packets"));
    for (const std::string_view id :
         {"nic.port.rx_discard.packets", "nic.resp.out_of_sequence.packets",
          "nic.req.seq_nak_received.packets", "nic.req.ack_timeout.events"})
      add_count(burst.lost, counts.of(id));
  }
}

void count_ports(const View& view, const std::string& at, Burst& burst) {
  for (const PortView& port : view.ports()) {
    const Counts& counts = port.counts;
    const auto paused = counts.of("switch.prio.pause_tx.frames", view.rdma());
    add_count(burst.pauses, paused);
    if (port.switch_name == at) add_count(burst.pauses_there, paused);
    add_count(burst.lost, counts.sum("switch.pg.drop_headroom.packets"));
  }
}

}  // namespace

Burst count_burst(const View& view, std::size_t senders, const std::string& receiver) {
  Burst burst{.senders = senders, .receiver = receiver};
  count_nics(view, burst);
  count_ports(view, switch_of(view, receiver), burst);
  return burst;
}

void judge_burst(const Burst& burst, finding::Judgement& judgement) {
  const bool has_loss_finding = judgement.count(finding::Severity::kError) > 0;
  if (burst.lost && *burst.lost > 0 && !has_loss_finding) {
    finding::Finding finding = finding::make_finding(
        "path.loss",
        fmt::format("A burst of {} senders to {} lost packets of the lossless class.",
                    burst.senders, burst.receiver),
        {.host = burst.receiver});
    finding.evidence.push_back({.source = "drops and retransmissions",
                                .line = fmt::format("{} signs of loss", *burst.lost),
                                .counter = "",
                                .value = static_cast<std::int64_t>(*burst.lost)});
    judgement.findings.push_back(std::move(finding));
    finding::settle(judgement);
  }
  if (burst.is_lossless() && !burst.has_acted()) {
    judgement.unknown.push_back(
        {"PFC under a burst",
         !burst.pauses ? "nobody showed a pause counter"
         : burst.marks ? "no queue came near its threshold: ECN and the buffers took the burst"
                       : "no pause was seen, and nobody counts marked packets",
         "more senders, more queue pairs, or larger messages"});
    if (judgement.conclusion == finding::Conclusion::kHealthy)
      judgement.conclusion = finding::Conclusion::kInconclusive;
  }
}

}  // namespace weir::diagnose
