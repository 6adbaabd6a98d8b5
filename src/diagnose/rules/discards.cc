// I29: a port that drops or takes in what it cannot use, with no reason of its own in the counters.
// Where a reason is counted (headroom, MTU, hops, a dead link, a lossy queue) another rule speaks.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

struct Discard {
  std::string_view counter;
  std::string_view words;
};
constexpr Discard kOfNics[] = {
    {"nic.ibspec.xmit_discard.packets", "could not send"},
    {"nic.port.tx_discard.packets", "could not send"},
    {"nic.ibspec.rcv_error.packets", "received and could not use"},
    {"nic.ibspec.rcv_constraint_error.packets", "received and may not take"},
    {"nic.prio.rx_discard.packets", "had no receive buffer for"},
};

/// Counters of a switch that say why it dropped.
constexpr std::string_view kReasons[] = {
    "switch.queue.drop_tail.packets",     "switch.queue.drop_wred.packets",
    "switch.queue.drop_watchdog.packets", "switch.pg.drop_admission.packets",
    "switch.pg.drop_headroom.packets",    "switch.port.drop_mtu.packets",
    "switch.port.drop_ttl.packets",       "switch.port.drop_no_route.packets",
    "switch.port.drop_link_down.packets", "switch.port.crc_error.packets",
};

void report(const std::string& name, finding::Where where, std::uint64_t packets,
            std::string_view words, finding::EvidenceLine line, Suspicions& out) {
  finding::Finding finding = finding::make_finding(
      "port.discards",
      fmt::format("{} dropped {} packets that it {}.", name, count_text(packets), words),
      std::move(where));
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(std::move(line));
  out.add(std::move(finding), {{"path.loss"}, {"congestion.sustained"}});
}

void look_at(const NicView& nic, Suspicions& out) {
  for (const Discard& one : kOfNics) {
    const std::uint64_t packets =
        nic.counts.of(one.counter).value_or(nic.counts.sum(one.counter).value_or(0));
    if (packets == 0) continue;
    return report(name_of(nic), nic.where(), packets, one.words, nic.counts.line(one.counter), out);
  }
}

void look_at(const PortView& port, Suspicions& out) {
  const std::uint64_t policed = port.counts.of("switch.port.drop_policer.packets").value_or(0);
  if (policed > 0) {
    report(name_of(port), port.where(), policed, "was told to limit (a policer)",
           port.counts.line("switch.port.drop_policer.packets"), out);
    return;
  }
  const std::uint64_t all = port.counts.of("switch.port.drop.packets").value_or(0);
  std::uint64_t explained = 0;
  for (const std::string_view reason : kReasons)
    explained += port.counts.sum(reason).value_or(port.counts.of(reason).value_or(0));
  if (all <= explained) return;
  report(name_of(port), port.where(), all - explained, "gives no reason for",
         port.counts.line("switch.port.drop.packets"), out);
}

}  // namespace

void look_for_discards(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_at(nic, out);
  for (const PortView& port : view.ports())
    look_at(port, out);
}

}  // namespace weir::diagnose
