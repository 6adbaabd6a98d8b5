#include "render/report/svg_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "render/report/svg_canvas.h"
#include "units/format.h"

namespace weir::render {
namespace {

using design::Intent;
using design::NodeKind;
using design::PortRef;

constexpr std::size_t kMapMostApart = 3;  // nodes of a tier that one problem sets apart

// ---- folding ----

/// Where a problem sits, as far as the fabric knows the names.
struct Sites {
  std::map<std::uint32_t, std::set<int>> hosts;
  std::map<std::uint32_t, std::set<int>> switches;
  std::map<std::uint32_t, std::set<int>> links;
};

template <class List>
std::optional<std::uint32_t> index_of(const List& nodes, const std::string& name) {
  if (name.empty()) return std::nullopt;
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == name) return i;
  return std::nullopt;
}

std::vector<std::uint32_t> links_at(const Intent& intent, const finding::Where& where) {
  std::vector<std::uint32_t> links;
  if (const auto sw = index_of(intent.switches, where.switch_name)) {
    for (const design::SwitchPortIntent& port : intent.switches[*sw].ports)
      if (port.name == where.port) links.push_back(port.link);
    return links;
  }
  const auto host = index_of(intent.hosts, where.host);
  if (!host || intent.hosts[*host].nics.size() < 2) return links;
  for (const design::NicIntent& nic : intent.hosts[*host].nics)
    if (names_include(where.device, nic.device) ||
        names_include(where.rail, std::to_string(nic.rail)))
      links.push_back(nic.link);
  return links;
}

Sites sites_of(const Intent& intent, std::span<const Problem> problems) {
  Sites sites;
  for (const Problem& problem : problems)
    for (const finding::Finding* found : problem.findings) {
      const finding::Where& where = found->where;
      if (const auto sw = index_of(intent.switches, where.switch_name))
        sites.switches[*sw].insert(problem.number);
      else if (const auto host = index_of(intent.hosts, where.host))
        sites.hosts[*host].insert(problem.number);
      for (const std::uint32_t link : links_at(intent, where))
        sites.links[link].insert(problem.number);
    }
  return sites;
}

/// Nodes with a problem that few others have: they stay apart in a fold.
std::set<std::uint32_t> apart(const std::map<std::uint32_t, std::set<int>>& sites) {
  std::map<int, std::size_t> places;
  for (const auto& [node, numbers] : sites)
    for (const int number : numbers)
      ++places[number];
  std::set<std::uint32_t> out;
  for (const auto& [node, numbers] : sites)
    for (const int number : numbers)
      if (places[number] <= kMapMostApart) out.insert(node);
  return out;
}

std::string without_number(std::string_view name) {
  return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1));
}

class Folding {
 public:
  Folding(const Intent& intent, std::span<const Problem> problems)
      : intent_(intent), sites_(sites_of(intent, problems)) {}

  FabricMap fold(std::span<const LinkLoad> loads) {
    fold_switches();
    fold_hosts();
    join_links(loads);
    add_host_loads();
    return std::move(map_);
  }

 private:
  /// Puts a node into the box that `key` names; makes the box the first time.
  std::size_t put(std::map<std::string, std::size_t>& boxes, const std::string& key,
                  const std::string& name, bool is_host, std::vector<std::size_t>& tier) {
    const auto [at, is_new] = boxes.emplace(key, map_.nodes.size());
    if (is_new) {
      map_.nodes.push_back({.name = name, .count = 0, .is_host = is_host});
      first_.push_back(name);
      tier.push_back(at->second);
    }
    MapNode& box = map_.nodes[at->second];
    ++box.count;
    box.name = box.count == 1 ? name : fmt::format("{} … {}", first_[at->second], name);
    return at->second;
  }

  void mark(std::size_t box, const std::map<std::uint32_t, std::set<int>>& sites,
            std::uint32_t node) {
    const auto at = sites.find(node);
    if (at == sites.end()) return;
    std::vector<int>& numbers = map_.nodes[box].problems;
    for (const int number : at->second)
      if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
        numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
  }

  void fold_switches() {
    std::map<int, std::vector<std::uint32_t>, std::greater<>> by_tier;
    for (std::uint32_t i = 0; i < intent_.switches.size(); ++i)
      by_tier[intent_.switches[i].tier].push_back(i);
    const std::set<std::uint32_t> singles = apart(sites_.switches);
    switch_box_.resize(intent_.switches.size());
    for (const auto& [tier, members] : by_tier) {
      std::map<std::string, std::size_t> boxes;
      std::set<std::string> stems;
      for (const std::uint32_t i : members)
        stems.insert(without_number(intent_.switches[i].name));
      std::vector<std::size_t>& row = map_.tiers.emplace_back();
      for (const std::uint32_t i : members) {
        const std::string& name = intent_.switches[i].name;
        const bool is_single = members.size() <= kMostSwitchesDrawn || singles.count(i) > 0;
        const std::string key = is_single                            ? "=" + name
                                : stems.size() <= kMostSwitchesDrawn ? without_number(name)
                                                                     : "";
        switch_box_[i] = put(boxes, key, name, false, row);
        mark(switch_box_[i], sites_.switches, i);
      }
    }
  }

  /// The boxes a host hangs on.
  [[nodiscard]] std::string leaves_of(const design::HostIntent& host) const {
    std::set<std::size_t> above;
    for (const design::NicIntent& nic : host.nics)
      if (const PortRef& upper = intent_.links[nic.link].upper; upper.kind == NodeKind::kSwitch)
        above.insert(switch_box_[upper.node]);
    return fmt::format("{}", fmt::join(above, ","));
  }

  void fold_hosts() {
    const std::set<std::uint32_t> singles = apart(sites_.hosts);
    std::set<std::string> groups;
    for (const design::HostIntent& host : intent_.hosts)
      groups.insert(leaves_of(host));
    std::map<std::string, std::size_t> boxes;
    std::vector<std::size_t>& row = map_.tiers.emplace_back();
    for (std::uint32_t i = 0; i < intent_.hosts.size(); ++i) {
      const design::HostIntent& host = intent_.hosts[i];
      const bool is_single = intent_.hosts.size() <= kMostHostsDrawn || singles.count(i) > 0;
      const std::string key = is_single                          ? "=" + host.name
                              : groups.size() <= kMostHostsDrawn ? leaves_of(host)
                                                                 : "";
      host_box_.push_back(put(boxes, key, host.name, true, row));
      mark(host_box_.back(), sites_.hosts, i);
    }
  }

  [[nodiscard]] std::size_t box_of(const PortRef& end) const {
    return end.kind == NodeKind::kHost ? host_box_[end.node] : switch_box_[end.node];
  }

  static void add_load(std::optional<double>& sum, std::optional<double> load) {
    if (load) sum = sum.value_or(0) + *load;
  }

  void join_links(std::span<const LinkLoad> loads) {
    std::map<std::uint32_t, const LinkLoad*> load_of;
    for (const LinkLoad& load : loads)
      load_of[load.link] = &load;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> edges;
    for (std::uint32_t i = 0; i < intent_.links.size(); ++i) {
      const design::LinkIntent& link = intent_.links[i];
      const std::pair ends(box_of(link.lower), box_of(link.upper));
      const auto [at, is_new] = edges.emplace(ends, map_.edges.size());
      if (is_new) map_.edges.push_back({.lower = ends.first, .upper = ends.second});
      MapEdge& edge = map_.edges[at->second];
      ++edge.count;
      edge.speed = std::max(edge.speed, link.speed);
      if (const auto load = load_of.find(i); load != load_of.end()) {
        add_load(edge.up, load->second->up);
        add_load(edge.down, load->second->down);
      }
      if (const auto site = sites_.links.find(i); site != sites_.links.end())
        edge.problems.insert(edge.problems.end(), site->second.begin(), site->second.end());
    }
    for (MapEdge& edge : map_.edges) {  // sums of shares, so far
      for (std::optional<double>* load : {&edge.up, &edge.down})
        if (*load) **load /= static_cast<double>(edge.count);
      std::sort(edge.problems.begin(), edge.problems.end());
      edge.problems.erase(std::unique(edge.problems.begin(), edge.problems.end()),
                          edge.problems.end());
    }
  }

  void add_host_loads() {
    std::vector<std::size_t> links(map_.nodes.size(), 0);
    for (const MapEdge& edge : map_.edges) {
      MapNode& node = map_.nodes[edge.lower];
      if (!node.is_host) continue;
      const auto count = static_cast<double>(edge.count);
      if (edge.up) add_load(node.up, *edge.up * count);
      if (edge.down) add_load(node.down, *edge.down * count);
      links[edge.lower] += edge.count;
    }
    for (std::size_t i = 0; i < map_.nodes.size(); ++i)
      for (std::optional<double>* load : {&map_.nodes[i].up, &map_.nodes[i].down})
        if (*load) **load /= static_cast<double>(links[i]);
  }

  const Intent& intent_;
  Sites sites_;
  FabricMap map_;
  std::vector<std::string> first_;  // by box: the name it began with
  std::vector<std::size_t> switch_box_;
  std::vector<std::size_t> host_box_;
};

// ---- drawing ----

constexpr double kMapWidth = 700;
constexpr double kMargin = 4;
constexpr double kBoxHeight = 30;
constexpr double kTierStep = 92;
constexpr double kTop = 10;
constexpr double kMapSmall = 10;
constexpr double kMarkRadius = 8.5;
constexpr double kWidestBox = 168;

double load_of(const MapEdge& edge) {
  return std::max(edge.up.value_or(0), edge.down.value_or(0));
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.0f} %", *share * 100) : std::string("?");
}

class MapDrawing {
 public:
  MapDrawing(const FabricMap& map, std::span<const Problem> problems, std::string_view what)
      : map_(map),
        problems_(problems),
        boxes_(map.nodes.size()),
        canvas_(kMapWidth,
                kTop + kTierStep * static_cast<double>(map.tiers.size() - 1) + kBoxHeight + 22,
                what) {
    for (std::size_t t = 0; t < map.tiers.size(); ++t)
      place(map.tiers[t], kTop + kTierStep * static_cast<double>(t));
  }

  std::string draw() && {
    for (const MapEdge& edge : map_.edges)
      link(edge);
    std::map<std::pair<double, double>, std::size_t> crowd;  // labels wanted between two tiers
    for (const MapEdge& edge : map_.edges)
      ++crowd[{boxes_[edge.lower].y, boxes_[edge.upper].y}];
    for (const MapEdge& edge : map_.edges)
      if (crowd[{boxes_[edge.lower].y, boxes_[edge.upper].y}] <= kMostLabels) label(edge);
    for (std::size_t i = 0; i < map_.nodes.size(); ++i)
      node(map_.nodes[i], boxes_[i]);
    for (const MapEdge& edge : map_.edges)
      edge_marks(edge);
    return std::move(canvas_).finish();
  }

 private:
  static constexpr std::size_t kMostLabels = 4;

  void place(const std::vector<std::size_t>& tier, double y) {
    const double slot =
        (kMapWidth - 2 * kMargin) / static_cast<double>(std::max<std::size_t>(tier.size(), 1));
    const double width = std::min(kWidestBox, slot - 5);
    for (std::size_t i = 0; i < tier.size(); ++i)
      boxes_[tier[i]] = {kMargin + slot * (static_cast<double>(i) + 0.5) - width / 2, y, width,
                         kBoxHeight};
  }

  [[nodiscard]] Point lower_end(const MapEdge& edge) const {
    const Box& box = boxes_[edge.lower];
    return {box.x + box.width / 2, box.y};
  }
  [[nodiscard]] Point upper_end(const MapEdge& edge) const {
    const Box& box = boxes_[edge.upper];
    return {box.x + box.width / 2, box.y + box.height};
  }

  void link(const MapEdge& edge) {
    const bool is_known = edge.up || edge.down;
    canvas_.line(lower_end(edge), upper_end(edge),
                 {.colour = is_known ? "#6c7a89" : "#9aa5b1",
                  .width = is_known ? 1 + 6 * std::min(1.0, load_of(edge)) : 1,
                  .dashes = is_known ? "" : "3 3"});
  }

  void label(const MapEdge& edge) {
    const Point a = lower_end(edge);
    const Point b = upper_end(edge);
    // Nearer the lower end: there the links have not met yet.
    canvas_.text({a.x + (b.x - a.x) * 0.28, a.y + (b.y - a.y) * 0.28 + 3.5}, edge_text(edge),
                 {.size = kMapSmall, .anchor = Anchor::kMiddle, .has_paper = true});
  }

  void node(const MapNode& node, const Box& box) {
    const bool has_problem = !node.problems.empty();
    const Stroke edge = {.width = has_problem ? 2.2 : 1};
    if (node.count > 1)  // a stack
      canvas_.rect({box.x + 3, box.y + 3, box.width, box.height}, kPaper, {.colour = kFaintInk},
                   node.is_host ? 0 : 5);
    canvas_.rect(box, node.is_host ? kPaper : "#eef1f4", edge, node.is_host ? 0 : 5);
    const std::string detail = detail_of(node, box.width);
    const double middle = box.x + box.width / 2;
    canvas_.text({middle, box.y + (detail.empty() ? 19 : 12.5)},
                 fit_text(node.name, kMapSmall, box.width - 2),
                 {.size = kMapSmall, .anchor = Anchor::kMiddle, .is_bold = true});
    if (!detail.empty())
      canvas_.text({middle, box.y + 24.5}, detail,
                   {.size = kMapSmall - 0.5, .anchor = Anchor::kMiddle});
    marks(node.problems, node.is_host ? Point{middle + 2, box.y + box.height + kMarkRadius + 2}
                                      : Point{box.x + box.width - 3, box.y + 1});
  }

  static std::string detail_of(const MapNode& node, double width) {
    const std::string_view word = node.is_host ? "hosts" : "switches";
    const std::string count = node.count > 1 ? fmt::format("{} {}", node.count, word) : "";
    if (!node.up && !node.down) return count;
    const std::string full = fmt::format("{}{}↑{} ↓{}", count, count.empty() ? "" : ", ",
                                         percent(node.up), percent(node.down));
    if (text_width(full, kMapSmall - 0.5) <= width) return full;
    const auto bare = [](std::optional<double> share) {
      return share ? fmt::format("{:.0f}", *share * 100) : std::string("?");
    };
    return fmt::format("↑{} ↓{}", bare(node.up), bare(node.down));
  }

  void edge_marks(const MapEdge& edge) {
    const Point a = lower_end(edge);
    const Point b = upper_end(edge);
    marks(edge.problems, {b.x + (a.x - b.x) * 0.3, b.y + (a.y - b.y) * 0.3});
  }

  void marks(const std::vector<int>& numbers, Point at) {
    for (const int number : numbers) {
      draw_mark(canvas_, at, number, severity_of(number));
      at.x -= 2 * kMarkRadius + 1;
    }
  }

  [[nodiscard]] finding::Severity severity_of(int number) const {
    for (const Problem& problem : problems_)
      if (problem.number == number) return problem.first().severity;
    return finding::Severity::kInfo;
  }

  const FabricMap& map_;
  std::span<const Problem> problems_;
  std::vector<Box> boxes_;
  SvgCanvas canvas_;
};

std::string description_of(const FabricMap& map) {
  std::string text = "Map of the fabric, top tier first.";
  for (const auto& tier : map.tiers) {
    for (const std::size_t i : tier) {
      const MapNode& node = map.nodes[i];
      text += " " + node.name;
      if (node.count > 1) text += fmt::format(" ({})", node.count);
      if (!node.problems.empty())
        text += fmt::format(", problem {}", fmt::join(node.problems, ", "));
      text += ";";
    }
  }
  return text;
}

}  // namespace

void draw_mark(SvgCanvas& canvas, Point at, int number, finding::Severity severity) {
  const bool is_error = severity == finding::Severity::kError;
  canvas.circle(
      at, kMarkRadius, is_error ? kInk : kPaper,
      {.width = is_error ? 1.0 : 2.0, .dashes = severity == finding::Severity::kInfo ? "2 2" : ""});
  canvas.text({at.x, at.y + 3.8}, std::to_string(number),
              {.size = 10.5,
               .anchor = Anchor::kMiddle,
               .is_bold = true,
               .colour = is_error ? kPaper : kInk});
}

FabricMap fold_fabric(const Intent& intent, std::span<const LinkLoad> loads,
                      std::span<const Problem> problems) {
  return Folding(intent, problems).fold(loads);
}

std::string draw_map(const FabricMap& map, std::span<const Problem> problems) {
  return MapDrawing(map, problems, description_of(map)).draw();
}

std::string edge_text(const MapEdge& edge) {
  std::string text = fmt::format("{} × {}", edge.count, to_text(edge.speed));
  if (edge.up || edge.down) text += fmt::format(", ↑{} ↓{}", percent(edge.up), percent(edge.down));
  return text;
}

}  // namespace weir::render
