#pragma once
// The families of the catalogue, one file each; catalog.cc puts them together. Not for other
// folders.
#include <vector>

#include "finding/catalog.h"

namespace weir::finding {

[[nodiscard]] std::vector<CatalogEntry> pfc_entries();         // PFC, pause, watchdog, DCBX
[[nodiscard]] std::vector<CatalogEntry> congestion_entries();  // ECN, CNPs, DCQCN
[[nodiscard]] std::vector<CatalogEntry> buffer_entries();      // headroom, pools
[[nodiscard]] std::vector<CatalogEntry> marking_entries();     // DSCP, trust, classes, shapers
[[nodiscard]] std::vector<CatalogEntry> path_entries();        // MTU, routing, rails, loss
[[nodiscard]] std::vector<CatalogEntry> balance_entries();     // ECMP, bonds, oversubscription
[[nodiscard]] std::vector<CatalogEntry> link_entries();        // cables, optics, ports
[[nodiscard]] std::vector<CatalogEntry> host_entries();  // slow receivers, PCIe, GPUDirect, fleet
[[nodiscard]] std::vector<CatalogEntry>
container_entries();                                    // containers, Kubernetes, limits, kernels
[[nodiscard]] std::vector<CatalogEntry> gid_entries();  // which GID a job will use
[[nodiscard]] std::vector<CatalogEntry> job_entries();  // NCCL, job environment, applications
[[nodiscard]] std::vector<CatalogEntry>
telemetry_entries();  // counters, collectors, failure drills
[[nodiscard]] std::vector<CatalogEntry>
platform_entries();  // what a platform cannot, or did not, do

}  // namespace weir::finding
