// I1: pauses spread upstream from one port. A healthy NIC takes what the wire brings and sends no
// pauses; one that does is the root, whatever the rest of the fabric shows.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// The pauses a host sends, as the NIC counted them, or as its switch port did.
struct ReceiverPauses {
  std::optional<double> share;  // of the window
  std::optional<std::uint64_t> frames;
  std::optional<double> received;  // by the host: share of the line
  const Counts* counts = nullptr;
  std::string_view duration_id;
  std::string_view frames_id;
};

std::optional<double> rate_share(std::optional<std::uint64_t> bytes, Duration window,
                                 std::optional<BitRate> speed) {
  if (!bytes || !speed || window.raw() <= 0 || speed->raw() <= 0) return std::nullopt;
  const auto possible = static_cast<double>(bytes_in(window, *speed).raw());
  return possible <= 0 ? std::nullopt : std::optional(static_cast<double>(*bytes) / possible);
}

ReceiverPauses of_nic(const View& view, const NicView& nic) {
  ReceiverPauses out;
  out.counts = &nic.counts;
  out.duration_id = "nic.prio.pause_tx.microseconds";
  out.frames_id = "nic.prio.pause_tx.frames";
  out.share = nic.counts.share_of_window(out.duration_id, view.rdma());
  out.frames = nic.counts.of(out.frames_id, view.rdma());
  out.received =
      rate_share(nic.counts.of("nic.prio.rx.bytes", view.rdma()), nic.counts.window(), nic.speed);
  return out;
}

ReceiverPauses of_port(const View& view, const PortView& port) {
  ReceiverPauses out;
  out.counts = &port.counts;
  out.duration_id = "switch.prio.pause_rx.microseconds";
  out.frames_id = "switch.prio.pause_rx.frames";
  out.share = port.counts.share_of_window(out.duration_id, view.rdma());
  out.frames = port.counts.of(out.frames_id, view.rdma());
  out.received = rate_share(port.counts.of("switch.queue.tx.bytes", view.rdma()),
                            port.counts.window(), port.speed);
  return out;
}

/// A pause lasts 65,535 quanta of 512 bits unless it is renewed or taken back. A slow receiver
/// takes its pauses back all the time; one that is stuck only ever renews them.
bool is_renewed(const ReceiverPauses& pauses, const Thresholds& limits,
                std::optional<BitRate> speed) {
  if (!pauses.share || !pauses.frames || *pauses.frames == 0 || !speed || speed->raw() <= 0)
    return false;
  constexpr double kBits = 65'535.0 * 512;
  // Paused nearly all the time, a few short pauses from before it got stuck weigh little.
  const double kept =
      *pauses.share >= limits.stuck_pause ? limits.renewed_pause_when_stuck : limits.renewed_pause;
  const double longest_us = kBits / static_cast<double>(speed->raw()) * 1e6;
  const double paused_us = *pauses.share * static_cast<double>(pauses.counts->window().raw()) / 1e6;
  return paused_us > longest_us * kept * static_cast<double>(*pauses.frames) &&
         paused_us > longest_us;
}

void judge(const View& view, const ReceiverPauses& pauses, std::optional<BitRate> speed,
           const std::string& name, finding::Where where, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  const bool has_window = pauses.share.has_value();
  if (has_window ? *pauses.share < limits.pause_warning : pauses.frames.value_or(0) == 0) return;
  const bool takes_nothing = has_window && *pauses.share >= limits.stuck_pause && pauses.received &&
                             *pauses.received < limits.stuck_rate;
  const bool is_stuck = takes_nothing || is_renewed(pauses, limits, speed);
  where.priority = std::to_string(view.rdma());
  finding::Finding finding = finding::make_finding(
      is_stuck ? "pfc.storm" : "receiver.slow",
      is_stuck ? fmt::format("{} pauses its switch port without end: {} of the window, and takes "
                             "nearly nothing. Everything upstream waits for it.",
                             name, percent(*pauses.share))
      : has_window
          ? fmt::format("{} paused its switch port for {} of the window: it takes data more "
                        "slowly than the wire brings it.",
                        name, percent(*pauses.share))
          : fmt::format("{} has paused its switch port {} times: it takes data more slowly than "
                        "the wire brings it.",
                        name, pauses.frames.value_or(0)),
      std::move(where));
  finding.confidence = has_window ? finding::Confidence::kHigh : finding::Confidence::kMedium;
  if (has_window && *pauses.share < limits.pause_error)
    finding.severity = finding::Severity::kWarning;
  finding.evidence.push_back(pauses.counts->line(pauses.frames_id, view.rdma()));
  if (has_window) finding.evidence.push_back(pauses.counts->line(pauses.duration_id, view.rdma()));
  std::vector<Consequence> explains = congestion_anywhere();
  explains.push_back({"np.disabled"});
  // A NIC that is stuck also drops what arrives.
  if (is_stuck) explains.push_back({"receiver.slow", finding.where.host});
  out.add(std::move(finding), std::move(explains));
}

/// Without PFC on what arrives, a host that is too slow drops it.
void look_at_discards(const NicView& nic, Suspicions& out) {
  const std::uint64_t discards = nic.counts.of("nic.port.rx_discard.packets").value_or(0);
  if (discards == 0) return;
  finding::Finding finding = finding::make_finding(
      "receiver.slow",
      fmt::format("{} dropped {} packets that had arrived: it takes data more slowly than the "
                  "wire brings it.",
                  name_of(nic), discards),
      nic.where());
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(nic.counts.line("nic.port.rx_discard.packets"));
  out.add(std::move(finding), {{"path.loss"}});
}

}  // namespace

void look_for_slow_receivers(const View& view, Suspicions& out) {
  bool can_see = false;
  for (const NicView& nic : view.nics()) {
    const ReceiverPauses own = of_nic(view, nic);
    const bool is_own = own.frames.has_value();
    if (!is_own && !nic.port) continue;
    const ReceiverPauses pauses = is_own ? own : of_port(view, view.ports()[*nic.port]);
    if (!pauses.frames) continue;
    can_see = true;
    finding::Where where = nic.where();
    if (nic.port) where.link = name_of(view.ports()[*nic.port]);
    judge(view, pauses, nic.speed, name_of(nic), where, out);
  }
  for (const PortView& port : view.ports()) {
    if (port.nic || port.is_fabric().value_or(true)) continue;
    const ReceiverPauses pauses = of_port(view, port);
    can_see = can_see || pauses.frames.has_value();
    finding::Where where = port.where();
    where.host = port.neighbour;
    judge(view, pauses, port.speed,
          port.neighbour.empty() ? fmt::format("the host at {}", name_of(port)) : port.neighbour,
          where, out);
  }
  for (const NicView& nic : view.nics())
    look_at_discards(nic, out);
  if (!can_see && view.has_counters()) {
    out.cannot_tell("slow receivers", "no pause counters of the RDMA priority were read",
                    "ethtool -S <netdev> shows tx_prioN_pause while PFC is on");
  }
}

}  // namespace weir::diagnose
