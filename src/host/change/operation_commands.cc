// How a person does by hand what an operation does: the vendor's tools and files where the vendor's
// driver runs (OFED), the kernel's own interfaces elsewhere. Interfaces and traps as in
// host-interfaces 0 to 6, 9 and 12.
#include <fmt/format.h>

#include "base/text.h"
#include "design/tables/nic_knobs.h"
#include "host/change/operation.h"
#include "units/format.h"

namespace weir::host {
namespace {

using evidence::Nic;
using Lines = std::vector<std::string>;

/// Names of one port, with a word to fill in where one is not known.
struct CommandPort {
  explicit CommandPort(const Nic& nic)
      : device(nic.device),
        netdev(nic.netdev.is_known() ? *nic.netdev : "<netdev>"),
        pci(nic.pcie.address.is_known() ? *nic.pcie.address : "<pci-address>"),
        number(nic.port),
        is_ofed(nic.stack.is(evidence::Stack::kOfed)),
        is_mlx5(evidence::may_be_mlx5(nic)) {}

  std::string device;
  std::string netdev;
  std::string pci;
  unsigned number;
  bool is_ofed;
  bool is_mlx5;
};

std::string on_or_off(bool is_on) {
  return is_on ? "on" : "off";
}

/// "0:0 1:0 2:0 …": the argument of the dcb tool.
template <class Values, class Text>
std::string pairs(const Values& values, const Text& text) {
  Lines words;
  for (std::size_t i = 0; i < values.size(); ++i)
    words.push_back(fmt::format("{}:{}", i, text(values[i])));
  return join(words, " ");
}

/// "0,0,0,1": the argument of mlnx_qos.
template <class Values, class Text>
std::string list(const Values& values, const Text& text) {
  Lines words;
  for (const auto& value : values)
    words.push_back(fmt::format("{}", text(value)));
  return join(words, ",");
}

Lines typed(const SetGlobalPause& c, const CommandPort& port, const Nic& /*before*/) {
  return {fmt::format("ethtool -A {} rx {} tx {}", port.netdev, on_or_off(c.rx), on_or_off(c.tx))};
}

Lines typed(const SetDcbx& c, const CommandPort& port, const Nic& /*before*/) {
  const bool is_os = c.mode == evidence::DcbxMode::kOs;
  if (port.is_ofed) return {fmt::format("mlnx_qos -i {} -d {}", port.netdev, is_os ? "os" : "fw")};
  return {fmt::format("dcb dcbx set dev {} {}ieee", port.netdev, is_os ? "host " : "")};
}

Lines typed(const SetTrust& c, const CommandPort& port, const Nic& /*before*/) {
  const bool is_dscp = c.trust == evidence::TrustMode::kDscp;
  if (port.is_ofed)
    return {fmt::format("mlnx_qos -i {} --trust {}", port.netdev, is_dscp ? "dscp" : "pcp")};
  // Trust has no switch of its own in the kernel: a map with entries is trust in DSCP.
  if (!is_dscp) return {fmt::format("dcb app flush dev {} dscp-prio", port.netdev)};
  return {fmt::format("dcb app replace dev {} dscp-prio 0:0", port.netdev)};
}

/// mlnx_qos takes one code point at a time: only those that differ from what is there by then.
Lines typed(const SetDscpMap& c, const CommandPort& port, const Nic& before) {
  const auto& map = c.priority;
  if (!port.is_ofed) {
    Lines words;
    for (std::size_t d = 0; d < map.size(); ++d)
      if (map.at(d)) words.push_back(fmt::format("{}:{}", d, map.at(d)->value()));
    if (words.empty()) return {fmt::format("dcb app flush dev {} dscp-prio", port.netdev)};
    return {fmt::format("dcb app replace dev {} dscp-prio {}", port.netdev, join(words, " "))};
  }
  const bool trusts_dscp = before.qos.trust.is(evidence::TrustMode::kDscp);
  const bool is_map_known = before.qos.dscp_to_priority.is_known();
  std::string line = fmt::format("mlnx_qos -i {}", port.netdev);
  const std::size_t bare = line.size();
  for (std::size_t d = 0; d < map.size(); ++d) {
    // Trust in DSCP begins with eight code points a priority (host-interfaces 1.1).
    std::optional<Priority> there = Priority::of(static_cast<unsigned>(d) / 8);
    if (trusts_dscp && is_map_known) there = (*before.qos.dscp_to_priority).at(d);
    if (there == map.at(d)) continue;
    if (map.at(d)) {
      line += fmt::format(" --dscp2prio set,{},{}", d, map.at(d)->value());
    } else {
      line += fmt::format(" --dscp2prio del,{},{}", d, there->value());
    }
  }
  if (line.size() == bare) return {};
  return {line};
}

Lines typed(const SetPriorityToTc& c, const CommandPort& port, const Nic& /*before*/) {
  const auto number = [](TrafficClass tc) { return tc.value(); };
  if (port.is_ofed)
    return {fmt::format("mlnx_qos -i {} --prio_tc {}", port.netdev, list(c.tc, number))};
  // Without tc-bw the tool adds up what vendor classes show and refuses (host-interfaces 4).
  return {
      fmt::format("dcb ets set dev {} tc-bw all:0 prio-tc {}", port.netdev, pairs(c.tc, number))};
}

Lines typed(const SetScheduling& c, const CommandPort& port, const Nic& /*before*/) {
  const auto word = [](evidence::Tsa tsa) { return evidence::to_text(tsa); };
  const auto number = [](unsigned percent) { return percent; };
  if (port.is_ofed) {
    return {fmt::format("mlnx_qos -i {} --tsa {} --tcbw {}", port.netdev, list(c.tsa, word),
                        list(c.percent, number))};
  }
  return {fmt::format("dcb ets set dev {} tc-tsa {} tc-bw {}", port.netdev, pairs(c.tsa, word),
                      pairs(c.percent, number))};
}

Lines typed(const SetPfc& c, const CommandPort& port, const Nic& /*before*/) {
  std::array<unsigned, 8> bits{};
  std::string words;
  for (unsigned p = 0; p < 8; ++p) {
    bits.at(p) = c.on.contains(Priority::of(p)) ? 1 : 0;
    if (bits.at(p) == 1) words += fmt::format(" {}:on", p);
  }
  const auto number = [](unsigned bit) { return bit; };
  if (port.is_ofed)
    return {fmt::format("mlnx_qos -i {} --pfc {}", port.netdev, list(bits, number))};
  return {fmt::format("dcb pfc set dev {} prio-pfc all:off{}", port.netdev, words)};
}

Lines typed(const SetCableLength& c, const CommandPort& port, const Nic& /*before*/) {
  constexpr std::int64_t kMillimetres = 1000;
  const std::int64_t metres = (c.length.raw() + kMillimetres - 1) / kMillimetres;
  if (port.is_ofed) return {fmt::format("mlnx_qos -i {} --cable_len {}", port.netdev, metres)};
  return {fmt::format("dcb pfc set dev {} delay {}", port.netdev, metres)};
}

std::string write_line(std::int64_t value, const std::string& path) {
  return fmt::format("echo {} > {}", value, path);
}

std::string ecn_file(const CommandPort& port, std::string_view point, std::string_view file) {
  return fmt::format("/sys/class/net/{}/ecn/{}/{}", port.netdev, point, file);
}
std::string debugfs_file(const CommandPort& port, std::string_view file) {
  return fmt::format("/sys/kernel/debug/mlx5/{}/cc_params/{}", port.pci, file);
}

Lines typed(const SetEcn& c, const CommandPort& port, const Nic& before) {
  if (!port.is_ofed) return {};
  Lines lines;
  const auto add = [&](std::string_view point, PrioritySet wanted,
                       const evidence::Fact<PrioritySet>& found) {
    for (unsigned p = 0; p < 8; ++p) {
      const bool is_on = wanted.contains(Priority::of(p));
      if (found.is_known() && found->contains(Priority::of(p)) == is_on) continue;
      lines.push_back(
          write_line(is_on ? 1 : 0, ecn_file(port, point, fmt::format("enable/{}", p))));
    }
  };
  add("roce_np", c.np, before.ecn.np);
  add("roce_rp", c.rp, before.ecn.rp);
  return lines;
}

Lines typed(const SetCnpMarking& c, const CommandPort& port, const Nic& /*before*/) {
  if (!port.is_mlx5) return {};
  const bool is_ofed = port.is_ofed;
  return {write_line(c.dscp.value(), is_ofed ? ecn_file(port, "roce_np", "cnp_dscp")
                                             : debugfs_file(port, "np_cnp_dscp")),
          write_line(c.priority.value(), is_ofed ? ecn_file(port, "roce_np", "cnp_802p_prio")
                                                 : debugfs_file(port, "np_cnp_prio"))};
}

Lines typed(const SetKnob& c, const CommandPort& port, const Nic& /*before*/) {
  const design::NicKnob* knob = design::find_knob(c.name);
  if (knob == nullptr || !port.is_mlx5) return {};
  const std::string_view point = knob->is_notification_point ? "roce_np" : "roce_rp";
  return {write_line(c.value, port.is_ofed ? ecn_file(port, point, knob->name)
                                           : debugfs_file(port, knob->debugfs))};
}

Lines typed(const SetTrafficClass& c, const CommandPort& port, const Nic& /*before*/) {
  if (!port.is_ofed) return {};
  return {write_line(
      c.tos ? static_cast<std::int64_t>(c.tos->value()) : -1,
      fmt::format("/sys/class/infiniband/{}/tc/{}/traffic_class", port.device, port.number))};
}

Lines typed(const SetCmTos& c, const CommandPort& port, const Nic& /*before*/) {
  if (port.is_ofed)
    return {fmt::format("cma_roce_tos -d {} -p {} -t {}", port.device, port.number, c.tos.value())};
  const std::string folder = "/sys/kernel/config/rdma_cm/" + port.device;
  return {
      "mkdir -p " + folder,
      write_line(c.tos.value(), fmt::format("{}/ports/{}/default_roce_tos", folder, port.number))};
}

Lines typed(const SetMtu& c, const CommandPort& port, const Nic& /*before*/) {
  return {fmt::format("ip link set dev {} mtu {}", port.netdev, c.mtu.raw())};
}

Lines typed(const SetRings& c, const CommandPort& port, const Nic& /*before*/) {
  return {fmt::format("ethtool -G {} rx {} tx {}", port.netdev, c.rx, c.tx)};
}

Lines typed(const SetStackMtu& c, const CommandPort& /*port*/, const Nic& before) {
  Lines lines;
  if (!before.link.layers.is_known()) return lines;
  for (const evidence::Layer& layer : *before.link.layers) {
    if (evidence::carries_whole_frames(layer) && layer.mtu < c.mtu)
      lines.push_back(fmt::format("ip link set dev {} mtu {}", layer.netdev, c.mtu.raw()));
  }
  return lines;
}

Lines typed(const SetIrqNodes& c, const CommandPort& port, const Nic& /*before*/) {
  if (c.nodes.size() != 1) return {};
  return {
      fmt::format("for i in /sys/bus/pci/devices/{}/msi_irqs/*; do cat "
                  "/sys/devices/system/node/node{}/cpulist > "
                  "/proc/irq/${{i##*/}}/smp_affinity_list; done",
                  port.pci, c.nodes.front())};
}

Lines typed(const SetSysctl& c, const CommandPort& /*port*/, const Nic& /*before*/) {
  return {fmt::format("sysctl -w {}='{}'", c.name, c.value)};
}

bool is_dcb(const Change& change) {
  return std::holds_alternative<SetDcbx>(change) || std::holds_alternative<SetTrust>(change) ||
         std::holds_alternative<SetDscpMap>(change) ||
         std::holds_alternative<SetPriorityToTc>(change) ||
         std::holds_alternative<SetScheduling>(change) || std::holds_alternative<SetPfc>(change) ||
         std::holds_alternative<SetCableLength>(change);
}

}  // namespace

std::vector<std::string> commands_for(const Operation& operation, const Nic& before) {
  const CommandPort port(before);
  return std::visit([&](const auto& change) { return typed(change, port, before); },
                    operation.change);
}

std::string_view risk_of(const Change& change) {
  if (std::holds_alternative<SetPfc>(change)) {
    return "takes the link down for a moment: connections on this port stall or break, GIDs go and "
           "come back";
  }
  if (std::holds_alternative<SetTrust>(change) || std::holds_alternative<SetDscpMap>(change) ||
      std::holds_alternative<SetPriorityToTc>(change))
    return "traffic that is running changes its class at once";
  if (std::holds_alternative<SetTrafficClass>(change))
    return "overrides what jobs ask for, on open connections too";
  if (std::holds_alternative<SetRings>(change))
    return "kernel traffic on this port stops for a moment; RDMA does not";
  if (std::holds_alternative<SetIrqNodes>(change))
    return "irqbalance, where it runs, moves them again: keep this NIC out of it";
  if (std::holds_alternative<SetMtu>(change) || std::holds_alternative<SetStackMtu>(change))
    return "kernel traffic on this port stops for a moment; open connections keep their MTU";
  return {};
}

std::string_view obstacle_to(const Change& change, const Nic& nic) {
  if (nic.link_layer.is(evidence::LinkLayer::kInfiniband))
    return "the port runs InfiniBand, which has no RoCE settings: mlxconfig LINK_TYPE makes it "
           "Ethernet";
  if (is_dcb(change) && nic.is_virtual.is(true))
    return "QoS of a virtual function belongs to its physical function: change it there";
  const CommandPort port(nic);
  if (port.is_ofed) return {};
  const counters::Driver driver = evidence::driver_of(nic);
  if (is_dcb(change) && driver == counters::Driver::kIonic)
    return "this driver has no DCB interface: nicctl update qos does it";
  if (std::holds_alternative<SetEcn>(change) && driver == counters::Driver::kBnxt)
    return "this driver's switch is another: enable_cc in debugfs bnxt_re/<pci>/cc_config, or "
           "niccli";
  if (std::holds_alternative<SetEcn>(change) && driver == counters::Driver::kIrdma)
    return "this driver's switch is another: configfs irdma/<device>/roce_dcqcn_enable of Intel's "
           "own driver";
  if (std::holds_alternative<SetEcn>(change) && driver == counters::Driver::kIonic)
    return "this driver has no switch for it: nicctl update dcqcn does it";
  if (std::holds_alternative<SetEcn>(change))
    return "this driver has no live switch for it: set ROCE_CC_PRIO_MASK_P1 with mstconfig and "
           "reset the firmware, or install the vendor's driver";
  if (std::holds_alternative<SetTrafficClass>(change))
    return "only the vendor's driver can force it: let the jobs set it (NCCL_IB_TC, --tclass)";
  const bool is_vendors =
      std::holds_alternative<SetKnob>(change) || std::holds_alternative<SetCnpMarking>(change);
  if (is_vendors && !port.is_mlx5)
    return "this driver's congestion control has other knobs: use the vendor's tool";
  return {};
}

}  // namespace weir::host
