#include "design/prove/failures.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "finding/catalog.h"

namespace weir::design {
namespace {

/// Something that can fail on its own.
struct Part {
  bool is_switch = false;
  std::uint32_t index = 0;  // of a switch or an edge
  std::uint32_t cost = 1;   // failures it takes
};

std::vector<Part> parts_of(const SwitchGraph& graph, int failures) {
  std::vector<Part> parts;
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e)
    if (graph.edges[e].cables <= static_cast<std::uint32_t>(failures))
      parts.push_back({false, e, graph.edges[e].cables});
  for (std::uint32_t node = 0; node < graph.size(); ++node)
    parts.push_back({true, node, 1});
  return parts;
}

void add(Broken& broken, const Part& part) {
  (part.is_switch ? broken.switches : broken.edges).push_back(part.index);
}

using Colours = std::vector<std::uint64_t>;

/// Colours that alike switches share: by tier and hosts first, then by the colours around, until
/// nothing changes. What is broken sets its ends apart.
Colours colours_of(const SwitchGraph& graph, const Broken& broken) {
  Colours colours(graph.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    colours[node] = mix64((static_cast<std::uint64_t>(graph.tier[node]) << 32U) ^ graph.nics[node] ^
                          (broken.has_switch(node) ? 1ULL << 60U : 0));
  }
  std::size_t kinds = 0;
  while (true) {
    Colours next(graph.size());
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      std::uint64_t around = 0;  // a sum: the order of neighbours does not matter
      for (const auto& [peer, edge] : graph.neighbours[node])
        around += mix64(colours[peer] ^ (std::uint64_t{graph.edges[edge].cables} << 8U) ^
                        (broken.has_edge(edge) ? 1 : 0));
      next[node] = mix64(colours[node] ^ mix64(around));
    }
    const std::size_t now = std::set<std::uint64_t>(next.begin(), next.end()).size();
    colours = std::move(next);
    if (now == kinds) return colours;
    kinds = now;
  }
}

/// One of each kind.
std::vector<Part> representatives(const std::vector<Part>& parts, const SwitchGraph& graph,
                                  const Colours& colours) {
  std::set<std::tuple<bool, std::uint64_t, std::uint64_t, std::uint32_t>> seen;
  std::vector<Part> chosen;
  for (const Part& part : parts) {
    std::uint64_t a = colours[part.is_switch ? part.index : graph.edges[part.index].a];
    std::uint64_t b = part.is_switch ? 0 : colours[graph.edges[part.index].b];
    if (a > b) std::swap(a, b);
    if (seen.emplace(part.is_switch, a, b, part.cost).second) chosen.push_back(part);
  }
  return chosen;
}

class Walker {
 public:
  Walker(const Intent& intent, int failures)
      : graph_(switch_graph(intent)), intact_(reach(graph_)), routing_(intent.routing) {
    out_.failures = failures;
    out_.by_structure = routing_ == Routing::kUpDown && !graph_.has_flat_edges;
    const std::size_t parts = parts_of(graph_, failures).size();
    const bool is_long = failures == 2 && parts * parts / 2 > kExhaustiveScenarios;
    out_.by_symmetry = graph_.size() > kExhaustiveSwitches || (out_.by_structure && is_long);
    for (const SwitchIntent& node : intent.switches)
      lossless_ = PrioritySet::from_mask(
          static_cast<std::uint8_t>(lossless_.mask() | node.lossless.mask()));
  }

  FailureWalk run() {
    look({});
    for (int count = 1; count <= out_.failures && out_.deadlocks.empty(); ++count)
      walk({}, static_cast<std::uint32_t>(count), 0);
    return std::move(out_);
  }

 private:
  // Combinations that cost exactly `left` more failures, each once: parts in ascending order, or by
  // kind where symmetry is used.
  void walk(const Broken& broken, std::uint32_t left, std::size_t first) {
    std::vector<Part> parts = parts_of(graph_, static_cast<int>(left));
    if (out_.by_symmetry) {
      std::erase_if(parts, [&](const Part& part) { return is_broken(broken, part); });
      parts = representatives(parts, graph_, colours_of(graph_, broken));
      first = 0;
    }
    for (std::size_t i = first; i < parts.size() && out_.deadlocks.empty(); ++i) {
      Broken more = broken;
      add(more, parts[i]);
      if (parts[i].cost == left) {
        look(more);
      } else if (parts[i].cost < left) {
        walk_rest(more, left - parts[i].cost, parts[i]);
      }
    }
  }

  void walk_rest(const Broken& broken, std::uint32_t left, const Part& last) {
    if (out_.by_symmetry) return walk(broken, left, 0);
    const std::vector<Part> parts = parts_of(graph_, static_cast<int>(left));
    const auto after = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
      return std::tie(part.is_switch, part.index) > std::tie(last.is_switch, last.index);
    });
    walk(broken, left, static_cast<std::size_t>(after - parts.begin()));
  }

  static bool is_broken(const Broken& broken, const Part& part) {
    return part.is_switch ? broken.has_switch(part.index) : broken.has_edge(part.index);
  }

  void look(const Broken& broken) {
    ++out_.scenarios;
    if (!out_.by_structure) look_for_cycle(broken);
    if (routing_ == Routing::kBounce) return;  // a detour joins what would be cut off
    auto pairs = cut_off(graph_, intact_, reach(graph_, broken), broken);
    if (pairs.empty()) return;
    if (out_.cutting++ > 0) return;
    out_.first_cut = broken;
    out_.first_cut_off = std::move(pairs);
  }

  void look_for_cycle(const Broken& broken) {
    if (lossless_.count() == 0) return;
    // All lossless priorities take the same paths: one stands for them.
    unsigned priority = 0;
    while (!lossless_.contains(Priority::of(priority)))
      ++priority;
    const auto number = static_cast<std::uint8_t>(priority);
    const std::vector<Turn> all = turns(graph_, routing_, broken);
    BufferGraph waits;
    for (const Turn& turn : all)
      waits.depend({turn.from, turn.at, number}, {turn.at, turn.to, number});
    std::vector<Buffer> cycle = waits.find_cycle();
    if (cycle.empty()) return;
    Deadlock found{broken, std::move(cycle), {}};
    for (std::size_t i = 0; i < found.cycle.size(); ++i) {
      const Buffer& held = found.cycle[i];
      const Buffer& wanted = found.cycle[(i + 1) % found.cycle.size()];
      const auto flow = std::find_if(all.begin(), all.end(), [&](const Turn& turn) {
        return turn.from == held.from && turn.at == held.to && turn.to == wanted.to;
      });
      found.flows.push_back(*flow);
    }
    out_.deadlocks.push_back(std::move(found));
  }

  SwitchGraph graph_;
  Reach intact_;
  Routing routing_;
  PrioritySet lossless_;
  FailureWalk out_;
};

}  // namespace

namespace {

/// Hosts whose NICs are all on so few switches that these may be down together.
void find_isolated(const Intent& intent, FailureWalk& out) {
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> hosts_of;
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h) {
    std::set<std::uint32_t> leaves;
    for (const NicIntent& nic : intent.hosts[h].nics) {
      const PortRef end = intent.links[nic.link].upper;
      if (end.kind == NodeKind::kSwitch) leaves.insert(end.node);
    }
    const bool can_all_fail =
        !leaves.empty() && leaves.size() <= static_cast<std::size_t>(out.failures);
    if (can_all_fail) hosts_of[{leaves.begin(), leaves.end()}].push_back(h);
  }
  out.isolating = hosts_of.size();
  const auto fewest = std::min_element(
      hosts_of.begin(), hosts_of.end(),
      [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  if (fewest == hosts_of.end()) return;
  out.isolated_by = fewest->first;
  out.isolated = fewest->second;
}

}  // namespace

FailureWalk walk_failures(const Intent& intent, int failures) {
  FailureWalk out = Walker(intent, failures).run();
  find_isolated(intent, out);
  return out;
}

std::optional<finding::Finding> deadlock_finding(const FailureWalk& walk, const Intent& intent) {
  if (walk.deadlocks.empty()) return std::nullopt;
  const Deadlock& first = walk.deadlocks.front();
  const auto name = [&](std::uint32_t node) { return intent.switches[node].name; };
  const std::string broken = to_text(first.broken, intent, switch_graph(intent));
  const std::string cycle = to_text(first.cycle, intent);
  const bool is_intact = first.broken.edges.empty() && first.broken.switches.empty();
  finding::Where where;
  where.link = fmt::format("{} > {}", name(first.cycle.front().from), name(first.cycle.front().to));
  finding::Finding found = finding::make_finding(
      "routing.cyclic_buffer_dependency",
      is_intact ? fmt::format("lossless buffers can wait for each other in a cycle: {}", cycle)
                : fmt::format("with {} down, lossless buffers can wait for each other in a cycle: "
                              "{}",
                              broken, cycle),
      where);
  for (std::size_t i = 0; i < first.cycle.size(); ++i) {
    const Buffer& held = first.cycle[i];
    const Buffer& wanted = first.cycle[(i + 1) % first.cycle.size()];
    finding::EvidenceLine line;
    line.source = fmt::format("{} > {}", name(held.from), name(held.to));
    line.line =
        fmt::format("waits for {} > {}: packets from {} to {}", name(wanted.from), name(wanted.to),
                    name(first.flows[i].source), name(first.flows[i].target));
    found.evidence.push_back(std::move(line));
  }
  return found;
}

std::string isolated_text(const FailureWalk& walk, const Intent& intent) {
  std::vector<std::string> names;
  for (const std::uint32_t node : walk.isolated_by)
    names.push_back(intent.switches[node].name);
  const std::string& first = intent.hosts[walk.isolated.front()].name;
  return fmt::format("{} down isolates {}", join(names, " and "),
                     walk.isolated.size() == 1
                         ? first
                         : fmt::format("{} hosts ({} is the first)", walk.isolated.size(), first));
}

std::string parted_text(const FailureWalk& walk, const Intent& intent) {
  const CutOff& pair = walk.first_cut_off.front();
  return fmt::format("with {} down, {} and {} have no path",
                     to_text(walk.first_cut, intent, switch_graph(intent)),
                     intent.switches[pair.from].name, intent.switches[pair.to].name);
}

std::vector<finding::Finding> cut_off_findings(const FailureWalk& walk, const Intent& intent) {
  std::vector<finding::Finding> out;
  if (walk.cutting > 0)
    out.push_back(finding::make_finding("routing.cut_off", parted_text(walk, intent) + ".", {}));
  if (!walk.isolated.empty()) {
    finding::Where where;
    where.switch_name = intent.switches[walk.isolated_by.front()].name;
    out.push_back(
        finding::make_finding("routing.cut_off",
                              fmt::format("{}: {} no NIC elsewhere.", isolated_text(walk, intent),
                                          walk.isolated.size() == 1 ? "it has" : "they have"),
                              where));
    if (walk.isolating > 1)
      out.back().evidence.push_back({.line = fmt::format("{} more like it", walk.isolating - 1)});
  }
  return out;
}

std::string to_text(const Broken& broken, const Intent& intent, const SwitchGraph& graph) {
  std::vector<std::string> names;
  for (const std::uint32_t edge : broken.edges)
    names.push_back(fmt::format("{} - {}", intent.switches[graph.edges[edge].a].name,
                                intent.switches[graph.edges[edge].b].name));
  for (const std::uint32_t node : broken.switches)
    names.push_back(intent.switches[node].name);
  return names.empty() ? "nothing" : join(names, " and ");
}

std::string to_text(const std::vector<Buffer>& cycle, const Intent& intent) {
  std::vector<std::string> links;
  for (const Buffer& buffer : cycle)
    links.push_back(
        fmt::format("{} > {}", intent.switches[buffer.from].name, intent.switches[buffer.to].name));
  return join(links, ", ");
}

}  // namespace weir::design
