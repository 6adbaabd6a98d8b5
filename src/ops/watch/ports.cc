#include "ops/watch/ports.h"

#include <algorithm>
#include <utility>

#include "diagnose/core/view.h"

namespace weir::ops {
namespace {

/// Zero where it was counted once.
std::int64_t nanoseconds_of(const diagnose::Counts& counts) {
  return counts.are_there() ? counts.window().raw() / 1000 : 0;
}

WatchedPort watched_nic(const diagnose::NicView& nic, std::size_t nic_count) {
  WatchedPort out;
  out.device = nic.host;
  out.name = nic.device;
  out.rail = nic.rail;
  out.speed = nic.speed;
  if (nic.port) out.peer = nic_count + *nic.port;
  if (nic.facts != nullptr && nic.facts->link.up.is_known()) out.up = *nic.facts->link.up;
  if (const std::int64_t elapsed = nanoseconds_of(nic.counts); elapsed > 0)
    static_cast<Rates&>(out) = nic_rates(*nic.counts.delta(), elapsed);
  return out;
}

WatchedPort watched_switch_port(const diagnose::PortView& port, std::size_t nic_count) {
  WatchedPort out;
  out.device = port.switch_name;
  out.name = port.name;
  out.tier = port.wanted_switch != nullptr ? port.wanted_switch->tier : 1;
  out.speed = port.speed;
  out.neighbour = port.neighbour;
  if (port.nic) out.peer = *port.nic;
  if (port.peer) out.peer = nic_count + *port.peer;
  if (port.facts != nullptr && port.facts->up.is_known()) out.up = *port.facts->up;
  if (const std::int64_t elapsed = nanoseconds_of(port.counts); elapsed > 0)
    static_cast<Rates&>(out) = switch_port_rates(*port.counts.delta(), elapsed);
  return out;
}

}  // namespace

std::optional<double> WatchedPort::used() const {
  if (!sent || !speed || speed->raw() <= 0) return std::nullopt;
  return *sent / static_cast<double>(speed->raw());
}

std::vector<WatchedPort> watched_ports(const std::vector<evidence::Evidence>& seen,
                                       const design::Intent* intent) {
  const diagnose::View view({seen, intent});
  std::vector<WatchedPort> out;
  out.reserve(view.nics().size() + view.ports().size());
  for (const diagnose::NicView& nic : view.nics())
    out.push_back(watched_nic(nic, view.nics().size()));
  for (const diagnose::PortView& port : view.ports())
    out.push_back(watched_switch_port(port, view.nics().size()));
  return out;
}

std::vector<WatchedPort> PortWatch::next(Observation seen, const design::Intent* intent) {
  std::vector<evidence::Evidence> parts = std::move(seen.hosts);
  if (seen.switches) parts.push_back(std::move(*seen.switches));
  for (evidence::Evidence& part : parts) {
    const auto earlier = before_.find(part.provenance.host);
    if (earlier == before_.end() || part.snapshots.empty()) continue;
    part.snapshots.insert(part.snapshots.begin(), std::move(earlier->second));
  }
  std::vector<WatchedPort> out = watched_ports(parts, intent);
  before_.clear();
  for (evidence::Evidence& part : parts)
    if (!part.snapshots.empty()) before_[part.provenance.host] = std::move(part.snapshots.back());
  return out;
}

}  // namespace weir::ops
