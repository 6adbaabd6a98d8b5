#include "sim/fabric/class_slots.h"

#include <bitset>

namespace weir::sim {

ClassSlots classes_in_use(const Network& network) {
  std::bitset<64> points;  // of all frames
  std::uint8_t used = 0;
  const auto use = [&](unsigned number) { used = static_cast<std::uint8_t>(used | 1U << number); };
  for (const QueuePair& qp : network.qps) {
    points.set(qp.tos >> 2U);
    use(sent_priority(network.nic_config(qp.source), qp));
    use(sent_priority(network.nic_config(qp.target), qp));
  }
  for (const NicConfig& nic : network.nics) {
    points.set(nic.cnp_dscp.value());
    use(cnp_priority(nic));
    if (nic.ack_priority) use(nic.ack_priority->value());
  }
  for (unsigned point = 0; point < points.size(); ++point) {
    if (!points.test(point)) continue;
    for (const NicConfig& nic : network.nics)
      use(received_priority(nic, static_cast<std::uint8_t>(point << 2U)));
    for (const SwitchConfig& config : network.switches) {
      const std::uint8_t tc = class_of(config, point);
      use(config.class_to_queue[tc]);
      use(config.class_to_group[tc]);
    }
  }
  return ClassSlots(used);
}

}  // namespace weir::sim
