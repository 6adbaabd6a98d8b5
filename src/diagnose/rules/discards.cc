// I29: a port that drops packets without a reason in its counters. Where a reason is counted
// (headroom, MTU, TTL, a link that is down, a lossy queue) another rule reports it.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

struct Discard {
  std::string_view counter;
  std::string_view words;  // after "dropped N packets"
};
constexpr Discard kOfNics[] = {
    {"nic.ibspec.xmit_discard.packets", "on transmit"},
    {"nic.port.tx_discard.packets", "on transmit"},
    {"nic.ibspec.rcv_error.packets", "received with errors"},
    {"nic.ibspec.rcv_constraint_error.packets", "that it is not allowed to receive"},
    {"nic.prio.rx_discard.packets", "for lack of receive buffer"},
    {"nic.cos.rx_discard.packets", "for lack of receive buffer"},
};

/// Counters of a switch that say why it dropped.
constexpr std::string_view kReasons[] = {
    "switch.queue.drop_tail.packets",     "switch.queue.drop_wred.packets",
    "switch.queue.drop_watchdog.packets", "switch.pg.drop_admission.packets",
    "switch.pg.drop_headroom.packets",    "switch.port.drop_mtu.packets",
    "switch.port.drop_ttl.packets",       "switch.port.drop_no_route.packets",
    "switch.port.drop_link_down.packets", "switch.port.crc_error.packets",
};

void report_discards(const std::string& name, finding::Where where, std::uint64_t packets,
                     std::string_view words, finding::EvidenceLine line, Suspicions& out) {
  out.add({.id = "port.discards",
           .verdict = fmt::format("{} dropped {} packets {}.", name, count_text(packets), words),
           .where = std::move(where),
           .confidence = finding::Confidence::kMedium,
           .evidence = {std::move(line)},
           .explains = {{"path.loss"}, {"congestion.sustained"}}});
}

void look_for_discards_at(const NicView& nic, Suspicions& out) {
  for (const Discard& discard : kOfNics) {
    const std::uint64_t packets =
        nic.counts.of(discard.counter).value_or(nic.counts.sum(discard.counter).value_or(0));
    if (packets == 0) continue;
    return report_discards(name_of(nic), nic.where(), packets, discard.words,
                           nic.counts.line(discard.counter), out);
  }
}

void look_for_discards_at(const PortView& port, Suspicions& out) {
  const std::uint64_t policed = port.counts.of("switch.port.drop_policer.packets").value_or(0);
  if (policed > 0) {
    report_discards(name_of(port), port.where(), policed, "at a policer",
                    port.counts.line("switch.port.drop_policer.packets"), out);
    return;
  }
  const std::uint64_t all = port.counts.of("switch.port.drop.packets").value_or(0);
  std::uint64_t explained = 0;
  for (const std::string_view reason : kReasons)
    explained += port.counts.sum(reason).value_or(port.counts.of(reason).value_or(0));
  if (all <= explained) return;
  report_discards(name_of(port), port.where(), all - explained, "without a reason in its counters",
                  port.counts.line("switch.port.drop.packets"), out);
}

}  // namespace

void look_for_discards(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_for_discards_at(nic, out);
  for (const PortView& port : view.ports())
    look_for_discards_at(port, out);
}

}  // namespace weir::diagnose
