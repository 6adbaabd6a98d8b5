#include "design/fabric/topology.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "design/fabric/patterns.h"

namespace weir::design {
namespace {

constexpr std::size_t kMaxCables = 2'000'000;

struct Place {
  NodeKind kind;
  std::uint32_t index;
};

class Expander {
 public:
  explicit Expander(const Design& design) : design_(design) {}

  Topology expand() {
    add_nodes(design_.hosts, NodeKind::kHost, out_.hosts);
    add_nodes(design_.switches, NodeKind::kSwitch, out_.switches);
    out_.switch_ports.assign(out_.switches.size(), 0);
    for (const Node& host : out_.hosts)
      nic_links_.emplace_back(static_cast<std::size_t>(*design_.hosts[host.group].value.rails), 0);
    if (!out_.errors.empty()) return std::move(out_);
    for (std::uint32_t i = 0; i < design_.links.size() && out_.errors.empty(); ++i)
      add_links(design_.links[i], i);
    if (out_.errors.empty()) check_ports();
    return std::move(out_);
  }

 private:
  void error(TextPosition at, std::string message) {
    out_.errors.push_back({at, std::move(message)});
  }

  template <class Group>
  void add_nodes(const std::vector<Named<Group>>& groups, NodeKind kind, std::vector<Node>& nodes) {
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      const auto& group = groups[g];
      const auto names = expand_names(group.value.names->text);
      if (!names) {
        error(group.value.names.at(), names.error().what);
        continue;
      }
      group_names_.emplace_back(group.name);
      auto& members = members_[group.name];
      for (const std::string& name : *names) {
        const Place place{kind, static_cast<std::uint32_t>(nodes.size())};
        if (!places_.emplace(name, place).second) {
          error(group.value.names.at(),
                fmt::format("'{}' is the name of another node already", name));
          return;
        }
        members.push_back(place);
        nodes.push_back({name, kind, g});
      }
    }
  }

  // A group's members, or the nodes that a pattern names.
  std::vector<Place> resolve(const Setting<NamePattern>& setting) {
    if (const auto group = members_.find(setting->text); group != members_.end())
      return group->second;
    std::vector<Place> places;
    const auto names = expand_names(setting->text);
    if (!names) {
      error(setting.at(), names.error().what);
      return {};
    }
    for (const std::string& name : *names) {
      const auto found = places_.find(name);
      if (found == places_.end()) {
        error(setting.at(), fmt::format("'{}' is neither a group nor a node{}", name,
                                        did_you_mean(name, group_names_)));
        return {};
      }
      places.push_back(found->second);
    }
    return places;
  }

  void add_links(const LinkGroup& link, std::uint32_t group) {
    const std::vector<Place> from = resolve(link.from);
    const std::vector<Place> to = resolve(link.to);
    if (!out_.errors.empty() || from.empty() || to.empty()) return;
    const bool to_hosts =
        std::any_of(to.begin(), to.end(), [](const Place& p) { return p.kind == NodeKind::kHost; });
    const bool from_hosts = from.front().kind == NodeKind::kHost;
    const bool mixed = std::any_of(from.begin(), from.end(), [&](const Place& p) {
      return (p.kind == NodeKind::kHost) != from_hosts;
    });
    if (mixed) return error(link.from.at(), "hosts and switches in one 'from': write two links");
    if (to_hosts && !(from_hosts && *link.wiring == Wiring::kMesh))
      return error(link.to.at(),
                   "a host as the upper end: 'from' is the lower end, hosts before switches");
    if (*link.lag && from_hosts)
      return error(link.lag.at(),
                   "lag: a port-channel joins links between switches; the NICs of a host are rails "
                   "with a link each");
    if (*link.lag && *link.count < 2)
      return error(link.lag.at(),
                   "lag: expected parallel links, count of 2 or more, found count 1");
    part_ = 0;
    switch (*link.wiring) {
      case Wiring::kBlock: return block(link, group, from, to);
      case Wiring::kRail: return rail(link, group, from, to);
      case Wiring::kMesh: return mesh(link, group, from, to);
      case Wiring::kStripe: return stripe(link, group, from, to);
    }
  }

  // Parts of equal size, or an error at the link.
  bool divides(const LinkGroup& link, std::size_t what, std::size_t parts, std::string_view words) {
    if (parts > 0 && what % parts == 0) return true;
    error(link.at, fmt::format("{} {} cannot be split into {} equal parts", what, words, parts));
    return false;
  }

  // All rails of a host go to the same switch.
  void block(const LinkGroup& link, std::uint32_t group, const std::vector<Place>& from,
             const std::vector<Place>& to) {
    if (!divides(link, from.size(), to.size(), "nodes of 'from'")) return;
    const std::size_t part = from.size() / to.size();
    for (std::size_t i = 0; i < from.size(); ++i)
      for (std::uint32_t r = 0; r < rails_of(from[i]); ++r)
        connect(link, group, from[i], r, to[i / part]);
  }

  void rail(const LinkGroup& link, std::uint32_t group, const std::vector<Place>& from,
            const std::vector<Place>& to) {
    const auto groups = static_cast<std::size_t>(*link.groups);
    if (from.front().kind != NodeKind::kHost)
      return error(link.wiring.at(), "rail wiring is for hosts");
    if (!divides(link, from.size(), groups, "hosts") ||
        !divides(link, to.size(), groups, "switches"))
      return;
    const std::size_t hosts = from.size() / groups;
    const std::size_t leaves = to.size() / groups;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint32_t rails = rails_of(from[i]);
      if (rails % leaves != 0)
        return error(link.at,
                     fmt::format("{} rails do not spread evenly over {} switches", rails, leaves));
      part_ = static_cast<int>(i / hosts);
      for (std::uint32_t r = 0; r < rails; ++r)
        connect(link, group, from[i], r, to[(i / hosts) * leaves + r * leaves / rails]);
    }
  }

  void mesh(const LinkGroup& link, std::uint32_t group, const std::vector<Place>& from,
            const std::vector<Place>& to) {
    const auto groups = static_cast<std::size_t>(*link.groups);
    if (!divides(link, from.size(), groups, "nodes of 'from'") ||
        !divides(link, to.size(), groups, "nodes of 'to'"))
      return;
    const std::size_t lower = from.size() / groups;
    const std::size_t upper = to.size() / groups;
    for (std::size_t i = 0; i < from.size(); ++i) {
      part_ = static_cast<int>(i / lower);
      for (std::size_t j = 0; j < upper && out_.errors.empty(); ++j)
        connect(link, group, from[i], kNextRail, to[(i / lower) * upper + j]);
    }
  }

  // Node i of each part of 'from' to every node of part i of 'to': the planes of a three-tier Clos.
  void stripe(const LinkGroup& link, std::uint32_t group, const std::vector<Place>& from,
              const std::vector<Place>& to) {
    const auto groups = static_cast<std::size_t>(*link.groups);
    if (!divides(link, from.size(), groups, "nodes of 'from'")) return;
    const std::size_t planes = from.size() / groups;
    if (!divides(link, to.size(), planes, "nodes of 'to'")) return;
    const std::size_t width = to.size() / planes;
    for (std::size_t i = 0; i < from.size(); ++i) {
      part_ = static_cast<int>(i / planes);
      for (std::size_t j = 0; j < width && out_.errors.empty(); ++j)
        connect(link, group, from[i], kNextRail, to[(i % planes) * width + j]);
    }
  }

  static constexpr std::uint32_t kNextRail = 0xFFFFFFFFU;

  [[nodiscard]] std::uint32_t rails_of(const Place& place) const {
    return place.kind == NodeKind::kHost
               ? static_cast<std::uint32_t>(nic_links_[place.index].size())
               : 1;
  }

  // The port of `place` for its next link; a host's NICs have one cable each.
  PortRef port_of(const LinkGroup& link, const Place& place, std::uint32_t rail) {
    if (place.kind == NodeKind::kSwitch)
      return {NodeKind::kSwitch, place.index, out_.switch_ports[place.index]++};
    auto& used = nic_links_[place.index];
    if (rail == kNextRail)
      rail = static_cast<std::uint32_t>(std::find(used.begin(), used.end(), 0) - used.begin());
    if (rail >= used.size() || used[rail] != 0) {
      error(link.at, fmt::format("host '{}' has {} rails and more cables than that",
                                 out_.hosts[place.index].name, used.size()));
      return {};
    }
    used[rail] = 1;
    return {NodeKind::kHost, place.index, rail};
  }

  void connect(const LinkGroup& link, std::uint32_t group, const Place& lower, std::uint32_t rail,
               const Place& upper) {
    for (int i = 0; i < *link.count && out_.errors.empty(); ++i) {
      if (lower.kind == upper.kind && lower.index == upper.index)
        return error(link.at, "a link from a node to itself");
      if (out_.cables.size() >= kMaxCables)
        return error(link.at, fmt::format("more than {} cables", kMaxCables));
      const PortRef low = port_of(link, lower, i == 0 ? rail : kNextRail);
      const PortRef high = port_of(link, upper, kNextRail);
      out_.cables.push_back({low, high, group, part_});
    }
  }

  // Every NIC has a cable, and a switch no more than it has ports.
  void check_ports() {
    for (std::size_t h = 0; h < out_.hosts.size(); ++h) {
      const auto& used = nic_links_[h];
      const auto free = std::find(used.begin(), used.end(), 0);
      if (free == used.end()) continue;
      const auto& group = design_.hosts[out_.hosts[h].group];
      return error(group.at, fmt::format("rail {} of host '{}' has no cable: no link reaches it",
                                         free - used.begin(), out_.hosts[h].name));
    }
  }

  const Design& design_;
  Topology out_;
  std::unordered_map<std::string, Place> places_;
  std::unordered_map<std::string, std::vector<Place>> members_;
  std::vector<std::string> group_names_;
  std::vector<std::vector<char>> nic_links_;  // per host and rail: has a cable
  int part_ = 0;                              // of the cables being added
};

}  // namespace

Topology expand(const Design& design) {
  return Expander(design).expand();
}

}  // namespace weir::design
