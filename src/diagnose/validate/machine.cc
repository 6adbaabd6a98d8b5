// What must hold on a host whatever the design says about its NICs: the GID a job will use, the
// receive buffer against the NIC's own need, the link itself, GPUs and how they reach the NICs,
// limits, other agents, the TCP path. A fact that was not asked for is skipped; one that was
// refused or failed is unknown; one that the driver does not have cannot be wrong.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/core/fixes.h"
#include "diagnose/paste/events.h"
#include "diagnose/validate/parts.h"
#include "evidence/address.h"
#include "evidence/designed_nic.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using evidence::Distance;
using evidence::Evidence;
using evidence::Fact;
using evidence::Nic;
using finding::Severity;

bool is_infiniband(const Nic& nic) {
  return nic.link_layer.is(evidence::LinkLayer::kInfiniband);
}

/// Of an IPv4 address.
bool is_mapped(std::string_view gid) {
  return gid.find("ffff:") != std::string_view::npos;
}

class MachineCheck {
 public:
  MachineCheck(const Evidence& host, const design::HostIntent& wanted,
               const finding::Thresholds& limits, finding::Judgement& out)
      : host_(host), wanted_(wanted), limits_(limits), name_(host.provenance.host), out_(out) {}

  void run() {
    for (const design::NicIntent& wanted : wanted_.nics) {
      const Nic* nic = evidence::find_designed(host_, wanted_, wanted);
      if (nic == nullptr || is_infiniband(*nic)) continue;
      check_link(*nic);
      check_sizes(*nic, wanted);
      check_gid(*nic, wanted);
      check_stale_gids(*nic);
      check_buffer(*nic, wanted);
      check_pcie(nic->device, nic->pcie, true);
      check_interrupts(*nic);
    }
    check_subnets();
    check_device_names();
    check_gpus();
    check_limits();
    check_tcp();
    check_nccl_conf();
    judge_kernel_log(host_, limits_, out_);
  }

 private:
  finding::Finding& add(std::string_view id, const std::string& device, const std::string& text,
                        std::optional<Severity> severity = std::nullopt) {
    finding::Where where;
    where.host = name_;
    where.device = device;
    const std::string place = device.empty() ? name_ : fmt::format("{} {}", name_, device);
    finding::Finding finding = finding::make_finding(id, fmt::format("{} {}.", place, text), where);
    if (severity) finding.severity = *severity;
    finding::EvidenceLine line;
    line.source = place;
    line.line = text;
    finding.evidence.push_back(std::move(line));
    fit_fixes(host_.find_nic(device), finding);
    out_.findings.push_back(std::move(finding));
    return out_.findings.back();
  }
  /// Refused or failed; what the driver lacks is no gap of ours.
  template <class T>
  void note_gap(const std::string& what, const Fact<T>& fact) {
    if (!fact.is_missing()) return;
    const bool refused = fact.why() == Missing::kPermission;
    if (!refused && fact.why() != Missing::kError) return;
    out_.unknown.push_back({fmt::format("{} {}", name_, what),
                            refused ? "permission denied" : "read failed",
                            fmt::format("{}{}", fact.source(), refused ? "; run as root" : "")});
  }

  void check_link(const Nic& nic);
  void check_sizes(const Nic& nic, const design::NicIntent& wanted);
  void check_gid(const Nic& nic, const design::NicIntent& wanted);
  void check_buffer(const Nic& nic, const design::NicIntent& wanted);
  void check_pcie(const std::string& who, const evidence::Pcie& pcie, bool judge_speed);
  void check_interrupts(const Nic& nic);
  void check_stale_gids(const Nic& nic);
  void check_subnets();
  void check_device_names();
  void check_gpus();
  void check_gpu_memory();
  void check_limits();
  [[nodiscard]] std::uint64_t needed_socket_buffer() const;
  void check_tcp();
  void check_nccl_conf();

  const Evidence& host_;
  const design::HostIntent& wanted_;
  const finding::Thresholds& limits_;
  const std::string& name_;
  finding::Judgement& out_;
};

// ---- link ----

void MachineCheck::check_link(const Nic& nic) {
  if (nic.link.duplex.is(evidence::Duplex::kHalf))
    add("link.degraded", nic.device, "duplex: expected full, found half");
  note_gap(nic.device + ": duplex", nic.link.duplex);
  if (nic.rdma.active.is(false) && nic.link.up.is(true))
    add("link.degraded", nic.device, "RDMA port: expected active, found not active");
  note_gap(nic.device + ": state of the RDMA port", nic.rdma.active);
  const bool is_fast = nic.link.speed.is_known() &&
                       static_cast<double>(nic.link.speed->raw()) >= limits_.fec_speed * 1e9;
  if (is_fast && nic.link.fec.is("Off"))
    add("link.degraded", nic.device,
        fmt::format("FEC: expected on at {}, found off", to_text(*nic.link.speed)),
        Severity::kWarning);
  note_gap(nic.device + ": FEC", nic.link.fec);
}

void MachineCheck::check_sizes(const Nic& nic, const design::NicIntent& wanted) {
  const auto& link = nic.link;
  const bool is_open = wanted.rdma_mtu.raw() == 0;  // else the design's own value was compared
  if (is_open && !nic.rdma.active.is(false) && link.active_mtu.is_known() &&
      *link.active_mtu < 4096_B)
    add("mtu.below_4096", nic.device,
        fmt::format("RDMA MTU: expected 4096B, found {}B (interface {})", link.active_mtu->raw(),
                    link.mtu.is_known() ? fmt::format("{}B", link.mtu->raw()) : "unknown"));
  note_gap(nic.device + ": interfaces on top of it", link.layers);
  if (!link.layers.is_known() || !link.mtu.is_known()) return;
  for (const evidence::Layer& layer : *link.layers) {
    if (layer.mtu.raw() + static_cast<std::int64_t>(limits_.mtu_slack) < link.mtu->raw())
      add("mtu.mismatch", nic.device,
          fmt::format("MTU of {} ({}) on top of it: expected {}B, found {}B", layer.netdev,
                      layer.kind, link.mtu->raw(), layer.mtu.raw()),
          Severity::kWarning);
  }
}

// ---- GID ----

/// Interfaces that a GID of this NIC may belong to: its own, and those on top of it.
std::set<std::string> own_netdevs(const Nic& nic) {
  std::set<std::string> out;
  if (nic.netdev.is_known()) out.insert(*nic.netdev);
  if (nic.link.layers.is_known()) {
    for (const evidence::Layer& layer : *nic.link.layers)
      out.insert(layer.netdev);
  }
  return out;
}

}  // namespace

std::optional<evidence::Gid> usable_gid(const Nic& nic) {
  if (!nic.rdma.gids.is_known()) return std::nullopt;
  const std::set<std::string> own = own_netdevs(nic);
  for (const evidence::Gid& gid : *nic.rdma.gids) {
    const bool is_routable =
        gid.type == evidence::GidType::kRoceV2 && !evidence::is_link_local(gid.gid);
    if (is_routable && (own.empty() || own.contains(gid.netdev))) return gid;
  }
  return std::nullopt;
}

namespace {

void MachineCheck::check_gid(const Nic& nic, const design::NicIntent& wanted) {
  if (!nic.rdma.gids.is_known() || !nic.netdev.is_known()) return;  // said by the comparison
  const auto usable = usable_gid(nic);
  if (!usable) {
    for (const evidence::Gid& gid : *nic.rdma.gids) {
      if (gid.type != evidence::GidType::kRoceV2 || evidence::is_link_local(gid.gid)) continue;
      add("gid.wrong_netdev", nic.device,
          fmt::format("GID {}: expected on {}, found on {}", gid.index, *nic.netdev, gid.netdev));
      return;
    }
    return;
  }
  const bool is_v4 = is_mapped(usable->gid);
  const bool wants_v4 = wanted.address.find(':') == std::string::npos;
  if (!wanted.address.empty() && is_v4 != wants_v4)
    add("gid.wrong_family", nic.device,
        fmt::format("GID {}: expected {}, found {}", usable->index, wants_v4 ? "IPv4" : "IPv6",
                    usable->gid));
  std::set<unsigned> indexes;
  for (const evidence::Gid& gid : *nic.rdma.gids)
    indexes.insert(gid.index);
  if (!indexes.contains(0)) return;  // an excerpt of a table, not a table
  for (unsigned index = 0; index < usable->index; ++index) {
    if (indexes.contains(index)) continue;
    add("gid.sparse", nic.device,
        fmt::format("GID table: expected no empty entry before the usable {}, found entry {} empty",
                    usable->index, index));
    return;
  }
}

/// A GID of an IPv4 address that its interface no longer has. Those of interfaces on top of the NIC
/// (VLANs, a bond) are left alone: their addresses are not in the list.
void MachineCheck::check_stale_gids(const Nic& nic) {
  if (!nic.rdma.gids.is_known() || !nic.netdev.is_known() || !nic.addresses.is_known() ||
      nic.addresses->empty())
    return;
  for (const evidence::Gid& gid : *nic.rdma.gids) {
    const auto bytes = evidence::gid_of(gid.gid);
    if (gid.netdev != *nic.netdev || !bytes || !is_mapped(gid.gid)) continue;
    const bool is_there =
        std::any_of(nic.addresses->begin(), nic.addresses->end(),
                    [&](const std::string& address) { return evidence::gid_of(address) == bytes; });
    if (is_there) continue;
    add("gid.stale", nic.device,
        fmt::format("GID {}: expected an address of {}, found {}, which the interface does not "
                    "have",
                    gid.index, *nic.netdev, evidence::address_text(*bytes)));
    return;
  }
}

/// A routable GID of the NIC in this subnet.
const evidence::Gid* gid_within(const Nic& nic, std::string_view subnet) {
  if (!nic.rdma.gids.is_known()) return nullptr;
  for (const evidence::Gid& gid : *nic.rdma.gids) {
    const auto bytes = evidence::gid_of(gid.gid);
    if (gid.type == evidence::GidType::kRoceV2 && bytes && evidence::is_within(*bytes, subnet))
      return &gid;
  }
  return nullptr;
}

/// Two devices that carry each other's rail: the numbers were given in another order than the
/// design has them.
void MachineCheck::check_device_names() {
  struct Stray {  // without an address of its own subnet
    const design::NicIntent* wanted;
    const Nic* nic;
  };
  std::vector<Stray> strays;
  for (const design::NicIntent& wanted : wanted_.nics) {
    if (wanted.subnet.empty()) continue;
    const Nic* nic = evidence::find_designed(host_, wanted_, wanted);
    if (nic != nullptr && gid_within(*nic, wanted.subnet) == nullptr)
      strays.push_back({&wanted, nic});
  }
  for (std::size_t a = 0; a < strays.size(); ++a) {
    for (std::size_t b = a + 1; b < strays.size(); ++b) {
      const auto [first, nic] = strays[a];
      const auto [second, other] = strays[b];
      if (gid_within(*nic, second->subnet) == nullptr ||
          gid_within(*other, first->subnet) == nullptr)
        continue;
      add("inventory.renamed", nic->device,
          fmt::format(
              "address: expected one of {} (rail {}), found one of {} (rail {}), and {} the "
              "other way round: the devices have changed names",
              first->subnet, first->rail, second->subnet, second->rail, other->device));
    }
  }
}

/// "10.10.1.5/24" as its network, in text; empty if it is not known.
std::string network_of(const std::string& address) {
  const std::size_t slash = address.find('/');
  const auto parts = split(std::string_view(address).substr(0, slash), '.');
  const auto length =
      slash == std::string::npos ? parse_error("none") : parse_u64(address.substr(slash + 1));
  if (parts.size() != 4 || !length || *length == 0 || *length > 30) return "";
  std::uint64_t number = 0;
  for (const std::string_view part : parts)
    number = number * 256 + parse_u64(part).value_or(0);
  const std::uint64_t size = std::uint64_t{1} << (32U - *length);
  return fmt::format("{}/{}", number / size * size, *length);
}

void MachineCheck::check_subnets() {
  std::map<std::string, std::vector<std::string>> rails;  // by network
  std::map<std::string, std::string> shown;
  for (const design::NicIntent& wanted : wanted_.nics) {
    const Nic* nic = evidence::find_designed(host_, wanted_, wanted);
    if (nic == nullptr || !nic->addresses.is_known()) continue;
    for (const std::string& address : *nic->addresses) {
      const std::string network = network_of(address);
      if (network.empty()) continue;
      rails[network].push_back(nic->device);
      shown[network] = address;
    }
  }
  for (const auto& [network, devices] : rails) {
    if (devices.size() < 2) continue;
    add("rail.same_subnet", "",
        fmt::format("{}: expected one subnet per rail, found all in the subnet of {}",
                    join(devices, ", "), shown[network]));
  }
}

// ---- receive buffer ----

}  // namespace

std::optional<Bytes> receive_headroom(const Nic& nic, const design::NicIntent& wanted) {
  const auto& qos = nic.qos;
  const Priority rdma = wanted.dscp_to_priority.at(dscp_of(wanted.traffic_class).value());
  if (!qos.priority_to_buffer.is_known() || !qos.buffer_size.is_known()) return std::nullopt;
  const unsigned buffer = qos.priority_to_buffer->at(rdma.value());
  if (buffer >= qos.buffer_size->size()) return std::nullopt;
  const Bytes size = qos.buffer_size->at(buffer);
  // The driver pauses at xoff: what is above it in the buffer takes what is still in flight.
  const Bytes xoff = qos.buffer_xoff.is_known() ? qos.buffer_xoff->at(buffer) : 0_B;
  return size > xoff ? size - xoff : 0_B;
}

namespace {

void MachineCheck::check_buffer(const Nic& nic, const design::NicIntent& wanted) {
  const auto& qos = nic.qos;
  const Priority rdma = wanted.dscp_to_priority.at(dscp_of(wanted.traffic_class).value());
  if (!qos.pfc.is_known() || !qos.pfc->contains(rdma)) return;  // nothing is kept back then
  note_gap(nic.device + ": receive buffers", qos.buffer_size);
  const auto headroom = receive_headroom(nic, wanted);
  if (!headroom) return;
  const unsigned buffer = qos.priority_to_buffer->at(rdma.value());
  if (wanted.xoff_need.raw() > 0 && *headroom < wanted.xoff_need) {
    add("headroom.too_small", nic.device,
        fmt::format("headroom of receive buffer {} of priority {}: expected at least {}, found {}",
                    buffer, rdma.value(), to_text(wanted.xoff_need), to_text(*headroom)));
  }
  for (unsigned p = 0; p < 8; ++p) {
    const Priority other = Priority::of(p);
    if (qos.pfc->contains(other) || qos.priority_to_buffer->at(p) != buffer) continue;
    add("headroom.too_small", nic.device,
        fmt::format("receive buffer {}: expected for lossless priorities only, found priority {} "
                    "in it, which is never paused",
                    buffer, p),
        Severity::kWarning);
    return;
  }
}

// ---- PCIe and GPUs ----

void MachineCheck::check_pcie(const std::string& who, const evidence::Pcie& pcie,
                              bool judge_speed) {
  const bool is_narrow =
      pcie.width.is_known() && pcie.width_max.is_known() && *pcie.width < *pcie.width_max;
  const bool is_slow = judge_speed && pcie.speed_mtps.is_known() &&
                       pcie.speed_mtps_max.is_known() && *pcie.speed_mtps < *pcie.speed_mtps_max;
  const auto rate = [](unsigned mtps) { return fmt::format("{:g} GT/s", mtps / 1000.0); };
  if (is_narrow)
    add("pcie.link_degraded", who,
        fmt::format("PCIe width: expected x{}, found x{}", *pcie.width_max, *pcie.width));
  if (is_slow)
    add("pcie.link_degraded", who,
        fmt::format("PCIe speed: expected {}, found {}", rate(*pcie.speed_mtps_max),
                    rate(*pcie.speed_mtps)));
  note_gap(who + ": PCIe link", pcie.width);
}

void MachineCheck::check_interrupts(const Nic& nic) {
  const auto& pcie = nic.pcie;
  note_gap(nic.device + ": interrupt affinity", pcie.irq_numa_nodes);
  if (!pcie.numa_node.is_known() || !pcie.irq_numa_nodes.is_known()) return;
  const bool is_elsewhere = std::any_of(pcie.irq_numa_nodes->begin(), pcie.irq_numa_nodes->end(),
                                        [&](unsigned node) { return node != *pcie.numa_node; });
  if (!is_elsewhere) return;
  add("host.tcp_untuned", nic.device,
      fmt::format("interrupts: expected on NUMA node {} of the NIC, found on {}", *pcie.numa_node,
                  fmt::join(*pcie.irq_numa_nodes, ", ")));
}

/// RDMA reaches GPU memory through a module or dma-buf: either is enough.
void MachineCheck::check_gpu_memory() {
  const auto& module = host_.host.peermem;
  const auto& dmabuf = host_.host.dmabuf;
  if (module.is(true) || dmabuf.is(true)) return;
  if (module.is(false) && dmabuf.is(false)) {
    add("gdr.off", "", "GPU memory for RDMA: expected nvidia_peermem or dma-buf, found neither");
    return;
  }
  if (!module.was_looked_at() && !dmabuf.was_looked_at()) return;
  out_.unknown.push_back({fmt::format("{}: GPU memory for RDMA", name_),
                          "neither nvidia_peermem nor dma-buf could be confirmed",
                          "lsmod | grep peermem; cat /proc/driver/nvidia/version"});
}

void MachineCheck::check_gpus() {
  if (host_.gpus.empty()) return;
  check_gpu_memory();
  const bool has_switches =
      std::any_of(host_.distances.begin(), host_.distances.end(), [](const auto& distance) {
        return distance.distance.is_known() && *distance.distance <= Distance::kPxb;
      });
  for (const evidence::Gpu& gpu : host_.gpus) {
    const std::string who = fmt::format("GPU {}", gpu.index);
    check_pcie(who, gpu.pcie, false);  // an idle GPU slows its link down
    std::optional<Distance> nearest;
    for (const evidence::GpuDistance& distance : host_.distances) {
      if (distance.gpu != gpu.index || !distance.distance.is_known()) continue;
      nearest = nearest ? std::min(*nearest, *distance.distance) : *distance.distance;
    }
    if (!nearest || *nearest <= Distance::kPxb) continue;
    // Boards without PCIe switches have no nearer place; another socket is never the best one.
    const bool is_board = *nearest < Distance::kSys && !has_switches;
    add("pcie.gpu_far", who,
        fmt::format("nearest RDMA NIC: expected behind the same PCIe switch (PIX, PXB), found {}",
                    evidence::to_text(*nearest)),
        is_board ? std::optional(Severity::kInfo) : std::nullopt);
  }
  for (const Nic& nic : host_.nics) {
    note_gap(nic.device + ": ACS of the bridges above it", nic.pcie.acs_redirect);
    if (nic.pcie.acs_redirect.is(true))
      add("pcie.acs_on", nic.device,
          "ACS: expected off on the bridges above it, found redirecting peer-to-peer traffic");
  }
  note_gap("IOMMU", host_.host.iommu);
  if (host_.host.iommu.is(evidence::Iommu::kTranslating))
    add("pcie.acs_on", "", "IOMMU: expected off or passthrough, found translating",
        Severity::kWarning);
}

// ---- the host ----

void MachineCheck::check_limits() {
  const evidence::Host& host = host_.host;
  note_gap("locked memory", host.memlock);
  if (host.memlock.is_known() && *host.memlock &&
      static_cast<std::uint64_t>((*host.memlock)->raw()) < limits_.least_memlock)
    add("limits.memlock_low", "",
        fmt::format("locked memory of this process: expected unlimited, found {}",
                    to_text(**host.memlock)));
  note_gap("/dev/infiniband", host.uverbs_visible);
  const bool is_outside = host.in_container.is(true) && host.rdma_namespaces.is("exclusive");
  if (host.uverbs_visible.is(false) && is_outside)
    add("k8s.netns_mode_wrong", "",
        "RDMA devices: expected in this container, found none, and the RDMA subsystem is in "
        "exclusive mode: each device is in one namespace, and none is in this one");
  else if (host.uverbs_visible.is(false))
    add("container.no_ipc_lock", "",
        fmt::format("/dev/infiniband: expected uverbs devices, found none{}",
                    host.in_container.is(true) ? " in this container" : ""));
  note_gap("other LLDP agents", host.lldpad_running);
  if (host.lldpad_running.is(true))
    add("dcbx.two_agents", "",
        "LLDP agents: expected none that configures DCB, found lldpad running", Severity::kWarning);
}

/// What a TCP connection needs to fill the fastest line of the host: bandwidth times delay, and not
/// more than the threshold, which is that of a fast line.
std::uint64_t MachineCheck::needed_socket_buffer() const {
  std::optional<BitRate> fastest;
  for (const Nic& nic : host_.nics)
    if (nic.link.speed.is_known())
      fastest = fastest ? std::max(*fastest, *nic.link.speed) : *nic.link.speed;
  if (!fastest) return limits_.least_socket_buffer;
  const auto product = static_cast<std::uint64_t>(static_cast<double>(fastest->raw()) / 8 *
                                                  limits_.tcp_round_trip / 1000);
  return std::min(limits_.least_socket_buffer, product);
}

void MachineCheck::check_tcp() {
  note_gap("network settings of the kernel", host_.host.sysctls);
  if (!host_.host.sysctls.is_known()) return;
  const std::uint64_t needed = needed_socket_buffer();
  const auto value_of = [&](std::string_view name) -> std::string {
    for (const evidence::NamedText& entry : *host_.host.sysctls)
      if (entry.name == name) return std::string(trim(entry.value));
    return "";
  };
  for (const evidence::NamedText& entry : *host_.host.sysctls) {
    // The largest of "least default most"; TCP has limits of its own beside the sockets'.
    const bool is_tcp = entry.name == "net.ipv4.tcp_rmem" || entry.name == "net.ipv4.tcp_wmem";
    const bool is_socket = entry.name == "net.core.rmem_max" || entry.name == "net.core.wmem_max";
    if (!is_tcp && !is_socket) continue;
    const std::size_t last = entry.value.find_last_of(" \t");
    const auto bytes =
        parse_u64(is_tcp && last != std::string::npos ? entry.value.substr(last + 1) : entry.value);
    if (!bytes || *bytes >= needed) continue;
    add("host.tcp_untuned", "",
        fmt::format("{}: expected {} or more, found {}", entry.name, needed, *bytes));
  }
  const std::string algorithm = value_of("net.ipv4.tcp_congestion_control");
  // Linux' dctcp behaves as reno where ECN was not negotiated (tcp_dctcp.c, dctcp_init).
  if (algorithm == "dctcp" && value_of("net.ipv4.tcp_ecn") == "0")
    add("host.tcp_untuned", "",
        "net.ipv4.tcp_ecn: expected 1 for congestion control dctcp, found 0: it behaves as reno");
  // One window per round trip after each loss: a fast line never fills.
  if (algorithm == "reno")
    add("host.tcp_untuned", "",
        "net.ipv4.tcp_congestion_control: expected cubic, dctcp or bbr, found reno");
}

/// What every job inherits from the host.
void MachineCheck::check_nccl_conf() {
  note_gap("nccl.conf", host_.host.nccl_conf);
  if (!host_.host.nccl_conf.is_known() || wanted_.nics.empty()) return;
  const design::NicIntent& wanted = wanted_.nics.front();
  for (const evidence::NamedText& known : *host_.host.nccl_conf) {
    const auto number = parse_u64(known.value);
    if (known.name == "NCCL_IB_DISABLE" && number && *number != 0)
      add("nccl.ib_disabled", "",
          fmt::format("nccl.conf: expected RDMA in use, found {}={}", known.name, known.value));
    const bool is_other_class = number && *number / 4 != dscp_of(wanted.traffic_class).value();
    if (known.name == "NCCL_IB_TC" && is_other_class)
      add(number && *number == dscp_of(wanted.traffic_class).value() ? "dscp.tos_confusion"
                                                                     : "nccl.stale_conf",
          "",
          fmt::format("nccl.conf: expected NCCL_IB_TC={}, found {}",
                      unsigned{wanted.traffic_class.value()}, known.value));
    const Nic* nic = evidence::find_designed(host_, wanted_, wanted);
    const auto gid = nic == nullptr ? std::nullopt : usable_gid(*nic);
    if (known.name == "NCCL_IB_GID_INDEX" && number && gid && *number != gid->index)
      add("nccl.stale_conf", "",
          fmt::format("nccl.conf: expected NCCL_IB_GID_INDEX={} as on {}, found {}", gid->index,
                      nic->device, known.value));
  }
}

}  // namespace

void validate_machine(const Evidence& host, const design::HostIntent& wanted,
                      const finding::Thresholds& limits, finding::Judgement& out) {
  MachineCheck(host, wanted, limits, out).run();
}

void find_gid_drift(std::span<const Evidence> evidence, finding::Judgement& out) {
  std::map<unsigned, std::vector<std::pair<const Evidence*, std::string>>> by_index;
  for (const Evidence& host : evidence) {
    for (const Nic& nic : host.nics) {
      if (const auto gid = usable_gid(nic)) by_index[gid->index].emplace_back(&host, nic.device);
    }
  }
  if (by_index.size() < 2) return;
  const auto usual = std::max_element(
      by_index.begin(), by_index.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const auto& [index, who] : by_index) {
    if (index == usual->first) continue;
    for (const auto& [host, device] : who) {
      finding::Where where;
      where.host = host->provenance.host;
      where.device = device;
      finding::Finding finding = finding::make_finding(
          "gid.index_differs",
          fmt::format("{} {} has its routable RoCEv2 GID at index {}; {} others have it at {}.",
                      where.host, device, index, usual->second.size(), usual->first),
          where);
      fit_fixes(host->find_nic(device), finding);
      out.findings.push_back(std::move(finding));
    }
  }
}

}  // namespace weir::diagnose
