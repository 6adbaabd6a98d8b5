// What a text shows literally of links, addresses, cables and switches, as paste_seen.h has it,
// judged by itself: no design says what it should be, so only what contradicts itself, its sisters
// or a plan that the text states is a finding.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/paste/pasted_parts.h"
#include "diagnose/paste/rows.h"
#include "diagnose/paste/told.h"
#include "evidence/address.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;

bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}

/// Named for what it carries: a rail, a GPU, RDMA.
bool is_rail_name(std::string_view name) {
  for (const std::string_view stem :
       {"rail", "gpu", "rdma", "roce", "hsn", "compute", "eth_r", "mlx"})
    if (name.find(stem) != std::string_view::npos) return true;
  return false;
}

/// A name cut at its numbers: "rail", "2", "-leaf".
std::vector<std::string> runs_of(std::string_view name) {
  std::vector<std::string> out;
  for (const char c : name) {
    if (out.empty() || is_digit_char(out.back().back()) != is_digit_char(c)) out.emplace_back();
    out.back() += c;
  }
  return out;
}

// ---- speeds ----

struct SpeedOfNic {
  const evidence::Nic* nic = nullptr;
  BitRate speed;
};

finding::EvidenceLine speed_line_of(const SpeedOfNic& item) {
  finding::EvidenceLine line;
  line.source = item.nic->link.speed.source();
  line.line = fmt::format("{}: {}", item.nic->device, to_text(item.speed));
  return line;
}

const readers::PasteAble* able_of(const PastedCase& input, const std::string& host,
                                  const std::string& device) {
  for (const readers::PasteAble& able : input.paste.able)
    if (able.host == host && able.device == device) return &able;
  return nullptr;
}

/// The port of the same name runs at the usual speed at each other host that shows it.
bool runs_elsewhere(const PastedCase& input, const evidence::Evidence& host, const SpeedOfNic& item,
                    BitRate usual) {
  bool is_shown = false;
  for (const evidence::Evidence& other : input.evidence) {
    const evidence::Nic* const nic = &other == &host ? nullptr : other.find_nic(item.nic->device);
    if (nic == nullptr || !nic->link.speed.is_known()) continue;
    if (*nic->link.speed != usual) return false;
    is_shown = true;
  }
  return is_shown;
}

/// Every other port that is shown, and a few at least, runs at the speed that this one could run
/// at.
bool sisters_run_at(const std::vector<SpeedOfNic>& all, const SpeedOfNic& item, BitRate possible,
                    const finding::Thresholds& limits) {
  std::size_t there = 0;
  for (const SpeedOfNic& other : all) {
    if (other.nic == item.nic) continue;
    if (other.speed < possible) return false;
    ++there;
  }
  return there >= limits.sisters_meant_alike;
}

/// A port that is up and slower than its sisters. Other cards in a host may be slower on purpose:
/// that it could run as fast must be shown, or it is a note.
void judge_speeds_of(const PastedCase& input, const evidence::Evidence& host,
                     finding::Judgement& out) {
  std::vector<SpeedOfNic> all;
  std::map<std::int64_t, std::size_t> counts;
  const finding::Thresholds& limits = input.thresholds;
  const bool has_devices =
      std::count_if(host.nics.begin(), host.nics.end(), [](const evidence::Nic& nic) {
        return readers::is_device_name(nic.device) && nic.link.speed.is_known();
      }) > static_cast<std::ptrdiff_t>(limits.sisters);
  for (const evidence::Nic& nic : host.nics) {
    const bool is_down = (nic.link.up.is_known() && !*nic.link.up) ||
                         (nic.rdma.active.is_known() && !*nic.rdma.active);
    if (!nic.link.speed.is_known() || is_down) continue;
    // One NIC may be shown under two names, and nobody says which belong together.
    if (has_devices && !readers::is_device_name(nic.device) && !nic.rdma.active.is_known())
      continue;
    all.push_back({&nic, *nic.link.speed});
    ++counts[nic.link.speed->raw()];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool has_sisters = most != counts.end() && most->second >= limits.sisters &&
                           static_cast<double>(most->second) >=
                               limits.sisters_at_speed * static_cast<double>(all.size());
  const BitRate usual = most == counts.end() ? BitRate() : BitRate::raw(most->first);
  for (const SpeedOfNic& item : all) {
    const readers::PasteAble* const able = able_of(input, host.provenance.host, item.nic->device);
    const BitRate possible = able == nullptr ? BitRate() : std::min(able->port, able->cable);
    const bool could_more = possible > item.speed;
    const bool is_slower = (has_sisters && item.speed < usual) ||
                           (could_more && sisters_run_at(all, item, possible, limits));
    if (!is_slower && !could_more) continue;
    if (is_slower && able != nullptr && able->port > BitRate() && able->port < usual)
      continue;  // another kind of card
    Finding finding = finding::make_finding(
        "link.degraded",
        is_slower ? fmt::format("{} {} runs at {}, {} other ports of the host at {}{}.",
                                host.provenance.host, item.nic->device, to_text(item.speed),
                                most->second, to_text(usual),
                                could_more ? fmt::format("; port and cable are able to run at {}",
                                                         to_text(possible))
                                           : std::string())
                  : fmt::format("{} {} runs at {}; port and cable are able to run at {}.",
                                host.provenance.host, item.nic->device, to_text(item.speed),
                                to_text(possible)),
        where_of(host.provenance.host, item.nic->device));
    finding.confidence = is_slower && could_more ? Confidence::kHigh : Confidence::kMedium;
    // Interfaces that are numbered as rails are meant to be alike.
    const std::string& shown = item.nic->netdev.is_known() ? *item.nic->netdev : item.nic->device;
    const bool is_rail =
        is_slower && (shown.starts_with("rail") || runs_elsewhere(input, host, item, usual));
    if (!is_slower || !could_more)
      finding.severity = is_rail ? Severity::kWarning : Severity::kInfo;
    finding.evidence.push_back(speed_line_of(item));
    if (could_more) finding.evidence.push_back(line_of(able->at));
    if (is_slower)
      for (const SpeedOfNic& sister : all)
        if (sister.speed == usual && finding.evidence.size() < 3)
          finding.evidence.push_back(speed_line_of(sister));
    out.findings.push_back(std::move(finding));
  }
}

// ---- ports that are down ----

/// One RDMA port is down, and all its sisters are active. Where two are down, or few are shown,
/// nobody may use them.
void judge_down_port(const PastedCase& input, const evidence::Evidence& host,
                     finding::Judgement& out) {
  const evidence::Nic* down = nullptr;
  std::size_t downs = 0;
  std::size_t active = 0;
  for (const evidence::Nic& nic : host.nics) {
    if (!nic.rdma.active.is_known()) continue;
    active += *nic.rdma.active ? 1 : 0;
    downs += *nic.rdma.active ? 0 : 1;
    if (!*nic.rdma.active) down = &nic;
  }
  // A state of the cable was read: the rules for links have it.
  if (downs != 1 || active < input.thresholds.sisters || down->link.up.is_known()) return;
  const auto& shut = input.paste.shut;
  if (std::find(shut.begin(), shut.end(), down->device) != shut.end()) return;
  const std::string netdev = down->netdev.is_known() ? *down->netdev : std::string();
  for (const std::string_view word : {"spare", "unused", "mgmt", "stor"})
    if (netdev.find(word) != std::string::npos) return;
  Finding finding = finding::make_finding(
      "link.degraded",
      fmt::format("The RDMA port of {} is down; {} others of the host are active.",
                  place_of(host.provenance.host, down->device), active),
      where_of(host.provenance.host, down->device));
  finding.confidence = Confidence::kHigh;
  finding.severity = Severity::kWarning;
  finding.evidence.push_back(
      {.source = down->rdma.active.source(), .line = down->device + ": state down"});
  out.findings.push_back(std::move(finding));
}

// ---- MTUs ----

/// "rail" of "rail3": interfaces that are numbered are sisters.
std::string family_of_interface(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  return end == std::string_view::npos || end + 1 == name.size()
             ? std::string()
             : std::string(name.substr(0, end + 1));
}

/// One interface of several sisters carries no large frames.
void judge_mtus(const PastedCase& input, finding::Judgement& out) {
  const Bytes large = Bytes::raw(4200);  // room for an RDMA MTU of 4096
  std::map<std::pair<std::string, std::string>, std::map<std::string, const readers::PasteMtu*>>
      all;
  for (const readers::PasteMtu& item : input.paste.mtus)
    if (const std::string family = family_of_interface(item.netdev); is_rail_name(family))
      all[{item.host, family}][item.netdev] = &item;
  for (const auto& [family, ports] : all) {
    const readers::PasteMtu* small = nullptr;
    const readers::PasteMtu* wide = nullptr;
    std::size_t smalls = 0;
    for (const auto& [name, port] : ports) {
      (port->mtu < large ? small : wide) = port;
      smalls += port->mtu < large ? 1 : 0;
    }
    if (small == nullptr || smalls > 1 || ports.size() < input.thresholds.sisters_meant_alike + 1)
      continue;
    Finding finding = finding::make_finding(
        "mtu.mismatch",
        fmt::format("{} {} has an MTU of {} bytes, its {} sisters {}.", family.first, small->netdev,
                    small->mtu.raw(), ports.size() - 1, wide->mtu.raw()),
        where_of(family.first, small->netdev));
    finding.severity = Severity::kWarning;  // its peers may be as small
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(small->at), line_of(wide->at)};
    out.findings.push_back(std::move(finding));
  }
}

/// One of several numbered rails has no carrier.
void judge_carriers(const PastedCase& input, finding::Judgement& out) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, const readers::PasteCarrier*>>
      all;
  for (const readers::PasteCarrier& item : input.paste.carriers)
    if (const std::string family = family_of_interface(item.netdev); is_rail_name(family))
      all[{item.host, family}][item.netdev] = &item;
  for (const auto& [family, ports] : all) {
    const readers::PasteCarrier* dark = nullptr;
    std::size_t up = 0;
    for (const auto& [name, port] : ports) {
      up += port->is_up ? 1 : 0;
      if (!port->is_up) dark = port;
    }
    const std::string& host = family.first;
    const bool is_said =
        dark != nullptr &&
        std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& known) {
          return known.id == "link.degraded" && known.where.host == host;
        });
    if (dark == nullptr || up < input.thresholds.sisters_meant_alike || up + 1 != ports.size() ||
        is_said)
      continue;
    Finding finding =
        finding::make_finding("link.degraded",
                              fmt::format("{} has no carrier, its {} sisters have one.",
                                          place_of(host, dark->netdev), up),
                              where_of(host, dark->netdev));
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(dark->at));
    out.findings.push_back(std::move(finding));
  }
}

// ---- addresses and routes ----

struct Subnet {
  std::uint64_t number = 0;
  unsigned length = 0;
  friend auto operator<=>(const Subnet&, const Subnet&) = default;
};

std::optional<std::uint64_t> ipv4_number(std::string_view address) {
  const auto parts = split(address.substr(0, address.find('/')), '.');
  std::uint64_t number = 0;
  if (parts.size() != 4) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto byte = parse_u64(part);
    if (!byte || *byte > 255) return std::nullopt;
    number = number * 256 + *byte;
  }
  return number;
}

std::optional<Subnet> subnet_of_address(std::string_view address) {
  const std::size_t slash = address.find('/');
  const auto number = ipv4_number(address);
  if (slash == std::string_view::npos || !number) return std::nullopt;
  const auto length = parse_u64(address.substr(slash + 1));
  constexpr unsigned kLongest = 30;  // two ends of a link have one each
  if (!length || *length < 8 || *length > kLongest) return std::nullopt;
  const std::uint64_t size = std::uint64_t{1} << (32U - *length);
  return Subnet{*number / size * size, static_cast<unsigned>(*length)};
}

/// Bridges, overlays and what containers are given are no ports of their own.
bool is_virtual_interface(std::string_view name) {
  for (const std::string_view stem : {"lo", "docker", "br-", "veth", "cni", "cali", "flannel",
                                      "virbr", "vxlan", "tunl", "dummy", "kube", "podman"})
    if (name.starts_with(stem)) return true;
  return false;
}

/// A rule sends what comes from this address to a table of its own, or a VRF does.
bool has_rule_for(const PastedCase& input, const readers::PasteAddress& address) {
  const auto own = ipv4_number(address.address);
  for (const readers::PasteRule& rule : input.paste.rules) {
    if (rule.host != address.host) continue;
    if (rule.table.find("l3mdev") != std::string::npos) return true;
    const auto source = ipv4_number(rule.source);
    if (!source || !own) continue;
    const bool is_one = rule.source.find('/') == std::string::npos || rule.source.ends_with("/32");
    const auto net = subnet_of_address(rule.source);
    const bool is_in = is_one ? *source == *own
                              : net && *own / (std::uint64_t{1} << (32U - net->length)) ==
                                           net->number / (std::uint64_t{1} << (32U - net->length));
    if (is_in) return true;
  }
  return false;
}

bool shows_rules(const PastedCase& input, const std::string& host) {
  return std::any_of(input.paste.rules.begin(), input.paste.rules.end(),
                     [&](const readers::PasteRule& rule) { return rule.host == host; });
}

/// The interface that has this address.
const readers::PasteAddress* owner_of(const PastedCase& input, const std::string& host,
                                      const std::string& address) {
  const auto number = ipv4_number(address);
  for (const readers::PasteAddress& item : input.paste.addresses)
    if (item.host == host && number && ipv4_number(item.address) == number) return &item;
  return nullptr;
}

/// Answers of `ip route get` that leave by another interface than the one of their source.
std::vector<const readers::PasteRoute*> stray_routes(const PastedCase& input,
                                                     const std::string& host) {
  std::vector<const readers::PasteRoute*> out;
  for (const readers::PasteRoute& route : input.paste.routes) {
    if (route.host != host || route.source.empty() || route.netdev == "lo") continue;
    const readers::PasteAddress* const owner = owner_of(input, host, route.source);
    if (owner != nullptr && owner->netdev != route.netdev) out.push_back(&route);
  }
  return out;
}

void judge_shared_subnet(const PastedCase& input, const std::string& host,
                         const std::vector<const readers::PasteAddress*>& ports,
                         finding::Judgement& out) {
  const auto ruled = std::count_if(ports.begin(), ports.end(),
                                   [&](const auto* port) { return has_rule_for(input, *port); });
  // The first may use the main table.
  if (static_cast<std::size_t>(ruled) + 1 >= ports.size()) return;
  const auto stray = stray_routes(input, host);
  const bool is_rail = std::any_of(ports.begin(), ports.end(),
                                   [](const auto* port) { return is_rail_name(port->netdev); });
  const bool is_shown = !stray.empty() || shows_rules(input, host);
  if (!is_rail && stray.empty() && ports.size() < input.thresholds.ports_in_subnet) return;
  std::vector<std::string> names;
  for (const auto* port : ports)
    names.push_back(port->netdev);
  const readers::PasteAddress& first = *ports.front();
  Finding finding = finding::make_finding(
      "rail.same_subnet",
      fmt::format("{}: {} are in one subnet, that of {}{}.", host, join(names, ", "), first.address,
                  is_shown ? "; no rule gives each address a table of its own"
                           : "; whether rules keep them apart is not shown (ip rule)"),
      where_of(host, ""));
  finding.confidence = is_shown ? Confidence::kHigh : Confidence::kMedium;
  if (!is_shown) finding.severity = Severity::kInfo;
  finding.evidence = {line_of(first.at), line_of(ports.back()->at)};
  if (!stray.empty()) finding.evidence.push_back(line_of(stray.front()->at));
  out.findings.push_back(std::move(finding));
}

void judge_addresses(const PastedCase& input, finding::Judgement& out) {
  std::map<std::string, std::map<Subnet, std::vector<const readers::PasteAddress*>>> by_host;
  for (const readers::PasteAddress& address : input.paste.addresses) {
    const auto subnet = subnet_of_address(address.address);
    if (!subnet || is_virtual_interface(address.netdev)) continue;
    auto& ports = by_host[address.host][*subnet];
    const bool is_known = std::any_of(ports.begin(), ports.end(), [&](const auto* port) {
      return port->netdev == address.netdev;
    });
    if (!is_known) ports.push_back(&address);
  }
  std::set<std::string> shared;  // hosts
  for (const auto& of_host : by_host) {
    const std::string& host = of_host.first;
    for (const auto& [subnet, ports] : of_host.second) {
      if (ports.size() < 2) continue;
      shared.insert(host);
      // Rules of the text decide, not the addresses alone.
      std::erase_if(out.findings, [&](const Finding& known) {
        return known.id == "rail.same_subnet" && known.where.host == host;
      });
      judge_shared_subnet(input, host, ports, out);
    }
  }
  for (const readers::PasteRoute& route : input.paste.routes) {
    const readers::PasteAddress* const owner = owner_of(input, route.host, route.source);
    const bool is_stray = owner != nullptr && !route.netdev.empty() &&
                          owner->netdev != route.netdev && route.netdev != "lo";
    const bool is_none = route.netdev.empty();
    if ((!is_stray && !is_none) || shared.contains(route.host)) continue;
    Finding finding = finding::make_finding(
        "rail.no_route",
        is_none && route.source.empty()
            ? fmt::format("{} has no route to {}.", route.host, route.target)
        : is_none
            ? fmt::format("{} has no route from {} to {}.", route.host, route.source, route.target)
            : fmt::format("From {} of {} the route to {} leaves by {}.", route.source,
                          owner->netdev, route.target, route.netdev),
        where_of(route.host, owner == nullptr ? "" : owner->netdev));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(route.at));
    if (owner != nullptr) finding.evidence.push_back(line_of(owner->at));
    out.findings.push_back(std::move(finding));
    return;  // one fault, however many routes show it
  }
}

/// IPv4 in a GID: "::ffff:10.1.2.3".
bool is_mapped(const evidence::Gid& gid) {
  return gid.gid.find(":ffff:") != std::string::npos;
}

/// The value that the job gives a variable; empty where it sets none.
std::string job_value(const PastedCase& input, std::string_view name) {
  for (const readers::JobVariable& variable : input.paste.job.variables)
    if (variable.name == name) return variable.value;
  return {};
}

/// Whether the job's list of devices has this one: "mlx5_0:1,mlx5_1", "=mlx5_1" without prefixes,
/// "^mlx5_3" for all others. Without a list every device is used.
bool is_used(std::string_view device, std::string_view list, bool is_exact) {
  if (list.empty() || list == "all") return true;
  const bool is_other = list.starts_with('^');
  if (is_other) list.remove_prefix(1);
  is_exact = is_exact || list.starts_with('=');
  if (list.starts_with('=')) list.remove_prefix(1);
  const auto names = split(list, ',');
  const bool is_listed = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    name = trim(name.substr(0, name.find(':')));
    return is_exact ? device == name : device.starts_with(name);
  });
  return is_listed != is_other;
}

struct GidOfDevice {
  const evidence::Evidence* host = nullptr;
  const evidence::Nic* nic = nullptr;
  bool is_ipv4 = false;
};

/// What the job's devices have at an index; link-local addresses are left out.
std::vector<GidOfDevice> gids_at(const PastedCase& input, std::uint64_t index,
                                 std::string_view devices, bool is_exact) {
  std::vector<GidOfDevice> out;
  for (const evidence::Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      if (!nic.rdma.gids.is_known() || !is_used(nic.device, devices, is_exact)) continue;
      for (const evidence::Gid& gid : *nic.rdma.gids)
        if (gid.index == index && !gid.gid.starts_with("fe80"))
          out.push_back({&host, &nic, is_mapped(gid)});
    }
  return out;
}

/// Two that have to reach each other, with an address of IPv6 and one of IPv4: a rail's devices
/// have one name, or their hosts show one device each.
std::optional<std::pair<GidOfDevice, GidOfDevice>> different_peers(
    const std::vector<GidOfDevice>& all) {
  std::map<const evidence::Evidence*, std::size_t> devices;
  for (const GidOfDevice& item : all)
    ++devices[item.host];
  std::map<std::pair<std::string, bool>, const GidOfDevice*> known;  // by device and family
  const auto at = [&](const std::string& name, const GidOfDevice& item) {
    known.emplace(std::pair(name, item.is_ipv4), &item);
    const auto other = known.find({name, !item.is_ipv4});
    return other == known.end() || other->second->host == item.host ? nullptr : other->second;
  };
  for (const GidOfDevice& item : all) {
    const GidOfDevice* other = at(item.nic->device, item);
    if (other == nullptr && devices[item.host] == 1) other = at("", item);
    if (other != nullptr) return item.is_ipv4 ? std::pair(*other, item) : std::pair(item, *other);
  }
  return std::nullopt;
}

/// The index that a job names is an address of IPv4 at one host and of IPv6 at another: they do not
/// reach each other.
void judge_gid_families(const PastedCase& input, finding::Judgement& out) {
  for (const readers::JobVariable& variable : input.paste.job.variables) {
    const auto index = variable.name == "NCCL_IB_GID_INDEX" || variable.name == "UCX_IB_GID_INDEX"
                           ? readers::parse_count(variable.value)
                           : std::nullopt;
    if (!index) continue;
    const bool is_ucx = variable.name == "UCX_IB_GID_INDEX";
    const auto all = gids_at(input, *index,
                             job_value(input, is_ucx ? "UCX_NET_DEVICES" : "NCCL_IB_HCA"), is_ucx);
    const auto peers = different_peers(all);
    if (!peers) continue;
    const auto& [six, four] = *peers;
    Finding finding = finding::make_finding(
        "gid.index_differs",
        fmt::format("{}={} is an IPv6 address at {} and an IPv4 address at {}: they do not reach "
                    "each other.",
                    variable.name, *index, place_of(six.host->provenance.host, six.nic->device),
                    place_of(four.host->provenance.host, four.nic->device)),
        where_of(six.host->provenance.host, six.nic->device));
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(variable.at),
                        {.source = six.nic->rdma.gids.source(), .line = "GID table"},
                        {.source = four.nic->rdma.gids.source(), .line = "GID table"}};
    out.findings.push_back(std::move(finding));
    return;
  }
}

/// The interface of an RDMA device.
bool carries_rdma(const PastedCase& input, const std::string& host, const std::string& netdev) {
  return std::any_of(
      input.evidence.begin(), input.evidence.end(), [&](const evidence::Evidence& evidence) {
        return evidence.provenance.host == host &&
               std::any_of(evidence.nics.begin(), evidence.nics.end(), [&](const auto& nic) {
                 return nic.netdev.is(netdev) && nic.device != netdev;
               });
      });
}

/// "10.40.7.1/31" beside "10.41.7.1/31" and "10.42.7.1/31": what all sisters have in common it has
/// too, and that is more than the first number.
bool has_prefix_of_sisters(const readers::PasteAddress& own,
                           const std::vector<const readers::PasteAddress*>& sisters) {
  const auto number = ipv4_number(own.address);
  const std::string_view length =
      std::string_view(own.address).substr(std::min(own.address.find('/'), own.address.size()));
  if (!number || length.empty() || sisters.empty()) return false;
  std::size_t common = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const auto part = [&](std::uint64_t address) { return address >> shift & 0xffU; };
    const auto first = ipv4_number(sisters.front()->address);
    bool is_common = first.has_value();
    for (const auto* sister : sisters) {
      const auto other = ipv4_number(sister->address);
      if (!other || !sister->address.ends_with(length)) return false;
      is_common = is_common && part(*other) == part(*first);
    }
    if (is_common && part(*number) != part(*first)) return false;
    common += is_common ? 1 : 0;
  }
  constexpr std::size_t kFewest = 2;  // of four: how an address is built, no judgement
  return common >= kFewest;
}

/// An interface that RDMA uses as it uses its sisters. Where the text shows which of them have an
/// RDMA device that decides, else their addresses do.
bool is_rail_like(const PastedCase& input, const readers::PasteAddress& own,
                  const std::vector<const readers::PasteAddress*>& sisters) {
  if (carries_rdma(input, own.host, own.netdev)) return true;
  const bool is_shown = std::any_of(sisters.begin(), sisters.end(), [&](const auto* sister) {
    return carries_rdma(input, own.host, sister->netdev);
  });
  return !is_shown && has_prefix_of_sisters(own, sisters);
}

/// Every sister has a route of its own through a gateway, and one has none: what it should reach
/// leaves by another interface.
void judge_missing_route(const PastedCase& input, finding::Judgement& out) {
  std::map<std::string, std::set<std::string>> gateways;  // by host: interfaces with a route
  for (const readers::PasteGateway& gateway : input.paste.gateways)
    gateways[gateway.host].insert(gateway.netdev);
  for (const auto& [host, with_route] : gateways) {
    std::vector<const readers::PasteAddress*> without;
    std::vector<const readers::PasteAddress*> with;
    std::set<std::string> all;
    for (const readers::PasteAddress& address : input.paste.addresses) {
      if (address.host != host || is_virtual_interface(address.netdev)) continue;
      // "ens4" of "ens45np0" and of its sisters: the part before the last number.
      const bool is_sister =
          std::any_of(with_route.begin(), with_route.end(), [&](const std::string& other) {
            return runs_of(other).front() == runs_of(address.netdev).front() &&
                   runs_of(other).size() == runs_of(address.netdev).size();
          });
      if (!is_sister || !all.insert(address.netdev).second) continue;
      (with_route.contains(address.netdev) ? with : without).push_back(&address);
    }
    if (without.size() != 1 || all.size() < input.thresholds.sisters + 1) continue;
    Finding finding = finding::make_finding(
        "rail.no_route",
        fmt::format("{} has no route through a gateway on {}; its {} sisters have one.", host,
                    without.front()->netdev, all.size() - 1),
        where_of(host, without.front()->netdev));
    // An interface for management has none and needs none.
    const bool is_rail = is_rail_like(input, *without.front(), with);
    finding.severity = is_rail ? Severity::kError : Severity::kInfo;
    finding.confidence = is_rail ? Confidence::kHigh : Confidence::kLow;
    finding.evidence.push_back(line_of(without.front()->at));
    for (const readers::PasteRoute& route : input.paste.routes)
      if (route.host == host && finding.evidence.size() < 2)
        finding.evidence.push_back(line_of(route.at));
    out.findings.push_back(std::move(finding));
  }
}

void judge_loops(const PastedCase& input, finding::Judgement& out) {
  if (input.paste.loops.empty()) return;
  const readers::PasteLoop& loop = input.paste.loops.front();
  Finding finding = finding::make_finding(
      "routing.loop", fmt::format("The path from {} to {} goes round between {}.", loop.host,
                                  loop.target, join(loop.hops, " and ")));
  finding.confidence = Confidence::kHigh;
  finding.evidence.push_back(line_of(loop.at));
  out.findings.push_back(std::move(finding));
}

/// iWARP and RoCE do not talk to each other: a host that speaks nothing but one, and another that
/// speaks nothing but the other. A card that has iWARP beside one with RoCE may carry storage.
void judge_protocols(const PastedCase& input, finding::Judgement& out) {
  const auto& all = input.paste.protocols;
  std::map<std::string_view, std::pair<bool, bool>> spoken;  // by host: iWARP, RoCE
  for (const readers::PasteProtocol& item : all)
    (item.is_iwarp ? spoken[item.host].first : spoken[item.host].second) = true;
  const auto find_only = [&](bool is_iwarp) {
    return std::find_if(all.begin(), all.end(), [&](const readers::PasteProtocol& item) {
      return spoken[item.host] == std::pair(is_iwarp, !is_iwarp);
    });
  };
  const auto iwarp = find_only(true);
  const auto roce = find_only(false);
  if (iwarp == all.end() || roce == all.end()) return;
  Finding finding = finding::make_finding(
      "fleet.drift",
      fmt::format("{} speaks iWARP, {} RoCE: they cannot talk to each other.",
                  place_of(iwarp->host, iwarp->device), place_of(roce->host, roce->device)),
      where_of(iwarp->host, iwarp->device));
  finding.severity = Severity::kError;
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(iwarp->at), line_of(roce->at)};
  out.findings.push_back(std::move(finding));
}

/// A container whose interfaces do not have the address of any GID that it sees.
void judge_container(const PastedCase& input, const evidence::Evidence& host,
                     finding::Judgement& out) {
  std::set<std::uint64_t> own;
  const readers::PasteAddress* inside = nullptr;
  for (const readers::PasteAddress& address : input.paste.addresses) {
    if (address.host != host.provenance.host) continue;
    if (const auto number = ipv4_number(address.address)) own.insert(*number);
    if (address.is_inside) inside = &address;
    if (!address.is_inside && address.netdev != "lo") return;  // a host of its own
  }
  if (inside == nullptr) return;
  const evidence::Nic* outside = nullptr;
  std::string shown;
  for (const evidence::Nic& nic : host.nics) {
    if (!nic.rdma.gids.is_known()) continue;
    for (const evidence::Gid& gid : *nic.rdma.gids) {
      const auto bytes = evidence::gid_of(gid.gid);
      if (!bytes || (*bytes)[10] != 0xff || (*bytes)[11] != 0xff) continue;  // no IPv4 in it
      std::uint64_t number = 0;
      for (std::size_t i = 12; i < bytes->size(); ++i)
        number = number * 256 + (*bytes)[i];
      if (own.contains(number)) return;
      outside = &nic;
      shown = evidence::address_text(*bytes);
    }
  }
  if (outside == nullptr) return;
  Finding finding = finding::make_finding(
      "container.gid_outside_netns",
      fmt::format("The GID of {} has the address {}, which no interface of the container has.",
                  outside->device, shown),
      where_of(host.provenance.host, outside->device));
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(inside->at),
                      {.source = outside->rdma.gids.source(), .line = "GID " + shown}};
  out.findings.push_back(std::move(finding));
}

// ---- cables ----

/// The number behind a stem: 2 of "gpu2_eth" for "gpu".
std::optional<unsigned> number_behind(std::string_view name, std::string_view stem) {
  for (std::size_t at = name.find(stem); at != std::string_view::npos;
       at = name.find(stem, at + 1)) {
    std::string_view rest = name.substr(at + stem.size());
    while (!rest.empty() && (rest[0] == '-' || rest[0] == '_'))
      rest.remove_prefix(1);
    const auto end = static_cast<std::size_t>(
        std::find_if_not(rest.begin(), rest.end(), is_digit_char) - rest.begin());
    const auto value = parse_u64(rest.substr(0, end));
    if (value && *value < 100'000) return static_cast<unsigned>(*value);
  }
  return std::nullopt;
}

/// "host port gpuN_eth -> railN-leaf": what is before the number on either side. A text may name
/// the ports twice ("rail N NIC (rdmaN)").
struct CablePlan {
  std::vector<std::string> ports;
  std::string system;
  const readers::Cited* at = nullptr;
};

/// "gpu" of "gpuN_eth", "rail" of "rail<n>-leaf"; empty where the word has no place for a number.
std::string stem_of_pattern(std::string_view word) {
  for (const std::string_view place : {"<n>", "<N>", "{n}", "{N}", "N"}) {
    const std::size_t at = word.find(place);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view rest = word.substr(at + place.size());
    const bool is_word = place == "N" && !rest.empty() &&
                         ((rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z'));
    const char before = word[at - 1];
    const bool is_capitals = place == "N" && before >= 'A' && before <= 'Z';
    std::string stem(word.substr(0, at));
    while (!stem.empty() && (stem.back() == '-' || stem.back() == '_'))
      stem.pop_back();
    if (!is_word && !is_capitals && !stem.empty()) return stem;
  }
  return {};
}

/// The word without what a sentence puts around it.
std::string_view plain_word(std::string_view word) {
  while (!word.empty() && std::string_view(",.;:()`'\"").find(word.back()) != std::string::npos)
    word.remove_suffix(1);
  while (!word.empty() && std::string_view("(`'\"").find(word.front()) != std::string::npos)
    word.remove_prefix(1);
  return word;
}

std::optional<CablePlan> plan_in(const PastedCase& input) {
  constexpr auto kLeads =
      std::to_array<std::string_view>({"->", "=>", "\u2192", "to", "into", "on"});
  for (const readers::Cited& line : input.paste.words) {
    CablePlan plan{{}, {}, &line};
    bool is_leading = false;
    std::string_view before;
    for (const std::string_view raw : readers::words_of(line.text)) {
      is_leading = is_leading || std::find(kLeads.begin(), kLeads.end(), raw) != kLeads.end();
      const std::string_view word = plain_word(raw);
      std::string stem = stem_of_pattern(word);
      if (word == "N" && !before.empty()) stem = before;  // "rail N goes to leaf N"
      if (!stem.empty() && !is_leading)
        plan.ports.push_back(std::move(stem));
      else if (!stem.empty() && plan.system.empty())
        plan.system = std::move(stem);
      before = word;
    }
    if (!plan.ports.empty() && !plan.system.empty()) return plan;
  }
  return std::nullopt;
}

void add_wiring(const std::vector<const readers::PasteNeighbour*>& wrong, std::string why,
                Severity severity, Confidence confidence, const readers::Cited* plan,
                finding::Judgement& out) {
  const readers::PasteNeighbour& first = *wrong.front();
  finding::Where where;
  if (first.is_switch) {
    where.switch_name = first.host;
    where.port = first.port;
  } else {
    where = where_of(first.host, "");
  }
  std::vector<std::string> ends;
  for (const auto* item : wrong)
    ends.push_back(fmt::format("{} leads to {}", item->port, item->system));
  Finding finding = finding::make_finding(
      "wiring.mismatch", fmt::format("{}: {}{}.", first.host, join(ends, ", "), why),
      std::move(where));
  finding.severity = severity;
  finding.confidence = confidence;
  for (const auto* item : wrong)
    finding.evidence.push_back(line_of(item->at));
  if (plan != nullptr) finding.evidence.push_back(line_of(*plan));
  out.findings.push_back(std::move(finding));
}

using PortsOfHost = std::vector<const readers::PasteNeighbour*>;

/// The number of the port, by the first of the plan's names that it has.
std::optional<unsigned> number_of_port(const CablePlan& plan, std::string_view port) {
  for (const std::string& stem : plan.ports)
    if (const auto number = number_behind(port, stem)) return number;
  return std::nullopt;
}

/// Against a pattern that the text states. Where no port follows it, it is the plan of others.
bool judge_by_plan(const CablePlan& plan, const std::map<std::string, PortsOfHost>& hosts,
                   finding::Judgement& out) {
  std::vector<PortsOfHost> all_wrong;
  bool has_right = false;
  for (const auto& [host, ports] : hosts) {
    PortsOfHost wrong;
    for (const auto* item : ports) {
      const auto port = number_of_port(plan, item->port);
      const auto system = number_behind(item->system, plan.system);
      has_right = has_right || (port && system && *port == *system);
      if (port && system && *port != *system) wrong.push_back(item);
    }
    if (!wrong.empty()) all_wrong.push_back(std::move(wrong));
  }
  if (!has_right) return false;
  for (const PortsOfHost& wrong : all_wrong)
    add_wiring(wrong, ", against the plan that the text states", Severity::kError,
               Confidence::kHigh, plan.at, out);
  return !all_wrong.empty();
}

// ---- lists of cables ----

/// "leaf-b-r2" of "leaf-b-r2.pod.example.net", in lower case.
std::string first_label(std::string_view name) {
  return readers::lower_case(name.substr(0, name.find('.')));
}

/// A row of a list of how cables ought to be.
struct ListedCable {
  std::string host;  // may be empty
  std::string port;
  std::string system;
  const readers::Cited* at = nullptr;
};

/// The fields of a row of a table: by commas, semicolons or bars, else by blanks.
std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> out;
  for (const char separator : {'|', ';', ',', '\t'}) {
    if (text.find(separator) == std::string_view::npos) continue;
    for (const std::string_view field : split(text, separator))
      out.emplace_back(trim(field));
    if (!out.empty() && out.front().empty()) out.erase(out.begin());
    if (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }
  for (const std::string_view word : readers::words_of(text))
    out.emplace_back(word);
  return out;
}

/// Says that what follows is how it ought to be.
bool announces_plan(std::string_view line) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"plan", "design", "dcim", "netbox", "expect", "should", "intended", "cabling", "cable list",
       "cable map", "wiring list", "patch list", "documented", "desired", "target"});
  const std::string text = readers::lower_case(line);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

struct ListColumns {
  std::size_t count = 0;
  std::size_t port = 0;
  std::size_t system = 0;
  std::optional<std::size_t> host;
};

/// The columns of a list by the names in its heading: "host,nic,rail,leaf,leaf_port".
std::optional<ListColumns> list_columns(const std::vector<std::string>& heading) {
  const auto find = [&](std::span<const std::string_view> names) -> std::optional<std::size_t> {
    for (const std::string_view name : names)
      for (std::size_t i = 0; i < heading.size(); ++i)
        if (readers::lower_case(heading[i]) == name) return i;
    return std::nullopt;
  };
  constexpr auto kPort = std::to_array<std::string_view>(
      {"nic", "netdev", "host_nic", "host_port", "host_interface", "server_port", "interface",
       "iface", "local_port", "local_interface", "device", "dev", "port"});
  constexpr auto kSystem = std::to_array<std::string_view>(
      {"expected_leaf", "expected_switch", "expected", "leaf", "switch", "tor", "leaf_switch",
       "leaf_name", "switch_name", "remote_device", "remote", "neighbor", "neighbour", "peer",
       "b_device", "system"});
  constexpr auto kHost = std::to_array<std::string_view>(
      {"host", "hostname", "server", "node", "a_device", "local_device"});
  const auto port = find(kPort);
  const auto system = find(kSystem);
  if (!port || !system || *port == *system) return std::nullopt;
  return ListColumns{heading.size(), *port, *system, find(kHost)};
}

/// Rows of tables that the text announces as a plan; nothing that a tool printed.
std::vector<ListedCable> listed_cables(const PastedCase& input) {
  constexpr int kNear = 3;  // lines between the words that announce it and the table
  std::vector<ListedCable> out;
  std::optional<ListColumns> columns;
  int announced = -kNear - 1;
  int last = 0;
  const readers::Printed printed(input.paste);
  for (const readers::Cited& line : input.paste.words) {
    if (printed.by(line) != nullptr || input.paste.is_read(line)) continue;
    const auto fields = fields_of(line.text);
    if (announces_plan(line.text)) announced = line.line;
    if (readers::is_rule(line.text) && columns) {
      last = line.line;
    } else if (const auto found = list_columns(fields);
               found && line.line - announced <= kNear && line.line >= announced) {
      columns = found;
      last = line.line;
    } else if (columns && line.line == last + 1 && fields.size() == columns->count) {
      out.push_back({columns->host ? first_label(fields[*columns->host]) : std::string(),
                     fields[columns->port], first_label(fields[columns->system]), &line});
      last = line.line;
    } else if (columns) {
      columns.reset();
    }
  }
  return out;
}

/// "ens1 -> leaf1, ens2 -> leaf2": the rows that sentences have.
void add_led_cables(const PastedCase& input, const std::set<std::string>& hosts,
                    std::vector<ListedCable>& out) {
  for (const readers::Cited& line : input.paste.words) {
    const auto words = readers::words_of(line.text);
    std::string host;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (hosts.contains(first_label(plain_word(words[i]))))
        host = first_label(plain_word(words[i]));
      const bool leads = words[i] == "->" || words[i] == "=>" || words[i] == "\u2192";
      if (!leads || i == 0) continue;
      // "ens7np0 (mlx5_6) -> rail6-leaf": the other name of the port
      const bool has_other = i > 1 && words[i - 1].starts_with('(') && words[i - 1].ends_with(')');
      const std::string_view word = words[has_other ? i - 2 : i - 1];
      const std::string_view port = word.substr(word.find_last_of(",(") + 1);
      out.push_back({host, std::string(port),
                     first_label(words[i + 1].substr(0, words[i + 1].find_first_of(",.;:()"))),
                     &line});
    }
  }
}

/// What the text lists for this port; nullptr where it lists nothing, or two things.
const ListedCable* listed_for(const std::vector<ListedCable>& list,
                              const readers::PasteNeighbour& item) {
  const ListedCable* found = nullptr;
  const std::string host = first_label(item.host);
  for (const ListedCable& row : list) {
    const bool is_host = row.host.empty() || row.host == host || item.host == readers::kThisHost;
    if (!is_host || row.port != item.port) continue;
    if (found != nullptr && found->system != row.system) return nullptr;
    found = &row;
  }
  return found;
}

/// Ports that lead to another system than the text lists for them, while others lead where it says.
bool judge_by_list(const std::vector<ListedCable>& list, const PortsOfHost& ports,
                   finding::Judgement& out) {
  PortsOfHost wrong;
  std::size_t right = 0;
  const readers::Cited* at = nullptr;  // of the first wrong one
  for (const auto* item : ports) {
    const ListedCable* const listed = listed_for(list, *item);
    if (listed == nullptr) continue;
    if (first_label(item->system) == listed->system) {
      ++right;
    } else {
      if (at == nullptr) at = listed->at;
      wrong.push_back(item);
    }
  }
  // All of two: exchanged with each other. All of others: it is another plan.
  const bool is_swap = wrong.size() == 2 && right == 0 &&
                       listed_for(list, *wrong[0])->system == first_label(wrong[1]->system) &&
                       listed_for(list, *wrong[1])->system == first_label(wrong[0]->system);
  if (wrong.empty() || (right == 0 && !is_swap)) return false;
  add_wiring(wrong, ", against the plan that the text states", Severity::kError, Confidence::kHigh,
             at, out);
  return true;
}

/// The one number in which names differ, for each; empty where they differ in more.
std::vector<unsigned> only_numbers(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> runs;
  for (const std::string& name : names)
    runs.push_back(runs_of(name));
  std::optional<std::size_t> place;
  for (const auto& name : runs) {
    if (name.size() != runs.front().size()) return {};
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (name[i] == runs.front()[i]) continue;
      if (place.value_or(i) != i || !is_digit_char(name[i].front())) return {};
      place = i;
    }
  }
  std::vector<unsigned> out;
  for (std::size_t i = 0; place && i < runs.size(); ++i) {
    const auto value = parse_u64(runs[i][*place]);
    if (!value || *value > 100'000) return {};
    out.push_back(static_cast<unsigned>(*value));
  }
  return out;
}

/// Numbers of ports and of the systems behind them go together, but for two that are exchanged.
void judge_by_numbers(const PortsOfHost& ports, const finding::Thresholds& limits,
                      finding::Judgement& out) {
  if (ports.size() <= limits.sisters) return;
  std::vector<std::string> names;
  std::vector<std::string> systems;
  for (const auto* item : ports) {
    names.push_back(item->port);
    systems.push_back(item->system);
  }
  const auto port = only_numbers(names);
  const auto system = only_numbers(systems);
  if (port.size() != ports.size() || system.size() != ports.size()) return;
  std::map<int, std::size_t> offsets;
  for (std::size_t i = 0; i < ports.size(); ++i)
    ++offsets[static_cast<int>(system[i]) - static_cast<int>(port[i])];
  const auto usual =
      std::max_element(offsets.begin(), offsets.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (static_cast<int>(system[i]) - static_cast<int>(port[i]) != usual->first) odd.push_back(i);
  const bool is_swap =
      odd.size() == 2 && usual->second >= limits.sisters_meant_alike &&
      static_cast<int>(system[odd[0]]) == static_cast<int>(port[odd[1]]) + usual->first &&
      static_cast<int>(system[odd[1]]) == static_cast<int>(port[odd[0]]) + usual->first;
  const bool is_one = odd.size() == 1 && usual->second >= limits.sisters;
  if (!is_swap && !is_one) return;
  PortsOfHost wrong;
  for (const std::size_t i : odd)
    wrong.push_back(ports[i]);
  // One that differs may be meant so, unless the switch is named after its rail.
  const bool is_rail =
      is_swap ? is_rail_name(wrong.front()->system) || is_rail_name(wrong.front()->port)
              : wrong.front()->system.find("rail") != std::string::npos;
  add_wiring(wrong,
             is_swap ? fmt::format(": exchanged, as the {} others show", usual->second)
                     : fmt::format(", unlike the {} others", usual->second),
             is_rail ? Severity::kError : Severity::kInfo,
             is_rail ? Confidence::kHigh : Confidence::kMedium, nullptr, out);
}

/// The same port of other hosts leads to another switch, and two of this host's are exchanged.
bool judge_by_others(const std::map<std::string, PortsOfHost>& hosts,
                     const finding::Thresholds& limits, finding::Judgement& out) {
  std::map<std::string, std::map<std::string, std::size_t>> systems;  // by port
  std::size_t count = 0;
  for (const auto& [host, ports] : hosts) {
    if (ports.front()->is_switch) continue;
    ++count;
    for (const auto* item : ports)
      ++systems[item->port][item->system];
  }
  const auto usual = [&](const std::string& port) {
    const auto& counts = systems[port];
    for (const auto& [system, times] : counts)
      if (times >= limits.sisters_meant_alike && times + 1 >= count) return system;
    return std::string();
  };
  for (const auto& [host, ports] : hosts) {
    if (count <= limits.sisters_meant_alike || ports.front()->is_switch) continue;
    PortsOfHost wrong;
    for (const auto* item : ports)
      if (const std::string wanted = usual(item->port); !wanted.empty() && wanted != item->system)
        wrong.push_back(item);
    const bool is_swap = wrong.size() == 2 && usual(wrong[0]->port) == wrong[1]->system &&
                         usual(wrong[1]->port) == wrong[0]->system;
    if (!is_swap) continue;
    add_wiring(wrong, ": exchanged, as the other hosts show", Severity::kError, Confidence::kHigh,
               nullptr, out);
    return true;
  }
  return false;
}

/// The digits of a MAC, however it is written; empty for anything else.
std::string mac_digits(std::string_view word) {
  constexpr std::size_t kDigits = 12;
  std::string out;
  for (const char c : readers::lower_case(word)) {
    if (c == ':' || c == '.' || c == '-') continue;
    if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) return {};
    out += c;
  }
  return out.size() == kDigits ? out : std::string();
}

/// What a switch says of a host's port, as the host would say it: its port and the switch that it
/// leads to. Some hosts send the MAC of the port, which other outputs of them name.
std::optional<readers::PasteNeighbour> seen_from_host(const PastedCase& input,
                                                      const readers::PasteNeighbour& item) {
  std::string port = item.remote_netdev;
  const std::string mac = mac_digits(port);
  if (!mac.empty()) {
    const auto& macs = input.paste.noted.macs;
    const auto own = std::find_if(macs.begin(), macs.end(), [&](const readers::PasteMac& other) {
      return mac_digits(other.mac) == mac && first_label(other.host) == first_label(item.system);
    });
    if (own == macs.end()) return std::nullopt;
    port = own->netdev;
  }
  if (!item.is_switch || port.empty() || item.host.empty()) return std::nullopt;
  readers::PasteNeighbour out = item;
  out.host = item.system.substr(0, item.system.find('.'));
  out.is_switch = false;
  out.port = port;
  out.system = item.host;
  out.remote_port = item.port;
  return out;
}

/// Neighbours as each end says it; those of hosts also from the other end.
std::vector<readers::PasteNeighbour> all_neighbours(const PastedCase& input) {
  std::vector<readers::PasteNeighbour> out = input.paste.neighbours;
  std::set<std::pair<std::string, std::string>> known;
  for (const readers::PasteNeighbour& item : out)
    known.emplace(first_label(item.host), item.port);
  for (const readers::PasteNeighbour& item : input.paste.neighbours) {
    auto other = seen_from_host(input, item);
    if (other && known.emplace(first_label(other->host), other->port).second)
      out.push_back(std::move(*other));
  }
  return out;
}

void judge_cables(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr || input.paste.neighbours.empty()) return;  // rules/wiring.cc
  const std::vector<readers::PasteNeighbour> all = all_neighbours(input);
  std::map<std::string, PortsOfHost> hosts;
  std::set<std::string> names;
  for (const readers::PasteNeighbour& item : all) {
    hosts[item.host].push_back(&item);
    names.insert(first_label(item.host));
  }
  const auto plan = plan_in(input);
  std::vector<ListedCable> list = listed_cables(input);
  add_led_cables(input, names, list);
  bool is_judged = judge_by_others(hosts, input.thresholds, out);
  if (plan && !is_judged) is_judged = judge_by_plan(*plan, hosts, out);
  for (const auto& [host, ports] : hosts)
    if (!is_judged && !ports.front()->is_switch) is_judged = judge_by_list(list, ports, out);
  for (const auto& [host, ports] : hosts)
    if (!is_judged && !ports.front()->is_switch) judge_by_numbers(ports, input.thresholds, out);
}

// ---- switches ----

/// Priorities that this switch pauses, as its ports and its configuration say it.
PrioritySet lossless_on(const PastedCase& input, const std::string& name) {
  PrioritySet out;
  const auto add = [&](const PrioritySet& set) {
    out = PrioritySet::from_mask(static_cast<std::uint8_t>(out.mask() | set.mask()));
  };
  const auto is_same = [&](const std::string& other) {
    return other == name || name.empty() || other.empty();
  };
  for (const readers::PasteLossless& item : input.paste.lossless)
    if (is_same(item.switch_name)) add(item.priorities);
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const evidence::SwitchPort& port : device.ports) {
        if (!is_same(device.name)) continue;
        if (port.pfc.is_known()) add(*port.pfc);
        if (port.pfc_active.is_known()) add(*port.pfc_active);
      }
  return out;
}

finding::Where switch_where(const std::string& name) {
  finding::Where where;
  where.switch_name = name;
  return where;
}

std::string switch_text(const std::string& name) {
  return name.empty() ? std::string("The switch") : name;
}

std::vector<Dscp> dscps_of_rdma(const PastedCase& input) {
  std::vector<Dscp> out = dscps_said(input);
  if (out.empty()) out = dscps_in_words(input.paste);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The class of one code point at a switch, from its database or its `show` output.
struct MappedPoint {
  std::string switch_name;
  Dscp dscp;
  TrafficClass traffic_class;
  finding::EvidenceLine line;
};

std::vector<MappedPoint> mapped_points(const PastedCase& input, const std::vector<Dscp>& wanted) {
  std::vector<MappedPoint> out;
  const auto is_wanted = [&](Dscp dscp) {
    return std::find(wanted.begin(), wanted.end(), dscp) != wanted.end();
  };
  for (const readers::PasteCodePoint& entry : input.paste.code_points)
    if (is_wanted(entry.dscp))
      out.push_back({entry.switch_name, entry.dscp, entry.traffic_class, line_of(entry.at)});
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const Dscp dscp : wanted) {
        if (!device.dscp_to_tc.is_known() || !device.dscp_to_tc->at(dscp.value())) continue;
        const TrafficClass to = *device.dscp_to_tc->at(dscp.value());
        out.push_back({device.name,
                       dscp,
                       to,
                       {.source = device.dscp_to_tc.source(),
                        .line = fmt::format("DSCP {}: class {}", dscp.value(), to.value())}});
      }
  return out;
}

/// RDMA's code point is in a class that the switch does not pause. Where it is in the class that
/// its bits say, PFC is on the wrong priority; else the map is wrong.
void judge_code_points(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;
  std::set<std::pair<std::string, unsigned>> judged;
  for (const MappedPoint& entry : mapped_points(input, dscps_of_rdma(input))) {
    const PrioritySet lossless = lossless_on(input, entry.switch_name);
    const unsigned to = entry.traffic_class.value();
    if (lossless.mask() == 0 || lossless.contains(Priority::of(to)) ||
        !judged.emplace(entry.switch_name, entry.dscp.value()).second)
      continue;
    const bool is_usual = to == entry.dscp.value() / 8;
    Finding finding = finding::make_finding(
        is_usual ? "pfc.wrong_priority" : "dscp.unmapped_hop",
        is_usual
            ? fmt::format(
                  "{} has PFC on priority {}; DSCP {}, which RDMA carries here, is in class "
                  "{}.",
                  switch_text(entry.switch_name), to_text(lossless), entry.dscp.value(), to)
            : fmt::format("{} maps DSCP {}, which RDMA carries here, to class {}: not one that PFC "
                          "protects.",
                          switch_text(entry.switch_name), entry.dscp.value(), to),
        switch_where(entry.switch_name));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(entry.line);
    out.findings.push_back(std::move(finding));
  }
}

/// `show pfcwd config` lists no port, and the switch has lossless priorities.
void judge_watchdogs(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches) {
      if (!device.watchdog.enabled.is(false)) continue;
      const PrioritySet lossless = lossless_on(input, device.name);
      if (lossless.mask() == 0) continue;
      Finding finding = finding::make_finding(
          "watchdog.off",
          fmt::format("{} has PFC on priority {} and a PFC watchdog on no port.",
                      switch_text(device.name), to_text(lossless)),
          switch_where(device.name));
      finding.confidence = Confidence::kHigh;
      finding.evidence.push_back(
          {.source = device.watchdog.enabled.source(), .line = "PFC watchdog: no port"});
      out.findings.push_back(std::move(finding));
    }
}

/// Where this classifier puts a code point; nullptr where it has no entry for it.
const readers::PasteClassifier::Entry* entry_of(const readers::PasteClassifier& classifier,
                                                Dscp dscp) {
  for (const auto& entry : classifier.entries)
    if (entry.dscp == dscp) return &entry;
  return nullptr;
}

/// A code point of RDMA that no classifier of the switch has in its lossless class, while one of
/// them has others there.
void judge_classifiers(const PastedCase& input, finding::Judgement& out) {
  const std::vector<Dscp> said = dscps_of_rdma(input);
  const auto& all = input.paste.classifiers;
  std::set<std::pair<std::string, unsigned>> judged;
  for (const readers::PasteClassifier& classifier : all) {
    const auto lossless = std::find_if(
        classifier.entries.begin(), classifier.entries.end(),
        [](const auto& entry) { return readers::is_lossless_class(entry.forwarding_class); });
    if (lossless == classifier.entries.end()) continue;
    for (const Dscp dscp : said) {
      const auto* const entry = entry_of(classifier, dscp);
      const bool is_placed =
          std::any_of(all.begin(), all.end(), [&](const readers::PasteClassifier& other) {
            const auto* const there = entry_of(other, dscp);
            return other.switch_name == classifier.switch_name && there != nullptr &&
                   readers::is_lossless_class(there->forwarding_class);
          });
      if (is_placed || (entry == nullptr && !classifier.is_whole) ||
          !judged.emplace(classifier.switch_name, dscp.value()).second)
        continue;
      Finding finding = finding::make_finding(
          "dscp.unmapped_hop",
          fmt::format("{}: classifier {} has DSCP {}, which RDMA carries here, {}, and {} in {}.",
                      switch_text(classifier.switch_name), classifier.name, dscp.value(),
                      entry == nullptr ? std::string("in no forwarding class")
                                       : fmt::format("in {}", entry->forwarding_class),
                      lossless->dscp.value(), lossless->forwarding_class),
          switch_where(classifier.switch_name));
      finding.confidence = Confidence::kHigh;
      finding.evidence = {line_of(classifier.at),
                          line_of(entry == nullptr ? lossless->at : entry->at)};
      out.findings.push_back(std::move(finding));
    }
  }
}

/// Switches of one text, most of them lossless: one that is lossy drops what the others pause.
/// Where none is lossless the fabric is meant to be lossy.
void judge_roce_modes(const PastedCase& input, finding::Judgement& out) {
  std::map<std::string, const readers::PasteRoceMode*> modes;  // the last that was shown
  for (const readers::PasteRoceMode& mode : input.paste.roce_modes)
    modes[mode.switch_name] = &mode;
  std::vector<const readers::PasteRoceMode*> lossy;
  std::vector<const readers::PasteRoceMode*> lossless;
  for (const auto& [name, mode] : modes)
    (mode->is_lossless ? lossless : lossy).push_back(mode);
  if (lossless.empty() || lossy.size() > lossless.size()) return;
  bool has_pfc = false;  // at a host
  for (const evidence::Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics)
      has_pfc = has_pfc || (nic.qos.pfc.is_known() && nic.qos.pfc->count() > 0);
  const bool is_sure = has_pfc || lossless.size() > lossy.size();
  for (const auto* mode : lossy) {
    Finding finding = finding::make_finding(
        "pfc.off",
        fmt::format("{} runs RoCE in mode lossy, without PFC; {} {} lossless{}.", mode->switch_name,
                    lossless.front()->switch_name,
                    lossless.size() == 1 ? std::string("is")
                                         : fmt::format("and {} more are", lossless.size() - 1),
                    has_pfc ? ", and hosts use PFC" : ""),
        switch_where(mode->switch_name));
    finding.confidence = is_sure ? Confidence::kHigh : Confidence::kMedium;
    if (!is_sure) finding.severity = Severity::kWarning;
    finding.evidence = {line_of(mode->at), line_of(lossless.front()->at)};
    out.findings.push_back(std::move(finding));
  }
}

/// The switch pauses other priorities than the hosts do.
void judge_lossless(const PastedCase& input, finding::Judgement& out) {
  PrioritySet hosts;
  std::string source;
  for (const evidence::Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics)
      if (nic.qos.pfc.is_known() && nic.qos.pfc->count() == 1) {
        hosts =
            PrioritySet::from_mask(static_cast<std::uint8_t>(hosts.mask() | nic.qos.pfc->mask()));
        source = nic.qos.pfc.source();
      }
  const bool is_found =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id == "pfc.wrong_priority"; });
  if (hosts.count() != 1 || is_found) return;
  std::map<std::string, PrioritySet> paused;  // a statement may name one of several
  for (const readers::PasteLossless& item : input.paste.lossless) {
    PrioritySet& all = paused[item.switch_name];
    all = PrioritySet::from_mask(static_cast<std::uint8_t>(all.mask() | item.priorities.mask()));
  }
  for (const readers::PasteLossless& item : input.paste.lossless) {
    const bool is_shared = (paused[item.switch_name].mask() & hosts.mask()) != 0;
    if (item.priorities.count() == 0 || is_shared) continue;
    Finding finding = finding::make_finding(
        "pfc.wrong_priority",
        fmt::format("{} pauses priority {}, the hosts {}: neither protects what the other sends.",
                    switch_text(item.switch_name), to_text(item.priorities), to_text(hosts)),
        switch_where(item.switch_name));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(item.at),
                        {.source = source, .line = "PFC of the host: " + to_text(hosts)}};
    out.findings.push_back(std::move(finding));
    return;
  }
}

bool names_a_host(const PastedCase& input, std::string_view text) {
  return std::any_of(input.evidence.begin(), input.evidence.end(),
                     [&](const evidence::Evidence& evidence) {
                       const std::string& host = evidence.provenance.host;
                       return evidence.switches.empty() && host != readers::kThisHost &&
                              !host.empty() && text.find(host) != std::string_view::npos;
                     });
}

/// The port is lossless, it is named after a rail or after a host of the text, or leads to one: a
/// limit at an uplink to somewhere else is nobody's fault.
bool is_port_of_rdma(const PastedCase& input, const readers::PastePortRate& limit) {
  const auto is_this = [&](const std::string& name, const std::string& port) {
    return name == limit.switch_name && port == limit.port;
  };
  for (const readers::PastePortUse& use : input.paste.port_uses)
    if (is_this(use.switch_name, use.port) &&
        (use.is_lossless || is_rail_name(readers::lower_case(use.description)) ||
         names_a_host(input, use.description)))
      return true;
  for (const readers::PasteNeighbour& item : input.paste.neighbours) {
    const bool is_far_end =
        item.is_switch ? is_this(item.host, item.port) : is_this(item.system, item.remote_port);
    if (is_far_end && (!item.is_switch || names_a_host(input, item.system))) return true;
  }
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const evidence::SwitchPort& port : device.ports)
        if (is_this(device.name, port.name) &&
            ((port.pfc.is_known() && port.pfc->count() > 0) ||
             (port.pfc_active.is_known() && port.pfc_active->count() > 0)))
          return true;
  return false;
}

/// A port of a switch sends less than its line carries: a limit is set on it.
void judge_port_limits(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;
  for (const readers::PastePortRate& limit : input.paste.port_rates) {
    if (!limit.is_limit) continue;
    const auto& all = input.paste.port_rates;
    const auto line = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return !other.is_limit && other.switch_name == limit.switch_name &&
             other.port == limit.port && limit.rate < other.rate;
    });
    if (line == all.end()) continue;
    finding::Where where = switch_where(limit.switch_name);
    where.port = limit.port;
    Finding finding = finding::make_finding(
        "shaper.on_rdma_path",
        fmt::format("{} {} sends at most {} on a line of {}.", switch_text(limit.switch_name),
                    limit.port, to_text(limit.rate), to_text(line->rate)),
        std::move(where));
    const bool is_of_rdma = is_port_of_rdma(input, limit);
    finding.confidence = is_of_rdma ? Confidence::kHigh : Confidence::kLow;
    if (!is_of_rdma) finding.severity = Severity::kInfo;
    finding.evidence = {line_of(limit.at), line_of(line->at)};
    out.findings.push_back(std::move(finding));
  }
}

/// Another switch of its tier marks by its profile of this name.
const readers::PasteWred* marking_sister(const PastedCase& input, const readers::PasteWred& item) {
  if (item.switch_name.empty() || !readers::is_lossless_class(item.profile)) return nullptr;
  for (const readers::PasteWred& other : input.paste.wred)
    if (other.marks && other.profile == item.profile && other.switch_name != item.switch_name &&
        tier_in(other.switch_name) == tier_in(item.switch_name))
      return &other;
  return nullptr;
}

void judge_wred(const PastedCase& input, finding::Judgement& out) {
  std::set<std::string> judged;
  for (const readers::PasteWred& item : input.paste.wred) {
    if (item.marks) continue;
    if (const auto* const sister = item.queue ? nullptr : marking_sister(input, item)) {
      if (!judged.insert(item.switch_name).second) continue;
      Finding finding =
          finding::make_finding("ecn.off_on_lossless",
                                fmt::format("{}: profile {} does not mark; that of {} does.",
                                            item.switch_name, item.profile, sister->switch_name),
                                switch_where(item.switch_name));
      finding.confidence = Confidence::kHigh;
      finding.evidence = {line_of(item.at), line_of(sister->at)};
      out.findings.push_back(std::move(finding));
      continue;
    }
    const PrioritySet lossless = lossless_on(input, item.switch_name);
    const bool is_named = item.profile.find("LOSSLESS") != std::string::npos &&
                          item.profile.find("LOSSY") == std::string::npos;
    const bool is_lossless =
        item.queue ? lossless.contains(Priority::of(item.queue->value())) : is_named;
    if (!is_lossless) continue;
    Finding finding = finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{}: WRED of {} drops packets and does not mark them: ECN is off on a queue "
                    "that PFC protects.",
                    switch_text(item.switch_name),
                    item.queue ? fmt::format("queue {}", item.queue->value()) : item.profile),
        switch_where(item.switch_name));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(item.at));
    out.findings.push_back(std::move(finding));
  }
}

}  // namespace

void judge_seen(const PastedCase& input, finding::Judgement& out) {
  for (const evidence::Evidence& host : input.evidence)
    if (host.provenance.origin == evidence::Origin::kText && input.intent == nullptr)
      judge_speeds_of(input, host, out);
  for (const evidence::Evidence& host : input.evidence)
    if (host.provenance.origin == evidence::Origin::kText && input.intent == nullptr)
      judge_down_port(input, host, out);
  judge_mtus(input, out);
  judge_carriers(input, out);
  judge_addresses(input, out);
  judge_missing_route(input, out);
  judge_gid_families(input, out);
  judge_loops(input, out);
  judge_protocols(input, out);
  for (const evidence::Evidence& host : input.evidence)
    judge_container(input, host, out);
  judge_cables(input, out);
  judge_code_points(input, out);
  judge_watchdogs(input, out);
  judge_classifiers(input, out);
  judge_roce_modes(input, out);
  judge_lossless(input, out);
  judge_wred(input, out);
  judge_port_limits(input, out);
  judge_config_pieces(input, out);
  judge_rows(input, out);
}

}  // namespace weir::diagnose
