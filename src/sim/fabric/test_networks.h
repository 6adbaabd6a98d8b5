#pragma once
// Small fabrics for tests: one lossless class (DSCP 26 -> class 3), CNPs on DSCP 48 -> class 6.
#include <cstdint>
#include <vector>

#include "sim/engine/sim.h"

namespace weir::sim::test {

inline constexpr std::uint8_t kDataTos = (26U << 2U) | 2U;  // DSCP 26, ECT(0)

/// Lossless class 3 with `headroom`, CNP class 6 strict, the rest lossy; no WRED, no cells.
inline SwitchConfig lossless_switch(Bytes buffer, Bytes headroom) {
  SwitchConfig config;
  config.buffer = buffer;
  config.dscp_to_class.fill(0);
  config.dscp_to_class[26] = 3;
  config.dscp_to_class[48] = 6;
  for (IngressGroup& group : config.groups)
    group.alpha = Alpha::from_log2(-3);
  config.groups[3].lossless = true;
  config.groups[3].headroom = headroom;
  config.groups[3].xon_offset = 3_KiB;
  config.queues[6].scheduling = Scheduling::kStrict;
  config.pfc.insert(Priority::of(3));
  config.mtu = 9216_B;
  return config;
}

inline NicConfig plain_nic(Bytes mtu) {
  NicConfig config;
  config.congestion_control = "none";
  config.dscp_to_priority.fill(0);
  config.dscp_to_priority[26] = 3;
  config.dscp_to_priority[48] = 6;
  config.strict.insert(Priority::of(6));
  config.pfc.insert(Priority::of(3));
  config.mtu = mtu;
  config.cnp_interval = 4_us;
  return config;
}

/// `nics` NICs (nodes 0…) around one switch (the last node); link i belongs to NIC i.
inline Network star(std::uint32_t nics, BitRate rate, Duration cable, const SwitchConfig& sw,
                    const NicConfig& nic) {
  Network network;
  network.switches.push_back(sw);
  network.nics.push_back(nic);
  for (std::uint32_t n = 0; n < nics; ++n)
    network.nodes.push_back({NodeKind::kNic, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  for (std::uint32_t n = 0; n < nics; ++n)
    network.links.push_back(
        {.a = NodeId{n}, .b = NodeId{nics}, .rate = rate, .propagation = cable});
  return network;
}

/// `config` with DCQCN as published for `variant`.
inline NicConfig with_dcqcn(NicConfig config, DcqcnVariant variant) {
  config.congestion_control = "dcqcn";
  config.dcqcn = dcqcn_defaults(variant);
  return config;
}

/// A QP with one message.
inline void add_flow(Network& network, std::uint32_t source, std::uint32_t target, Bytes size,
                     Time post = Time(), Operation operation = Operation::kWrite) {
  QueuePair qp;
  qp.source = NodeId{source};
  qp.target = NodeId{target};
  qp.source_port = static_cast<std::uint16_t>(49152 + network.qps.size() % 16384);
  qp.tos = kDataTos;
  qp.service_level = 3;
  qp.operation = operation;
  network.qps.push_back(qp);
  network.messages.push_back({to_id<QpId>(network.qps.size() - 1), size, post});
}

/// Leaves with `per_leaf` NICs each, every leaf joined to every spine. NICs, then leaves, then
/// spines.
inline Network leaf_spine(std::uint32_t leaves, std::uint32_t per_leaf, std::uint32_t spines,
                          BitRate rate, Duration cable, const SwitchConfig& sw,
                          const NicConfig& nic) {
  Network network;
  network.nics.push_back(nic);
  const std::uint32_t nics = leaves * per_leaf;
  for (std::uint32_t n = 0; n < nics; ++n)
    network.nodes.push_back({NodeKind::kNic, 0, {}});
  for (std::uint32_t s = 0; s < leaves + spines; ++s) {
    network.nodes.push_back({NodeKind::kSwitch, s, {}});
    network.switches.push_back(sw);
    network.switches.back().ecmp_seed = 0x9E37 + s * 7919;
  }
  for (std::uint32_t n = 0; n < nics; ++n)
    network.links.push_back(
        {.a = NodeId{n}, .b = NodeId{nics + n / per_leaf}, .rate = rate, .propagation = cable});
  for (std::uint32_t l = 0; l < leaves; ++l)
    for (std::uint32_t s = 0; s < spines; ++s)
      network.links.push_back({.a = NodeId{nics + l},
                               .b = NodeId{nics + leaves + s},
                               .rate = rate,
                               .propagation = cable});
  return network;
}

}  // namespace weir::sim::test
