#include "preflight/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace weir::preflight {

std::vector<Round> circle_rounds(std::uint32_t hosts) {
  if (hosts < 2) return {};
  const std::uint32_t seats = hosts + hosts % 2;  // an odd one out meets an empty seat, and rests
  std::vector<std::uint32_t> circle(seats);
  std::iota(circle.begin(), circle.end(), 0U);
  std::vector<Round> rounds;
  rounds.reserve(seats - 1);
  for (std::uint32_t turn = 0; turn + 1 < seats; ++turn) {
    Round round;
    for (std::uint32_t i = 0; i < seats / 2; ++i) {
      const std::uint32_t one_side = circle[i];
      const std::uint32_t other_side = circle[seats - 1 - i];
      if (one_side < hosts && other_side < hosts) round.push_back({one_side, other_side});
    }
    rounds.push_back(std::move(round));
    // The first stays, the others move on by one.
    const std::uint32_t last = circle.back();
    for (std::uint32_t i = seats - 1; i > 1; --i)
      circle[i] = circle[i - 1];
    circle[1] = last;
  }
  return rounds;
}

std::vector<Round> link_rounds(const std::vector<std::uint32_t>& groups) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (std::uint32_t host = 0; host < groups.size(); ++host)
    members[groups[host]].push_back(host);
  std::vector<std::vector<std::uint32_t>> sets;
  for (auto& [group, hosts] : members)
    sets.push_back(std::move(hosts));
  std::vector<Round> rounds;
  for (const Round& meeting : circle_rounds(static_cast<std::uint32_t>(sets.size()))) {
    Round round;
    for (const HostPair& pair : meeting) {
      const auto& ours = sets[pair.first];
      const auto& theirs = sets[pair.second];
      for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
        round.push_back({ours[i], theirs[i]});
    }
    rounds.push_back(std::move(round));
  }
  Round within;
  for (const auto& hosts : sets)
    for (std::size_t i = 0; i + 1 < hosts.size(); i += 2)
      within.push_back({hosts[i], hosts[i + 1]});
  if (!within.empty()) rounds.push_back(std::move(within));
  return rounds;
}

std::vector<Round> rounds_for(const std::vector<std::uint32_t>& groups, bool is_quick) {
  const auto hosts = static_cast<std::uint32_t>(groups.size());
  std::vector<Round> all = hosts > kAllPairsHosts ? link_rounds(groups) : circle_rounds(hosts);
  if (!is_quick || all.size() <= kQuickRounds) return all;
  std::vector<Round> chosen;
  for (std::uint32_t i = 0; i < kQuickRounds; ++i)
    chosen.push_back(std::move(all[std::size_t{i} * all.size() / kQuickRounds]));
  return chosen;
}

std::vector<Round> covering_rounds(const std::vector<Round>& rounds) {
  std::set<std::uint32_t> had;
  std::vector<Round> out;
  for (const Round& round : rounds) {
    Round chosen;
    for (const HostPair& pair : round) {
      if (had.contains(pair.first) && had.contains(pair.second)) continue;
      had.insert({pair.first, pair.second});
      chosen.push_back(pair);
    }
    if (!chosen.empty()) out.push_back(std::move(chosen));
  }
  return out;
}

std::vector<std::uint32_t> growth(std::uint32_t hosts) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 2; size < hosts; size *= 2)
    sizes.push_back(size);
  return sizes;
}

}  // namespace weir::preflight
