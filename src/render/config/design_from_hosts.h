#pragma once
// A design from the settings of hosts: `weir init --from-host`, `--from-bundles`. The comment of
// each value says where it comes from: as found, the usual convention (and what was found instead),
// or not known, because a host cannot see it: switches, cables, shares.
#include <span>
#include <string>

#include "evidence/evidence.h"

namespace weir::render {

struct FoundDesign {
  std::string text;               // YAML, commented; loads
  std::vector<std::string> open;  // what is not known, in words
  std::size_t hosts = 0;
  std::size_t rails = 0;  // of the largest group
};

/// REQUIRES: a host with an RDMA NIC on Ethernet. Hosts with the same NICs are one group. Rails are
/// the NICs with the highest speed, without virtual functions; a comment lists the others.
[[nodiscard]] FoundDesign design_from_hosts(std::span<const evidence::Evidence> hosts,
                                            const std::string& name);

/// Whether there is anything to make a design from.
[[nodiscard]] bool has_ethernet_rdma(std::span<const evidence::Evidence> hosts);

}  // namespace weir::render
