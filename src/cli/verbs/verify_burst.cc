#include "cli/verbs/verify_burst.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "cli/frame/host_input.h"
#include "diagnose/core/view.h"
#include "finding/catalog.h"
#include "render/text/findings_text.h"

namespace weir::cli {
namespace {

using diagnose::NicView;
using diagnose::PortView;
using diagnose::View;

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
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
    const diagnose::Counts& counts = nic.counts;
    add(burst.pauses, counts.of("nic.prio.pause_rx.frames", view.rdma()));
    add(burst.pauses, counts.of("nic.prio.pause_tx.frames", view.rdma()));
    add(burst.marks, counts.of("nic.np.ecn_marked.packets"));
    add(burst.cnps, counts.of("nic.np.cnp_sent.packets"));
    for (const std::string_view id :
         {"nic.port.rx_discard.packets", "nic.resp.out_of_sequence.packets",
          "nic.req.seq_nak_received.packets", "nic.req.ack_timeout.events"})
      add(burst.lost, counts.of(id));
  }
}

void count_ports(const View& view, const std::string& at, Burst& burst) {
  for (const PortView& port : view.ports()) {
    const diagnose::Counts& counts = port.counts;
    const auto paused = counts.of("switch.prio.pause_tx.frames", view.rdma());
    add(burst.pauses, paused);
    if (port.switch_name == at) add(burst.pauses_there, paused);
    add(burst.lost, counts.sum("switch.pg.drop_headroom.packets"));
  }
}

std::string number(const std::optional<std::uint64_t>& count) {
  return count ? fmt::format("{}", *count) : std::string("unknown");
}

std::string verdict_of(const Verified& verified, const Burst& burst) {
  const std::string head = fmt::format("Burst of {} senders to {}{}: ", burst.senders,
                                       burst.receiver, simulated_word(verified.is_simulated));
  if (verified.is_failed())
    return head + fmt::format("it failed with status {}.", verified.drive.outcome.exit_status);
  if (!burst.lost) return head + "nobody could see whether anything was lost.";
  if (!burst.is_lossless()) return head + fmt::format("{} signs of loss.", *burst.lost);
  if (!burst.has_acted())
    return head + "nothing was lost, but PFC never had to act: it is not proven.";
  return head + fmt::format("nothing was lost; PFC acted {} times, {} packets were marked.",
                            number(burst.pauses), number(burst.marks));
}

}  // namespace

Burst judge_burst(const std::vector<evidence::Evidence>& window, const design::Intent& intent,
                  std::size_t senders, const std::string& receiver, finding::Judgement& judgement) {
  const diagnose::Case of{.evidence = window, .intent = &intent};
  const View view(of);
  Burst burst{.senders = senders, .receiver = receiver};
  count_nics(view, burst);
  count_ports(view, switch_of(view, receiver), burst);
  const bool has_loss_finding = judgement.count(finding::Severity::kError) > 0;
  if (burst.lost && *burst.lost > 0 && !has_loss_finding) {
    finding::Finding finding = finding::make_finding(
        "path.loss",
        fmt::format("A burst of {} senders to {} lost packets of the lossless class.", senders,
                    receiver),
        {.host = receiver});
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
         burst.pauses ? "no queue came near its threshold: ECN and the buffers took the burst"
                      : "nobody showed a pause counter",
         "more senders, more queue pairs, or larger messages"});
    if (judgement.conclusion == finding::Conclusion::kHealthy)
      judgement.conclusion = finding::Conclusion::kInconclusive;
  }
  return burst;
}

ExitCode print_burst(const Args& args, Context& context, const Verified& verified,
                     const Burst& burst) {
  const auto value = [](const std::optional<std::uint64_t>& count) {
    return count ? Json(*count) : Json(nullptr);
  };
  const Json extra = {{"burst",
                       {{"senders", burst.senders},
                        {"receiver", burst.receiver},
                        {"pauses", value(burst.pauses)},
                        {"pauses_at_receivers_switch", value(burst.pauses_there)},
                        {"marked", value(burst.marks)},
                        {"cnps", value(burst.cnps)},
                        {"lost", value(burst.lost)}}}};
  return print_verified(args, context, verified, verdict_of(verified, burst), &extra);
}

}  // namespace weir::cli
