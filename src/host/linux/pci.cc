#include "host/linux/pci.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "host/linux/netlink.h"
#include "host/linux/reader.h"

namespace weir::host {

using evidence::Distance;
using evidence::Fact;
using evidence::Missing;

namespace {

// PCI Local Bus Specification 3.0 and PCI Express Base Specification.
constexpr std::size_t kUnprivilegedConfig = 64;  // what the kernel shows without privilege
constexpr std::size_t kCapabilityPointer = 0x34;
constexpr std::size_t kExtendedConfig = 0x100;
constexpr unsigned kCapabilityPciExpress = 0x10;
constexpr unsigned kCapabilityAcs = 0x0D;
constexpr unsigned kRelaxedOrdering = 1U << 4U;
constexpr int kMostCapabilities = 64;  // a list that is longer runs in a circle
// Source validation, request redirect, completion redirect, upstream forwarding.
constexpr unsigned kAcsRedirects = 0x01U | 0x04U | 0x08U | 0x10U;

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices/";

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "0000:18:00.0"; a domain may have more digits.
bool is_address(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3 || parts[0].size() < 4 || !is_hex(parts[0])) return false;
  return parts[1].size() == 2 && is_hex(parts[1]) && parts[2].size() == 4 &&
         is_hex(parts[2].substr(0, 2)) && parts[2][2] == '.' && is_hex(parts[2].substr(3));
}

/// Missing facts all over, for the same reason.
evidence::Pcie pcie_missing(Missing why, const std::string& source) {
  evidence::Pcie out;
  const auto mark = [&](auto& fact) { fact = std::decay_t<decltype(fact)>::missing(why, source); };
  mark(out.address);
  mark(out.path);
  mark(out.numa_node);
  mark(out.speed_mtps);
  mark(out.speed_mtps_max);
  mark(out.width);
  mark(out.width_max);
  mark(out.max_read_request);
  mark(out.relaxed_ordering);
  mark(out.acs_redirect);
  mark(out.irq_numa_nodes);
  return out;
}

/// One bridge that redirects is enough; a bridge that could not be read leaves it open.
Fact<bool> read_acs(Kernel& kernel, const PciPlace& place) {
  std::optional<Fact<bool>> unread;
  std::string source;
  for (const std::string& bridge : place.bridges) {
    source = fmt::format("{}{}/config", kPciDevices, bridge);
    const auto redirect = read_fact(kernel, source, parse_acs_redirect);
    if (redirect.is(true)) return redirect;
    if (!redirect.is_known() && !unread.has_value()) unread = redirect;
  }
  if (unread.has_value()) return *unread;
  if (place.bridges.empty()) return Fact<bool>::missing(Missing::kUnsupported, place.directory);
  return Fact<bool>::of(false, source);
}

Fact<std::vector<unsigned>> read_irq_nodes(Kernel& kernel, const PciPlace& place,
                                           const Fact<CpuNodes>& nodes) {
  using F = Fact<std::vector<unsigned>>;
  const std::string source = place.directory + "/msi_irqs";
  const auto interrupts = kernel.list(source);
  if (!interrupts) return F::missing(missing_of(interrupts.error()), source);
  if (!nodes.is_known()) return F::missing(nodes.why(), nodes.source());
  std::set<unsigned> found;
  for (const std::string& interrupt : *interrupts) {
    const std::string folder = "/proc/irq/" + interrupt;
    const auto cpus = either(read_fact(kernel, folder + "/effective_affinity_list", parse_cpu_list),
                             read_fact(kernel, folder + "/smp_affinity_list", parse_cpu_list));
    if (!cpus.is_known()) return F::missing(cpus.why(), cpus.source());
    for (const unsigned cpu : *cpus) {
      if (const auto node = nodes->find(cpu); node != nodes->end()) found.insert(node->second);
    }
  }
  return F::of({found.begin(), found.end()}, source);
}

/// Vendor and class of what computes: NVIDIA's 3D and VGA controllers, AMD's accelerators.
bool is_gpu(std::uint64_t vendor, std::uint64_t device_class) {
  const std::uint64_t kind = device_class >> 8U;
  if (vendor == 0x10de) return kind == 0x0300 || kind == 0x0302;
  if (vendor == 0x1002) return kind == 0x0380 || kind == 0x1200;
  return false;
}

evidence::Gpu read_gpu(Kernel& kernel, const std::string& address, bool is_nvidia) {
  evidence::Gpu gpu;
  const std::string name = is_nvidia ? "nvidia" : "amdgpu";
  gpu.driver = read_fact(kernel, fmt::format("/sys/module/{}/version", name), parse_word);
  if (!is_nvidia) {
    gpu.model =
        read_fact(kernel, fmt::format("{}{}/product_name", kPciDevices, address), parse_word);
    return gpu;
  }
  gpu.model = read_fact(kernel, fmt::format("/proc/driver/nvidia/gpus/{}/information", address),
                        [](std::string_view text) { return parse_colon_value(text, "Model"); });
  gpu.open_kernel_module =
      read_fact(kernel, "/proc/driver/nvidia/version", [](std::string_view text) -> Parsed<bool> {
        if (text.find("NVRM version") == std::string_view::npos) return Missing::kError;
        return text.find("Open Kernel Module") != std::string_view::npos;
      });
  return gpu;
}

}  // namespace

Parsed<PciPlace> parse_pci_path(std::string_view real_path) {
  PciPlace place;
  std::string directory;
  for (const std::string_view piece : split(real_path, '/')) {
    if (piece.empty()) continue;
    directory += "/" + std::string(piece);
    if (piece.starts_with("pci") && place.root.empty()) {
      place.root = piece;
    } else if (is_address(piece)) {
      if (!place.address.empty()) place.bridges.push_back(place.address);
      place.address = piece;
      place.directory = directory;
    }
  }
  if (place.address.empty() || place.root.empty()) return Missing::kUnsupported;
  return place;
}

Fact<PciPlace> find_pci(Kernel& kernel, const std::string& path) {
  const auto real = kernel.real_path(path);
  if (!real) return Fact<PciPlace>::missing(missing_of(real.error()), path);
  return to_fact(parse_pci_path(*real), path);
}

Fact<CpuNodes> read_cpu_nodes(Kernel& kernel) {
  const std::string folder = "/sys/devices/system/node";
  const auto names = kernel.list(folder);
  if (!names) return Fact<CpuNodes>::missing(missing_of(names.error()), folder);
  CpuNodes nodes;
  for (const std::string& name : *names) {
    if (!name.starts_with("node")) continue;
    const auto node = parse_u64(name.substr(4));
    if (!node || *node > 65535) continue;
    const std::string file = fmt::format("{}/{}/cpulist", folder, name);
    const auto cpus = read_fact(kernel, file, parse_cpu_list);
    if (!cpus.is_known()) return Fact<CpuNodes>::missing(cpus.why(), file);
    for (const unsigned cpu : *cpus)
      nodes[cpu] = static_cast<unsigned>(*node);
  }
  return Fact<CpuNodes>::of(std::move(nodes), folder);
}

evidence::Pcie read_pcie(Kernel& kernel, const Fact<PciPlace>& place, const Fact<CpuNodes>& nodes) {
  if (!place.is_known()) return pcie_missing(place.why(), place.source());
  const std::string& folder = place->directory;
  evidence::Pcie out;
  out.address = Fact<std::string>::of(place->address, folder);
  out.path = Fact<std::vector<std::string>>::of(place->bridges, folder);
  out.numa_node = read_fact(kernel, folder + "/numa_node", parse_unsigned);
  out.speed_mtps = read_fact(kernel, folder + "/current_link_speed", parse_pci_speed);
  out.speed_mtps_max = read_fact(kernel, folder + "/max_link_speed", parse_pci_speed);
  out.width = read_fact(kernel, folder + "/current_link_width", parse_unsigned);
  out.width_max = read_fact(kernel, folder + "/max_link_width", parse_unsigned);
  const auto control = read_fact(kernel, folder + "/config", parse_device_control);
  out.relaxed_ordering = derive(control, [](const DeviceControl& c) { return c.relaxed_ordering; });
  out.max_read_request = derive(control, [](const DeviceControl& c) { return c.max_read_request; });
  out.acs_redirect = read_acs(kernel, *place);
  out.irq_numa_nodes = read_irq_nodes(kernel, *place, nodes);
  return out;
}

Parsed<DeviceControl> parse_device_control(std::string_view config) {
  if (config.size() <= kUnprivilegedConfig)
    return config.size() == kUnprivilegedConfig ? Missing::kPermission : Missing::kError;
  std::size_t at = number_at<std::uint8_t>(config, kCapabilityPointer) & ~3U;
  for (int n = 0; at >= kUnprivilegedConfig && n < kMostCapabilities; ++n) {
    if (at + 10 > config.size()) return Missing::kError;
    if (number_at<std::uint8_t>(config, at) == kCapabilityPciExpress) {
      const unsigned control = number_at<std::uint16_t>(config, at + 8);
      const unsigned size = (control >> 12U) & 7U;
      if (size > 5) return Missing::kError;  // 6 and 7 are reserved
      return DeviceControl{(control & kRelaxedOrdering) != 0, Bytes::raw(128LL << size)};
    }
    at = number_at<std::uint8_t>(config, at + 1) & ~3U;
  }
  return Missing::kUnsupported;
}

Parsed<std::size_t> find_extended_capability(std::string_view config, unsigned id) {
  std::size_t at = kExtendedConfig;
  for (int n = 0; at >= kExtendedConfig && n < kMostCapabilities; ++n) {
    if (at + 8 > config.size()) return Missing::kError;
    const auto header = number_at<std::uint32_t>(config, at);
    if (header == 0 || header == 0xFFFFFFFFU) return Missing::kAbsent;
    if ((header & 0xFFFFU) == id) return at;
    at = (header >> 20U) & ~3U;
  }
  return Missing::kAbsent;
}

Parsed<bool> parse_acs_redirect(std::string_view config) {
  if (config.size() <= kUnprivilegedConfig)
    return config.size() == kUnprivilegedConfig ? Missing::kPermission : Missing::kError;
  if (config.size() <= kExtendedConfig) return Missing::kUnsupported;  // not PCI Express
  const auto at = find_extended_capability(config, kCapabilityAcs);
  if (!at) {
    if (at.why() == Missing::kAbsent) return false;
    return at.why();
  }
  return (number_at<std::uint16_t>(config, *at + 6) & kAcsRedirects) != 0;
}

GpuSearch find_gpus(Kernel& kernel, const Fact<CpuNodes>& nodes) {
  GpuSearch out;
  const std::string all(kPciDevices.substr(0, kPciDevices.size() - 1));
  const auto addresses = kernel.list(all);
  out.complete = addresses ? Fact<bool>::of(true, all)
                           : Fact<bool>::missing(missing_of(addresses.error()), all);
  if (!addresses) return out;
  for (const std::string& address : *addresses) {
    const std::string folder = std::string(kPciDevices) + address;
    const auto vendor = read_fact(kernel, folder + "/vendor", parse_number);
    const auto device_class = read_fact(kernel, folder + "/class", parse_number);
    if (!vendor.is_known() || !device_class.is_known()) {
      const auto& unread = vendor.is_known() ? device_class : vendor;
      out.complete = Fact<bool>::missing(unread.why(), unread.source());
      continue;
    }
    if (!is_gpu(*vendor, *device_class)) continue;
    FoundGpu found;
    found.gpu = read_gpu(kernel, address, *vendor == 0x10de);
    found.gpu.index = static_cast<unsigned>(out.gpus.size());
    found.place = find_pci(kernel, folder);
    found.gpu.pcie = read_pcie(kernel, found.place, nodes);
    out.gpus.push_back(std::move(found));
  }
  return out;
}

Fact<Distance> distance_between(const Fact<PciPlace>& a, const Fact<unsigned>& node_a,
                                const Fact<PciPlace>& b, const Fact<unsigned>& node_b) {
  using F = Fact<Distance>;
  if (!a.is_known()) return F::missing(a.why(), a.source());
  if (!b.is_known()) return F::missing(b.why(), b.source());
  const std::string source = fmt::format("{} and {}", a->directory, b->directory);
  if (a->root != b->root) {
    if (!node_a.is_known()) return F::missing(node_a.why(), node_a.source());
    if (!node_b.is_known()) return F::missing(node_b.why(), node_b.source());
    return F::of(*node_a == *node_b ? Distance::kNode : Distance::kSys, source);
  }
  if (a->bridges.empty() && b->bridges.empty()) return F::missing(Missing::kUnsupported, source);
  const auto [end_a, end_b] =
      std::mismatch(a->bridges.begin(), a->bridges.end(), b->bridges.begin(), b->bridges.end());
  if (end_a == a->bridges.begin()) return F::of(Distance::kPhb, source);
  // One switch: a port of its own for each device below the one they share.
  const auto below_a = a->bridges.end() - end_a;
  const auto below_b = b->bridges.end() - end_b;
  return F::of(below_a <= 1 && below_b <= 1 ? Distance::kPix : Distance::kPxb, source);
}

}  // namespace weir::host
