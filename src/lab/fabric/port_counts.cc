#include "lab/fabric/port_counts.h"

#include <algorithm>
#include <utility>

namespace weir::lab {

std::vector<std::string> port_keys(const Blueprint& blueprint) {
  std::vector<std::string> keys;
  for (std::uint32_t h = 0; h < blueprint.intent.hosts.size(); ++h)
    for (std::uint32_t rail = 0; rail < blueprint.intent.hosts[h].nics.size(); ++rail)
      keys.push_back(nic_key(blueprint, {h, rail}));
  for (const design::SwitchIntent& device : blueprint.intent.switches)
    for (const design::SwitchPortIntent& port : device.ports)
      keys.push_back(port_key(device.name, port.name));
  return keys;
}

std::vector<counters::PortCounters> count_ports(const Testbed& bed, Time end,
                                                sim::LayoutsByNames& layouts) {
  sim::EvidenceSource source(bed.intent, bed.placement, *bed.sim, end);
  source.layouts = std::move(layouts);
  std::vector<counters::PortCounters> out;
  const auto add = [&](std::vector<counters::PortCounters> ports) {
    std::move(ports.begin(), ports.end(), std::back_inserter(out));
  };
  for (std::uint32_t h = 0; h < bed.intent.hosts.size(); ++h)
    add(sim::host_counters(source, h));
  add(sim::switch_counters(source));
  layouts = std::move(source.layouts);
  return out;
}

Result<std::vector<counters::PortCounters>> counted_at_rest(const Blueprint& blueprint,
                                                            const State& state, Profiles& profiles,
                                                            sim::LayoutsByNames& layouts) {
  const bool is_broken = std::any_of(state.faults.begin(), state.faults.end(),
                                     [](const FaultRecord& fault) { return !fault.is_setting; });
  if (!is_broken) return std::vector<counters::PortCounters>();
  WEIR_TRY(resting, set_up_at_rest(blueprint, state, profiles));
  return count_ports(resting, Time(), layouts);
}

counters::PortCounters counted_since(const counters::PortCounters& before,
                                     const counters::PortCounters& now) {
  const bool is_same = before.layout() == now.layout();
  std::vector<counters::Reading> readings;
  readings.reserve(now.readings().size());
  for (const counters::ShownSample& sample : now.samples()) {
    const counters::Reading earlier =
        is_same ? before.readings()[readings.size()] : before.read(sample.place, sample.name);
    const bool is_level =
        sample.match.counter != nullptr && sample.match.counter->kind != counters::Kind::kCounter;
    readings.push_back(sample.reading);
    if (is_level || !earlier.has_value() || !sample.reading.has_value()) continue;
    const std::uint64_t counted = sample.reading.value();
    readings.back() = counters::Reading::of(counted - std::min(counted, earlier.value()));
  }
  return now.with(std::move(readings));
}

}  // namespace weir::lab
