#include "preflight/bisect.h"

#include <algorithm>
#include <map>
#include <set>

namespace weir::preflight {
namespace {

std::vector<std::uint32_t> members_of(std::uint32_t group,
                                      const std::vector<std::uint32_t>& groups) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t host = 0; host < groups.size(); ++host)
    if (groups[host] == group) out.push_back(host);
  return out;
}

/// The list, beginning with this one.
std::vector<std::uint32_t> beginning_with(std::uint32_t first, std::vector<std::uint32_t> hosts) {
  std::rotate(hosts.begin(), std::find(hosts.begin(), hosts.end(), first), hosts.end());
  return hosts;
}

}  // namespace

std::vector<HostPair> slow_between_groups(const std::vector<Sample>& samples,
                                          const std::vector<std::uint32_t>& groups,
                                          std::size_t most) {
  struct Worst {
    double of_floor = 1;
    HostPair pair;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Worst> by_groups;
  for (const Sample& sample : samples) {
    const std::uint32_t from = groups.at(sample.from);
    const std::uint32_t to = groups.at(sample.to);
    if (!sample.is_slow() || from == to) continue;
    Worst& worst = by_groups[std::minmax(from, to)];
    if (sample.of_floor() < worst.of_floor) worst = {sample.of_floor(), {sample.from, sample.to}};
  }
  std::vector<Worst> ordered;
  for (const auto& [key, worst] : by_groups)
    ordered.push_back(worst);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Worst& a, const Worst& b) { return a.of_floor < b.of_floor; });
  std::vector<HostPair> out;
  for (std::size_t i = 0; i < ordered.size() && i < most; ++i)
    out.push_back(ordered[i].pair);
  return out;
}

std::vector<HostPair> pairs_between(const HostPair& slow, const std::vector<std::uint32_t>& groups,
                                    std::size_t most) {
  const auto ours = beginning_with(slow.first, members_of(groups.at(slow.first), groups));
  const auto theirs = beginning_with(slow.second, members_of(groups.at(slow.second), groups));
  std::vector<HostPair> out;
  // Every host of one side with another one of the other each time: shifted by one in every turn.
  for (std::size_t shift = 0; shift < theirs.size(); ++shift)
    for (std::size_t i = 0; i < ours.size() && out.size() < most; ++i)
      out.push_back({ours[i], theirs[(i + shift) % theirs.size()]});
  return out;
}

std::vector<HostPair> pairs_elsewhere(std::uint32_t host, std::uint32_t other,
                                      const std::vector<std::uint32_t>& groups, std::size_t most) {
  const auto ours = beginning_with(host, members_of(groups.at(host), groups));
  std::vector<std::uint32_t> others;
  for (std::uint32_t each = 0; each < groups.size(); ++each)
    if (groups[each] != groups.at(host) && groups[each] != groups.at(other)) others.push_back(each);
  std::vector<HostPair> out;
  if (others.empty()) return out;
  // Spread over the fabric: neighbours in the list are below the same leaf.
  const std::size_t stride = std::max<std::size_t>(others.size() / most, 1);
  for (std::size_t i = 0; i < most; ++i)
    out.push_back(
        {ours[i % ours.size()], others[(i * stride + i / others.size()) % others.size()]});
  return out;
}

std::vector<std::uint32_t> links_between(const std::vector<Carried>& carried, const HostPair& ends,
                                         const std::set<std::uint32_t>& leaves,
                                         std::optional<double> least_share) {
  const auto is_foreign = [&](std::uint32_t node) {
    return leaves.contains(node) && node != ends.first && node != ends.second;
  };
  std::vector<Carried> near;
  for (const Carried& each : carried)
    if (each.bytes > 0 && !is_foreign(each.lower) && !is_foreign(each.upper)) near.push_back(each);
  std::set<std::uint32_t> reached = {ends.first};
  for (bool grows = true; grows;) {
    grows = false;
    for (const Carried& each : near) {
      if (reached.contains(each.lower) == reached.contains(each.upper)) continue;
      reached.insert({each.lower, each.upper});
      grows = true;
    }
  }
  std::erase_if(near, [&](const Carried& each) { return !reached.contains(each.lower); });
  std::uint64_t most = 0;
  for (const Carried& each : near)
    most = std::max(most, each.bytes);
  const double least = least_share.value_or(0) * static_cast<double>(most);
  std::vector<std::uint32_t> out;
  for (const Carried& each : near)
    if (static_cast<double>(each.bytes) >= least) out.push_back(each.link);
  return out;
}

std::vector<Sample> samples_without(const std::set<std::uint32_t>& hosts,
                                    std::vector<Sample> samples) {
  std::erase_if(samples, [&](const Sample& sample) {
    return hosts.contains(sample.from) || hosts.contains(sample.to);
  });
  return samples;
}

std::vector<std::uint32_t> suspect_links(const std::vector<Trial>& trials) {
  std::set<std::uint32_t> suspects;
  bool is_first = true;
  for (const Trial& trial : trials) {
    if (!trial.is_slow) continue;
    const std::set<std::uint32_t> links(trial.links.begin(), trial.links.end());
    if (is_first) suspects = links;
    std::erase_if(suspects, [&](std::uint32_t link) { return !links.contains(link); });
    is_first = false;
  }
  for (const Trial& trial : trials)
    if (!trial.is_slow)
      for (const std::uint32_t link : trial.links)
        suspects.erase(link);
  return {suspects.begin(), suspects.end()};
}

}  // namespace weir::preflight
