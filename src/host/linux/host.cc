#include "host/linux/host.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/printable.h"
#include "evidence/gaps.h"
#include "evidence/names.h"
#include "host/bundle/bundle.h"
#include "host/change/linux_change.h"
#include "host/kernel/budget.h"
#include "host/kernel/live.h"
#include "host/kernel/replay.h"
#include "host/linux/counters.h"
#include "host/linux/dcb.h"
#include "host/linux/ethtool.h"
#include "host/linux/lldp.h"
#include "host/linux/machine.h"
#include "host/linux/nic.h"
#include "host/linux/pci.h"
#include "host/linux/reader.h"
#include "host/probe/linux_command.h"
#include "units/format.h"

namespace weir::host {

namespace {

/// Of one look at a host, however many NICs it has and whatever their firmware does: two seconds,
/// or what WEIR_LOOK_BUDGET says, for a machine that is slow itself.
Duration look_budget() {
  constexpr Duration kUsual = 2_s;
  const char* const asked = std::getenv("WEIR_LOOK_BUDGET");
  const auto budget = parse_duration(asked == nullptr ? "" : asked);
  return budget && *budget > Duration() ? *budget : kUsual;
}

/// A port with what both facts and counters need of DCB, asked once.
struct LookedAt {
  RdmaPort port;
  Answer<DcbState> dcb = Errno{ENOENT};
};

class LinuxHost final : public HostIo {
 public:
  LinuxHost(std::unique_ptr<Kernel> kernel, std::string capture, std::unique_ptr<Kernel> later,
            ExcludedDevices excluded);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Result<evidence::Evidence> observe() override;
  [[nodiscard]] Result<evidence::Evidence> facts(const Scope& scope) override;
  [[nodiscard]] Result<counters::Snapshot> snapshot() override;
  [[nodiscard]] Status perform(const Operation& operation) override;
  [[nodiscard]] Result<std::string> remember(const Operation& operation) override;
  [[nodiscard]] Status restore(const std::string& device, const std::string& memory) override;
  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& command,
                                           const LoadControl& control) override;

 private:
  [[nodiscard]] bool is_captured() const { return !capture_.empty(); }
  [[nodiscard]] Result<std::vector<LookedAt>> find_nics(Kernel& kernel) const;
  /// The first port of a device, to be changed; an error in a capture.
  [[nodiscard]] Result<RdmaPort> port_to_change(const std::string& device);
  [[nodiscard]] Result<counters::Snapshot> snapshot_of(Kernel& kernel) const;
  [[nodiscard]] evidence::Provenance provenance() const;
  [[nodiscard]] evidence::Nic facts_of(Kernel& kernel, const LookedAt& nic, Ethtool& ethtool,
                                       const Answer<std::vector<InterfaceAddress>>& addresses,
                                       const evidence::Fact<CpuNodes>& nodes);

  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Kernel> later_;
  std::string capture_;
  ExcludedDevices excluded_;
  std::string name_;
};

LinuxHost::LinuxHost(std::unique_ptr<Kernel> kernel, std::string capture,
                     std::unique_ptr<Kernel> later, ExcludedDevices excluded)
    : kernel_(std::move(kernel)),
      later_(std::move(later)),
      capture_(std::move(capture)),
      excluded_(std::move(excluded)),
      name_(printable_line(read_host_name(*kernel_))) {
  if (!name_.empty()) return;
  std::string_view path = capture_;
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  name_ = is_captured() ? as_name(NameKind::kHost, path.substr(path.rfind('/') + 1)) : "localhost";
}

Result<std::vector<LookedAt>> LinuxHost::find_nics(Kernel& kernel) const {
  const auto ports = find_ports(kernel, excluded_);
  if (!ports && ports.error() != Errno{ENOENT}) {
    const bool refused = missing_of(ports.error()) == counters::Missing::kPermission;
    return Error{refused ? ErrorCode::kPermission : ErrorCode::kIo,
                 fmt::format("list /sys/class/infiniband of {}: {}", name_,
                             std::strerror(ports.error().number))};
  }
  if (!ports || ports->empty()) {
    return not_found_error(fmt::format(
        "no RDMA device: /sys/class/infiniband is {}. Is the NIC there (lspci), and is its "
        "driver loaded (modprobe mlx5_ib, or its like)? In a container, the host's devices must "
        "be passed in",
        ports ? "empty" : "not there"));
  }
  std::vector<LookedAt> out;
  for (const RdmaPort& port : *ports) {
    LookedAt looked;
    looked.port = port;
    if (port.netdev.is_known()) looked.dcb = read_dcb(kernel, *port.netdev);
    out.push_back(std::move(looked));
  }
  return out;
}

counters::Snapshot count(Kernel& kernel, const std::vector<LookedAt>& nics) {
  counters::Snapshot out;
  if (const auto time = kernel.about("time")) out.time = *time;
  if (const auto clock = kernel.about("clock_ns"))
    std::from_chars(clock->data(), clock->data() + clock->size(), out.clock_ns);
  for (const LookedAt& nic : nics)
    out.nics.push_back(read_counters(kernel, nic.port, nic.dcb, out.nics.empty()));
  return out;
}

Result<counters::Snapshot> LinuxHost::snapshot_of(Kernel& kernel) const {
  WEIR_TRY(nics, find_nics(kernel));
  return count(kernel, nics);
}

evidence::Nic LinuxHost::facts_of(Kernel& kernel, const LookedAt& nic, Ethtool& ethtool,
                                  const Answer<std::vector<InterfaceAddress>>& addresses,
                                  const evidence::Fact<CpuNodes>& nodes) {
  const RdmaPort& port = nic.port;
  evidence::Nic out = read_nic(kernel, port);
  read_settings(kernel, port, out);
  const bool is_mlx5 =
      port.driver.is_known() && counters::driver_of(*port.driver) == counters::Driver::kMlx5;
  const std::string netdev = port.netdev.is_known() ? *port.netdev : port.device;
  out.qos = qos_from(nic.dcb, netdev, is_mlx5);
  add_vendor_qos(kernel, port, out.qos);
  if (port.netdev.is_known()) {
    const EthtoolFacts facts = ethtool.read(netdev);
    out.rings = facts.rings;
    out.link.pause_rx = facts.pause_rx;
    out.link.pause_tx = facts.pause_tx;
    out.link.fec = facts.fec;
    out.link.autoneg = facts.autoneg;
    // Intel's firmware has an LLDP agent of its own, which overrides what the host sets.
    const bool is_intel =
        port.driver.is_known() && counters::driver_of(*port.driver) == counters::Driver::kIrdma;
    if (is_intel) out.qos.firmware_lldp = read_private_flag(kernel, netdev, "fw-lldp-agent");
  }
  out.addresses = addresses_of(kernel, port, addresses);
  if (port.netdev.is_known()) {
    out.link.neighbour =
        read_neighbour(kernel, read_fact(kernel, port.net_folder() + "/ifindex", parse_unsigned));
  }
  out.pcie = read_pcie(kernel, find_pci(kernel, port.folder() + "/device"), nodes);
  return out;
}

evidence::Provenance LinuxHost::provenance() const {
  evidence::Provenance out;
  out.host = name_;
  if (const auto time = kernel_->about("time")) out.time = *time;
  out.tool = "weir";
  out.origin = is_captured() ? evidence::Origin::kBundle : evidence::Origin::kLive;
  out.detail = capture_;
  return out;
}

Result<evidence::Evidence> LinuxHost::facts(const Scope& scope) {
  WEIR_TRY(nics, find_nics(*kernel_));
  evidence::Evidence out;
  out.provenance = provenance();
  const auto nodes = read_cpu_nodes(*kernel_);
  const auto addresses = read_addresses(*kernel_);
  Ethtool ethtool(*kernel_);
  std::vector<std::string> pci_directories;
  for (const LookedAt& nic : nics) {
    if (std::find(scope.devices.begin(), scope.devices.end(), nic.port.device) ==
        scope.devices.end())
      continue;
    out.nics.push_back(facts_of(*kernel_, nic, ethtool, addresses, nodes));
    const auto place = find_pci(*kernel_, nic.port.folder() + "/device");
    if (place.is_known()) pci_directories.push_back(place->directory);
  }
  if (scope.with_machine) out.host = read_machine(*kernel_, pci_directories, {});
  return out;
}

Result<evidence::Evidence> LinuxHost::observe() {
  const auto timed = make_budget_kernel(*kernel_, look_budget());
  Kernel& kernel = *timed;
  WEIR_TRY(nics, find_nics(kernel));
  evidence::Evidence out;
  out.provenance = provenance();
  const auto nodes = read_cpu_nodes(kernel);
  const auto addresses = read_addresses(kernel);
  Ethtool ethtool(kernel);
  std::vector<std::string> pci_directories;
  std::vector<evidence::Fact<PciPlace>> places;
  for (const LookedAt& nic : nics) {
    out.nics.push_back(facts_of(kernel, nic, ethtool, addresses, nodes));
    places.push_back(find_pci(kernel, nic.port.folder() + "/device"));
    if (places.back().is_known()) pci_directories.push_back(places.back()->directory);
  }
  const GpuSearch search = find_gpus(kernel, nodes);
  for (const FoundGpu& found : search.gpus) {
    out.gpus.push_back(found.gpu);
    for (std::size_t n = 0; n < out.nics.size(); ++n) {
      out.distances.push_back({out.nics[n].device, found.gpu.index,
                               distance_between(places[n], out.nics[n].pcie.numa_node, found.place,
                                                found.gpu.pcie.numa_node)});
    }
  }
  out.host = read_machine(kernel, pci_directories, out.gpus);
  out.snapshots.push_back(count(kernel, nics));
  if (later_ != nullptr) {
    WEIR_TRY(later, snapshot_of(*later_));
    out.snapshots.push_back(std::move(later));
  }
  if (const Status named = evidence::check_names(out); !named)
    return named.error().within(is_captured() ? capture_ : std::string("this host"));
  out.gaps = evidence::gaps_of(out);
  if (search.complete.is_missing()) {
    out.gaps.push_back({"GPUs: not every PCI device could be looked at", "", search.complete.why(),
                        fmt::format("read {} by hand", search.complete.source())});
  }
  return out;
}

Result<counters::Snapshot> LinuxHost::snapshot() {
  const auto timed = make_budget_kernel(*kernel_, look_budget());
  return snapshot_of(*timed);
}

Result<RdmaPort> LinuxHost::port_to_change(const std::string& device) {
  if (is_captured()) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} is a capture: nothing can be changed in it", capture_)};
  }
  const auto ports = find_ports(*kernel_);
  if (!ports) return refusal("list /sys/class/infiniband", ports.error());
  for (const RdmaPort& port : *ports)
    if (port.device == device) return port;
  return not_found_error(fmt::format("{} is gone", device));
}

Status LinuxHost::perform(const Operation& operation) {
  if (const auto* sysctl = std::get_if<SetSysctl>(&operation.change); sysctl && !is_captured())
    return perform_sysctl(*kernel_, *sysctl);
  WEIR_TRY(port, port_to_change(operation.device));
  return PortChanger(*kernel_, port).perform(operation.change);
}

Result<std::string> LinuxHost::remember(const Operation& operation) {
  if (const auto* sysctl = std::get_if<SetSysctl>(&operation.change); sysctl && !is_captured()) {
    WEIR_TRY(memory, remember_sysctl(*kernel_, *sysctl));
    return to_text(memory);
  }
  WEIR_TRY(port, port_to_change(operation.device));
  WEIR_TRY(memory, PortChanger(*kernel_, port).remember(operation.change));
  return to_text(memory);
}

/// By the names that were remembered: a device that was renamed since is not guessed at.
Status LinuxHost::restore(const std::string& device, const std::string& memory) {
  WEIR_TRY(kept, parse_memory(memory));
  if (device.empty() && !is_captured()) return host::restore(*kernel_, kept);
  WEIR_TRY(port, port_to_change(device));
  if (port.netdev.is_known() && !kept.netdev.empty() && *port.netdev != kept.netdev)
    return invalid_error(fmt::format("{} was {} and is {} now: put it back by hand", device,
                                     kept.netdev, *port.netdev));
  return host::restore(*kernel_, kept);
}

Result<CommandOutcome> LinuxHost::run(const std::vector<std::string>& command,
                                      const LoadControl& control) {
  if (is_captured()) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} is a capture: nothing can be run on it", capture_)};
  }
  return run_load(command, control);
}

}  // namespace

std::unique_ptr<HostIo> make_host(std::unique_ptr<Kernel> kernel, std::string capture,
                                  std::unique_ptr<Kernel> later, ExcludedDevices excluded) {
  return std::make_unique<LinuxHost>(std::move(kernel), std::move(capture), std::move(later),
                                     std::move(excluded));
}

std::unique_ptr<HostIo> make_linux_host(ExcludedDevices excluded) {
  return make_host(make_live_kernel(), "", nullptr, std::move(excluded));
}

bool has_rdma_device() {
  const auto devices = make_live_kernel()->list("/sys/class/infiniband");
  return devices && !devices->empty();
}

Result<std::unique_ptr<HostIo>> open_bundle(std::string_view text, const std::string& name,
                                            ExcludedDevices excluded) {
  auto bundle = parse_bundle(text);
  if (!bundle) return bundle.error().within(name);
  std::unique_ptr<Kernel> later;
  if (bundle->looks.size() > 1) later = make_bundle_kernel(std::move(bundle->looks[1]));
  return make_host(make_bundle_kernel(std::move(bundle->looks[0])), name, std::move(later),
                   std::move(excluded));
}

Result<std::unique_ptr<HostIo>> open_captured_host(const std::string& path,
                                                   ExcludedDevices excluded) {
  if (!is_directory(path) && file_exists(path)) {
    WEIR_TRY(text, read_file(path));
    return open_bundle(text, printable_line(path), std::move(excluded));
  }
  WEIR_TRY(kernel, open_replay(path));
  return make_host(std::move(kernel), printable_line(path), nullptr, std::move(excluded));
}

Result<std::vector<std::string>> find_captures(const std::string& path) {
  if (!is_directory(path)) return std::vector<std::string>{path};
  const auto names = make_live_kernel()->list(path);
  if (!names)
    return Error{ErrorCode::kIo,
                 fmt::format("list {}: {}", path, std::strerror(names.error().number))};
  std::vector<std::string> found;
  for (const std::string& name : *names) {
    const std::string file = fmt::format("{}/{}", path, name);
    if (is_directory(file)) {
      if (file_exists(file + "/tree.tsv")) found.push_back(file);
      continue;
    }
    const auto head = read_head(file, kBundleHeading.size());
    if (!head && name.ends_with(".bundle")) return head.error();  // a host would go missing
    if (head && *head == kBundleHeading) found.push_back(file);
  }
  if (found.empty()) found.push_back(path);
  return found;
}

}  // namespace weir::host
