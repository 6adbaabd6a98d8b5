#pragma once
// Where a device sits: PCI path, link, NUMA node, interrupts, config space; GPUs, and how far a NIC
// is from each.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

/// A device in the tree below /sys/devices.
struct PciPlace {
  std::string root;                  // "pci0000:15"
  std::vector<std::string> bridges;  // from the root to the device: "0000:15:01.0" …
  std::string address;               // "0000:18:00.0"
  std::string directory;             // "/sys/devices/pci0000:15/…/0000:18:00.0"
  friend bool operator==(const PciPlace&, const PciPlace&) = default;
};
/// From a resolved path at or below the device; unsupported where it is no PCI device.
[[nodiscard]] Parsed<PciPlace> parse_pci_path(std::string_view real_path);
/// Of a device's directory, links and all: "/sys/class/infiniband/mlx5_0/device".
[[nodiscard]] evidence::Fact<PciPlace> find_pci(Kernel& kernel, const std::string& path);

/// Memory node of each processor.
using CpuNodes = std::map<unsigned, unsigned>;
[[nodiscard]] evidence::Fact<CpuNodes> read_cpu_nodes(Kernel& kernel);

[[nodiscard]] evidence::Pcie read_pcie(Kernel& kernel, const evidence::Fact<PciPlace>& place,
                                       const evidence::Fact<CpuNodes>& nodes);

/// Of PCI config space, as /sys/bus/pci/devices/*/config holds it.
struct DeviceControl {
  bool relaxed_ordering = false;
  Bytes max_read_request;
};
/// Without privilege the kernel shows 64 bytes: permission.
[[nodiscard]] Parsed<DeviceControl> parse_device_control(std::string_view config);
/// Whether a bridge sends peer-to-peer traffic upstream: Access Control Services. False where the
/// bridge has no such capability.
[[nodiscard]] Parsed<bool> parse_acs_redirect(std::string_view config);

/// Where an extended capability begins in config space; absent where the list does not have it.
[[nodiscard]] Parsed<std::size_t> find_extended_capability(std::string_view config, unsigned id);

struct FoundGpu {
  evidence::Gpu gpu;
  evidence::Fact<PciPlace> place;
};
struct GpuSearch {
  std::vector<FoundGpu> gpus;  // in the order of PCI addresses, which is the driver's
  /// Known where every PCI device could be looked at; else there may be more.
  evidence::Fact<bool> complete;
};
[[nodiscard]] GpuSearch find_gpus(Kernel& kernel, const evidence::Fact<CpuNodes>& nodes);

/// As nvidia-smi names it. Unsupported where the tree is flat (a virtual machine's): it says
/// nothing about the wires then.
[[nodiscard]] evidence::Fact<evidence::Distance> distance_between(
    const evidence::Fact<PciPlace>& a, const evidence::Fact<unsigned>& node_a,
    const evidence::Fact<PciPlace>& b, const evidence::Fact<unsigned>& node_b);

}  // namespace weir::host
