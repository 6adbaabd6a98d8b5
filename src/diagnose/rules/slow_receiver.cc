// I1: pauses spread upstream from one port. A healthy NIC receives at line rate and sends no
// pauses; one that sends them is the root, whatever the rest of the fabric shows.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// The pauses a host sends, as the NIC counted them, or as its switch port did.
struct ReceiverPauses {
  std::optional<double> share;  // of the window
  std::optional<std::uint64_t> frames;
  std::optional<double> received;  // by the host: share of the line
  /// Pauses counted one by one, their renewals left out: all but the last of them ended.
  std::optional<finding::EvidenceLine> begun;
  const Counts* counts = nullptr;
  std::string duration_id;
  std::string frames_id;
};

std::optional<double> rate_share(std::optional<std::uint64_t> bytes, Duration window,
                                 std::optional<BitRate> speed) {
  if (!bytes || !speed || window.raw() <= 0 || speed->raw() <= 0) return std::nullopt;
  const auto possible = static_cast<double>(bytes_in(window, *speed).raw());
  return possible <= 0 ? std::nullopt : std::optional(static_cast<double>(*bytes) / possible);
}

ReceiverPauses pauses_of(const View& view, const Counts& counts, std::string_view direction,
                         std::string_view received_id, std::optional<BitRate> speed) {
  ReceiverPauses out;
  out.counts = &counts;
  out.duration_id = fmt::format("{}.microseconds", direction);
  out.frames_id = fmt::format("{}.frames", direction);
  out.share = counts.share_of_window(out.duration_id, view.rdma());
  out.frames = counts.of(out.frames_id, view.rdma());
  out.received = rate_share(counts.of(received_id, view.rdma()), counts.window(), speed);
  return out;
}

ReceiverPauses pauses_of(const View& view, const NicView& nic) {
  return pauses_of(view, nic.counts, "nic.prio.pause_tx", "nic.prio.rx.bytes", nic.speed);
}

ReceiverPauses pauses_of(const View& view, const PortView& port) {
  return pauses_of(view, port.counts, "switch.prio.pause_rx", "switch.queue.tx.bytes", port.speed);
}

std::optional<finding::EvidenceLine> pauses_begun(const View& view, const Counts& counts,
                                                  std::string_view id) {
  if (!counts.of(id, view.rdma())) return std::nullopt;
  return counts.line(id, view.rdma());
}

std::optional<finding::EvidenceLine> pauses_begun(const View& view, const PortView& port) {
  return pauses_begun(view, port.counts, "switch.prio.pause_rx.transitions.events");
}

/// By the NIC, or else by its switch port.
std::optional<finding::EvidenceLine> pauses_begun(const View& view, const NicView& nic) {
  auto own = pauses_begun(view, nic.counts, "nic.prio.pause_tx.transitions.events");
  return own || !nic.port ? own : pauses_begun(view, view.ports()[*nic.port]);
}

/// A slow receiver releases its pauses all the time; one that is stuck only renews them.
bool is_renewed(const ReceiverPauses& pauses, const Thresholds& limits,
                std::optional<BitRate> speed) {
  if (!pauses.share || !pauses.frames || !speed) return false;
  // If it was paused nearly all the time, a few short pauses from before count little.
  const double kept =
      *pauses.share >= limits.stuck_pause ? limits.renewed_pause_when_stuck : limits.renewed_pause;
  return are_only_renewed(*pauses.counts, *pauses.share, *pauses.frames, *speed, kept);
}

void judge_pauses(const View& view, const ReceiverPauses& pauses, std::optional<BitRate> speed,
                  const std::string& name, finding::Where where, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  const bool has_window = pauses.share.has_value();
  if (has_window ? *pauses.share < limits.pause_warning : pauses.frames.value_or(0) == 0) return;
  // Counted releases decide; without them the length of the pauses must tell.
  const bool is_released = pauses.begun && pauses.begun->value.value_or(0) >
                                               static_cast<std::int64_t>(limits.pauses_released);
  const bool takes_nothing = has_window && *pauses.share >= limits.stuck_pause && pauses.received &&
                             *pauses.received < limits.stuck_rate;
  const bool takes_much = pauses.received && *pauses.received > limits.low_use;
  const bool is_stuck =
      takes_nothing || (!is_released && !takes_much && is_renewed(pauses, limits, speed));
  constexpr std::string_view kSlow = "the host drains packets more slowly than they arrive";
  std::vector<finding::EvidenceLine> lines;
  if (pauses.frames) lines.push_back(pauses.counts->line(pauses.frames_id, view.rdma()));
  if (has_window) lines.push_back(pauses.counts->line(pauses.duration_id, view.rdma()));
  if (is_released) lines.push_back(*pauses.begun);
  Suspicion slow{
      .id = is_stuck ? "pfc.storm" : "receiver.slow",
      .verdict =
          is_stuck ? fmt::format("{} paused its switch port for {} of the window{}{}: everything "
                                 "upstream waits.",
                                 name, percent(*pauses.share),
                                 pauses.begun ? " without releasing it" : "",
                                 takes_nothing ? " and received almost nothing" : "")
          : has_window ? fmt::format("{} paused its switch port for {} of the window: {}.", name,
                                     percent(*pauses.share), kSlow)
          : view.is_read_once(where)
              ? fmt::format(
                    "{} has paused its switch port {} times since its counters were cleared.", name,
                    pauses.frames.value_or(0))
              : fmt::format("{} paused its switch port {} times: {}.", name,
                            pauses.frames.value_or(0), kSlow),
      .where = with_priority(view, std::move(where)),
      .confidence = has_window ? finding::Confidence::kHigh : finding::Confidence::kMedium,
      .evidence = std::move(lines),
      .explains = congestion_anywhere()};
  // Itself, it sends no CNPs while it is stuck.
  slow.explains.push_back({"np.disabled", slow.where.host});
  if (has_window && *pauses.share < limits.pause_error) slow.severity = finding::Severity::kWarning;
  // A NIC that is stuck also drops what arrives.
  if (is_stuck) slow.explains.push_back({"receiver.slow", slow.where.host});
  out.add(std::move(slow));
}

/// Without PFC on the priority a slow host drops what arrives.
void look_at_discards(const NicView& nic, Suspicions& out) {
  constexpr std::string_view kDiscards = "nic.port.rx_discard.packets";
  const std::uint64_t discards = nic.counts.of(kDiscards).value_or(0);
  if (discards == 0) return;
  out.add(
      {.id = "receiver.slow",
       .verdict = fmt::format("{} dropped {} received packets: the host drains them more slowly "
                              "than they arrive.",
                              name_of(nic), discards),
       .where = nic.where(),
       .confidence = finding::Confidence::kMedium,
       .evidence = {nic.counts.line(kDiscards)},
       .explains = {{"path.loss"}}});
}

// ---- watchdogs ----

/// The watchdog holds a queue of the port and no pause arrives: it drops on a healthy link.
void look_at_held_queues(const View& view, const PortView& port, Suspicions& out) {
  if (port.facts == nullptr) return;
  const auto pauses = port.counts.of("switch.prio.pause_rx.frames", view.rdma());
  for (const evidence::EgressQueue& queue : port.facts->queues) {
    // While pauses arrive the watchdog is right, and the storm is the fault.
    if (!queue.stuck.is(true) || pauses != std::optional<std::uint64_t>(0)) continue;
    out.add(
        {.id = "watchdog.stuck",
         .verdict = fmt::format("The PFC watchdog holds queue {} of {}, and no pause arrives any "
                                "more: what is sent to it is dropped.",
                                queue.queue.value(), name_of(port)),
         .where = port.where(),
         .confidence = finding::Confidence::kHigh,
         .evidence = {fact_line(name_of(port),
                                fmt::format("PFC watchdog: queue {} is held", queue.queue.value())),
                      port.counts.line("switch.prio.pause_rx.frames", view.rdma())},
         .explains = {{"path.loss"}, {"port.discards"}}});
  }
}

/// Watchdogs that act too seldom or too long. A storm that lets a few packets through in each
/// interval wakes none: they want a pause without a break (SONiC on NVIDIA hardware: 99 % of the
/// polling interval).
void look_at_watchdogs(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  for (const PortView& port : view.ports()) {
    look_at_held_queues(view, port, out);
    const bool is_on = port.device != nullptr && port.device->watchdog.enabled.is(true) &&
                       !(port.facts != nullptr && port.facts->watchdog.is(false));
    const auto paused =
        port.counts.share_of_window("switch.prio.pause_rx.microseconds", view.rdma());
    if (!is_on || !paused || *paused < limits.paused_mostly || *paused >= limits.stuck_pause ||
        static_cast<double>(port.counts.window().raw()) < limits.steady_window * 1e9)
      continue;
    out.add({.id = "watchdog.blind",
             .verdict = fmt::format("{} was paused {} of the window and its PFC watchdog did not "
                                    "act: it waits for a pause without a break.",
                                    name_of(port), percent(*paused)),
             .where = with_priority(view, port.where()),
             .confidence = finding::Confidence::kMedium,
             .evidence = {fact_line(name_of(port), "PFC watchdog: on"),
                          port.counts.line("switch.prio.pause_rx.microseconds", view.rdma())}});
  }
}

}  // namespace

void look_for_slow_receivers(const View& view, Suspicions& out) {
  bool can_see = false;
  for (const NicView& nic : view.nics()) {
    const ReceiverPauses own = pauses_of(view, nic);
    // A panel may show how long alone.
    const bool is_own = own.frames.has_value() || own.share.has_value();
    if (!is_own && !nic.port) continue;
    ReceiverPauses pauses = is_own ? own : pauses_of(view, view.ports()[*nic.port]);
    pauses.begun = pauses_begun(view, nic);
    if (!pauses.frames && !pauses.share) continue;
    can_see = true;
    finding::Where where = nic.where();
    if (nic.port) where.link = name_of(view.ports()[*nic.port]);
    judge_pauses(view, pauses, nic.speed, name_of(nic), where, out);
  }
  bool has_unplaced = false;
  for (const PortView& port : view.ports()) {
    has_unplaced = has_unplaced || (!port.nic && !port.is_fabric() &&
                                    port.counts.of("switch.prio.pause_rx.frames", view.rdma()));
    if (port.nic || port.is_fabric().value_or(true)) continue;
    ReceiverPauses pauses = pauses_of(view, port);
    pauses.begun = pauses_begun(view, port);
    can_see = can_see || pauses.frames.has_value();
    finding::Where where = port.where();
    where.host = port.neighbour;
    judge_pauses(
        view, pauses, port.speed,
        port.neighbour.empty() ? fmt::format("the host at {}", name_of(port)) : port.neighbour,
        where, out);
  }
  for (const NicView& nic : view.nics())
    look_at_discards(nic, out);
  look_at_watchdogs(view, out);
  if (!can_see && has_unplaced) {
    out.cannot_tell("slow receivers", "which of the switch ports lead to hosts is not known",
                    "a design (--design), or the counters of the hosts themselves");
  } else if (!can_see && view.has_counters()) {
    out.cannot_tell("slow receivers", "no pause counters of the RDMA priority were read",
                    "ethtool -S <netdev> shows tx_prioN_pause while PFC is on");
  }
}

}  // namespace weir::diagnose
