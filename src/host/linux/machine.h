#pragma once
// What is true of the machine as a whole: kernel, stack, limits, IOMMU, GPU memory for RDMA.
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "host/kernel/kernel.h"

namespace weir::host {

/// `pci_directories`: of the NICs, whose IOMMU groups say what translates; `gpus`: those found.
[[nodiscard]] evidence::Host read_machine(Kernel& kernel,
                                          const std::vector<std::string>& pci_directories,
                                          const std::vector<evidence::Gpu>& gpus);

/// Daemons that negotiate DCB with the switch and may overwrite what was set.
[[nodiscard]] bool is_lldp_agent(std::string_view process);

/// Host name as the kernel has it; empty where it cannot be read.
[[nodiscard]] std::string read_host_name(Kernel& kernel);

}  // namespace weir::host
