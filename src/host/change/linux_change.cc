#include "host/change/linux_change.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "base/text.h"
#include "design/tables/nic_knobs.h"
#include "host/linux/ethtool.h"
#include "host/linux/netlink.h"
#include "host/linux/pci.h"
#include "host/linux/reader.h"
#include "host/linux/text.h"

namespace weir::host {

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr unsigned kSelectorDscp = IEEE_8021QAZ_APP_SEL_DSCP;
constexpr unsigned kSelectorPcp = 255;
constexpr std::string_view kTrafficClassFile = "/traffic_class";

std::string_view help_for(int error) {
  switch (error) {
    case EPERM:
    case EACCES: return "; run it as root (sudo), outside of an unprivileged container";
    case EROFS: return "; the file system is read-only: a container's? Run it on the host";
    case EOPNOTSUPP: return "; this driver does not have it";
    case ENOENT: return "; this driver does not show it";
    case EBUSY: return "; the firmware is busy: try again";
    case EINVAL: return "; the kernel log says why (dmesg | tail)";
    case ENODEV: return "; the device is gone";
    default: return "";
  }
}

/// One change: what it is called where it fails, and the kernel's answer.
Status done_or(const std::string& attempt, const Answer<Taken>& answer) {
  if (answer) return {};
  return refusal(attempt, answer.error());
}

// ---- files ----

Result<std::string> text_of_file(Kernel& kernel, const std::string& path) {
  const auto text = kernel.read_file(path);
  if (!text) return refusal("read " + path, text.error());
  return *text;
}

/// Where it does not stand there already.
Status write_if_different(Kernel& kernel, const std::string& path, const std::string& text) {
  WEIR_TRY(now, text_of_file(kernel, path));
  if (trim(now) == text) return {};
  return done_or(fmt::format("write {} to {}", text, path), kernel.write_file(path, text + "\n"));
}

/// The vendor's file shows "Global tclass=106" and takes "106"; -1 takes it off.
Status write_traffic_class(Kernel& kernel, const std::string& path,
                           const std::optional<TosByte>& wanted) {
  WEIR_TRY(now, text_of_file(kernel, path));
  const auto parsed = parse_traffic_class(now);
  if (parsed && parsed->global == wanted) return {};
  const std::string text = wanted ? std::to_string(wanted->value()) : "-1";
  return done_or(fmt::format("write {} to {}", text, path), kernel.write_file(path, text + "\n"));
}

Status restore_file(Kernel& kernel, const std::string& path, const std::string& text) {
  if (!path.ends_with(kTrafficClassFile))
    return write_if_different(kernel, path, std::string(trim(text)));
  const auto before = parse_traffic_class(text);
  if (!before) return invalid_error(fmt::format("what {} held is not readable", path));
  return write_traffic_class(kernel, path, before->global);
}

// ---- MTU ----

Result<unsigned> number_in(Kernel& kernel, const std::string& path) {
  WEIR_TRY(text, text_of_file(kernel, path));
  const auto number = parse_unsigned(text);
  if (!number) return parse_error(fmt::format("{}: expected a number, found {}", path, trim(text)));
  return *number;
}

Status set_mtu(Kernel& kernel, const std::string& netdev, unsigned mtu) {
  const std::string folder = "/sys/class/net/" + netdev;
  WEIR_TRY(now, number_in(kernel, folder + "/mtu"));
  if (now == mtu) return {};
  WEIR_TRY(index, number_in(kernel, folder + "/ifindex"));
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(index);
  NetlinkRequest request(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK,
                         {reinterpret_cast<const char*>(&header), sizeof header});
  const std::uint32_t value = mtu;
  request.put(IFLA_MTU, {reinterpret_cast<const char*>(&value), sizeof value});
  const auto replies = kernel.change(NETLINK_ROUTE, request.bytes());
  if (!replies)
    return refusal(fmt::format("set the MTU of {} to {}", netdev, mtu), replies.error());
  return {};
}

/// The network devices that stand on `netdev`, from below to above. The kernel lowers a VLAN with
/// the device under it, so all of them are remembered.
std::vector<std::string> devices_above(Kernel& kernel, const std::string& netdev) {
  constexpr std::string_view kUpper = "upper_";
  constexpr std::size_t kMost = 64;  // more runs in a circle
  std::vector<std::string> all = {netdev};
  for (std::size_t next = 0; next < all.size() && all.size() < kMost; ++next) {
    const auto files = kernel.list("/sys/class/net/" + all[next]);
    if (!files) continue;
    for (const std::string& file : *files) {
      if (!file.starts_with(kUpper)) continue;
      const std::string upper = file.substr(kUpper.size());
      if (std::find(all.begin(), all.end(), upper) == all.end()) all.push_back(upper);
    }
  }
  return all;
}

/// A device cannot be larger than the one below it: those that grow go from below to above, after
/// those that shrink went from above to below.
Status restore_mtus(Kernel& kernel, const std::vector<std::pair<std::string, unsigned>>& mtus) {
  for (auto device = mtus.rbegin(); device != mtus.rend(); ++device) {
    WEIR_TRY(now, number_in(kernel, fmt::format("/sys/class/net/{}/mtu", device->first)));
    if (now > device->second) WEIR_TRY_STATUS(set_mtu(kernel, device->first, device->second));
  }
  for (const auto& [netdev, mtu] : mtus)
    WEIR_TRY_STATUS(set_mtu(kernel, netdev, mtu));
  return {};
}

/// What is on a NIC with its own frames: bonds, VLANs and bridges; an overlay has a header of
/// its own and stays as it is.
bool carries_whole_frames(Kernel& kernel, const std::string& netdev) {
  const auto event = kernel.read_file(fmt::format("/sys/class/net/{}/uevent", netdev));
  if (!event) return false;
  return evidence::carries_whole_frames(
      {netdev, value_of_key(*event, "DEVTYPE").value_or(""), Bytes()});
}

// ---- interrupts and sysctls ----

/// Those that are in use: one that no driver has asked for has no file.
Result<std::vector<std::string>> irq_files(Kernel& kernel, const RdmaPort& port) {
  const auto place = find_pci(kernel, port.folder() + "/device");
  if (!place.is_known()) return not_found_error(fmt::format("{} is no PCI device", port.device));
  const std::string folder = place->directory + "/msi_irqs";
  const auto numbers = kernel.list(folder);
  if (!numbers) return refusal("list " + folder, numbers.error());
  std::vector<std::string> out;
  for (const std::string& number : *numbers) {
    const std::string path = fmt::format("/proc/irq/{}/smp_affinity_list", number);
    if (!kernel.read_file(path).is(ENOENT)) out.push_back(path);
  }
  return out;
}

std::string sysctl_file(const std::string& name) {
  std::string path = "/proc/sys/" + name;
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

// ---- DCB ----

std::uint16_t metres_of(Length length) {
  constexpr std::int64_t kMillimetres = 1000;
  const std::int64_t metres = (length.raw() + kMillimetres - 1) / kMillimetres;
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(metres, 0, 65535));
}

/// The table with all DSCP entries replaced; those of other selectors stay.
std::vector<DcbApp> with_dscp_map(const std::vector<DcbApp>& now,
                                  const std::array<std::optional<Priority>, 64>& map) {
  std::vector<DcbApp> out;
  for (unsigned d = 0; d < map.size(); ++d)
    if (map.at(d)) out.push_back({kSelectorDscp, map.at(d)->value(), d});
  std::copy_if(now.begin(), now.end(), std::back_inserter(out),
               [](const DcbApp& entry) { return entry.selector != kSelectorDscp; });
  return out;
}

bool has_dscp(const std::vector<DcbApp>& table) {
  return std::any_of(table.begin(), table.end(),
                     [](const DcbApp& entry) { return entry.selector == kSelectorDscp; });
}

Result<std::vector<unsigned>> selectors_of(evidence::TrustMode trust) {
  switch (trust) {
    case evidence::TrustMode::kDscp: return std::vector<unsigned>{kSelectorDscp};
    case evidence::TrustMode::kPcp: return std::vector<unsigned>{kSelectorPcp};
    case evidence::TrustMode::kBoth: return std::vector<unsigned>{kSelectorDscp, kSelectorPcp};
    case evidence::TrustMode::kPort:
    case evidence::TrustMode::kNone: return std::vector<unsigned>{};
  }
  WEIR_UNREACHABLE("every trust has its selectors");
}

/// Firmware mode has no HOST flag. mlx5 takes 0 for it and nothing else without that flag; others
/// take the flags as they were.
Answer<Taken> set_dcbx_flags(Kernel& kernel, const std::string& netdev, unsigned flags) {
  auto answer = change_dcb(kernel, dcbx_request(netdev, flags));
  if (answer || (flags & DCB_CAP_DCBX_HOST) != 0 || flags == 0) return answer;
  return change_dcb(kernel, dcbx_request(netdev, 0));
}

Status restore_dcb(Kernel& kernel, const std::string& netdev, const DcbImage& before) {
  if (before == DcbImage()) return {};
  const auto now = read_dcb_image(kernel, netdev);
  if (!now) return refusal(fmt::format("read DCB of {}", netdev), now.error());
  std::vector<std::string> wrong;
  const auto put_back = [&](std::string_view what, const Answer<Taken>& answer) {
    const Status status = done_or(fmt::format("put {} of {} back", what, netdev), answer);
    if (!status) wrong.push_back(status.error().what);
  };
  if (before.pfc && now->pfc && !is_same_pfc(*before.pfc, *now->pfc))
    put_back("PFC", change_dcb(kernel, dcb_set_request(netdev, {.pfc = before.pfc})));
  if (before.max_rate && now->max_rate != before.max_rate)
    put_back("rate limits",
             change_dcb(kernel, dcb_set_request(netdev, {.max_rate = before.max_rate})));
  if (before.ets && now->ets != before.ets)
    put_back("ETS", change_dcb(kernel, dcb_set_request(netdev, {.ets = before.ets})));
  if (before.app) put_back("the APP table", change_app_table(kernel, netdev, *before.app));
  if (before.trust && now->trust != before.trust)
    put_back("trust", change_dcb(kernel, dcb_set_request(netdev, {.trust = before.trust})));
  if (before.dcbx && now->dcbx != before.dcbx)
    put_back("DCBX", set_dcbx_flags(kernel, netdev, *before.dcbx));
  if (wrong.empty()) return {};
  return Error{ErrorCode::kIo, join(wrong, "; ")};
}

// ---- one port ----

/// One port's interfaces; perform and remember go through the same names.
struct Port {
  Kernel& kernel;
  const RdmaPort& port;

  [[nodiscard]] Result<std::string> netdev() const {
    if (port.netdev.is_known()) return *port.netdev;
    return not_found_error(fmt::format("the network device of {} is not known", port.device));
  }
  [[nodiscard]] Result<DcbImage> dcb() const {
    WEIR_TRY(name, netdev());
    const auto image = read_dcb_image(kernel, name);
    if (!image) return refusal(fmt::format("read DCB of {}", name), image.error());
    return *image;
  }
  [[nodiscard]] Status change_dcb_of(std::string_view what, const DcbSetting& setting) const {
    return done_or(fmt::format("set {} of {}", what, *port.netdev),
                   change_dcb(kernel, dcb_set_request(*port.netdev, setting)));
  }

  /// A DCQCN parameter: the vendor's file, or that of debugfs.
  [[nodiscard]] Result<std::string> parameter(std::string_view name) const {
    const design::NicKnob* knob = design::find_knob(name);
    if (knob == nullptr) return not_found_error(fmt::format("no DCQCN parameter {}", name));
    if (port.netdev.is_known()) {
      const std::string path =
          fmt::format("{}/ecn/{}/{}", port.net_folder(),
                      knob->is_notification_point ? "roce_np" : "roce_rp", knob->name);
      if (!kernel.read_file(path).is(ENOENT)) return path;
    }
    const auto place = find_pci(kernel, port.folder() + "/device");
    if (!place.is_known())
      return not_found_error(fmt::format("{} has no file for {}", port.device, name));
    return fmt::format("/sys/kernel/debug/mlx5/{}/cc_params/{}", place->address, knob->debugfs);
  }
  [[nodiscard]] std::string enable_file(std::string_view point, unsigned priority) const {
    return fmt::format("{}/ecn/{}/enable/{}", port.net_folder(), point, priority);
  }
  [[nodiscard]] std::string traffic_class_file() const {
    return fmt::format("{}/tc/{}{}", port.folder(), port.port, kTrafficClassFile);
  }
  [[nodiscard]] std::string cm_folder() const {
    return fmt::format("/sys/kernel/config/rdma_cm/{}", port.device);
  }
  [[nodiscard]] std::string cm_tos_file() const {
    return fmt::format("{}/ports/{}/default_roce_tos", cm_folder(), port.port);
  }
  /// Trust of the vendor's oldest stacks, which have a file for it.
  [[nodiscard]] std::optional<std::string> trust_file() const {
    const std::string path = port.net_folder() + "/qos/trust";
    if (kernel.read_file(path).is(ENOENT)) return std::nullopt;
    return path;
  }
};

// ---- remembering what a change may touch ----

Status remember_file(const Port& port, const std::string& path, HostMemory& memory) {
  WEIR_TRY(text, text_of_file(port.kernel, path));
  memory.files.emplace_back(path, std::move(text));
  return {};
}

/// The parts of DCB that `keep` takes over.
Status remember_dcb(const Port& port, HostMemory& memory,
                    void (*keep)(DcbImage& kept, DcbImage& all)) {
  WEIR_TRY(all, port.dcb());
  keep(memory.dcb, all);
  if (memory.dcb == DcbImage())
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("{} does not show it: what is not read is not changed", memory.netdev)};
  return {};
}

void keep_ets(DcbImage& kept, DcbImage& all) {
  kept.ets = std::move(all.ets);
}
void keep_pfc(DcbImage& kept, DcbImage& all) {
  kept.pfc = std::move(all.pfc);
}
void keep_marking(DcbImage& kept, DcbImage& all) {
  kept.app = std::move(all.app);
  kept.trust = std::move(all.trust);
}

Status remember_ets(const Port& port, const Change& /*change*/, HostMemory& memory) {
  return remember_dcb(port, memory, keep_ets);
}
Status remember_pfc(const Port& port, const Change& /*change*/, HostMemory& memory) {
  return remember_dcb(port, memory, keep_pfc);
}
Status remember_map(const Port& port, const Change& /*change*/, HostMemory& memory) {
  return remember_dcb(port, memory, keep_marking);
}

Error no_setting(const Port& port, std::string_view what) {
  return {ErrorCode::kUnsupported,
          fmt::format("the driver of {} shows no {}", *port.port.netdev, what)};
}

// ---- pause, rings, MTU ----

Status remember_pause(const Port& port, const Change& /*change*/, HostMemory& memory) {
  WEIR_TRY(netdev, port.netdev());
  const EthtoolFacts facts = Ethtool(port.kernel).read(netdev);
  if (!facts.pause_rx.is_known() || !facts.pause_tx.is_known())
    return not_found_error(fmt::format("read pause of {}: not shown", netdev));
  memory.pause.emplace(*facts.pause_rx, *facts.pause_tx);
  return {};
}

Status perform_pause(const Port& port, const SetGlobalPause& change) {
  WEIR_TRY(netdev, port.netdev());
  return done_or(
      fmt::format("set pause of {}", netdev),
      Ethtool(port.kernel).set_pause(netdev, change.rx.value_or(false), change.tx.value_or(false)));
}

Status remember_rings(const Port& port, const Change& /*change*/, HostMemory& memory) {
  WEIR_TRY(netdev, port.netdev());
  const evidence::Rings rings = Ethtool(port.kernel).read(netdev).rings;
  if (!rings.rx.is_known() || !rings.tx.is_known())
    return not_found_error(fmt::format("read rings of {}: not shown", netdev));
  memory.rings.emplace(*rings.rx, *rings.tx);
  return {};
}

Status perform_rings(const Port& port, const SetRings& change) {
  WEIR_TRY(netdev, port.netdev());
  return done_or(fmt::format("set rings of {}", netdev),
                 Ethtool(port.kernel).set_rings(netdev, change.rx, change.tx));
}

Status remember_mtus(const Port& port, const Change& /*change*/, HostMemory& memory) {
  WEIR_TRY(netdev, port.netdev());
  for (const std::string& name : devices_above(port.kernel, netdev)) {
    WEIR_TRY(mtu, number_in(port.kernel, fmt::format("/sys/class/net/{}/mtu", name)));
    memory.mtus.emplace_back(name, mtu);
  }
  return {};
}

Status perform_mtu(const Port& port, const SetMtu& change) {
  WEIR_TRY(netdev, port.netdev());
  return set_mtu(port.kernel, netdev, static_cast<unsigned>(change.mtu.raw()));
}

Status perform_stack_mtu(const Port& port, const SetStackMtu& change) {
  WEIR_TRY(netdev, port.netdev());
  const auto wanted = static_cast<unsigned>(change.mtu.raw());
  for (const std::string& name : devices_above(port.kernel, netdev)) {
    if (name == netdev || !carries_whole_frames(port.kernel, name)) continue;
    WEIR_TRY(now, number_in(port.kernel, fmt::format("/sys/class/net/{}/mtu", name)));
    if (now < wanted) WEIR_TRY_STATUS(set_mtu(port.kernel, name, wanted));
  }
  return {};
}

// ---- interrupts ----

Status remember_interrupts(const Port& port, const Change& /*change*/, HostMemory& memory) {
  WEIR_TRY(paths, irq_files(port.kernel, port.port));
  for (const std::string& path : paths)
    WEIR_TRY_STATUS(remember_file(port, path, memory));
  return {};
}

Status perform_interrupts(const Port& port, const SetIrqNodes& change) {
  std::vector<std::string> processors;
  for (const unsigned node : change.nodes) {
    const std::string path = fmt::format("/sys/devices/system/node/node{}/cpulist", node);
    WEIR_TRY(text, text_of_file(port.kernel, path));
    processors.emplace_back(trim(text));
  }
  WEIR_TRY(paths, irq_files(port.kernel, port.port));
  for (const std::string& path : paths)
    WEIR_TRY_STATUS(write_if_different(port.kernel, path, join(processors, ",")));
  return {};
}

// ---- DCB: who decides, trust, maps, classes, the cable, PFC ----

Status remember_dcbx(const Port& port, const Change& /*change*/, HostMemory& memory) {
  return remember_dcb(port, memory, [](DcbImage& kept, DcbImage& all) { kept.dcbx = all.dcbx; });
}

Status perform_dcbx(const Port& port, const SetDcbx& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.dcbx) return no_setting(port, "DCBX");
  unsigned flags = 0;
  if (change.mode == evidence::DcbxMode::kOs) {
    flags = (*now.dcbx | DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE) &
            ~unsigned{DCB_CAP_DCBX_LLD_MANAGED};
  } else {
    flags = *now.dcbx & ~unsigned{DCB_CAP_DCBX_HOST};
  }
  if (flags == *now.dcbx) return {};
  return done_or(fmt::format("set DCBX of {}", *port.port.netdev),
                 set_dcbx_flags(port.kernel, *port.port.netdev, flags));
}

Status remember_trust(const Port& port, const Change& change, HostMemory& memory) {
  WEIR_TRY(netdev, port.netdev());
  if (const auto path = port.trust_file()) return remember_file(port, *path, memory);
  return remember_map(port, change, memory);
}

/// Three homes: a file (the vendor's oldest stacks), a list of selectors (since 6.3, some drivers),
/// or no switch at all: entries in the map are trust in DSCP.
Status perform_trust(const Port& port, const SetTrust& change) {
  WEIR_TRY(netdev, port.netdev());
  if (const auto path = port.trust_file())
    return write_if_different(port.kernel, *path, std::string(evidence::to_text(change.trust)));
  WEIR_TRY(now, port.dcb());
  if (now.trust && !now.trust->empty()) {
    WEIR_TRY(selectors, selectors_of(change.trust));
    if (now.trust == selectors) return {};
    return port.change_dcb_of("trust", {.trust = selectors});
  }
  if (!now.app) return no_setting(port, "an APP table");
  std::array<std::optional<Priority>, 64> map{};
  if (change.trust == evidence::TrustMode::kDscp) {
    if (has_dscp(*now.app)) return {};
    // As the vendor's tool begins: eight code points per priority. The design's map follows.
    for (unsigned d = 0; d < map.size(); ++d)
      map.at(d) = Priority::of(d / 8);
  }
  return done_or(fmt::format("set trust of {}", netdev),
                 change_app_table(port.kernel, netdev, with_dscp_map(*now.app, map)));
}

Status perform_map(const Port& port, const SetDscpMap& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.app) return no_setting(port, "an APP table");
  return done_or(
      fmt::format("set the DSCP map of {}", *port.port.netdev),
      change_app_table(port.kernel, *port.port.netdev, with_dscp_map(*now.app, change.priority)));
}

Status perform_classes(const Port& port, const SetPriorityToTc& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.ets) return no_setting(port, "traffic classes");
  return port.change_dcb_of("traffic classes", {.ets = with_priority_to_tc(*now.ets, change.tc)});
}

Status perform_scheduling(const Port& port, const SetScheduling& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.ets) return no_setting(port, "traffic classes");
  return port.change_dcb_of("scheduling",
                            {.ets = with_scheduling(*now.ets, change.tsa, change.percent)});
}

Status perform_cable_length(const Port& port, const SetCableLength& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.pfc) return no_setting(port, "PFC");
  return port.change_dcb_of("the cable length",
                            {.pfc = with_pfc_delay(*now.pfc, metres_of(change.length))});
}

Status perform_pfc(const Port& port, const SetPfc& change) {
  WEIR_TRY(now, port.dcb());
  if (!now.pfc) return no_setting(port, "PFC");
  const std::string wanted = with_pfc_mask(*now.pfc, change.on.mask());
  if (is_same_pfc(wanted, *now.pfc)) return {};  // writing it again may take the link down
  return port.change_dcb_of("PFC", {.pfc = wanted});
}

// ---- marking and DCQCN ----

void read_cm_tos(const Port& port, evidence::Nic& nic) {
  nic.rdma.cm_tos =
      read_fact(port.kernel, port.cm_tos_file(), [](std::string_view text) -> Parsed<TosByte> {
        const auto number = parse_number(text);
        if (!number) return number.why();
        const auto tos = TosByte::make(*number);
        if (!tos.has_value()) return evidence::Missing::kError;
        return *tos;
      });
  nic.rdma.cm_mode = read_fact(
      port.kernel, fmt::format("{}/ports/{}/default_roce_mode", port.cm_folder(), port.port.port),
      parse_gid_type);
}

Status remember_cm_tos(const Port& port, const Change& /*change*/, HostMemory& memory) {
  const std::string file = port.cm_tos_file();
  if (!port.kernel.read_file(file).is(ENOENT)) return remember_file(port, file, memory);
  // Not shown: for a moment, it is.
  const auto made = port.kernel.make_directory(port.cm_folder());
  if (!made && !made.is(EEXIST)) {
    return refusal(fmt::format("show the defaults of RDMA-CM (mkdir {}; is rdma_cm loaded?)",
                               port.cm_folder()),
                   made.error());
  }
  const Status read = remember_file(port, file, memory);
  if (made) {
    memory.absent.push_back(port.cm_folder());
    const auto gone = port.kernel.remove_directory(port.cm_folder());
    if (!gone) return refusal("rmdir " + port.cm_folder(), gone.error());
  }
  return read;
}

Status perform_cm_tos(const Port& port, const SetCmTos& change) {
  if (port.kernel.read_file(port.cm_tos_file()).is(ENOENT)) {
    const auto made = port.kernel.make_directory(port.cm_folder());
    if (!made && !made.is(EEXIST))
      return refusal(fmt::format("mkdir {}", port.cm_folder()), made.error());
  }
  return write_if_different(port.kernel, port.cm_tos_file(), std::to_string(change.tos.value()));
}

void read_traffic_class(const Port& port, evidence::Nic& nic) {
  const auto forced = read_fact(port.kernel, port.traffic_class_file(), parse_traffic_class);
  nic.rdma.traffic_class = derive(forced, [](const ForcedTrafficClass& f) { return f.global; });
  nic.rdma.traffic_class_rules =
      derive(forced, [](const ForcedTrafficClass& f) { return f.rules; });
}

Status remember_traffic_class(const Port& port, const Change& /*change*/, HostMemory& memory) {
  return remember_file(port, port.traffic_class_file(), memory);
}

Status perform_traffic_class(const Port& port, const SetTrafficClass& change) {
  return write_traffic_class(port.kernel, port.traffic_class_file(), change.tos);
}

Status remember_cnp(const Port& port, const Change& /*change*/, HostMemory& memory) {
  for (const std::string_view name : {"cnp_dscp", "cnp_802p_prio"}) {
    WEIR_TRY(path, port.parameter(name));
    WEIR_TRY_STATUS(remember_file(port, path, memory));
    // debugfs: writing the priority also sets its mode, which has a file of its own.
    const std::string mode = path + "_mode";
    if (path.ends_with("np_cnp_prio") && !port.kernel.read_file(mode).is(ENOENT))
      WEIR_TRY_STATUS(remember_file(port, mode, memory));
  }
  return {};
}

Status perform_cnp(const Port& port, const SetCnpMarking& change) {
  WEIR_TRY(dscp, port.parameter("cnp_dscp"));
  WEIR_TRY_STATUS(write_if_different(port.kernel, dscp, std::to_string(change.dscp.value())));
  WEIR_TRY(priority, port.parameter("cnp_802p_prio"));
  return write_if_different(port.kernel, priority, std::to_string(change.priority.value()));
}

Status remember_knob(const Port& port, const Change& change, HostMemory& memory) {
  WEIR_TRY(path, port.parameter(std::get<SetKnob>(change).name));
  return remember_file(port, path, memory);
}

Status perform_knob(const Port& port, const SetKnob& change) {
  WEIR_TRY(path, port.parameter(change.name));
  return write_if_different(port.kernel, path, std::to_string(change.value));
}

Status remember_ecn(const Port& port, const Change& /*change*/, HostMemory& memory) {
  WEIR_TRY(netdev, port.netdev());
  for (const std::string_view point : {"roce_np", "roce_rp"}) {
    for (unsigned p = 0; p < 8; ++p)
      WEIR_TRY_STATUS(remember_file(port, port.enable_file(point, p), memory));
  }
  return {};
}

Status perform_ecn(const Port& port, const SetEcn& change) {
  WEIR_TRY(netdev, port.netdev());
  const auto set = [&](std::string_view point, unsigned p, PrioritySet on) {
    return write_if_different(port.kernel, port.enable_file(point, p),
                              on.contains(Priority::of(p)) ? "1" : "0");
  };
  for (unsigned p = 0; p < 8; ++p) {
    WEIR_TRY_STATUS(set("roce_np", p, change.np));
    WEIR_TRY_STATUS(set("roce_rp", p, change.rp));
  }
  return {};
}

// ---- one row per setting ----

struct SettingChange {
  vocab::Setting setting;
  /// Everything that the change may touch, as it is now.
  Status (*remember)(const Port&, const Change&, HostMemory&);
  /// Writes only what differs.
  Status (*perform)(const Port&, const Change&);
  std::string_view risk = {};  // what a person should know before it is done
  /// Its fact, where no other reader has it.
  void (*read)(const Port&, evidence::Nic&) = nullptr;
};

/// A row from the two functions of one value type.
template <auto kPerform>
struct Row;
template <class T, Status (*kPerform)(const Port&, const T&)>
struct Row<kPerform> {
  static constexpr SettingChange of(Status (*remember)(const Port&, const Change&, HostMemory&),
                                    std::string_view risk = {},
                                    void (*read)(const Port&, evidence::Nic&) = nullptr) {
    return {
        T::kSetting, remember,
        [](const Port& port, const Change& change) { return kPerform(port, std::get<T>(change)); },
        risk, read};
  }
};

constexpr std::string_view kMovesTraffic = "traffic that is running changes its class at once";
constexpr std::string_view kStopsKernelTraffic =
    "kernel traffic on this port stops for a moment; open connections keep their MTU";

constexpr auto kSettingChanges = std::to_array<SettingChange>({
    Row<perform_pause>::of(remember_pause),
    Row<perform_dcbx>::of(remember_dcbx),
    Row<perform_trust>::of(remember_trust, kMovesTraffic),
    Row<perform_map>::of(remember_map, kMovesTraffic),
    Row<perform_classes>::of(remember_ets, kMovesTraffic),
    Row<perform_scheduling>::of(remember_ets),
    Row<perform_mtu>::of(remember_mtus, kStopsKernelTraffic),
    Row<perform_stack_mtu>::of(remember_mtus, kStopsKernelTraffic),
    Row<perform_rings>::of(remember_rings,
                           "kernel traffic on this port stops for a moment; RDMA does not"),
    Row<perform_interrupts>::of(
        remember_interrupts,
        "irqbalance, where it runs, moves them again: keep this NIC out of it"),
    Row<perform_cable_length>::of(remember_pfc),
    Row<perform_cm_tos>::of(remember_cm_tos, {}, read_cm_tos),
    Row<perform_traffic_class>::of(remember_traffic_class,
                                   "overrides what jobs ask for, on open connections too",
                                   read_traffic_class),
    Row<perform_cnp>::of(remember_cnp),
    Row<perform_knob>::of(remember_knob),
    Row<perform_ecn>::of(remember_ecn),
    Row<perform_pfc>::of(remember_pfc,
                         "takes the link down for a moment: connections on this port stall or "
                         "break, GIDs go and come back"),
});

const SettingChange* find_change(const Change& change) {
  const auto row =
      std::find_if(kSettingChanges.begin(), kSettingChanges.end(),
                   [&](const SettingChange& each) { return each.setting == setting_of(change); });
  return row == kSettingChanges.end() ? nullptr : &*row;
}

Error no_port_setting(const Change& change) {
  return not_found_error(fmt::format("{} is not a setting of a port", name_of(change)));
}

}  // namespace

Error refusal(const std::string& attempt, Errno error) {
  const int number = error.number;
  const ErrorCode code = number == EPERM || number == EACCES || number == EROFS
                             ? ErrorCode::kPermission
                         : number == EOPNOTSUPP                 ? ErrorCode::kUnsupported
                         : number == ENOENT || number == ENODEV ? ErrorCode::kNotFound
                                                                : ErrorCode::kIo;
  return {code, fmt::format("{}: {}{}", attempt, std::strerror(number), help_for(number))};
}

std::string_view risk_of(const Change& change) {
  const SettingChange* const row = find_change(change);
  return row == nullptr ? std::string_view() : row->risk;
}

void read_settings(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic) {
  for (const SettingChange& row : kSettingChanges)
    if (row.read != nullptr) row.read({kernel, port}, nic);
}

Result<HostMemory> PortChanger::remember(const Change& change) {
  const SettingChange* const row = find_change(change);
  if (row == nullptr) return no_port_setting(change);
  HostMemory memory;
  if (port_.netdev.is_known()) memory.netdev = *port_.netdev;
  WEIR_TRY_STATUS(row->remember({kernel_, port_}, change, memory));
  return memory;
}

Status PortChanger::perform(const Change& change) {
  const SettingChange* const row = find_change(change);
  if (row == nullptr) return no_port_setting(change);
  return row->perform({kernel_, port_}, change);
}

Result<HostMemory> remember_sysctl(Kernel& kernel, const SetSysctl& change) {
  HostMemory memory;
  const std::string path = sysctl_file(change.name);
  WEIR_TRY(text, text_of_file(kernel, path));
  memory.files.emplace_back(path, std::move(text));
  return memory;
}

Status perform_sysctl(Kernel& kernel, const SetSysctl& change) {
  const std::string path = sysctl_file(change.name);
  return done_or(fmt::format("write {} to {}", change.value, path),
                 kernel.write_file(path, change.value + "\n"));
}

Status restore(Kernel& kernel, const HostMemory& memory) {
  std::vector<std::string> wrong;
  const auto note = [&](const Status& status) {
    if (!status) wrong.push_back(status.error().what);
  };
  note(restore_dcb(kernel, memory.netdev, memory.dcb));
  // What was not shown before is hidden again, after its value was put back: the value outlives the
  // directory.
  for (const std::string& directory : memory.absent) {
    const auto made = kernel.make_directory(directory);
    if (!made && !made.is(EEXIST)) note(done_or("mkdir " + directory, made));
  }
  for (const auto& [path, text] : memory.files)
    note(restore_file(kernel, path, text));
  if (!memory.mtus.empty()) note(restore_mtus(kernel, memory.mtus));
  if (memory.pause) {
    const EthtoolFacts now = Ethtool(kernel).read(memory.netdev);
    if (!now.pause_rx.is(memory.pause->first) || !now.pause_tx.is(memory.pause->second))
      note(done_or(
          fmt::format("put pause of {} back", memory.netdev),
          Ethtool(kernel).set_pause(memory.netdev, memory.pause->first, memory.pause->second)));
  }
  if (memory.rings) {
    const evidence::Rings now = Ethtool(kernel).read(memory.netdev).rings;
    if (!now.rx.is(memory.rings->first) || !now.tx.is(memory.rings->second))
      note(done_or(
          fmt::format("put rings of {} back", memory.netdev),
          Ethtool(kernel).set_rings(memory.netdev, memory.rings->first, memory.rings->second)));
  }
  for (const std::string& directory : memory.absent) {
    const auto gone = kernel.remove_directory(directory);
    if (!gone && !gone.is(ENOENT)) note(done_or("rmdir " + directory, gone));
  }
  if (wrong.empty()) return {};
  return Error{ErrorCode::kIo, join(wrong, "; ")};
}

}  // namespace weir::host
