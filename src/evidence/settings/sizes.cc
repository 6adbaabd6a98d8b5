// Sizes of the interface, and host tuning: what a TCP path beside RDMA gains from.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "evidence/settings/row.h"

namespace weir::evidence {
namespace {

using vocab::RdmaMtu;
using vocab::SetIrqNodes;
using vocab::SetMtu;
using vocab::SetRings;
using vocab::SetStackMtu;
using vocab::SetSysctl;

constexpr std::string_view kInterfaceTools = "ip link show <netdev>, ethtool <netdev>";

// ---- MTU ----

Lines mtu_commands(const SetMtu& value, const CommandPort& port, const Nic&) {
  return {fmt::format("ip link set dev {} mtu {}", port.netdev, value.mtu.raw())};
}

void mtu_rail(RailScript& script) {
  const auto mtu = script.nic.mtu.raw();
  script.settle("MTU", std::to_string(mtu), "read_mtu", script.netdev,
                fmt::format("set_mtu {} {}", script.netdev, mtu));
}

constexpr std::string_view kMtuShell = R"sh(read_mtu() { read_file "$root/sys/class/net/$1/mtu"; }
set_mtu() { ip link set dev "$1" mtu "$2"; }

)sh";

Fact<SettingValue> found_stack_mtu(const SettingValue& /*like*/, const Nic& nic) {
  const auto& layers = nic.link.layers;
  if (!layers.is_known()) return Fact<SettingValue>::missing(why_unknown(layers), layers.source());
  const std::optional<Bytes> least = stack_mtu(*layers);
  if (!least) return Fact<SettingValue>::missing(Missing::kAbsent, layers.source());
  return Fact<SettingValue>::of(SetStackMtu{*least}, layers.source());
}

void compare_stack_mtu(const NicCase& c, std::vector<Deviation>& out) {
  if (!c.intent.tuning.stack_mtu) return;
  const SetStackMtu wanted{c.wanted.mtu};
  if (!c.nic.link.layers.is_known())
    return out.push_back(not_read(wanted, why_unknown(c.nic.link.layers)));
  const std::optional<Bytes> least = stack_mtu(*c.nic.link.layers);
  if (least && *least < wanted.mtu) out.push_back(differs(wanted, SetStackMtu{*least}));
}

Lines stack_mtu_commands(const SetStackMtu& value, const CommandPort&, const Nic& before) {
  Lines lines;
  if (!before.link.layers.is_known()) return lines;
  for (const Layer& layer : *before.link.layers) {
    if (carries_whole_frames(layer) && layer.mtu < value.mtu)
      lines.push_back(
          fmt::format("ip link set dev {} mtu {}", shell_word(layer.netdev), value.mtu.raw()));
  }
  return lines;
}

// ---- rings ----

/// No ring can be longer than the NIC's own limit.
std::optional<SettingValue> wanted_rings(const NicCase& c) {
  if (c.wanted.ring <= 0) return std::nullopt;
  const auto length = static_cast<unsigned>(c.wanted.ring);
  const auto within = [&](const Fact<unsigned>& limit) {
    return limit.is_known() ? std::min(length, *limit) : length;
  };
  return SetRings{.rx = within(c.nic.rings.rx_max), .tx = within(c.nic.rings.tx_max)};
}

void compare_rings(const NicCase& c, std::vector<Deviation>& out) {
  const auto wanted = wanted_rings(c);
  if (!wanted) return;
  const SetRings& designed = std::get<SetRings>(*wanted);
  const Rings& rings = c.nic.rings;
  const SetRings found{.rx = rings.rx.is_known() ? *rings.rx : 0,
                       .tx = rings.tx.is_known() ? *rings.tx : 0};
  const auto compare = [&](const Fact<unsigned>& now, unsigned length, Part part) {
    if (!now.is_known()) return out.push_back(not_read(*wanted, why_unknown(now), part));
    if (*now != length) out.push_back(differs(*wanted, found, part));
  };
  compare(rings.rx, designed.rx, Part{0, 0});
  compare(rings.tx, designed.tx, Part{1, 1});
}

Lines ring_commands(const SetRings& value, const CommandPort& port, const Nic&) {
  return {fmt::format("ethtool -G {} rx {} tx {}", port.netdev, value.rx, value.tx)};
}

void ring_rail(RailScript& script) {
  if (script.nic.ring <= 0) return;
  const std::string& netdev = script.netdev;
  script.line(fmt::format("rings=$(ring_limit {} {})", netdev, script.nic.ring));
  script.settle("rings", "\"$rings\"", "read_rings", netdev,
                fmt::format("set_rings {} \"$rings\"", netdev));
}

constexpr std::string_view kRingShell = R"sh(# No ring is longer than the NIC allows.
ring_limit() {
  ethtool -g "$1" 2>/dev/null | awk -v wanted="$2" '
    /^Pre-set/ { part = 1 } /^Current/ { part = 2 }
    part == 1 && /^RX:/ { rx = $2 } part == 1 && /^TX:/ { tx = $2 }
    END { print (rx + 0 && rx < wanted ? rx : wanted) "," (tx + 0 && tx < wanted ? tx : wanted) }'
}
read_rings() {
  ethtool -g "$1" | awk '/^Current/ { now = 1 } now && /^RX:/ { rx = $2 } now && /^TX:/ { tx = $2 }
    END { if (rx) print rx "," tx }'
}
set_rings() { ethtool -G "$1" rx "${2%,*}" tx "${2#*,}"; }

)sh";

// ---- interrupts ----

void compare_interrupts(const NicCase& c, std::vector<Deviation>& out) {
  if (!c.intent.tuning.irq_affinity) return;
  const auto& nodes = c.nic.pcie.irq_numa_nodes;
  const auto& own = c.nic.pcie.numa_node;
  if (!own.is_known()) return out.push_back(not_read(SetIrqNodes{}, why_unknown(own)));
  const SetIrqNodes wanted{{*own}};
  if (!nodes.is_known()) return out.push_back(not_read(wanted, why_unknown(nodes)));
  if (*nodes != wanted.nodes) out.push_back(differs(wanted, SetIrqNodes{*nodes}));
}

Lines interrupt_commands(const SetIrqNodes& value, const CommandPort& port, const Nic&) {
  if (value.nodes.size() != 1) return {};
  return {
      fmt::format("for i in /sys/bus/pci/devices/{}/msi_irqs/*; do cat "
                  "/sys/devices/system/node/node{}/cpulist > "
                  "/proc/irq/${{i##*/}}/smp_affinity_list; done",
                  port.pci, value.nodes.front())};
}

// ---- sysctls ----

/// 256 MiB: what a 400G path with half a millisecond of round trip keeps in flight ten times over.
constexpr std::uint64_t kSocketBuffer = 268'435'456;
constexpr std::array<std::string_view, 4> kSocketSysctls = {
    "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"};

/// With single blanks: the kernel prints tabs.
std::string words_of(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) {
    const bool is_blank = c == ' ' || c == '\t';
    if (!is_blank) out += c;
    if (is_blank && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

/// With the largest value raised where it is lower: "4096 131072 268435456". nullopt where it is
/// large enough.
std::optional<std::string> raised_sysctl(std::string_view value) {
  const std::string words = words_of(value);
  const std::size_t last = words.rfind(' ') == std::string::npos ? 0 : words.rfind(' ') + 1;
  const auto now = parse_u64(words.substr(last));
  if (!now || *now >= kSocketBuffer) return std::nullopt;
  return words.substr(0, last) + std::to_string(kSocketBuffer);
}

const NamedText* find_sysctl(const Host& host, std::string_view name) {
  if (!host.sysctls.is_known()) return nullptr;
  const auto found = std::find_if(host.sysctls->begin(), host.sysctls->end(),
                                  [&](const NamedText& sysctl) { return sysctl.name == name; });
  return found == host.sysctls->end() ? nullptr : &*found;
}

void add_sysctls(const Host& host, std::vector<TuningDeviation>& out) {
  for (const std::string_view name : kSocketSysctls) {
    const NamedText* const now = find_sysctl(host, name);
    if (now == nullptr) {
      const SetSysctl wanted{std::string(name), fmt::format("up to {} bytes", kSocketBuffer)};
      const Missing why = host.sysctls.is_known() ? Missing::kAbsent : why_unknown(host.sysctls);
      out.push_back({"", -1, not_read(wanted, why)});
    } else if (const auto raised = raised_sysctl(now->value)) {
      out.push_back({"", -1,
                     differs(SetSysctl{std::string(name), *raised},
                             SetSysctl{std::string(name), words_of(now->value)})});
    }
  }
}

Lines sysctl_commands(const SetSysctl& value, const CommandPort&, const Nic&) {
  return {fmt::format("sysctl -w {}='{}'", value.name, value.value)};
}

// ---- the table ----

constexpr auto kSizeRows = std::to_array<SettingRow>({
    {.setting = Setting::kMtu,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       if (c.wanted.mtu.raw() <= 0) return std::nullopt;
       return SetMtu{c.wanted.mtu};
     },
     .found = [](const SettingValue&, const Nic& nic) { return value_of<SetMtu>(nic.link.mtu); },
     .finding = "mtu.mismatch",
     .how_to_read = kInterfaceTools,
     .commands = Typed<mtu_commands>::commands,
     .script = {.common = kMtuShell, .rail = mtu_rail}},
    {.setting = Setting::kActiveMtu,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       if (c.wanted.rdma_mtu.raw() <= 0) return std::nullopt;
       return RdmaMtu{c.wanted.rdma_mtu};
     },
     .found = [](const SettingValue&,
                 const Nic& nic) { return value_of<RdmaMtu>(nic.link.active_mtu); },
     .finding = "mtu.mismatch",
     .how_to_read = "rdma link show; /sys/class/infiniband/<device>/ports/1/gids",
     .not_changed = "follows from the MTU of both ends once the link is up again"},
    {.setting = Setting::kStackMtu,
     .is_tuning = true,
     .found = found_stack_mtu,
     .compare = compare_stack_mtu,
     .finding = "host.tcp_untuned",
     .how_to_read = kInterfaceTools,
     .commands = Typed<stack_mtu_commands>::commands},
    {.setting = Setting::kRings,
     .wanted = wanted_rings,
     .found = [](const SettingValue&,
                 const Nic& nic) { return value_of<SetRings>(nic.rings.rx, nic.rings.tx); },
     .compare = compare_rings,
     .finding = "host.tcp_untuned",
     .how_to_read = "ethtool -g <netdev>, ethtool -a <netdev>",
     .absent_is_right = true,
     .commands = Typed<ring_commands>::commands,
     .script = {.common = kRingShell, .rail = ring_rail}},
    {.setting = Setting::kIrqAffinity,
     .is_tuning = true,
     .found = [](const SettingValue&,
                 const Nic& nic) { return value_of<SetIrqNodes>(nic.pcie.irq_numa_nodes); },
     .compare = compare_interrupts,
     .finding = "host.tcp_untuned",
     .how_to_read = "/proc/irq, sysctl -a",
     .commands = Typed<interrupt_commands>::commands},
    {.setting = Setting::kSysctl,
     .is_tuning = true,
     .finding = "host.tcp_untuned",
     .how_to_read = "/proc/irq, sysctl -a",
     .commands = Typed<sysctl_commands>::commands},
});

}  // namespace

bool carries_whole_frames(const Layer& layer) {
  return layer.kind == "bond" || layer.kind == "vlan" || layer.kind == "bridge";
}

std::optional<Bytes> stack_mtu(const std::vector<Layer>& layers) {
  std::optional<Bytes> least;
  for (const Layer& layer : layers) {
    if (!carries_whole_frames(layer)) continue;
    if (!least || layer.mtu < *least) least = layer.mtu;
  }
  return least;
}

std::vector<TuningDeviation> tuning_deviations(const Evidence& found,
                                               const design::HostIntent& wanted,
                                               const design::Intent& intent) {
  std::vector<TuningDeviation> out;
  if (intent.tuning.socket_buffers) add_sysctls(found.host, out);
  for (const design::NicIntent& nic : wanted.nics) {
    const Nic* const device = found.find_nic(nic.device);
    if (device == nullptr) continue;
    std::vector<Deviation> all;
    for (const SettingRow& row : setting_rows())
      if (row.is_tuning && row.compare != nullptr) row.compare({*device, nic, intent}, all);
    for (Deviation& deviation : all)
      out.push_back({nic.device, nic.rail, std::move(deviation)});
  }
  return out;
}

std::optional<SettingValue> as_found(const SettingValue& like, const std::string& device,
                                     const Evidence& host) {
  const auto* sysctl = std::get_if<SetSysctl>(&like);
  if (sysctl == nullptr) {
    const Nic* const nic = host.find_nic(device);
    return nic == nullptr ? std::nullopt : as_found(like, *nic);
  }
  const NamedText* const now = find_sysctl(host.host, sysctl->name);
  if (now == nullptr) return std::nullopt;
  std::string value = now->value;
  std::replace(value.begin(), value.end(), '\t', ' ');
  return SetSysctl{now->name, value};
}

std::span<const SettingRow> size_rows() {
  return kSizeRows;
}

}  // namespace weir::evidence
