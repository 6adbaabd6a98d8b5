#include "host/linux/nic.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/text.h"
#include "counters/catalog.h"
#include "design/tables/nic_knobs.h"
#include "host/linux/netlink.h"
#include "host/linux/pci.h"
#include "host/linux/reader.h"

namespace weir::host {

using evidence::Fact;
using evidence::Missing;

namespace {

constexpr std::string_view kRdmaClass = "/sys/class/infiniband";
constexpr std::string_view kZeroGid = "0000:0000:0000:0000:0000:0000:0000:0000";
/// Layers on one another: a bridge on a VLAN on a bond is three; more than this runs in a circle.
constexpr int kMostLayers = 16;

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool less_by_nature(const std::string& a, const std::string& b) {
  return natural_order(a, b) == std::strong_ordering::less;
}

// ---- which network device, which driver ----

Fact<std::string> netdev_by_gid(Kernel& kernel, const RdmaPort& port) {
  constexpr std::size_t kTries = 8;  // the first entries are the network device's own
  const std::string folder = port.port_folder() + "/gid_attrs/ndevs";
  auto names = kernel.list(folder);
  if (!names) return Fact<std::string>::missing(missing_of(names.error()), folder);
  std::vector<std::string> sorted = *names;
  std::sort(sorted.begin(), sorted.end(), less_by_nature);
  sorted.resize(std::min(sorted.size(), kTries));
  Fact<std::string> first = Fact<std::string>::missing(Missing::kAbsent, folder);
  for (const std::string& name : sorted) {
    const auto netdev = read_fact(kernel, folder + "/" + name, parse_word);
    if (netdev.is_known()) return netdev;
    if (netdev.why() != Missing::kUnsupported) first = netdev;  // an empty slot answers EINVAL
  }
  return first;
}

/// The PCI function's network device with this port's number; of several (representors) the one
/// that the GIDs belong to.
Fact<std::string> netdev_by_device(Kernel& kernel, const RdmaPort& port) {
  const std::string folder = port.folder() + "/device/net";
  const auto names = kernel.list(folder);
  if (!names) return Fact<std::string>::missing(missing_of(names.error()), folder);
  std::vector<std::string> matching;
  for (const std::string& name : *names) {
    const auto number =
        read_fact(kernel, fmt::format("/sys/class/net/{}/dev_port", name), parse_unsigned);
    if (number.is_missing() && number.why() != Missing::kAbsent)
      return Fact<std::string>::missing(number.why(), number.source());
    if (number.is(port.port - 1)) matching.push_back(name);
  }
  if (matching.size() == 1) return Fact<std::string>::of(matching.front(), folder);
  return Fact<std::string>::missing(Missing::kAbsent, folder);
}

Fact<std::string> find_netdev(Kernel& kernel, const RdmaPort& port) {
  auto netdev = netdev_by_device(kernel, port);
  if (netdev.is_known()) return netdev;
  netdev = either(netdev, read_fact(kernel, port.folder() + "/parent", parse_word));  // rxe
  return either(netdev, netdev_by_gid(kernel, port));
}

/// sysfs knows whose driver it is; where the catalogue does not know that name (a bus in between),
/// ethtool's word counts. Soft-RoCE has no device behind it, only a parent.
Fact<std::string> find_driver(Kernel& kernel, const RdmaPort& port) {
  const std::string link = port.folder() + "/device/driver";
  const auto real = kernel.real_path(link);
  auto by_device = real ? Fact<std::string>::of(base_name(*real), link)
                        : Fact<std::string>::missing(missing_of(real.error()), link);
  if (by_device.is_known() && counters::driver_of(*by_device) != counters::Driver::kAny)
    return by_device;
  if (!by_device.is_known()) {
    const std::string parent = port.folder() + "/parent";
    const auto soft = kernel.read_file(parent);
    if (soft)
      return Fact<std::string>::of(std::string(vocab::find_driver(vocab::Driver::kRxe)->kernel),
                                   parent);
    if (!soft.is(ENOENT)) return Fact<std::string>::missing(missing_of(soft.error()), parent);
  }
  if (!port.info) return by_device;
  const auto by_netdev =
      Fact<std::string>::of(port.info->driver, fmt::format("ethtool -i {}", *port.netdev));
  if (counters::driver_of(*by_netdev) != counters::Driver::kAny) return by_netdev;
  return either(by_device, by_netdev);
}

// ---- identity ----

struct KnownModel {
  std::uint64_t vendor;
  std::uint64_t device;
  std::string_view title;
};
// The PCI ID database (pci-ids.ucw.cz), physical functions.
constexpr std::array kModels = {
    KnownModel{0x15b3, 0x1013, "NVIDIA ConnectX-4"},
    KnownModel{0x15b3, 0x1015, "NVIDIA ConnectX-4 Lx"},
    KnownModel{0x15b3, 0x1017, "NVIDIA ConnectX-5"},
    KnownModel{0x15b3, 0x1019, "NVIDIA ConnectX-5"},
    KnownModel{0x15b3, 0x101b, "NVIDIA ConnectX-6"},
    KnownModel{0x15b3, 0x101d, "NVIDIA ConnectX-6 Dx"},
    KnownModel{0x15b3, 0x101f, "NVIDIA ConnectX-6 Lx"},
    KnownModel{0x15b3, 0x1021, "NVIDIA ConnectX-7"},
    KnownModel{0x15b3, 0x1023, "NVIDIA ConnectX-8"},
    KnownModel{0x15b3, 0xa2d2, "NVIDIA BlueField"},
    KnownModel{0x15b3, 0xa2d6, "NVIDIA BlueField-2"},
    KnownModel{0x15b3, 0xa2dc, "NVIDIA BlueField-3"},
};

Fact<std::string> read_model(Kernel& kernel, const RdmaPort& port) {
  const std::string folder = port.folder() + "/device";
  const auto vendor = read_fact(kernel, folder + "/vendor", parse_number);
  const auto device = read_fact(kernel, folder + "/device", parse_number);
  for (const auto* id : {&vendor, &device}) {
    if (id->is_missing() && id->why() != Missing::kAbsent)
      return Fact<std::string>::missing(id->why(), id->source());
  }
  for (const KnownModel& model : kModels) {
    if (vendor.is(model.vendor) && device.is(model.device))
      return Fact<std::string>::of(std::string(model.title), device.source());
  }
  return read_fact(kernel, port.folder() + "/hca_type", parse_word);
}

/// "24.10-1.1.4": the vendor's releases; a kernel's own modules carry the kernel's release.
bool looks_like_ofed(std::string_view version) {
  const std::size_t dash = version.find('-');
  if (dash == std::string_view::npos || version == "5.0-0") return false;
  const auto before = split(version.substr(0, dash), '.');
  return before.size() == 2 && parse_u64(before[0]) && parse_u64(before[1]);
}

Fact<evidence::Stack> read_stack(Kernel& kernel, const RdmaPort& port) {
  using F = Fact<evidence::Stack>;
  if (!port.netdev.is_known()) return F::missing(port.netdev.why(), port.netdev.source());
  const std::string folder = port.net_folder() + "/ecn";
  const auto listed = kernel.list(folder);
  if (listed) return F::of(evidence::Stack::kOfed, folder);
  if (!listed.is(ENOENT)) return F::missing(missing_of(listed.error()), folder);
  if (port.info && looks_like_ofed(port.info->version))
    return F::of(evidence::Stack::kOfed, fmt::format("ethtool -i {}", *port.netdev));
  // Nothing of the vendor's, in a network device that can be read.
  const auto exists = kernel.list(port.net_folder());
  if (!exists) return F::missing(missing_of(exists.error()), port.net_folder());
  return F::of(evidence::Stack::kInbox, folder);
}

Fact<bool> read_is_virtual(Kernel& kernel, const RdmaPort& port) {
  const std::string folder = port.folder() + "/device";
  const auto real = kernel.real_path(folder);
  if (!real) return Fact<bool>::missing(missing_of(real.error()), folder);
  if (real->find(".sf.") != std::string::npos) return Fact<bool>::of(true, folder);
  const std::string parent = folder + "/physfn";
  const auto physical = kernel.real_path(parent);
  if (physical) return Fact<bool>::of(true, parent);
  if (!physical.is(ENOENT)) return Fact<bool>::missing(missing_of(physical.error()), parent);
  return Fact<bool>::of(false, parent);
}

void add_identity(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic) {
  nic.device = port.device;
  nic.port = port.port;
  nic.netdev = port.netdev;
  nic.driver = port.driver;
  nic.model = read_model(kernel, port);
  nic.stack = read_stack(kernel, port);
  nic.is_virtual = read_is_virtual(kernel, port);
  nic.board = read_fact(kernel, port.folder() + "/board_id", parse_word);
  nic.firmware = read_fact(kernel, port.folder() + "/fw_ver", parse_word);
  nic.link_layer = read_fact(kernel, port.port_folder() + "/link_layer", parse_link_layer);
  if (port.info) {
    nic.driver_version =
        to_fact(parse_word(port.info->version), fmt::format("ethtool -i {}", *port.netdev));
  } else if (port.driver.is_known()) {
    nic.driver_version =
        read_fact(kernel, fmt::format("/sys/module/{}/version", *port.driver), parse_word);
  } else {
    nic.driver_version = Fact<std::string>::missing(port.driver.why(), port.driver.source());
  }
}

// ---- link ----

/// A device that is switched off answers EINVAL for its carrier; its state says so in words.
Fact<bool> read_carrier(Kernel& kernel, const std::string& folder) {
  const auto carrier = read_fact(kernel, folder + "/carrier", parse_flag);
  if (!carrier.is_missing() || carrier.why() != Missing::kUnsupported) return carrier;
  const auto state = read_fact(kernel, folder + "/operstate", parse_word);
  if (state.is("down") || state.is("lowerlayerdown") || state.is("notpresent"))
    return Fact<bool>::of(false, state.source());
  return carrier;
}

/// What is on top of a network device, from below to above.
Fact<std::vector<evidence::Layer>> read_layers(Kernel& kernel, const std::string& netdev) {
  using F = Fact<std::vector<evidence::Layer>>;
  constexpr std::string_view kUpper = "upper_";
  std::vector<evidence::Layer> layers;
  std::vector<std::string> below = {netdev};
  for (int depth = 0; depth < kMostLayers && !below.empty(); ++depth) {
    std::vector<std::string> above;
    for (const std::string& name : below) {
      const std::string folder = "/sys/class/net/" + name;
      const auto files = kernel.list(folder);
      if (!files) return F::missing(missing_of(files.error()), folder);
      for (const std::string& file : *files) {
        if (!file.starts_with(kUpper)) continue;
        evidence::Layer layer;
        layer.netdev = file.substr(kUpper.size());
        const std::string upper = "/sys/class/net/" + layer.netdev;
        const auto mtu = read_fact(kernel, upper + "/mtu", parse_unsigned);
        if (!mtu.is_known()) return F::missing(mtu.why(), mtu.source());
        layer.mtu = Bytes::raw(*mtu);
        const auto event = kernel.read_file(upper + "/uevent");
        if (!event) return F::missing(missing_of(event.error()), upper + "/uevent");
        layer.kind = value_of_key(*event, "DEVTYPE").value_or("unknown");
        above.push_back(layer.netdev);
        layers.push_back(std::move(layer));
      }
    }
    below = std::move(above);
  }
  return F::of(std::move(layers), "/sys/class/net/" + netdev);
}

/// Facts of a link whose network device is not known: none can be read.
void mark_link_missing(Missing why, const std::string& source, evidence::Link& link) {
  const auto mark = [&](auto& fact) { fact = std::decay_t<decltype(fact)>::missing(why, source); };
  mark(link.up);
  mark(link.duplex);
  mark(link.mtu);
  mark(link.active_mtu);
  mark(link.layers);
}

void add_link(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic) {
  const auto rate = [&] {
    return read_fact(kernel, port.port_folder() + "/rate", parse_port_rate);
  };
  if (!port.netdev.is_known()) {
    mark_link_missing(port.netdev.why(), port.netdev.source(), nic.link);
    nic.link.speed = rate();
    return;
  }
  const std::string folder = port.net_folder();
  nic.link.up = read_carrier(kernel, folder);
  nic.link.speed = read_fact(kernel, folder + "/speed", parse_speed);
  if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) nic.link.speed = rate();
  nic.link.duplex = read_fact(kernel, folder + "/duplex", parse_duplex);
  const auto mtu = read_fact(kernel, folder + "/mtu", parse_unsigned);
  nic.link.mtu = derive(mtu, [](unsigned bytes) { return Bytes::raw(bytes); });
  if (nic.link_layer.is(evidence::LinkLayer::kEthernet) && nic.link.mtu.is_known()) {
    nic.link.active_mtu =
        to_fact(roce_mtu_within(*nic.link.mtu), mtu.source() + ", by the kernel's rule for RoCE");
  } else {
    nic.link.active_mtu =
        Fact<Bytes>::missing(mtu.is_missing() ? mtu.why() : Missing::kUnsupported, mtu.source());
  }
  nic.link.layers = read_layers(kernel, *port.netdev);
}

// ---- RDMA ----

/// One entry of the address table: nothing for an empty slot, a reason where it cannot be read.
Parsed<std::optional<evidence::Gid>> read_gid(Kernel& kernel, const RdmaPort& port,
                                              const std::string& index, bool is_infiniband) {
  const std::string folder = port.port_folder();
  const auto number = parse_u64(index);
  if (!number || *number > 65535) return Missing::kError;
  const auto gid = kernel.read_file(folder + "/gids/" + index);
  if (!gid) return missing_of(gid.error());
  if (trim(*gid).empty()) return Missing::kError;
  if (trim(*gid) == kZeroGid) return std::optional<evidence::Gid>();
  evidence::Gid out;
  out.index = static_cast<unsigned>(*number);
  out.gid = trim(*gid);
  if (is_infiniband) {
    out.type = evidence::GidType::kInfiniband;
    return std::optional<evidence::Gid>(out);
  }
  const auto type = read_fact(kernel, folder + "/gid_attrs/types/" + index, parse_gid_type);
  const auto netdev = read_fact(kernel, folder + "/gid_attrs/ndevs/" + index, parse_word);
  if (!type.is_known()) {
    // EINVAL is an empty slot's: the entry may have gone since its address was read.
    const auto again = kernel.read_file(folder + "/gids/" + index);
    if (again && trim(*again) == kZeroGid) return std::optional<evidence::Gid>();
    return type.why();
  }
  if (!netdev.is_known()) return netdev.why();
  out.type = *type;
  out.netdev = *netdev;
  return std::optional<evidence::Gid>(out);
}

Fact<std::vector<evidence::Gid>> read_gids(Kernel& kernel, const RdmaPort& port,
                                           bool is_infiniband) {
  using F = Fact<std::vector<evidence::Gid>>;
  const std::string folder = port.port_folder() + "/gids";
  const auto names = kernel.list(folder);
  if (!names) return F::missing(missing_of(names.error()), folder);
  std::vector<evidence::Gid> gids;
  for (const std::string& name : *names) {
    const auto gid = read_gid(kernel, port, name, is_infiniband);
    if (!gid) return F::missing(gid.why(), folder + "/" + name);
    if (gid->has_value()) gids.push_back(**gid);
  }
  std::sort(gids.begin(), gids.end(),
            [](const evidence::Gid& a, const evidence::Gid& b) { return a.index < b.index; });
  return F::of(std::move(gids), folder);
}

void add_rdma(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic) {
  nic.rdma.active = read_fact(kernel, port.port_folder() + "/state", parse_port_active);
  nic.rdma.gids = read_gids(kernel, port, nic.link_layer.is(evidence::LinkLayer::kInfiniband));
}

// ---- congestion control ----

/// roce_np or roce_rp: eight files; one that does not answer leaves the whole open.
Fact<PrioritySet> read_enabled(Kernel& kernel, const std::string& folder) {
  PrioritySet on;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::string path = fmt::format("{}/enable/{}", folder, priority);
    const auto flag = read_fact(kernel, path, parse_flag);
    if (!flag.is_known()) return Fact<PrioritySet>::missing(flag.why(), path);
    if (*flag) on.insert(Priority::of(priority));
  }
  return Fact<PrioritySet>::of(on, folder + "/enable");
}

/// A parameter from the vendor's file, or from the kernel's own in debugfs.
Fact<std::uint64_t> read_parameter(Kernel& kernel, const RdmaPort& port,
                                   const Fact<std::string>& address, const design::NicKnob& knob) {
  Fact<std::uint64_t> by_vendor;
  if (port.netdev.is_known()) {
    const std::string part = knob.is_notification_point ? "roce_np" : "roce_rp";
    by_vendor = read_fact(kernel, fmt::format("{}/ecn/{}/{}", port.net_folder(), part, knob.name),
                          parse_number);
    if (by_vendor.is_known()) return by_vendor;
  }
  if (!address.is_known()) return by_vendor;
  return either(by_vendor, read_fact(kernel,
                                     fmt::format("/sys/kernel/debug/mlx5/{}/cc_params/{}", *address,
                                                 knob.debugfs),
                                     parse_number));
}

void add_parameters(Kernel& kernel, const RdmaPort& port, const Fact<std::string>& address,
                    evidence::Ecn& ecn) {
  std::vector<evidence::Parameter> parameters;
  Fact<std::uint64_t> unread;
  for (const design::NicKnob& knob : design::nic_knobs()) {
    const auto value = read_parameter(kernel, port, address, knob);
    const bool in_range = value.is_known() && *value <= INT32_MAX;
    if (in_range) {
      parameters.push_back({std::string(knob.name), static_cast<std::int64_t>(*value)});
    } else if (!unread.was_looked_at() && value.is_missing()) {
      unread = value;
    }
    if (knob.name == "cnp_dscp" && value.was_looked_at()) {
      const auto dscp = value.is_known() ? Dscp::make(*value) : std::nullopt;
      ecn.cnp_dscp = dscp.has_value()
                         ? Fact<Dscp>::of(*dscp, value.source())
                         : Fact<Dscp>::missing(value.is_known() ? Missing::kError : value.why(),
                                               value.source());
    }
    if (knob.name == "cnp_802p_prio" && value.was_looked_at()) {
      const auto priority = value.is_known() ? Priority::make(*value) : std::nullopt;
      ecn.cnp_priority =
          priority.has_value()
              ? Fact<Priority>::of(*priority, value.source())
              : Fact<Priority>::missing(value.is_known() ? Missing::kError : value.why(),
                                        value.source());
    }
  }
  if (!parameters.empty()) {
    ecn.parameters =
        Fact<std::vector<evidence::Parameter>>::of(std::move(parameters), ecn.cnp_dscp.source());
  } else if (unread.is_missing()) {
    ecn.parameters = Fact<std::vector<evidence::Parameter>>::missing(unread.why(), unread.source());
  }
}

// Broadcom and Intel keep theirs in configfs (out-of-tree drivers) or debugfs (bnxt upstream), a
// switch for the whole port and no map of priorities (bnxt_re's configfs.c and debugfs.c, irdma's
// configfs.c).

PrioritySet every_priority() {
  return PrioritySet::from_mask(0xFF);
}

/// Every file of a directory that holds a number.
Fact<std::vector<evidence::Parameter>> read_numbers(Kernel& kernel, const std::string& folder) {
  using F = Fact<std::vector<evidence::Parameter>>;
  const auto names = kernel.list(folder);
  if (!names) return F::missing(missing_of(names.error()), folder);
  std::vector<evidence::Parameter> out;
  for (const std::string& name : *names) {
    const auto value = read_fact(kernel, folder + "/" + name, parse_number);
    if (value.is_known() && *value <= INT32_MAX)
      out.push_back({name, static_cast<std::int64_t>(*value)});
  }
  return F::of(std::move(out), folder);
}

void add_bnxt_ecn(Kernel& kernel, const RdmaPort& port, const Fact<std::string>& address,
                  evidence::Ecn& ecn) {
  const std::string own =
      fmt::format("/sys/kernel/config/bnxt_re/{}/ports/{}/cc", port.device, port.port);
  auto numbers = read_numbers(kernel, own);
  if (!numbers.is_known() && address.is_known())
    numbers = either(numbers, read_numbers(kernel, fmt::format("/sys/kernel/debug/bnxt_re/{}/"
                                                               "cc_config",
                                                               *address)));
  ecn.parameters = numbers;
  const auto find = [&](std::string_view name) -> Fact<std::uint64_t> {
    if (!numbers.is_known()) return Fact<std::uint64_t>::missing(numbers.why(), numbers.source());
    for (const evidence::Parameter& parameter : *numbers) {
      if (parameter.name == name)
        return Fact<std::uint64_t>::of(static_cast<std::uint64_t>(parameter.value),
                                       numbers.source());
    }
    return Fact<std::uint64_t>::missing(Missing::kAbsent, numbers.source());
  };
  const auto enabled = either(find("ecn_enable"), find("enable_cc"));
  ecn.np =
      derive(enabled, [](std::uint64_t on) { return on != 0 ? every_priority() : PrioritySet(); });
  ecn.rp = ecn.np;
  const auto dscp = either(find("cnp_dscp"), find("alt_vlan_dscp"));
  ecn.cnp_dscp =
      dscp.is_known() && Dscp::make(*dscp)
          ? Fact<Dscp>::of(*Dscp::make(*dscp), dscp.source())
          : Fact<Dscp>::missing(dscp.is_known() ? Missing::kError : dscp.why(), dscp.source());
  const auto priority = either(find("cnp_prio"), find("alt_vlan_pcp"));
  ecn.cnp_priority =
      priority.is_known() && Priority::make(*priority)
          ? Fact<Priority>::of(*Priority::make(*priority), priority.source())
          : Fact<Priority>::missing(priority.is_known() ? Missing::kError : priority.why(),
                                    priority.source());
}

void add_irdma_ecn(Kernel& kernel, const RdmaPort& port, evidence::Ecn& ecn) {
  const std::string folder = fmt::format("/sys/kernel/config/irdma/{}", port.device);
  for (const std::string_view algorithm : {"dcqcn", "dctcp", "timely"}) {
    const auto on =
        read_fact(kernel, fmt::format("{}/roce_{}_enable", folder, algorithm), parse_flag);
    if (!on.is_known()) {
      ecn.algorithm = Fact<std::string>::missing(on.why(), on.source());
      return;
    }
    if (*on) {
      ecn.algorithm = Fact<std::string>::of(std::string(algorithm), on.source());
      return;
    }
  }
  ecn.algorithm = Fact<std::string>::of("none", folder);
}

void add_ecn(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic) {
  const auto pci = find_pci(kernel, port.folder() + "/device");
  const auto driver =
      port.driver.is_known() ? counters::driver_of(*port.driver) : counters::Driver::kAny;
  if (driver == counters::Driver::kBnxt)
    return add_bnxt_ecn(kernel, port, derive(pci, [](const PciPlace& p) { return p.address; }),
                        nic.ecn);
  if (driver == counters::Driver::kIrdma) add_irdma_ecn(kernel, port, nic.ecn);
  if (port.netdev.is_known()) {
    nic.ecn.np = read_enabled(kernel, port.net_folder() + "/ecn/roce_np");
    nic.ecn.rp = read_enabled(kernel, port.net_folder() + "/ecn/roce_rp");
  } else {
    nic.ecn.np = Fact<PrioritySet>::missing(port.netdev.why(), port.netdev.source());
    nic.ecn.rp = Fact<PrioritySet>::missing(port.netdev.why(), port.netdev.source());
  }
  add_parameters(kernel, port, derive(pci, [](const PciPlace& p) { return p.address; }), nic.ecn);
}

}  // namespace

std::string RdmaPort::folder() const {
  return fmt::format("{}/{}", kRdmaClass, device);
}
std::string RdmaPort::port_folder() const {
  return fmt::format("{}/ports/{}", folder(), port);
}
std::string RdmaPort::net_folder() const {
  return "/sys/class/net/" + *netdev;
}

Answer<std::vector<RdmaPort>> find_ports(Kernel& kernel, const std::vector<std::string>& excluded) {
  const auto listed = kernel.list(std::string(kRdmaClass));
  if (!listed) return listed.error();
  std::vector<std::string> devices = *listed;
  std::erase_if(devices, [&](const std::string& device) {
    return std::find(excluded.begin(), excluded.end(), device) != excluded.end();
  });
  std::sort(devices.begin(), devices.end(), less_by_nature);
  std::vector<RdmaPort> out;
  for (const std::string& device : devices) {
    RdmaPort port;
    port.device = device;
    std::vector<unsigned> numbers;
    if (const auto names = kernel.list(port.folder() + "/ports")) {
      for (const std::string& name : *names) {
        if (const auto number = parse_u64(name); number && *number > 0 && *number < 256)
          numbers.push_back(static_cast<unsigned>(*number));
      }
      std::sort(numbers.begin(), numbers.end());
    }
    // Where the ports cannot be listed the device is still there: its facts say what is missing.
    if (numbers.empty()) numbers.push_back(1);
    for (const unsigned number : numbers) {
      port.port = number;
      port.netdev = find_netdev(kernel, port);
      port.info = Errno{ENOENT};
      if (port.netdev.is_known()) port.info = read_driver_info(kernel, *port.netdev);
      port.driver = find_driver(kernel, port);
      out.push_back(port);
    }
  }
  return out;
}

evidence::Nic read_nic(Kernel& kernel, const RdmaPort& port) {
  evidence::Nic nic;
  add_identity(kernel, port, nic);
  add_link(kernel, port, nic);
  add_rdma(kernel, port, nic);
  add_ecn(kernel, port, nic);
  return nic;
}

void add_vendor_qos(Kernel& kernel, const RdmaPort& port, evidence::Qos& qos) {
  if (!port.netdev.is_known()) return;
  const std::string folder = port.net_folder() + "/qos";
  const auto table = read_fact(kernel, folder + "/buffer_size", parse_buffer_table);
  qos.buffer_xoff = derive(table, [](const BufferTable& t) { return t.xoff; });
  qos.buffer_xon = derive(table, [](const BufferTable& t) { return t.xon; });
  qos.stall_prevention =
      read_fact(kernel, port.net_folder() + "/settings/pfc_stall_prevention", parse_word);
  if (!qos.buffer_size.is_known()) {
    qos.buffer_size =
        either(qos.buffer_size, derive(table, [](const BufferTable& t) { return t.size; }));
    qos.buffer_total =
        either(qos.buffer_total, derive(table, [](const BufferTable& t) { return t.total; }));
    qos.priority_to_buffer =
        either(qos.priority_to_buffer,
               read_fact(kernel, folder + "/prio2buffer", parse_priority_to_buffer));
  }
  if (!qos.tc_max_rate.is_known())
    qos.tc_max_rate =
        either(qos.tc_max_rate, read_fact(kernel, folder + "/maxrate", parse_max_rates));
  if (!qos.trust.is_known())
    qos.trust = either(qos.trust, read_fact(kernel, folder + "/trust", parse_trust));
}

Parsed<std::vector<InterfaceAddress>> parse_address(std::string_view message) {
  std::vector<InterfaceAddress> out;
  if (message.size() < NLMSG_HDRLEN + sizeof(ifaddrmsg)) return Missing::kError;
  if (number_at<nlmsghdr>(message, 0).nlmsg_type != RTM_NEWADDR) return out;
  const auto head = number_at<ifaddrmsg>(message, NLMSG_HDRLEN);
  if (head.ifa_scope == RT_SCOPE_LINK) return out;
  const auto attributes = Attributes::of_message(message, sizeof(ifaddrmsg));
  // A point-to-point link has its own address in LOCAL and the peer's in ADDRESS.
  auto bytes = attributes->find(IFA_LOCAL);
  if (!bytes.has_value()) bytes = attributes->find(IFA_ADDRESS);
  const std::size_t size = head.ifa_family == AF_INET ? 4 : 16;
  if (!bytes.has_value() || bytes->size() != size) return Missing::kError;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const std::string copy(*bytes);
  if (inet_ntop(head.ifa_family, copy.data(), text.data(), text.size()) == nullptr)
    return Missing::kError;
  out.push_back({head.ifa_index, fmt::format("{}/{}", text.data(), head.ifa_prefixlen)});
  return out;
}

std::string address_request() {
  const ifaddrmsg header{};
  const NetlinkRequest request(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP,
                               {reinterpret_cast<const char*>(&header), sizeof header});
  return request.bytes();
}

Answer<std::vector<InterfaceAddress>> read_addresses(Kernel& kernel) {
  const auto replies = kernel.netlink(NETLINK_ROUTE, address_request());
  if (!replies) return replies.error();
  std::vector<InterfaceAddress> out;
  for (const std::string& reply : *replies) {
    const auto addresses = parse_address(reply);
    if (!addresses) return malformed();
    out.insert(out.end(), addresses->begin(), addresses->end());
  }
  return out;
}

Fact<std::vector<std::string>> addresses_of(Kernel& kernel, const RdmaPort& port,
                                            const Answer<std::vector<InterfaceAddress>>& all) {
  using F = Fact<std::vector<std::string>>;
  if (!port.netdev.is_known()) return F::missing(port.netdev.why(), port.netdev.source());
  const std::string source = fmt::format("ip address show {}", *port.netdev);
  if (!all) return F::missing(missing_of(all.error()), source);
  const auto index = read_fact(kernel, port.net_folder() + "/ifindex", parse_unsigned);
  if (!index.is_known()) return F::missing(index.why(), index.source());
  std::vector<std::string> out;
  for (const InterfaceAddress& entry : *all) {
    if (entry.interface == *index) out.push_back(entry.address);
  }
  return F::of(std::move(out), source);
}

}  // namespace weir::host
