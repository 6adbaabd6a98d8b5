#include "readers/paste/merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace weir::readers {
namespace {

using counters::PortCounters;

bool is_switch_text(const evidence::Evidence& evidence) {
  return evidence.provenance.origin == evidence::Origin::kText && !evidence.switches.empty() &&
         evidence.nics.empty();
}

/// One of them adds settings, or a first reading, to the other.
bool can_be_joined(const evidence::Evidence& a, const evidence::Evidence& b) {
  const bool are_single = a.snapshots.size() < 2 && b.snapshots.size() < 2;
  return is_switch_text(a) && is_switch_text(b) && (are_single || b.snapshots.empty());
}

const std::vector<PortCounters>& ports_of(const evidence::Evidence& evidence) {
  static const std::vector<PortCounters> none;
  return evidence.snapshots.empty() ? none : evidence.snapshots.front().switch_ports;
}

bool is_same_port(const PortCounters& a, const PortCounters& b) {
  return a.device() == b.device() && a.netdev() == b.netdev();
}

bool count_the_same(const evidence::Evidence& a, const evidence::Evidence& b) {
  for (const PortCounters& port : ports_of(a))
    for (const PortCounters& other : ports_of(b))
      for (const counters::ShownSample& sample : port.samples())
        if (is_same_port(port, other) && other.shows(sample.place, sample.name)) return true;
  return false;
}

template <class T>
void fill(evidence::Fact<T>& to, const evidence::Fact<T>& from) {
  if (!to.was_looked_at()) to = from;
}

// What show outputs tell of a port (readers/switches/switch_show*.cc).
void add_port(evidence::SwitchPort& to, const evidence::SwitchPort& from) {
  fill(to.up, from.up);
  fill(to.mtu, from.mtu);
  fill(to.trust, from.trust);
  fill(to.pfc, from.pfc);
  fill(to.pfc_active, from.pfc_active);
  if (to.groups.empty()) to.groups = from.groups;
  for (const evidence::EgressQueue& queue : from.queues) {
    std::vector<evidence::EgressQueue>& known = to.queues.edit();
    const auto at =
        std::find_if(known.begin(), known.end(), [&](const evidence::EgressQueue& egress_queue) {
          return egress_queue.queue == queue.queue;
        });
    if (at == known.end()) {
      known.push_back(queue);
      continue;
    }
    fill(at->ecn, queue.ecn);
    fill(at->ecn_min, queue.ecn_min);
    fill(at->ecn_max, queue.ecn_max);
    fill(at->scheduler, queue.scheduler);
    fill(at->weight, queue.weight);
    fill(at->stuck, queue.stuck);
  }
}

void add_switch(evidence::Switch& to, const evidence::Switch& from) {
  fill(to.watchdog.enabled, from.watchdog.enabled);
  fill(to.watchdog.detection, from.watchdog.detection);
  fill(to.watchdog.restoration, from.watchdog.restoration);
  fill(to.watchdog.action, from.watchdog.action);
  fill(to.pools, from.pools);
  fill(to.dscp_to_tc, from.dscp_to_tc);
  for (const evidence::SwitchPort& port : from.ports) {
    const auto at = std::find_if(
        to.ports.begin(), to.ports.end(),
        [&](const evidence::SwitchPort& switch_port) { return switch_port.name == port.name; });
    if (at == to.ports.end()) {
      to.ports.push_back(port);
    } else {
      add_port(*at, port);
    }
  }
}

void add_counters(std::vector<PortCounters>& to, const std::vector<PortCounters>& from) {
  for (const PortCounters& port : from) {
    const auto at = std::find_if(to.begin(), to.end(), [&](const PortCounters& port_counters) {
      return is_same_port(port_counters, port);
    });
    if (at == to.end()) {
      to.push_back(port);
      continue;
    }
    std::vector<counters::Sample> samples = at->samples().copy();
    for (const counters::ShownSample& sample : port.samples())
      samples.push_back(sample.copy());
    *at = PortCounters(port.device(), port.netdev(), port.driver(), std::move(samples));
  }
}

void add(evidence::Evidence& to, const evidence::Evidence& from) {
  for (const evidence::Switch& item : from.switches) {
    const auto at =
        std::find_if(to.switches.begin(), to.switches.end(),
                     [&](const evidence::Switch& known) { return known.name == item.name; });
    if (at == to.switches.end()) {
      to.switches.push_back(item);
    } else {
      add_switch(*at, item);
    }
  }
  if (to.snapshots.empty()) {
    to.snapshots = from.snapshots;
  } else {
    add_counters(to.snapshots.front().switch_ports, ports_of(from));
  }
  to.gaps.insert(to.gaps.end(), from.gaps.begin(), from.gaps.end());
}

}  // namespace

std::vector<evidence::Evidence> merge_texts(std::vector<evidence::Evidence> pieces) {
  std::vector<evidence::Evidence> out;
  std::map<std::string, std::set<std::size_t>> by_switch;  // of `out`
  for (evidence::Evidence& piece : pieces) {
    std::set<std::size_t> known;
    std::vector<std::string> names;
    for (const evidence::Switch& item : piece.switches) {
      names.push_back(item.name);
      if (const auto found = by_switch.find(item.name); found != by_switch.end())
        known.insert(found->second.begin(), found->second.end());
    }
    const auto same = std::find_if(known.begin(), known.end(), [&](std::size_t at) {
      return can_be_joined(out[at], piece) && !count_the_same(out[at], piece);
    });
    const std::size_t at = same == known.end() ? out.size() : *same;
    if (same == known.end()) {
      out.push_back(std::move(piece));
    } else {
      add(out[at], piece);
    }
    for (const std::string& name : names)
      by_switch[name].insert(at);
  }
  return out;
}

}  // namespace weir::readers
