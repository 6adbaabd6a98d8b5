// I10: the network is half empty, nothing is lost or paused, and still senders get CNPs: DCQCN cuts
// too much or recovers too slowly. A load that comes and goes looks the same in a short window, so
// only a long window makes it more than a note.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// The largest share of a line that any NIC sent or received.
std::optional<double> busiest(const View& view) {
  std::optional<double> most;
  for (const NicView& nic : view.nics()) {
    if (!nic.speed || nic.speed->raw() <= 0 || nic.counts.window().raw() <= 0) continue;
    const auto possible = static_cast<double>(bytes_in(nic.counts.window(), *nic.speed).raw());
    for (const std::string_view id : {"nic.prio.tx.bytes", "nic.prio.rx.bytes"}) {
      const auto bytes = nic.counts.sum(id);
      if (bytes && possible > 0)
        most = std::max(most.value_or(0), static_cast<double>(*bytes) / possible);
    }
  }
  for (const PortView& port : view.ports())
    if (const auto use = use_of(port)) most = std::max(most.value_or(0), *use);
  return most;
}

bool anybody_pauses(const View& view) {
  const auto counts_any = [](const Counts& counts, std::string_view rx, std::string_view tx) {
    return counts.sum(rx).value_or(0) > 0 || counts.sum(tx).value_or(0) > 0;
  };
  return std::any_of(view.nics().begin(), view.nics().end(),
                     [&](const NicView& nic) {
                       return counts_any(nic.counts, "nic.prio.pause_rx.frames",
                                         "nic.prio.pause_tx.frames") ||
                              counts_any(nic.counts, "nic.pause.rx.frames",
                                         "nic.pause.tx.frames") ||
                              counts_any(nic.counts, "nic.mac.pause_control_rx.frames",
                                         "nic.mac.pause_control_tx.frames");
                     }) ||
         std::any_of(view.ports().begin(), view.ports().end(), [&](const PortView& port) {
           return counts_any(port.counts, "switch.prio.pause_rx.frames",
                             "switch.prio.pause_tx.frames");
         });
}

// ---- rails that carry nothing while another is busy ----

struct RailUse {
  const NicView* nic = nullptr;
  std::uint64_t sent = 0;
};

void look_at_rails(const View& view, const std::string& host, const std::vector<RailUse>& rails,
                   Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  const auto busiest =
      std::max_element(rails.begin(), rails.end(),
                       [](const RailUse& a, const RailUse& b) { return a.sent < b.sent; });
  const NicView& busy = *busiest->nic;
  const auto window = static_cast<double>(busy.counts.window().raw());
  if (!busy.speed || busy.speed->raw() <= 0 || window < limits.steady_window * 1e9) return;
  const double seconds = window / kPicosecondsPerSecond;
  const double use =
      static_cast<double>(busiest->sent) * 8 / seconds / static_cast<double>(busy.speed->raw());
  std::vector<std::string> idle;
  for (const RailUse& rail : rails)
    if (!is_at_least(rail.sent, limits.idle_link, busiest->sent)) idle.push_back(rail.nic->device);
  if (use < limits.busy_rail || idle.empty()) return;
  out.add(
      {.id = "rail.unbalanced",
       .verdict = fmt::format("{} sent at {} of the line on {} and hardly anything on {}: a job "
                              "that should use all rails does not.",
                              host, percent(use), busy.device, join(idle, ", ")),
       .where = {.host = host},
       .confidence = finding::Confidence::kLow,
       .severity = finding::Severity::kInfo,
       .evidence = {busy.counts.line("nic.prio.tx.bytes", view.rdma())}});
}

/// Whether a job was meant to use them the counters do not say: a note.
void look_for_idle_rails(const View& view, Suspicions& out) {
  std::map<std::string, std::vector<RailUse>> hosts;
  for (const NicView& nic : view.nics())
    if (const auto sent = nic.counts.of("nic.prio.tx.bytes", view.rdma()))
      hosts[nic.host].push_back({&nic, *sent});
  for (const auto& [host, rails] : hosts)
    if (rails.size() > 1) look_at_rails(view, host, rails, out);
}

}  // namespace

void look_for_low_use(const View& view, Suspicions& out) {
  look_for_idle_rails(view, out);
  const NicView* most = nullptr;
  std::uint64_t cuts = 0;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t handled = nic.counts.of("nic.rp.cnp_handled.packets").value_or(0);
    if (handled <= cuts) continue;
    cuts = handled;
    most = &nic;
  }
  if (most == nullptr || cuts < view.thresholds().cnps_that_matter || anybody_pauses(view)) return;
  const auto use = busiest(view);
  if (!use || *use >= view.thresholds().low_use) return;
  out.add(
      {.id = "dcqcn.too_conservative",
       .verdict = fmt::format("The busiest link was used {}, nothing was paused, and {} handled "
                              "{} CNPs: DCQCN recovers too slowly, unless the load itself is "
                              "intermittent.",
                              percent(*use), name_of(*most), cuts),
       .confidence = finding::Confidence::kLow,
       // Any job that computes between its messages looks like this: a note.
       .severity = finding::Severity::kInfo,
       .evidence = {most->counts.line("nic.rp.cnp_handled.packets")}});
}

}  // namespace weir::diagnose
