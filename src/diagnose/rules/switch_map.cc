// I14 and I15 on the switch: it does not map the RDMA DSCP to the RDMA class.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// What arrived on a cable in the RDMA priority, as its sender counted it.
std::optional<std::uint64_t> sent_to(const View& view, const PortView& port) {
  if (port.nic) return view.nics()[*port.nic].counts.of("nic.prio.tx.bytes", view.rdma());
  if (port.peer) return view.ports()[*port.peer].counts.of("switch.queue.tx.bytes", view.rdma());
  return std::nullopt;
}

std::optional<unsigned> mapped(const View& view, const PortView& port) {
  if (port.device == nullptr || !port.device->dscp_to_tc.is_known()) return std::nullopt;
  const auto tc = port.device->dscp_to_tc->at(view.rdma_dscp().value());
  return tc ? std::optional(tc->value()) : std::nullopt;
}

unsigned wanted(const View& view, const PortView& port) {
  return port.wanted_switch != nullptr
             ? port.wanted_switch->dscp_to_priority.at(view.rdma_dscp().value()).value()
             : view.rdma();
}

/// Nobody says which code point RDMA carries, and another one leads to its class: the site may use
/// that one.
bool is_guessed(const View& view, const PortView& port) {
  if (port.wanted_switch != nullptr) return false;
  for (const NicView& nic : view.nics())
    if (nic.facts != nullptr &&
        (nic.facts->rdma.traffic_class.is_known() || nic.facts->rdma.cm_tos.is_known() ||
         nic.facts->qos.dscp_to_priority.is_known()))
      return false;
  const auto& map = *port.device->dscp_to_tc;
  return std::any_of(map.begin(), map.end(),
                     [&](const auto& to) { return to && to->value() == view.rdma(); });
}

void add_unmapped(const View& view, const std::string& name, std::string verdict,
                  std::vector<finding::EvidenceLine> lines, finding::Confidence confidence,
                  Suspicions& out) {
  out.add({.id = "dscp.unmapped_hop",
           .verdict = std::move(verdict),
           .where = switch_place(view, name),
           .confidence = confidence,
           .evidence = std::move(lines),
           .explains = {{"path.loss"},
                        {"pfc.sustained"},
                        {"ecn.thresholds_too_high"},
                        {"class.shared_queue"},
                        {"cnp.shares_rdma_priority"}}});
}

}  // namespace

void look_for_switch_maps(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches()) {
    const auto ports = view.ports_of(name);
    std::uint64_t arrived = 0;
    std::uint64_t classed = 0;
    std::vector<finding::EvidenceLine> lines;
    const double least = view.thresholds().arrives_in_priority;
    for (const PortView* port : ports) {
      const auto sent = sent_to(view, *port);
      const auto seen = port->counts.of("switch.prio.rx.bytes", view.rdma());
      if (!sent || !seen || *sent < view.thresholds().bytes_that_matter) continue;
      arrived += *sent;
      classed += *seen;
      if (lines.size() < 2 && !is_at_least(*seen, least, *sent))
        lines.push_back(port->counts.line("switch.prio.rx.bytes", view.rdma()));
    }
    const bool shows = arrived > 0 && !is_at_least(classed, least, arrived);
    const auto found = mapped(view, *ports.front());
    const bool is_other = found && *found != wanted(view, *ports.front());
    if (is_other && is_guessed(view, *ports.front())) continue;
    if (is_other) {
      lines.insert(lines.begin(),
                   fact_line(name, fmt::format("DSCP {}: expected class {}, found {}",
                                               view.rdma_dscp().value(),
                                               wanted(view, *ports.front()), *found)));
      add_unmapped(
          view, name,
          fmt::format("{} maps DSCP {} to class {} instead of {}: RDMA is not lossless there.",
                      name, view.rdma_dscp().value(), *found, wanted(view, *ports.front())),
          std::move(lines), finding::Confidence::kCertain, out);
    } else if (shows && !found) {
      add_unmapped(
          view, name,
          fmt::format("{} counted only {} of the RDMA bytes it received in priority {}; the rest "
                      "is in another class.",
                      name, percent(static_cast<double>(classed) / static_cast<double>(arrived)),
                      view.rdma()),
          std::move(lines), finding::Confidence::kHigh, out);
    }
  }
}

}  // namespace weir::diagnose
