#pragma once
// A fabric of one switch, for tests of workloads.
#include <cstdint>
#include <string>

#include "sim/fabric/test_networks.h"
#include "sim/workload/workload.h"

namespace weir::sim::test {

/// Hosts h0, h1, … with `rails` NICs each around one switch.
inline Fabric star_fabric(std::uint32_t hosts, std::uint32_t rails, BitRate rate) {
  const std::uint32_t nics = hosts * rails;
  Fabric fabric;
  fabric.network = star(nics, rate, 500_ns, lossless_switch(256_MB, 200_KB), plain_nic(4096_B));
  fabric.classes = {{"rdma", 26_dscp, 3_prio, true}, {"best_effort", 0_dscp, 0_prio, false}};
  for (std::uint32_t h = 0; h < hosts; ++h) {
    fabric.hosts.push_back("h" + std::to_string(h));
    for (std::uint32_t r = 0; r < rails; ++r)
      fabric.nics.push_back(
          {h, static_cast<int>(r), "mlx5_" + std::to_string(r), rate, TosByte::of(kDataTos), 0});
  }
  return fabric;
}

}  // namespace weir::sim::test
