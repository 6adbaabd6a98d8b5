// I14 on the switch: another class shares RDMA's queue and priority group. It is then paused with
// RDMA, marked with RDMA, and its bursts are RDMA's. Settings say it; without them, what arrived in
// a class of its own is counted in RDMA's.
#include <fmt/format.h>

#include "diagnose/rule.h"

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
                             fmt::format("priority {}: expected queue {}, found RDMA's queue {}", p,
                                         wanted.priority_to_queue.at(p).value(),
                                         device.tc_to_queue->at(p).value())),
                   true};
  }
  return std::nullopt;
}

/// What the neighbours sent to a switch in this class.
std::uint64_t arrived(const View& view, const std::vector<const PortView*>& ports,
                      unsigned priority) {
  std::uint64_t sum = 0;
  for (const PortView* port : ports) {
    if (port->nic) {
      sum += view.nics()[*port->nic].counts.of("nic.prio.tx.packets", priority).value_or(0);
    } else if (port->peer && port->wanted_switch != nullptr) {
      const PortView& peer = view.ports()[*port->peer];
      if (peer.wanted_switch == nullptr) continue;
      const unsigned queue = peer.wanted_switch->priority_to_queue.at(priority).value();
      sum += peer.counts.of("switch.queue.tx.packets", queue).value_or(0);
    }
  }
  return sum;
}

/// Packets of a class come in, its own counters stay at nothing, and RDMA has as many more.
std::optional<Sharing> by_counters(const View& view, const std::vector<const PortView*>& ports) {
  constexpr std::uint64_t kEnough = 20;
  const PortView& first = *ports.front();
  if (first.wanted_switch == nullptr) return std::nullopt;
  for (unsigned p = 0; p < 8; ++p) {
    if (p == view.rdma()) continue;
    const std::uint64_t came = arrived(view, ports, p);
    if (came < kEnough) continue;
    const unsigned queue = first.wanted_switch->priority_to_queue.at(p).value();
    std::uint64_t counted = 0;
    std::uint64_t left = 0;
    std::uint64_t rdma = 0;
    bool is_seen = false;
    for (const PortView* port : ports) {
      const auto in = port->counts.of("switch.prio.rx.packets", p);
      is_seen = is_seen || in.has_value();
      counted += in.value_or(0);
      left += port->counts.of("switch.queue.tx.packets", queue).value_or(0);
      rdma += port->counts.of("switch.prio.rx.packets", view.rdma()).value_or(0);
    }
    const std::uint64_t of_rdma = arrived(view, ports, view.rdma());
    if (!is_seen || counted * 10 > came || left * 10 > came || rdma < of_rdma + came / 2) continue;
    return Sharing{p, fact_line(first.switch_name,
                                fmt::format("{} packets of priority {} came, {} were counted in it",
                                            came, p, counted))};
  }
  return std::nullopt;
}

}  // namespace

void look_for_shared_queues(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches()) {
    const auto ports = view.ports_of(name);
    auto sharing = by_settings(view, *ports.front());
    if (!sharing) sharing = by_counters(view, ports);
    if (!sharing) continue;
    const bool is_cnp = sharing->priority == view.cnp();
    finding::Where where;
    where.switch_name = name;
    where.priority = std::to_string(view.rdma());
    finding::Finding finding = finding::make_finding(
        is_cnp ? "cnp.shares_rdma_priority" : "class.shared_queue",
        fmt::format("{} puts priority {}{} into RDMA's queue and priority group: they are paused "
                    "and delayed together.",
                    name, sharing->priority, is_cnp ? ", the CNPs'," : ""),
        where);
    finding.confidence =
        sharing->is_read ? finding::Confidence::kCertain : finding::Confidence::kHigh;
    finding.evidence.push_back(std::move(sharing->line));
    out.add(std::move(finding), {{"pfc.sustained"},
                                 {"ecn.thresholds_too_low"},
                                 {"ecn.thresholds_too_high"},
                                 {"dcqcn.too_conservative"},
                                 {"cnp.lost"},
                                 {"ecmp.imbalance"},
                                 {"path.loss"}});
  }
}

}  // namespace weir::diagnose
