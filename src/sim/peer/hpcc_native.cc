#include "sim/peer/hpcc_native.h"

namespace weir::sim {
namespace {

constexpr std::size_t kCnpDscp = 48;
constexpr std::uint8_t kCnpClass = 6;
constexpr std::uint8_t kEct0 = 2;

}  // namespace

void make_native(Network& network) {
  network.model = Model::kNative;
  network.wire = WireFormat{};
  network.routes.reset();
  for (NicConfig& nic : network.nics) {
    nic.dcqcn.variant = DcqcnVariant::kConnectx;
    nic.dcqcn.cnp_before_tick = false;
    prepare(nic.dcqcn);
    nic.cnp_interval = nic.dcqcn.cut_period;  // the peer's CNP bit counts once in this time
    nic.dscp_to_priority[kCnpDscp] = kCnpClass;
    nic.strict.insert(Priority::of(kCnpClass));
  }
  std::uint64_t seed = 0;
  for (SwitchConfig& sw : network.switches) {
    sw.dscp_to_class[kCnpDscp] = kCnpClass;
    sw.queues[kCnpClass].scheduling = Scheduling::kStrict;
    sw.ecmp_seed = ++seed;
  }
  for (QueuePair& qp : network.qps)
    qp.tos = static_cast<std::uint8_t>(qp.tos | kEct0);
}

}  // namespace weir::sim
