#include "finding/fold.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/name_pattern.h"
#include "base/text.h"

namespace weir::finding {
namespace {

/// The verdict without the names of its place in front.
std::string_view said(const Finding& finding) {
  std::string_view verdict = finding.verdict;
  const Where& where = finding.where;
  bool is_bare = false;
  while (!is_bare) {
    is_bare = true;
    for (const std::string* name : {&where.host, &where.device, &where.switch_name, &where.port}) {
      if (name->empty() || !verdict.starts_with(*name)) continue;
      std::string_view rest = verdict.substr(name->size());
      if (rest.starts_with(":")) rest.remove_prefix(1);
      if (!rest.starts_with(" ")) continue;
      verdict = rest.substr(1);
      is_bare = false;
    }
  }
  return verdict;
}

/// Findings with the same key say the same of several places.
using SaidKey =
    std::tuple<std::string_view, Severity, Confidence, std::string_view, std::string_view>;

SaidKey key_of(const Finding& finding) {
  return {finding.id, finding.severity, finding.confidence, said(finding), finding.where.priority};
}

/// The host or switch a place is on.
const std::string& node_of(const Where& where) {
  return where.host.empty() ? where.switch_name : where.host;
}

/// The place on its node.
std::string item_of(const Where& where) {
  Where item = where;
  item.host.clear();
  item.switch_name.clear();
  item.priority.clear();
  if (!item.rail.empty()) item.device.clear();  // the rail names it; a pattern has one number
  return to_text(item);
}

/// Nodes with the same list of places are one pattern.
std::string places(const std::vector<const Finding*>& findings) {
  std::map<std::string, std::vector<std::string>> items;
  for (const Finding* finding : findings) {
    std::vector<std::string>& here = items[node_of(finding->where)];
    // A finding may already stand for several rails: "rail [0-7]".
    const std::string item = item_of(finding->where);
    const std::vector<std::string> names = expand_compact(item);
    here.insert(here.end(), names.begin(), names.end());
    if (names.empty()) here.push_back(item);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // items, nodes
  for (const auto& [node, places] : items) {
    const std::string text = compact_names(places);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& known) { return known.first == text; });
    if (group == groups.end()) {
      groups.push_back({text, {node}});
    } else {
      group->second.push_back(node);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [text, nodes] : groups) {
    const std::string names = compact_names(nodes);
    if (names.empty() && text.empty()) continue;  // of no place in particular
    const std::string between = names.empty() || text.empty() ? "" : " ";
    texts.push_back(names + between + text);
  }
  std::string text = join(texts, "; ");
  const std::string& priority = findings.front()->where.priority;
  return priority.empty() ? text : text + " priority " + priority;
}

/// All on one rail and device: that can still be said in full.
bool differ_in_node_only(const std::vector<const Finding*>& findings) {
  const Where& first = findings.front()->where;
  return std::all_of(findings.begin(), findings.end(), [&](const Finding* finding) {
    Where where = finding->where;
    where.host = first.host;
    where.switch_name = first.switch_name;
    return where == first;
  });
}

std::string where_text(const std::vector<const Finding*>& findings) {
  if (findings.size() == 1) return to_text(findings.front()->where);
  if (!differ_in_node_only(findings)) return places(findings);
  Where all = findings.front()->where;
  std::vector<std::string> nodes;
  for (const Finding* finding : findings)
    nodes.push_back(node_of(finding->where));
  (all.host.empty() ? all.switch_name : all.host) = compact_names(nodes);
  return to_text(all);
}

}  // namespace

std::vector<Folded> fold(std::span<const Finding> findings) {
  std::vector<Folded> folded;
  std::map<SaidKey, std::size_t> known;
  for (const Finding& finding : findings) {
    // A line of a file is a place of its own.
    const bool is_alone = !finding.where.file.empty();
    const auto [same, is_new] =
        is_alone ? std::pair(known.end(), true) : known.emplace(key_of(finding), folded.size());
    if (is_new) {
      folded.push_back({{&finding}, "", ""});
    } else {
      folded[same->second].findings.push_back(&finding);
    }
  }
  for (Folded& group : folded) {
    const Finding& first = *group.findings.front();
    group.where = where_text(group.findings);
    group.verdict = group.findings.size() == 1 ? first.verdict : std::string(said(first));
  }
  return folded;
}

namespace {

struct Group {
  Unknown first;  // its check without the node
  std::vector<std::string> nodes;
};

/// Rails of the same hosts that lack the same are one line too: " mlx5_0: trust" is a device and a
/// check.
std::vector<Unknown> fold_devices(const std::vector<Group>& groups) {
  struct Rails {
    Unknown first;  // its check without node and device
    std::string nodes;
    std::vector<std::string> devices;
  };
  std::vector<Rails> all;
  for (const Group& group : groups) {
    const std::size_t colon = group.first.check.find(": ");
    const std::string place = group.first.check.substr(0, colon);
    const bool has_device = colon != std::string::npos && place.size() > 1 &&
                            place.front() == ' ' && place.find(' ', 1) == std::string::npos;
    Rails rails{group.first, compact_names(group.nodes), {}};
    if (has_device) {
      rails.first.check.erase(0, colon);
      rails.devices.push_back(place.substr(1));
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const Rails& known) {
      return has_device && !known.devices.empty() && known.first == rails.first &&
             known.nodes == rails.nodes;
    });
    if (same == all.end()) {
      all.push_back(std::move(rails));
    } else {
      same->devices.push_back(rails.devices.front());
    }
  }
  std::vector<Unknown> folded;
  for (Rails& item : all) {
    const std::string devices =
        item.devices.empty() ? std::string() : " " + compact_names(item.devices);
    item.first.check.insert(0, item.nodes + devices);
    folded.push_back(std::move(item.first));
  }
  return folded;
}

}  // namespace

std::vector<Unknown> fold(std::span<const Unknown> unknown) {
  std::vector<Group> groups;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (const Unknown& entry : unknown) {
    // "gpu01 mlx5_0: trust": the node is the first word of a place; a check without one stays.
    const bool has_place = entry.check.find(": ") != std::string::npos;
    const std::size_t end = has_place ? entry.check.find_first_of(" :") : 0;
    Group group{{entry.check.substr(end), entry.reason, entry.how}, {entry.check.substr(0, end)}};
    const auto [same, is_new] = known.emplace(
        std::tuple(group.first.check, group.first.reason, group.first.how), groups.size());
    if (is_new) {
      groups.push_back(std::move(group));
    } else {
      groups[same->second].nodes.push_back(group.nodes.front());
    }
  }
  return fold_devices(groups);
}

}  // namespace weir::finding
