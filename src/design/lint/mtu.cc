// Frame sizes: nothing on a path narrower than what enters it.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "design/lint/rules.h"
#include "design/tables/platforms.h"
#include "model/roce_wire.h"
#include "units/format.h"

namespace weir::design {
namespace {

// What Linux takes off a network interface's MTU before it picks the RDMA MTU: room for a GRH or IP
// header (40), UDP (8), BTH (12), XRC (4), atomic (28) and ICRC (4) (include/rdma/ib_addr.h,
// iboe_get_mtu): 4192 B is the smallest MTU that gives 4096.
constexpr Bytes kLinuxRdmaAllowance = 96_B;

// EOS counts two bytes less for the same frame: its maximum, 9214, carries what 9216 carries
// elsewhere.
constexpr Bytes kEosDifference = 2_B;

// Frame sizes are read as plain numbers: 9000B, not 9KB.
std::string in_bytes(Bytes size) {
  return fmt::format("{}B", size.raw());
}

// The frame a port lets through, counted alike on every system.
Bytes frame_limit(const SwitchIntent& node, const SwitchPortIntent& port) {
  const Bytes limit = std::min(port.mtu, system_model(node.system).max_mtu);
  return node.system == SwitchSystem::kEos && limit == system_model(node.system).max_mtu
             ? limit + kEosDifference
             : limit;
}

Bytes header_of(int vlan) {
  return model::kEthernetHeader + (vlan > 0 ? model::kVlanTag : 0_B);
}

// The line that gave a port its MTU.
TextPosition place_of_mtu(const LintCase& c, const SwitchIntent& node,
                          const SwitchPortIntent& port) {
  const Named<SwitchGroup>& group = c.group_of(node);
  const LinkGroup& cable = c.group_of(c.intent.links[port.link]);
  if (cable.mtu.is_set()) return first_known({cable.mtu.at(), cable.at});
  if (group.value.mtu.is_set()) return first_known({group.value.mtu.at(), group.at});
  return first_known({c.design.mtu.switch_port.at(), group.at});
}

std::pair<std::string, std::string> fix_of_mtu(const LintCase& c, const SwitchIntent& node,
                                               const SwitchPortIntent& port, Bytes needed) {
  const Named<SwitchGroup>& group = c.group_of(node);
  const LinkGroup& cable = c.group_of(c.intent.links[port.link]);
  if (cable.mtu.is_set()) {
    return {"mtu: " + in_bytes(needed),
            fmt::format("in the link from {} to {}", cable.from->text, cable.to->text)};
  }
  if (group.value.mtu.is_set())
    return {"mtu: " + in_bytes(needed), fmt::format("under switches, {}", group.name)};
  return {fmt::format("mtu: {{ switch: {} }}", in_bytes(needed)), ""};
}

// What hosts send at most, and which group does.
struct LargestFrame {
  Bytes mtu;
  Bytes frame;
  const Named<HostGroup>* group = nullptr;
};

LargestFrame largest_frame(const LintCase& c) {
  LargestFrame largest;
  for (const HostIntent& host : c.intent.hosts) {
    const NicIntent& nic = host.nics.front();
    if (nic.mtu <= largest.mtu) continue;
    largest = {nic.mtu, nic.mtu + header_of(nic.vlan), &c.group_of(host)};
  }
  return largest;
}

// Ports of one cause: the same line, the same limit.
struct NarrowPorts {
  std::size_t count = 0;
  const SwitchIntent* node = nullptr;
  const SwitchPortIntent* port = nullptr;
};

void check_ports_hold_host_frames(LintCase& c) {
  const LargestFrame largest = largest_frame(c);
  std::map<std::pair<int, int>, NarrowPorts> causes;
  for (const SwitchIntent& node : c.intent.switches) {
    for (const SwitchPortIntent& port : node.ports) {
      if (frame_limit(node, port) >= largest.frame) continue;
      const TextPosition at = place_of_mtu(c, node, port);
      NarrowPorts& narrow = causes[{at.line, at.column}];
      if (narrow.count++ == 0) narrow = {1, &node, &port};
    }
  }
  for (const auto& [at, narrow] : causes) {
    auto& found = c.report(
        "mtu.mismatch", {at.first, at.second},
        fmt::format(
            "{} let through {}, hosts send {} ({} + {} of header): large packets vanish on the "
            "way",
            count_and_first(narrow.count,
                            fmt::format("{} {}", narrow.node->name, narrow.port->name),
                            "switch ports"),
            in_bytes(frame_limit(*narrow.node, *narrow.port)), in_bytes(largest.frame),
            in_bytes(largest.mtu), in_bytes(largest.frame - largest.mtu)));
    found.where.switch_name = narrow.node->name;
    found.where.port = narrow.port->name;
    constexpr Bytes kUsual = 9216_B;
    auto [line, note] = fix_of_mtu(c, *narrow.node, *narrow.port, std::max(largest.frame, kUsual));
    LintCase::add_fix(found, {std::move(line)}, std::move(note));
  }
}

void check_link_ends_agree(LintCase& c) {
  const Bytes host_frame = largest_frame(c).frame;
  std::vector<std::uint32_t> reported;  // groups of links: one cause each
  for (const LinkIntent& link : c.intent.links) {
    if (link.lower.kind != NodeKind::kSwitch || link.upper.kind != NodeKind::kSwitch) continue;
    const SwitchIntent& lower = c.intent.switches[link.lower.node];
    const SwitchIntent& upper = c.intent.switches[link.upper.node];
    const SwitchPortIntent& low = lower.ports[link.lower.port];
    const SwitchPortIntent& high = upper.ports[link.upper.port];
    const Bytes low_limit = frame_limit(lower, low);
    const Bytes high_limit = frame_limit(upper, high);
    // An end too narrow for the hosts has been reported for that.
    if (low_limit == high_limit || std::min(low_limit, high_limit) < host_frame) continue;
    if (std::find(reported.begin(), reported.end(), link.group) != reported.end()) continue;
    reported.push_back(link.group);
    const auto count = std::count_if(c.intent.links.begin(), c.intent.links.end(),
                                     [&](const LinkIntent& l) { return l.group == link.group; });
    const bool low_is_narrow = low_limit < high_limit;
    const SwitchIntent& narrow = low_is_narrow ? lower : upper;
    const SwitchPortIntent& port = low_is_narrow ? low : high;
    auto& found = c.report(
        "mtu.mismatch", place_of_mtu(c, narrow, port),
        fmt::format("the ends of {} differ: {} {} has MTU {}, {} {} has {}",
                    count == 1 ? "a link" : fmt::format("{} links", count), lower.name, low.name,
                    in_bytes(low.mtu), upper.name, high.name, in_bytes(high.mtu)));
    found.where.switch_name = narrow.name;
    found.where.port = port.name;
    found.where.link = fmt::format("{} to {}", lower.name, upper.name);
    auto [line, note] = fix_of_mtu(c, narrow, port, std::max(low_limit, high_limit));
    LintCase::add_fix(found, {std::move(line)}, std::move(note));
  }
}

void check_rdma_fits_hosts(LintCase& c) {
  const Bytes rdma = *c.design.mtu.rdma;
  const Bytes needed = rdma + kLinuxRdmaAllowance;
  const auto causes =
      host_causes(c, [&](const HostIntent& host) { return host.nics.front().mtu < needed; });
  for (const HostCause& cause : causes) {
    const Bytes mtu = cause.first().nics.front().mtu;
    const bool is_own = cause.group->value.mtu.is_set();
    auto& found = c.report(
        "mtu.mismatch",
        first_known({is_own ? cause.group->value.mtu.at() : c.design.mtu.host.at(),
                     c.design.mtu.rdma.at(), cause.group->at}),
        fmt::format(
            "RDMA packets of {} do not fit the MTU {} of {}: it takes {} or more, so the NIC "
            "falls back to a smaller RDMA MTU",
            in_bytes(rdma), in_bytes(mtu), to_text(cause), in_bytes(needed)));
    found.where.host = cause.first().name;
    LintCase::add_evidence(
        found, fmt::format("{} payload + {} that Linux keeps for headers = {}", in_bytes(rdma),
                           in_bytes(kLinuxRdmaAllowance), in_bytes(needed)));
    LintCase::add_fix(found, {is_own ? "mtu: 9000B" : "mtu: { host: 9000B }"},
                      is_own ? belongs_under(cause) : std::string());
  }
}

// Hosts that talk to each other with different MTUs: the wider ones' packets are lost or cut.
void check_hosts_agree(LintCase& c) {
  const LargestFrame largest = largest_frame(c);
  const auto causes =
      host_causes(c, [&](const HostIntent& host) { return host.nics.front().mtu < largest.mtu; });
  for (const HostCause& cause : causes) {
    const Bytes mtu = cause.first().nics.front().mtu;
    if (mtu < *c.design.mtu.rdma + kLinuxRdmaAllowance) continue;  // said already
    auto& found = c.report(
        "mtu.mismatch", first_known({cause.group->value.mtu.at(), cause.group->at}),
        fmt::format(
            "{} {} MTU {}, hosts of group '{}' have {}: what they send is dropped on arrival",
            to_text(cause), cause.nodes.size() == 1 ? "has" : "have", in_bytes(mtu),
            largest.group->name, in_bytes(largest.mtu)));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {"mtu: " + in_bytes(largest.mtu)}, belongs_under(cause));
  }
}

}  // namespace

void check_mtu_mismatch(LintCase& c) {
  check_ports_hold_host_frames(c);
  check_link_ends_agree(c);
  check_rdma_fits_hosts(c);
  check_hosts_agree(c);
}

void check_mtu_platform_max(LintCase& c) {
  std::map<std::pair<int, int>, NarrowPorts> causes;
  for (const SwitchIntent& node : c.intent.switches) {
    const Bytes max = system_model(node.system).max_mtu;
    const Bytes allowed = node.system == SwitchSystem::kEos ? max + kEosDifference : max;
    for (const SwitchPortIntent& port : node.ports) {
      if (port.mtu <= allowed) continue;
      const TextPosition at = place_of_mtu(c, node, port);
      NarrowPorts& wide = causes[{at.line, at.column}];
      if (wide.count++ == 0) wide = {1, &node, &port};
    }
  }
  for (const auto& [at, wide] : causes) {
    const SystemModel& system = system_model(wide.node->system);
    auto& found =
        c.report("mtu.platform_max", {at.first, at.second},
                 fmt::format("MTU {} on {}; {} takes at most {}", in_bytes(wide.port->mtu),
                             count_and_first(wide.count,
                                             fmt::format("{} {}", wide.node->name, wide.port->name),
                                             "switch ports"),
                             system.title, in_bytes(system.max_mtu)));
    found.where.switch_name = wide.node->name;
    found.where.port = wide.port->name;
    auto [line, note] = fix_of_mtu(c, *wide.node, *wide.port, system.max_mtu);
    LintCase::add_fix(found, {std::move(line)}, std::move(note));
  }
}

}  // namespace weir::design
