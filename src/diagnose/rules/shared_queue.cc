// I14 on the switch: another class shares the RDMA queue and priority group. It is then paused and
// marked together with RDMA. Settings show it; without them, packets that arrived in another class
// are counted in the RDMA class.
#include <cmath>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// What makes a switch suspect.
struct Sharing {
  unsigned priority = 0;
  finding::EvidenceLine line;
  bool is_read = false;
};

std::optional<Sharing> by_settings(const View& view, const PortView& port) {
  if (port.device == nullptr || port.wanted_switch == nullptr) return std::nullopt;
  const evidence::Switch& device = *port.device;
  const design::SwitchIntent& wanted = *port.wanted_switch;
  for (unsigned p = 0; p < 8; ++p) {
    if (p == view.rdma()) continue;
    const bool shares_queue = device.tc_to_queue.is_known() &&
                              device.tc_to_queue->at(p) == device.tc_to_queue->at(view.rdma());
    const bool may_share =
        wanted.priority_to_queue.at(p) == wanted.priority_to_queue.at(view.rdma());
    if (!shares_queue || may_share) continue;
    return Sharing{p,
                   fact_line(port.switch_name,
                             fmt::format("priority {}: expected queue {}, found RDMA queue {}", p,
                                         wanted.priority_to_queue.at(p).value(),
                                         device.tc_to_queue->at(p).value())),
                   true};
  }
  return std::nullopt;
}

/// What the other end of a cable sent in this class.
std::uint64_t arrived(const View& view, const PortView& port, unsigned priority) {
  if (port.nic)
    return view.nics()[*port.nic].counts.of("nic.prio.tx.packets", priority).value_or(0);
  if (!port.peer) return 0;
  const PortView& peer = view.ports()[*port.peer];
  if (peer.wanted_switch == nullptr) return 0;
  const unsigned queue = peer.wanted_switch->priority_to_queue.at(priority).value();
  return peer.counts.of("switch.queue.tx.packets", queue).value_or(0);
}

/// Packets of a class on one port: how many came, and whether the RDMA class counted as many more
/// than came in it. Their own class says less: lossy classes often share a priority group.
struct Flow {
  std::uint64_t came = 0;
  bool is_moved = false;
  bool is_short = false;  // no data, as CNPs are
};

Flow flow_of(const View& view, const PortView& port, unsigned priority) {
  Flow out;
  const auto rdma = port.counts.of("switch.prio.rx.packets", view.rdma());
  if (!rdma) return out;
  out.came = arrived(view, port, priority);
  const double excess =
      static_cast<double>(*rdma) - static_cast<double>(arrived(view, port, view.rdma()));
  const auto came = static_cast<double>(out.came);
  out.is_moved = std::abs(excess - came) <=
                 view.thresholds().moved_match * came + view.thresholds().moved_slack;
  if (port.nic) {
    const auto bytes = view.nics()[*port.nic].counts.of("nic.prio.tx.bytes", priority);
    out.is_short =
        bytes && static_cast<double>(*bytes) < view.thresholds().data_packet_bytes * came;
  }
  return out;
}

/// CNPs are few on each port. Over all ports of a switch: as many as arrived were counted in the
/// RDMA class on top of RDMA, and the queue of CNPs sent none of them.
std::optional<Sharing> cnps_by_counters(const View& view, std::span<const PortView* const> ports) {
  if (ports.front()->wanted_switch == nullptr || view.cnp() == view.rdma()) return std::nullopt;
  const unsigned queue = ports.front()->wanted_switch->priority_to_queue.at(view.cnp()).value();
  const Thresholds& limits = view.thresholds();
  std::uint64_t came = 0;
  std::uint64_t sent = 0;
  double excess = 0;
  for (const PortView* port : ports) {
    const auto rdma = port->counts.of("switch.prio.rx.packets", view.rdma());
    const auto cnps = port->counts.of("switch.queue.tx.packets", queue);
    if (!rdma || !cnps) return std::nullopt;
    came += arrived(view, *port, view.cnp());
    sent += *cnps;
    excess += static_cast<double>(*rdma) - static_cast<double>(arrived(view, *port, view.rdma()));
  }
  const double off = std::abs(excess - static_cast<double>(came));
  if (came < limits.class_packets || sent > 0 ||
      off > limits.moved_match * static_cast<double>(came) + limits.moved_slack)
    return std::nullopt;
  return Sharing{view.cnp(),
                 fact_line(ports.front()->switch_name,
                           fmt::format("{} CNPs arrived, their queue {} sent none, and the RDMA "
                                       "class counted {:.0f} packets too many",
                                       came, queue, excess))};
}

/// The RDMA class counts the packets of another one, on every port where they arrive. A NIC with a
/// wrong map shows the same on its own port only, with data; CNPs are short.
std::optional<Sharing> by_counters(const View& view, std::span<const PortView* const> ports) {
  if (ports.front()->wanted_switch == nullptr) return std::nullopt;
  for (unsigned p = 0; p < 8; ++p) {
    if (p == view.rdma()) continue;
    std::uint64_t came = 0;
    std::size_t moved = 0;
    std::size_t all = 0;
    bool is_short = true;
    for (const PortView* port : ports) {
      const Flow flow = flow_of(view, *port, p);
      if (flow.came < view.thresholds().class_packets) continue;
      came += flow.came;
      ++all;
      moved += flow.is_moved ? 1 : 0;
      is_short = is_short && flow.is_short;
    }
    const bool are_cnps = is_short && p == view.cnp();
    if (all == 0 || moved < all || (moved < view.thresholds().moved_ports && !are_cnps)) continue;
    return Sharing{p,
                   fact_line(ports.front()->switch_name,
                             fmt::format("{} packets of priority {} arrived on {} ports and were "
                                         "counted in the RDMA class",
                                         came, p, all))};
  }
  return std::nullopt;
}

}  // namespace

void look_for_shared_queues(const View& view, Suspicions& out) {
  look_for_starved_classes(view, out);
  for (const std::string& name : view.switches()) {
    const auto ports = view.ports_of(name);
    auto sharing = by_settings(view, *ports.front());
    // If the queue map was read, it decides: hosts that trust PCP look the same in counters.
    const evidence::Switch* device = ports.front()->device;
    const bool is_read = device != nullptr && device->tc_to_queue.is_known();
    if (!sharing && !is_read) sharing = by_counters(view, ports);
    if (!sharing && !is_read) sharing = cnps_by_counters(view, ports);
    if (!sharing) continue;
    const bool is_cnp = sharing->priority == view.cnp();
    out.add({.id = is_cnp ? "cnp.shares_rdma_priority" : "class.shared_queue",
             .verdict = fmt::format("{} puts priority {}{} into the RDMA queue and priority group: "
                                    "both are paused and delayed together.",
                                    name, sharing->priority, is_cnp ? " (CNPs)" : ""),
             .where = switch_place(view, name),
             .confidence =
                 sharing->is_read ? finding::Confidence::kCertain : finding::Confidence::kHigh,
             .evidence = {std::move(sharing->line)},
             .explains = {{"pfc.sustained"},
                          {"ecn.thresholds_too_low"},
                          {"ecn.thresholds_too_high"},
                          {"dcqcn.too_conservative"},
                          {"cnp.lost"},
                          {"ecmp.imbalance"},
                          {"path.loss"}}});
  }
}

}  // namespace weir::diagnose
