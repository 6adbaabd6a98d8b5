#pragma once
// A design, ready to run: every NIC of every rail and every switch as the intent says they are set.
//
// Nodes: the NICs first, by host and rail, then the switches in the intent's order. Link l is
// Intent::links[l], and a switch's local ports count its links in that order, as the intent's own
// port numbers do. What a design can say and the engine cannot show is listed in `notes`: a result
// never keeps quiet about it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "sim/fabric/network.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::sim {

struct BuildOptions {
  std::uint64_t seed = 1;
  std::uint64_t replica = 0;  // see Network
};

/// A NIC of the simulation and where it sits. Its node is its index in Fabric::nics.
struct NicPlace {
  std::uint32_t host = 0;  // index into Intent::hosts and Fabric::hosts
  int rail = 0;
  std::string device;  // "mlx5_0"
  BitRate speed;
  TosByte rdma_tos;             // what its RDMA traffic is marked with
  std::uint32_t component = 0;  // NICs of equal numbers have a path between them
};

/// A traffic class, for workloads that name one.
struct ClassPlace {
  std::string name;
  Dscp dscp;
  Priority priority;
  bool lossless = false;
};

struct Fabric {
  Network network;
  Table<NodeId, NicPlace> nics;
  std::vector<std::string> hosts;
  std::vector<ClassPlace> classes;
  int qps_per_connection = 1;
  std::vector<std::string> notes;  // sentences: what of the design is not simulated

  /// Node of switch `index` of the intent.
  [[nodiscard]] NodeId switch_node(std::size_t index) const {
    return to_id<NodeId>(nics.size() + index);
  }
  /// "gpu01:mlx5_0", as evidence and results name it.
  [[nodiscard]] std::string nic_name(NodeId node) const;
};

/// REQUIRES: `intent` was derived from `design` without errors. Fails where the engine cannot take
/// the result (headroom that does not fit …), with the node's name.
[[nodiscard]] Result<Fabric> build_network(const design::Design& design,
                                           const design::Intent& intent,
                                           const BuildOptions& options = {});

/// The reaction point as the registers of the intent set it. On other variants than `connectx` the
/// published values stand, and only the knobs that the design writes replace them.
[[nodiscard]] DcqcnConfig dcqcn_of(const design::Design& design, const design::Intent& intent);

/// RDMA payload of a full packet on an interface of `interface_mtu`: `wanted`, or the largest of
/// 256 … 4096 that leaves room for headers, which is what the driver chooses.
[[nodiscard]] Bytes rdma_payload(Bytes wanted, Bytes interface_mtu);

/// Gives a NIC a receive buffer that PCIe drains at `drain` (the slow receiver). A NIC without one
/// never fills.
void limit_receiver(NicConfig& nic, Bytes xoff_need, Bytes interface_mtu, BitRate drain);

/// Numbers the parts of the network that have paths within them; NICs forward nothing.
void find_components(Fabric& fabric);

}  // namespace weir::sim
