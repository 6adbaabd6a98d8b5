#include "diagnose/core/view.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/convention.h"
#include "diagnose/core/rdma_class.h"
#include "evidence/designed_nic.h"

namespace weir::diagnose {
namespace {

using PortName = std::pair<std::string_view, std::string_view>;  // a switch and its port

template <class Key, class T>
const T* found_in(const std::map<Key, const T*>& all, const Key& name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

/// mlx5 shows pause counters of a priority only while PFC is on for it; other drivers show all or
/// none.
std::optional<PrioritySet> pfc_of_counters(const counters::PortDelta& delta) {
  if (counters::driver_of(delta.driver) != counters::Driver::kMlx5) return std::nullopt;
  PrioritySet on;
  bool has_priorities = false;
  for (const counters::Delta& item : delta.deltas) {
    if (!item.match || !item.match.number) continue;
    if (item.match.counter->id == "nic.prio.tx.bytes") has_priorities = true;
    if (item.match.counter->id == "nic.prio.pause_rx.frames" && item.after.has_value())
      on.insert(Priority::of(*item.match.number));
  }
  if (!has_priorities) return std::nullopt;
  return on;
}

/// Its network interface, where one is known.
std::string_view netdev_of(const evidence::Nic* facts, const counters::PortDelta* port) {
  if (facts != nullptr && facts->netdev.is_known()) return *facts->netdev;
  return port == nullptr ? std::string_view() : std::string_view(port->netdev);
}

}  // namespace

// ---- counts ----

std::optional<std::uint64_t> Counts::of(std::string_view id, std::optional<unsigned> number) const {
  if (delta_ == nullptr) return std::nullopt;
  if (const auto amount = delta_->amount(id, number)) return amount;
  const counters::Delta* entry = delta_->find(id, number);
  return entry != nullptr && entry->change == counters::Change::kReset ? entry->at_least
                                                                       : std::nullopt;
}

std::optional<std::uint64_t> Counts::sum(std::string_view id) const {
  if (delta_ == nullptr) return std::nullopt;
  std::optional<std::uint64_t> sum;
  for (const std::uint32_t at : delta_->layout->find_all(id))
    if (const auto& amount = delta_->deltas[at].amount) sum = sum.value_or(0) + *amount;
  return sum;
}

std::optional<std::uint64_t> Counts::level(std::string_view id,
                                           std::optional<unsigned> number) const {
  if (delta_ == nullptr) return std::nullopt;
  const counters::Delta* delta = delta_->find(id, number);
  if (delta == nullptr || !delta->after.has_value()) return std::nullopt;
  return delta->after.value() * std::max<std::uint64_t>(delta->match.name->scale, 1);
}

std::optional<std::uint64_t> Counts::peak(std::string_view id,
                                          std::optional<unsigned> number) const {
  const counters::Delta* item = delta_ == nullptr ? nullptr : delta_->find(id, number);
  if (item == nullptr || !item->before.has_value() || !item->after.has_value()) return std::nullopt;
  if (item->after.value() <= item->before.value()) return std::nullopt;
  return level(id, number);
}

std::optional<double> Counts::share_of_window(std::string_view id, unsigned number) const {
  const auto microseconds = of(id, number);
  if (!microseconds || window_.raw() <= 0) return std::nullopt;
  return static_cast<double>(*microseconds) * 1e6 / static_cast<double>(window_.raw());
}

finding::EvidenceLine Counts::line(std::string_view id, std::optional<unsigned> number) const {
  const counters::Delta* known = delta_ == nullptr ? nullptr : delta_->find(id, number);
  const auto amount = of(id, number);
  const bool is_level = known != nullptr && known->change == counters::Change::kLevel;
  const auto shown = is_level ? level(id, number) : amount;
  const std::string name = known != nullptr ? known->key() : std::string(id);
  finding::EvidenceLine out;
  out.source = source_;
  out.counter = std::string(id);
  if (shown) out.value = signed_count(*shown);
  out.line = !shown     ? fmt::format("{}: not there", name)
             : is_level ? fmt::format("{} at {}", name, count_text(*shown))
                        : fmt::format("{} +{}", name, count_text(*shown));
  return out;
}

// ---- places ----

finding::Where NicView::where() const {
  finding::Where where;
  where.host = host;
  if (rail) where.rail = std::to_string(*rail);
  where.device = device;
  return where;
}

finding::Where PortView::where() const {
  finding::Where where;
  where.switch_name = switch_name;
  where.port = name;
  return where;
}

std::optional<bool> PortView::is_fabric() const {
  if (wanted != nullptr) return !wanted->is_access;
  if (nic) return false;
  if (peer) return true;
  return std::nullopt;
}

// ---- the view ----

View::View(const Case& subject)
    : evidence_(subject.evidence),
      thresholds_(subject.thresholds),
      told_(subject.told),
      intent_(subject.intent) {
  deltas_.reserve(evidence_.size());
  for (const evidence::Evidence& piece : evidence_) {
    counters::SnapshotDelta delta;
    bool has_window = false;
    if (piece.snapshots.size() >= 2) {
      auto difference = counters::difference(piece.snapshots.front(), piece.snapshots.back());
      has_window = difference.has_value() && difference->elapsed_ns > 0;
      if (difference) delta = std::move(difference).value();
    } else if (piece.snapshots.size() == 1) {
      delta = counters::totals(piece.snapshots.front());
    }
    deltas_.push_back(std::move(delta));
    has_window_.push_back(has_window);
  }
  index_design();
  for (std::size_t i = 0; i < evidence_.size(); ++i) {
    add_nics(evidence_[i], i);
    add_ports(evidence_[i], i);
  }
  connect();
  note_readings();
  group_by_switch();
  choose_priorities();
}

void View::add_nics(const evidence::Evidence& evidence, std::size_t delta) {
  const Duration window =
      has_window_[delta] ? Duration::raw(deltas_[delta].elapsed_ns * 1000) : Duration();
  const auto wanted = wanted_hosts_.find(evidence.provenance.host);
  const design::HostIntent* const host = wanted == wanted_hosts_.end() ? nullptr : wanted->second;
  // By name: a text may have thousands of devices.
  std::vector<std::string_view> devices;
  std::map<std::string_view, const evidence::Nic*> facts;
  std::map<std::string_view, const counters::PortDelta*> counted;
  for (const evidence::Nic& nic : evidence.nics) {
    facts.emplace(nic.device, &nic);
    devices.push_back(nic.device);
  }
  for (const counters::PortDelta& port : deltas_[delta].nics)
    if (counted.emplace(port.device, &port).second && !facts.contains(port.device))
      devices.push_back(port.device);
  for (const std::string_view device : devices) {
    NicView nic;
    nic.host = evidence.provenance.host;
    nic.device = device;
    nic.facts = found_in(facts, device);
    const counters::PortDelta* const port = found_in(counted, device);
    nic.counts = Counts(port, window, fmt::format("{} {}", nic.host, device));
    if (host != nullptr)
      nic.wanted = evidence::designed_nic(*host, evidence.provenance.origin, device,
                                          netdev_of(nic.facts, port));
    if (nic.wanted != nullptr) {
      nic.rail = static_cast<unsigned>(nic.wanted->rail);
      nic.speed = nic.wanted->speed;
    }
    if (port != nullptr) nic.pfc = pfc_of_counters(*port);
    if (nic.facts != nullptr) {
      if (nic.facts->rail.is_known()) nic.rail = *nic.facts->rail;
      if (nic.facts->link.speed.is_known()) nic.speed = *nic.facts->link.speed;
      if (nic.facts->qos.pfc.is_known()) nic.pfc = *nic.facts->qos.pfc;
    }
    nics_.push_back(std::move(nic));
  }
}

void View::add_ports(const evidence::Evidence& evidence, std::size_t delta) {
  const Duration window =
      has_window_[delta] ? Duration::raw(deltas_[delta].elapsed_ns * 1000) : Duration();
  std::vector<PortName> names;
  std::map<PortName, const evidence::SwitchPort*> facts;
  std::map<PortName, const counters::PortDelta*> counted;
  std::map<std::string_view, const evidence::Switch*> devices;
  for (const evidence::Switch& item : evidence.switches) {
    devices.emplace(item.name, &item);
    for (const evidence::SwitchPort& port : item.ports)
      if (facts.emplace(PortName(item.name, port.name), &port).second)
        names.emplace_back(item.name, port.name);
  }
  for (const counters::PortDelta& port : deltas_[delta].switch_ports) {
    const PortName name(port.device, port.netdev);
    if (counted.emplace(name, &port).second && !facts.contains(name)) names.push_back(name);
  }
  for (const PortName& name : names) {
    PortView port;
    port.switch_name = name.first;
    port.name = name.second;
    if (const auto device = devices.find(name.first); device != devices.end())
      port.device = device->second;
    port.facts = found_in(facts, name);
    port.counts =
        Counts(found_in(counted, name), window, fmt::format("{} {}", name.first, name.second));
    if (const auto found = wanted_ports_.find(name); found != wanted_ports_.end()) {
      port.wanted_switch = found->second.device;
      port.wanted = found->second.port;
    } else if (const auto device = wanted_ports_.find(PortName(name.first, ""));
               device != wanted_ports_.end()) {
      port.wanted_switch = device->second.device;
    }
    if (port.wanted != nullptr) port.speed = port.wanted->speed;
    if (port.facts != nullptr && port.facts->speed.is_known()) port.speed = *port.facts->speed;
    ports_.push_back(std::move(port));
  }
}

void View::index_design() {
  if (intent_ == nullptr) return;
  for (const design::HostIntent& host : intent_->hosts)
    wanted_hosts_.emplace(host.name, &host);
  for (const design::SwitchIntent& device : intent_->switches) {
    wanted_ports_.emplace(PortName(device.name, ""), WantedPort{&device, nullptr});
    for (const design::SwitchPortIntent& port : device.ports)
      wanted_ports_.emplace(PortName(device.name, port.name), WantedPort{&device, &port});
  }
}

void View::connect() {
  // Of two with one name the last, as in evidence that was read again.
  std::map<PortName, std::size_t> nics;
  std::map<PortName, std::size_t> ports;
  for (std::size_t i = 0; i < nics_.size(); ++i)
    nics.insert_or_assign(PortName(nics_[i].host, nics_[i].device), i);
  for (std::size_t i = 0; i < nics_.size(); ++i)  // as the design names it
    if (nics_[i].wanted != nullptr)
      nics.emplace(PortName(nics_[i].host, nics_[i].wanted->device), i);
  for (std::size_t i = 0; i < ports_.size(); ++i)
    ports.insert_or_assign(PortName(ports_[i].switch_name, ports_[i].name), i);
  const auto index_in = [](const std::map<PortName, std::size_t>& all, const PortName& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
  for (PortView& port : ports_) {
    if (port.wanted == nullptr) continue;
    const design::PortRef& peer = port.wanted->peer;
    const bool is_host = peer.kind == design::NodeKind::kHost;
    // An intent may hold a part of the fabric only.
    if (peer.node >= (is_host ? intent_->hosts.size() : intent_->switches.size())) continue;
    if (is_host) {
      const design::HostIntent& host = intent_->hosts[peer.node];
      port.neighbour = host.name;
      port.nic = index_in(nics, {host.name, host.nics[peer.port].device});
    } else {
      const design::SwitchIntent& other = intent_->switches[peer.node];
      port.neighbour = other.name;
      port.peer = index_in(ports, {other.name, other.ports[peer.port].name});
    }
  }
  // As LLDP says it, where no design does: the port of a host is its interface or its device.
  for (std::size_t i = 0; i < nics_.size(); ++i)
    if (nics_[i].facts != nullptr && nics_[i].facts->netdev.is_known())
      nics.insert_or_assign(PortName(nics_[i].host, *nics_[i].facts->netdev), i);
  for (PortView& port : ports_) {
    if (port.nic || port.peer || port.facts == nullptr || !port.facts->neighbour.is_known())
      continue;
    const evidence::Neighbour& at = *port.facts->neighbour;
    port.neighbour = at.system;
    port.nic = index_in(nics, {at.system, at.port});
    port.peer = index_in(ports, {at.system, at.port});
  }
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (ports_[i].nic) nics_[*ports_[i].nic].port = i;
}

namespace {

/// A map of all code points may be the one that the system comes with; one of a few was made.
bool is_made(const evidence::Switch& device) {
  const auto& map = *device.dscp_to_tc;
  return std::any_of(map.begin(), map.end(), [](const auto& to) { return !to.has_value(); });
}

/// `is_sent`: a NIC is known to mark RDMA so.
bool switch_maps(std::span<const PortView> ports, Dscp dscp, unsigned priority, bool is_sent) {
  return std::any_of(ports.begin(), ports.end(), [&](const PortView& port) {
    if (port.device == nullptr || !port.device->dscp_to_tc.is_known()) return false;
    const auto& to = port.device->dscp_to_tc->at(dscp.value());
    return to && to->value() == priority && (is_sent || is_made(*port.device));
  });
}

/// A NIC marks RDMA so, by force or through RDMA-CM.
bool sends(const NicView& nic, Dscp dscp) {
  if (nic.facts == nullptr) return false;
  const auto& forced = nic.facts->rdma.traffic_class;
  const auto& cm_tos = nic.facts->rdma.cm_tos;
  return (forced.is_known() && forced->has_value() && dscp_of(**forced) == dscp) ||
         (cm_tos.is_known() && dscp_of(*cm_tos) == dscp);
}

bool forces_code_point(const NicView& nic) {
  return nic.facts != nullptr && nic.facts->rdma.traffic_class.is_known() &&
         nic.facts->rdma.traffic_class->has_value();
}

}  // namespace

void View::choose_priorities() {
  if (intent_ != nullptr && !intent_->hosts.empty() && !intent_->hosts.front().nics.empty()) {
    const design::NicIntent& nic = intent_->hosts.front().nics.front();
    rdma_dscp_ = dscp_of(nic.traffic_class);
    rdma_ = nic.dscp_to_priority.at(rdma_dscp_.value()).value();
    cnp_ = nic.cnp_priority.value();
    return;
  }
  if ((shown_class_ = class_shown(nics_, ports_, told_, thresholds_))) {
    rdma_ = shown_class_->priority;
    rdma_dscp_ = shown_class_->dscp.value_or(code_point_for(Priority::of(rdma_), evidence_));
    return;
  }
  // Otherwise the one priority that most NICs and switch ports protect.
  const auto votes = protected_by(nics_, ports_, {}).votes;
  const auto best = std::max_element(votes.begin(), votes.end());
  const bool is_other = *best > 0 && votes.at(rdma_) < *best;
  // The usual code point is used and leads to the usual priority: then PFC is on the wrong one.
  const bool is_sent = std::any_of(nics_.begin(), nics_.end(),
                                   [&](const NicView& nic) { return sends(nic, rdma_dscp_); });
  const bool is_usual =
      code_point_in_use() == rdma_dscp_ || switch_maps(ports_, rdma_dscp_, rdma_, is_sent);
  const bool has_plan = is_other && !is_usual;
  if (has_plan) rdma_ = static_cast<unsigned>(best - votes.begin());
  const bool is_forced = std::any_of(nics_.begin(), nics_.end(), forces_code_point);
  if (const auto used = code_point_in_use()) {
    rdma_dscp_ = *used;
  } else if (has_plan && !is_forced) {
    rdma_dscp_ = code_point_for(Priority::of(rdma_), evidence_);
  }
}

/// The code point that ports force on RDMA, where a NIC maps it to the priority that is protected:
/// a plan of the site's own. One that leads elsewhere is a fault, not a plan.
std::optional<Dscp> View::code_point_in_use() const {
  std::optional<Dscp> used;
  for (const NicView& nic : nics_) {
    if (nic.facts == nullptr) continue;
    const auto& forced = nic.facts->rdma.traffic_class;
    if (!forced.is_known() || !*forced) continue;
    if (used && *used != dscp_of(**forced)) return std::nullopt;
    used = dscp_of(**forced);
  }
  if (!used) return std::nullopt;
  const bool leads_there = std::any_of(nics_.begin(), nics_.end(), [&](const NicView& nic) {
    if (nic.facts == nullptr || !nic.facts->qos.dscp_to_priority.is_known()) return false;
    const auto& to = nic.facts->qos.dscp_to_priority->at(used->value());
    return to && to->value() == rdma_;
  });
  return leads_there ? used : std::nullopt;
}

void View::group_by_switch() {
  for (const PortView& port : ports_) {
    const auto [place, is_new] = ports_of_.try_emplace(port.switch_name);
    if (is_new) switches_.push_back(port.switch_name);
    place->second.push_back(&port);
  }
}

std::span<const PortView* const> View::ports_of(std::string_view switch_name) const {
  const auto found = ports_of_.find(switch_name);
  if (found == ports_of_.end()) return {};
  return found->second;
}

bool View::has_counters() const {
  const auto are_there = [](const auto& item) { return item.counts.are_there(); };
  return std::any_of(nics_.begin(), nics_.end(), are_there) ||
         std::any_of(ports_.begin(), ports_.end(), are_there);
}

void View::note_readings() {
  const auto note = [](Readings& known, bool is_window) {
    known = is_window || known == Readings::kWindow ? Readings::kWindow : Readings::kOne;
  };
  for (const evidence::Evidence& piece : evidence_) {
    if (piece.snapshots.empty()) continue;
    const bool is_window = piece.snapshots.size() > 1;
    note(readings_, is_window);
    note(readings_of_hosts_[piece.provenance.host], is_window);
    for (const evidence::Switch& device : piece.switches)
      note(readings_of_switches_[device.name], is_window);
  }
}

bool View::is_read_once(const finding::Where& where) const {
  if (where.host.empty() && where.switch_name.empty()) return readings_ == Readings::kOne;
  const auto readings_of = [](const auto& all, const std::string& name) {
    const auto found = name.empty() ? all.end() : all.find(name);
    return found == all.end() ? Readings::kNone : found->second;
  };
  const Readings host = readings_of(readings_of_hosts_, where.host);
  const Readings device = readings_of(readings_of_switches_, where.switch_name);
  return std::max(host, device) == Readings::kOne;
}

std::uint64_t View::traffic() const {
  std::uint64_t bytes = 0;
  // A driver that counts packets alone (Soft-RoCE) carried at least the smallest frame for each.
  constexpr std::uint64_t kSmallestFrame = 64;
  for (const NicView& nic : nics_) {
    const Counts& counts = nic.counts;
    const auto count = [&](std::string_view id) { return counts.of(id).value_or(0); };
    const auto total = [&](std::string_view id) { return counts.sum(id).value_or(0); };
    // A netdev's own counters leave RDMA out; a marked packet is a packet.
    bytes += std::max({count("nic.port.tx.bytes"), total("nic.prio.tx.bytes"),
                       count("nic.rdma.tx.bytes"), count("nic.rdma.tx.packets") * kSmallestFrame});
    bytes += std::max({count("nic.port.rx.bytes"), total("nic.prio.rx.bytes"),
                       count("nic.rdma.rx.bytes"), count("nic.rdma.rx.packets") * kSmallestFrame,
                       count("nic.np.ecn_marked.packets") * kSmallestFrame});
  }
  for (const PortView& port : ports_) {
    bytes += port.counts.of("switch.port.tx.bytes")
                 .value_or(port.counts.sum("switch.queue.tx.bytes").value_or(0));
  }
  return bytes;
}

}  // namespace weir::diagnose
