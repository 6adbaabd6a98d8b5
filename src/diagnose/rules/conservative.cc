// I10: the network is half empty, nothing is lost, nobody pauses, and still senders are told to
// slow down: DCQCN takes back too much, or gives too little. A load that comes and goes looks the
// same in a short window, so only a long one makes it more than a note.
#include <algorithm>

#include <fmt/format.h>

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
      const auto bytes = nic.counts.of(id, view.rdma());
      if (bytes && possible > 0)
        most = std::max(most.value_or(0), static_cast<double>(*bytes) / possible);
    }
  }
  for (const PortView& port : view.ports())
    if (const auto use = use_of(port)) most = std::max(most.value_or(0), *use);
  return most;
}

bool anybody_pauses(const View& view) {
  const auto counts_any = [](const Counts& counts, std::string_view one, std::string_view two) {
    return counts.sum(one).value_or(0) > 0 || counts.sum(two).value_or(0) > 0;
  };
  return std::any_of(view.nics().begin(), view.nics().end(),
                     [&](const NicView& nic) {
                       return counts_any(nic.counts, "nic.prio.pause_rx.frames",
                                         "nic.prio.pause_tx.frames");
                     }) ||
         std::any_of(view.ports().begin(), view.ports().end(), [&](const PortView& port) {
           return counts_any(port.counts, "switch.prio.pause_rx.frames",
                             "switch.prio.pause_tx.frames");
         });
}

}  // namespace

void look_for_low_use(const View& view, Suspicions& out) {
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
  finding::Finding finding = finding::make_finding(
      "dcqcn.too_conservative",
      fmt::format("No line was used for more than {}, nobody paused, and {} was told {} times to "
                  "slow down: DCQCN gives back too slowly, unless the load itself pauses.",
                  percent(*use), name_of(*most), cuts),
      {});
  finding.confidence = finding::Confidence::kLow;
  const bool is_steady =
      static_cast<double>(most->counts.window().raw()) >= view.thresholds().steady_window * 1e9;
  if (!is_steady) finding.severity = finding::Severity::kInfo;
  finding.evidence.push_back(most->counts.line("nic.rp.cnp_handled.packets"));
  out.add(std::move(finding));
}

}  // namespace weir::diagnose
