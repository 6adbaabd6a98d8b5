// The shape of the fabric: subnets, hashing, capacity, and cyclic buffer dependencies.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "design/fabric/subnet.h"
#include "design/file/words.h"
#include "design/lint/rules.h"
#include "design/prove/islands.h"
#include "units/format.h"

namespace weir::design {

void check_rail_same_subnet(LintCase& c) {
  // Subnets go by rail, so the host with the most rails shows every pair.
  const auto widest = std::max_element(
      c.intent.hosts.begin(), c.intent.hosts.end(),
      [](const HostIntent& a, const HostIntent& b) { return a.nics.size() < b.nics.size(); });
  if (widest == c.intent.hosts.end() || widest->nics.size() < 2) return;
  std::vector<Subnet> subnets;
  for (const NicIntent& nic : widest->nics)
    if (const auto subnet = parse_subnet(nic.subnet)) subnets.push_back(*subnet);
  std::set<std::size_t> rails;
  std::optional<std::pair<std::size_t, std::size_t>> first;
  for (std::size_t a = 0; a < subnets.size(); ++a) {
    for (std::size_t b = a + 1; b < subnets.size(); ++b) {
      if (!subnets[a].overlaps(subnets[b])) continue;
      if (!first) first = {a, b};
      rails.insert({a, b});
    }
  }
  if (!first) return;
  const auto causes =
      host_causes(c, [&](const HostIntent& host) { return host.nics.size() > first->second; });
  std::size_t hosts = 0;
  for (const HostCause& cause : causes)
    hosts += cause.nodes.size();
  auto& found = c.report(
      "rail.same_subnet",
      first_known({c.design.addressing.subnets.at(), c.group_of(*widest).value.rails.at(),
                   c.group_of(*widest).at}),
      fmt::format("{} rails of {} share a subnet (rail {} in {}, rail {} in {}): the host answers "
                  "through any of them",
                  rails.size(), count_and_first(hosts, causes.front().first().name, "hosts"),
                  first->first, subnets[first->first].to_text(), first->second,
                  subnets[first->second].to_text()));
  found.where.host = causes.front().first().name;
  found.where.rail = std::to_string(first->second);
  const bool is_v4 = *c.design.addressing.family == AddressFamily::kIpv4;
  LintCase::add_fix(found,
                    {fmt::format("addressing: {{ subnets: \"{}\" }}",
                                 is_v4 ? "10.{rail}.0.0/16" : "fd00:{rail}::/64")},
                    "{rail} stands for the rail's number; or a list with one subnet per rail");
}

namespace {

struct LeafSubnet {
  Subnet subnet;
  std::uint32_t leaf = 0;
  const HostIntent* host = nullptr;
  const NicIntent* nic = nullptr;
};

/// One entry per subnet and leaf, nested subnets after those that contain them.
std::vector<LeafSubnet> subnets_by_leaf(const Intent& intent) {
  std::map<std::pair<std::string, std::uint32_t>, LeafSubnet> seen;
  for (const HostIntent& host : intent.hosts) {
    for (const NicIntent& nic : host.nics) {
      const PortRef end = intent.links[nic.link].upper;
      if (end.kind != NodeKind::kSwitch) continue;
      const auto [at, is_new] =
          seen.try_emplace({nic.subnet, end.node}, LeafSubnet{{}, end.node, &host, &nic});
      if (!is_new) continue;
      const auto parsed = parse_subnet(nic.subnet);
      if (parsed)
        at->second.subnet = *parsed;
      else
        seen.erase(at);
    }
  }
  std::vector<LeafSubnet> out;
  for (const auto& [key, entry] : seen)
    out.push_back(entry);
  std::sort(out.begin(), out.end(), [](const LeafSubnet& a, const LeafSubnet& b) {
    return std::tie(a.subnet.address, a.subnet.prefix, a.leaf) <
           std::tie(b.subnet.address, b.subnet.prefix, b.leaf);
  });
  return out;
}

}  // namespace

void check_subnet_two_leaves(LintCase& c) {
  if (c.intent.l3_from != Boundary::kLeaf) return;  // below a spine's gateway it is one domain
  if (c.has_reported("rail.same_subnet")) return;   // the same line, and the first thing to fix
  const std::vector<LeafSubnet> all = subnets_by_leaf(c.intent);
  std::optional<std::pair<const LeafSubnet*, const LeafSubnet*>> first;
  std::set<std::string> at_fault;
  const LeafSubnet* widest = nullptr;  // the last one that contains what follows
  for (const LeafSubnet& entry : all) {
    const bool is_inside = widest != nullptr && widest->subnet.overlaps(entry.subnet);
    if (!is_inside) {
      widest = &entry;
    } else if (entry.leaf != widest->leaf) {
      if (!first) first = {widest, &entry};
      at_fault.insert(entry.subnet.to_text());
    }
  }
  if (!first) return;
  const auto& [here, there] = *first;
  const std::string leaf_a = c.intent.switches[here->leaf].name;
  const std::string leaf_b = c.intent.switches[there->leaf].name;
  auto& found = c.report(
      "subnet.two_leaves",
      first_known({c.design.addressing.subnets.at(), c.design.addressing.l3_from.at()}),
      fmt::format("{} is behind {} and behind {}, which both route: half of the traffic to it "
                  "arrives at the wrong leaf",
                  at_fault.size() == 1 ? there->subnet.to_text()
                                       : fmt::format("each of {} subnets ({} is the first)",
                                                     at_fault.size(), there->subnet.to_text()),
                  leaf_a, leaf_b));
  found.where.switch_name = leaf_b;
  LintCase::add_evidence(
      found, fmt::format("{} rail {} ({}) is on {}, {} rail {} ({}) on {}", here->host->name,
                         here->nic->rail, here->nic->address, leaf_a, there->host->name,
                         there->nic->rail, there->nic->address, leaf_b));
  const bool is_v4 = *c.design.addressing.family == AddressFamily::kIpv4;
  LintCase::add_fix(
      found,
      {fmt::format("addressing: {{ subnets: \"{}\" }}",
                   is_v4 ? "10.{rail}.{leaf}.0/24" : "fd00:{rail}:{leaf}::/64")},
      "{leaf} counts the leaves from 0; or `nic_prefix: 31` for a subnet per NIC; or l3_from: "
      "spine, where the leaves only bridge");
}

void check_rail_isolated(LintCase& c) {
  const std::vector<std::uint32_t> island = islands(c.intent);
  const auto is_split = [&](const HostIntent& host) {
    return has_isolated_rails(c.intent, host, island);
  };
  for (const HostCause& cause : host_causes(c, is_split)) {
    auto& found = c.report(
        "rail.isolated", first_known({cause.group->value.rails.at(), cause.group->at}),
        fmt::format(
            "the rails of {} meet at no switch: GPUs on different rails of different hosts have "
            "no path",
            to_text(cause)));
    found.where.host = cause.first().name;
    const bool crosses = *c.design.nccl.cross_nic;
    if (crosses)
      found.severity = finding::Severity::kWarning;  // the jobs are set to use such paths
    LintCase::add_fix(
        found, {"nccl: { cross_nic: off }"},
        crosses ? "and PXN on in every job, or a second tier that joins the rails"
                : "as it is; jobs also need PXN on, or a second tier that joins the rails");
  }
}

void check_routing_ordering_risk(LintCase& c) {
  const LoadBalancing mode = *c.design.load_balancing.mode;
  if (mode == LoadBalancing::kEcmp) return;
  const auto causes = host_causes(c, [&](const HostIntent& host) {
    const Reordering takes = host.nic_model->reordering;
    // Spraying to a NIC that takes no reordering at all is platform.cannot.
    return takes == Reordering::kWrites ||
           (takes == Reordering::kNone && mode != LoadBalancing::kSpray);
  });
  for (const HostCause& cause : causes) {
    const NicModel& nic = *cause.first().nic_model;
    auto& found = c.report(
        "routing.ordering_risk", first_known({c.design.load_balancing.mode.at(), cause.group->at}),
        fmt::format("load balancing '{}' delivers packets out of order; {} of {} takes that {}",
                    to_word(mode), nic.title, to_text(cause),
                    nic.reordering == Reordering::kWrites ? "for RDMA WRITEs only, once told to"
                                                          : "for loss"));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {"load_balancing: { mode: ecmp }"},
                      "or keep it, where no workload relies on the order of its messages");
  }
}

void check_ecmp_same_seed(LintCase& c) {
  if (*c.design.load_balancing.mode == LoadBalancing::kSpray) return;  // nothing is hashed
  // Seed → the first switch that has it at each tier.
  std::map<std::uint32_t, std::map<int, const SwitchIntent*>> by_seed;
  for (const SwitchIntent& node : c.intent.switches)
    by_seed[node.ecmp_seed].emplace(node.tier, &node);
  for (const auto& [seed, tiers] : by_seed) {
    if (tiers.size() < 2) continue;
    const SwitchIntent& low = *tiers.begin()->second;
    const SwitchIntent& high = *std::next(tiers.begin())->second;
    const auto count = static_cast<std::size_t>(std::count_if(
        c.intent.switches.begin(), c.intent.switches.end(),
        [wanted = seed](const SwitchIntent& node) { return node.ecmp_seed == wanted; }));
    auto& found = c.report(
        "ecmp.same_seed",
        first_known({c.group_of(high).value.ecmp_seed.at(), c.group_of(low).value.ecmp_seed.at(),
                     c.design.load_balancing.seeds.at(), c.group_of(high).at}),
        fmt::format(
            "{} (tier {}) and {} (tier {}) hash with seed {}: the second tier repeats the first "
            "one's choice and leaves links idle",
            low.name, low.tier, high.name, high.tier, seed));
    found.where.switch_name = high.name;
    LintCase::add_evidence(
        found, fmt::format("{} switches of {} tiers have seed {}", count, tiers.size(), seed));
    if (c.group_of(high).value.ecmp_seed.is_written()) {
      LintCase::add_fix(
          found, {fmt::format("ecmp_seed: {}", seed + 1)},
          fmt::format("under switches, {}; or delete the line: each switch then has a seed "
                      "of its own",
                      c.group_of(high).name));
    } else {
      LintCase::add_fix(found, {"load_balancing: { seeds: per-switch }"});
    }
  }
}

namespace {

int tier_of(const Intent& intent, PortRef end) {
  return end.kind == NodeKind::kHost ? 0 : intent.switches[end.node].tier;
}

struct Capacity {
  BitRate down;
  BitRate up;
  std::uint32_t uplinks = 0;  // a group of links that goes up
};

Capacity capacity_of(const Intent& intent, const SwitchIntent& node) {
  Capacity capacity;
  for (const SwitchPortIntent& port : node.ports) {
    const int peer = tier_of(intent, port.peer);
    if (peer < node.tier) capacity.down += port.speed;
    if (peer > node.tier) {
      capacity.up += port.speed;
      capacity.uplinks = intent.links[port.link].group;
    }
  }
  return capacity;
}

}  // namespace

void check_fabric_oversubscribed(LintCase& c) {
  // Switches of one group with the same capacities are one cause.
  struct Key {
    std::uint32_t group;
    BitRate down;
    BitRate up;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<const SwitchIntent*>> causes;
  std::map<Key, std::uint32_t> uplinks;
  for (const SwitchIntent& node : c.intent.switches) {
    const Capacity capacity = capacity_of(c.intent, node);
    if (capacity.up == BitRate() || capacity.down <= capacity.up) continue;
    const Key key{node.group, capacity.down, capacity.up};
    causes[key].push_back(&node);
    uplinks[key] = capacity.uplinks;
  }
  for (const auto& [key, nodes] : causes) {
    const double ratio = static_cast<double>(key.down.raw()) / static_cast<double>(key.up.raw());
    const LinkGroup& links = c.design.links[uplinks[key]];
    auto& found = c.report(
        "fabric.oversubscribed", first_known({links.count.at(), links.speed.at(), links.at}),
        fmt::format("{}: {} down to {} up, oversubscribed {:.3g}:1",
                    count_and_first(nodes.size(), nodes.front()->name, "switches"),
                    to_text(key.down), to_text(key.up), ratio));
    found.where.switch_name = nodes.front()->name;
    LintCase::add_evidence(
        found, fmt::format("an all-to-all across the uplinks takes up to {:.3g} times as long "
                           "as the NICs need",
                           ratio));
    LintCase::add_fix(found,
                      {fmt::format("count: {}", static_cast<int>(std::ceil(*links.count * ratio)))},
                      fmt::format("in the link from {} to {}, where the ports allow it",
                                  links.from->text, links.to->text));
  }
}

namespace {

// Two switches with more than one way up: what a detour takes.
bool has_detours(const Intent& intent) {
  std::map<std::uint32_t, std::set<std::uint32_t>> ups;  // lower switch → upper switches
  for (const LinkIntent& link : intent.links) {
    if (joins_switches(link)) ups[link.lower.node].insert(link.upper.node);
  }
  const auto wide = std::count_if(ups.begin(), ups.end(),
                                  [](const auto& entry) { return entry.second.size() > 1; });
  return wide > 1;
}

void report_bounce(LintCase& c, int lossless) {
  const bool has_hops = std::any_of(c.intent.links.begin(), c.intent.links.end(), joins_switches);
  if (lossless != 1 || !has_hops) return;
  auto& found = c.report("routing.cyclic_buffer_dependency", c.design.routing.at(),
                         "routing: bounce lets a packet go up again after it came down, on the one "
                         "lossless priority: two "
                         "such detours can wait for each other's buffer for ever");
  LintCase::add_evidence(
      found,
      "rule that breaks: after a step down there is no step up (valley-free); with it, "
      "buffers depend on each other upwards, then downwards, and never in a cycle");
  LintCase::add_evidence(found,
                         "k bounces need k + 1 lossless priorities (Tagger); this design has 1");
  if (!has_detours(c.intent)) {
    found.severity = finding::Severity::kWarning;
    LintCase::add_evidence(
        found, "no two switches have two ways to each other yet, so no detour exists today");
  }
  LintCase::add_fix(found, {"routing: updown"},
                    "some pairs are then cut off when two links fail; that is the price");
}

// Links of one group that do not go from one tier to the next.
struct OddLinks {
  std::size_t count = 0;
  const LinkIntent* first = nullptr;
};

std::map<std::uint32_t, OddLinks> links_with(const Intent& intent,
                                             const std::function<bool(int step)>& is_odd) {
  std::map<std::uint32_t, OddLinks> by_group;
  for (const LinkIntent& link : intent.links) {
    if (!joins_switches(link)) continue;
    if (!is_odd(std::abs(tier_of(intent, link.upper) - tier_of(intent, link.lower)))) continue;
    OddLinks& odd = by_group[link.group];
    if (odd.count++ == 0) odd.first = &link;
  }
  return by_group;
}

finding::Finding& report_odd(LintCase& c, std::uint32_t group, const OddLinks& odd,
                             std::string_view what, std::string_view consequence) {
  const std::string first = fmt::format("{} to {}", c.intent.switches[odd.first->lower.node].name,
                                        c.intent.switches[odd.first->upper.node].name);
  auto& found = c.report(
      "routing.cyclic_buffer_dependency", c.design.links[group].at,
      fmt::format("{} {}: {}", count_and_first(odd.count, first, "links"), what, consequence));
  found.where.link = first;
  return found;
}

void report_odd_links(LintCase& c) {
  for (const auto& [group, odd] : links_with(c.intent, [](int step) { return step == 0; })) {
    auto& found =
        report_odd(c, group, odd, odd.count == 1 ? "stays within one tier" : "stay within one tier",
                   "a path that uses it goes neither up nor down, and lossless buffers can wait "
                   "for each other in a "
                   "cycle");
    LintCase::add_evidence(
        found, fmt::format("both ends are tier {}; rule that breaks: every step goes to another "
                           "tier, first up and then down",
                           tier_of(c.intent, odd.first->lower)));
    LintCase::add_fix(found, {},
                      "delete the link, or keep lossless traffic off it (PFC off at both ends)");
  }
  for (const auto& [group, odd] : links_with(c.intent, [](int step) { return step > 1; })) {
    auto& found = report_odd(c, group, odd, odd.count == 1 ? "skips a tier" : "skip a tier",
                             "shortest paths that use it need not go up and then down");
    // Up and down over the tiers has no cycle even with shortcuts; shortest paths may have one.
    found.severity = finding::Severity::kWarning;
    LintCase::add_evidence(
        found,
        fmt::format("tier {} to tier {}; routes that go strictly up and then down are "
                    "safe, a protocol that takes the shortest path does not guarantee that",
                    tier_of(c.intent, odd.first->lower), tier_of(c.intent, odd.first->upper)));
    LintCase::add_fix(found, {},
                      "connect neighbouring tiers only, or enforce up-down routes by policy");
  }
}

}  // namespace

void check_routing_cyclic_buffer_dependency(LintCase& c) {
  // All switches have the same classes.
  const int lossless = c.intent.switches.empty() ? 0 : c.intent.switches.front().lossless.count();
  if (lossless == 0) return;
  if (c.intent.routing == Routing::kBounce) report_bounce(c, lossless);
  report_odd_links(c);
}

}  // namespace weir::design
