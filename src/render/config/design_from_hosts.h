#pragma once
// A design out of what hosts show: `weir init --from-host`, `--from-bundles`. Every value says
// where it comes from: as found, as the usual convention has it (and what was found instead), or
// not known, because no host can know it: switches, cables, shares.
#include <span>
#include <string>

#include "evidence/evidence.h"

namespace weir::render {

struct FoundDesign {
  std::string text;               // YAML, commented; loads
  std::vector<std::string> open;  // what it had to leave open, in words
  std::size_t hosts = 0;
  std::size_t rails = 0;  // of the largest group
};

/// REQUIRES: a host with an RDMA NIC on Ethernet. Hosts with the same NICs are one group. Rails are
/// the NICs of the fastest speed that are no virtual functions; the others stand in a comment.
[[nodiscard]] FoundDesign design_from_hosts(std::span<const evidence::Evidence> hosts,
                                            const std::string& name);

/// Whether there is anything to make a design from.
[[nodiscard]] bool has_ethernet_rdma(std::span<const evidence::Evidence> hosts);

}  // namespace weir::render
