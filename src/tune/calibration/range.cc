#include "tune/calibration/range.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/fabric/from_design.h"
#include "sim/workload/workload.h"
#include "units/format.h"

namespace weir::tune {
Result<std::vector<std::string>> outside_calibration(const design::Design& design,
                                                     const design::Intent& intent,
                                                     const std::vector<sim::WorkloadSpec>& loads) {
  std::vector<std::string> out;
  const design::Calibration& calibration = design.calibration;
  if (!calibration.is_there()) return out;
  WEIR_TRY(fabric, sim::build_network(design, intent));
  WEIR_TRY(workloads, sim::Workloads::add(fabric, loads));
  std::map<sim::NodeId, std::set<sim::NodeId>> sources;
  std::map<sim::NodeId, int> flows;
  std::set<sim::NodeId> used;
  for (const sim::QueuePair& qp : fabric.network.qps) {
    sources[qp.target].insert(qp.source);
    ++flows[qp.target];
    used.insert({qp.source, qp.target});
  }
  std::size_t fan_in = 0;
  int most_flows = 0;
  for (const auto& [target, from] : sources) {
    fan_in = std::max(fan_in, from.size());
    most_flows = std::max(most_flows, flows[target]);
  }
  if (calibration.fan_in.is_set() && fan_in > static_cast<std::size_t>(*calibration.fan_in))
    out.push_back(fmt::format("{} senders to one receiver; calibrated up to {}", fan_in,
                              *calibration.fan_in));
  // Queue pairs of open loops follow each other: their number does not say how many are active.
  const bool counts_flows = std::none_of(
      loads.begin(), loads.end(), [](const auto& load) { return sim::is_open_loop(load.kind); });
  if (counts_flows && calibration.flows.is_set() && most_flows > *calibration.flows)
    out.push_back(fmt::format("{} queue pairs to one receiver; calibrated up to {}", most_flows,
                              *calibration.flows));
  std::set<Bytes> payloads;
  std::set<BitRate> speeds;
  for (const sim::NodeId node : used) {
    payloads.insert(fabric.network.nic_config(node).mtu);
    speeds.insert(fabric.nics[node].speed);
  }
  for (const Bytes payload : payloads)
    if (calibration.rdma_mtu.is_set() && payload != *calibration.rdma_mtu)
      out.push_back(fmt::format("RDMA packets of {}; calibrated at {}", to_text(payload),
                                to_text(*calibration.rdma_mtu)));
  for (const BitRate speed : speeds)
    if (calibration.speed.is_set() && speed != *calibration.speed)
      out.push_back(fmt::format("hosts at {}; calibrated at {}", to_text(speed),
                                to_text(*calibration.speed)));
  return out;
}

}  // namespace weir::tune
