#include "preflight/suspects.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "preflight/measure.h"

namespace weir::preflight {
namespace {

struct Score {
  double value = 1;
  bool is_receiving = false;
};
using Scores = std::map<NicId, Score>;

/// Per NIC that took part.
Scores scores_of(const std::vector<Sample>& samples) {
  std::map<NicId, std::vector<double>> sent;
  std::map<NicId, std::vector<double>> received;
  for (const Sample& sample : samples) {
    sent[{sample.from, sample.rail}].push_back(sample.of_floor());
    received[{sample.to, sample.rail}].push_back(sample.of_floor());
  }
  Scores out;
  for (const auto& [nic, values] : sent)
    out[nic] = {median_of(values), false};
  for (const auto& [nic, values] : received) {
    const double value = median_of(values);
    const auto known = out.find(nic);
    if (known == out.end() || value < known->second.value) out[nic] = {value, true};
  }
  return out;
}

/// Of each NIC among those of like hosts on the same rail; none where they are too few.
std::map<NicId, double> z_of(const Scores& scores, const std::vector<std::uint32_t>& kinds,
                             const finding::Thresholds& limits) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<NicId>> alike;  // kind, rail
  for (const auto& [nic, score] : scores)
    alike[{kinds.at(nic.host), nic.rail}].push_back(nic);
  std::map<NicId, double> out;
  for (const auto& [kind, nics] : alike) {
    if (nics.size() < limits.like_hosts) continue;
    std::vector<double> values;
    for (const NicId& nic : nics)
      values.push_back(scores.at(nic).value);
    const std::vector<double> z = robust_z(values, limits.least_spread);
    for (std::size_t i = 0; i < nics.size(); ++i)
      out[nics[i]] = z[i];
  }
  return out;
}

bool is_among(const NicId& nic, const std::vector<Suspect>& suspects) {
  return std::any_of(suspects.begin(), suspects.end(),
                     [&](const Suspect& suspect) { return suspect.nic == nic; });
}

bool is_among(const NicId& nic, const std::vector<SlowGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [&](const SlowGroup& group) {
    return std::find(group.nics.begin(), group.nics.end(), nic) != group.nics.end();
  });
}

/// NICs that reached their floors both ways with a host that is not this one.
std::set<NicId> good_without(std::uint32_t host, const std::vector<Sample>& samples) {
  std::set<NicId> out;
  for (const auto& [nic, other] : good_pairs(samples))
    if (nic.host != host && other.host != host) out.insert(nic);
  return out;
}

std::size_t hosts_of(const std::vector<NicId>& nics) {
  std::set<std::uint32_t> hosts;
  for (const NicId& nic : nics)
    hosts.insert(nic.host);
  return hosts.size();
}

/// Those of a rail, or below a leaf, all of which are slow; none where that is true of all of them.
std::vector<SlowGroup> groups_by(Common common, const Scores& scores,
                                 const std::map<NicId, std::uint32_t>& numbers) {
  std::map<std::uint32_t, SlowGroup> slow;
  std::set<std::uint32_t> good;
  for (const auto& [nic, score] : scores) {
    const auto number = numbers.find(nic);
    if (number == numbers.end()) continue;
    if (score.value >= 1) good.insert(number->second);
    SlowGroup& group = slow[number->second];
    group.common = common;
    group.number = number->second;
    group.nics.push_back(nic);
  }
  std::vector<SlowGroup> out;
  for (auto& [number, group] : slow)
    if (!good.contains(number) && hosts_of(group.nics) >= kLeastTogether)
      out.push_back(std::move(group));
  if (out.size() == slow.size()) out.clear();
  return out;
}

}  // namespace

std::map<NicId, double> nic_scores(const std::vector<Sample>& samples) {
  std::map<NicId, double> out;
  for (const auto& [nic, score] : scores_of(samples))
    out.emplace(nic, score.value);
  return out;
}

std::set<std::pair<NicId, NicId>> good_pairs(const std::vector<Sample>& samples) {
  std::set<std::pair<NicId, NicId>> fast;  // from, to
  for (const Sample& sample : samples)
    if (!sample.is_slow()) fast.insert({{sample.from, sample.rail}, {sample.to, sample.rail}});
  std::erase_if(fast, [&, ways = fast](const auto& way) {
    return !ways.contains({way.second, way.first});
  });
  return fast;
}

std::vector<SlowGroup> slow_groups(const std::vector<Sample>& samples,
                                   const std::map<NicId, std::uint32_t>& leaves) {
  const Scores scores = scores_of(samples);
  SlowGroup all;
  for (const auto& [nic, score] : scores)
    if (score.value < 1) all.nics.push_back(nic);
  if (all.nics.empty()) return {};
  if (all.nics.size() == scores.size())
    return hosts_of(all.nics) >= kLeastTogether ? std::vector{all} : std::vector<SlowGroup>();
  std::map<NicId, std::uint32_t> rails;
  for (const auto& [nic, score] : scores)
    rails.emplace(nic, nic.rail);
  std::vector<SlowGroup> out = groups_by(Common::kRail, scores, rails);
  for (SlowGroup& group : groups_by(Common::kLeaf, scores, leaves)) {
    const bool is_said = std::all_of(group.nics.begin(), group.nics.end(),
                                     [&](const NicId& nic) { return is_among(nic, out); });
    if (!is_said) out.push_back(std::move(group));
  }
  return out;
}

std::vector<Suspect> suspects_among(const std::vector<Sample>& samples,
                                    const std::vector<std::uint32_t>& kinds,
                                    const std::vector<SlowGroup>& groups,
                                    const finding::Thresholds& limits) {
  const Scores scores = scores_of(samples);
  const std::map<NicId, double> z = z_of(scores, kinds, limits);
  std::vector<Suspect> out;
  for (const auto& [nic, score] : scores) {
    if (score.value >= 1) continue;
    const auto among_like = z.find(nic);
    const bool is_compared = among_like != z.end();
    const bool is_outlier = is_compared && among_like->second <= -limits.outlier_z;
    if (is_compared && !is_outlier && is_among(nic, groups)) continue;
    out.push_back({.nic = nic,
                   .score = score.value,
                   .is_receiving = score.is_receiving,
                   .z = is_compared ? among_like->second : 0,
                   .is_outlier = is_outlier});
  }
  std::stable_sort(out.begin(), out.end(), [](const Suspect& a, const Suspect& b) {
    if (a.is_outlier != b.is_outlier) return a.is_outlier;
    return a.score < b.score;
  });
  return out;
}

std::vector<SuspectHost> suspect_hosts(const std::vector<Suspect>& suspects) {
  std::vector<SuspectHost> out;
  for (const Suspect& suspect : suspects) {
    const auto known = std::find_if(out.begin(), out.end(), [&](const SuspectHost& each) {
      return each.host == suspect.nic.host;
    });
    SuspectHost& host =
        known == out.end() ? out.emplace_back(SuspectHost{suspect.nic.host, {}}) : *known;
    host.rails.push_back(suspect.nic.rail);
  }
  for (SuspectHost& host : out)
    std::sort(host.rails.begin(), host.rails.end());
  return out;
}

std::vector<Sample> suspect_pairs(const std::vector<Sample>& samples,
                                  const std::vector<Suspect>& suspects, std::size_t most) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sample> worst;
  for (const Sample& sample : samples) {
    if (!sample.is_slow() || is_among({sample.from, sample.rail}, suspects) ||
        is_among({sample.to, sample.rail}, suspects))
      continue;
    const auto key = std::minmax(sample.from, sample.to);
    const auto [at, is_new] = worst.try_emplace({key.first, key.second}, sample);
    if (!is_new && sample.of_floor() < at->second.of_floor()) at->second = sample;
  }
  std::vector<Sample> out;
  for (const auto& [pair, sample] : worst)
    out.push_back(sample);
  std::stable_sort(out.begin(), out.end(),
                   [](const Sample& a, const Sample& b) { return a.of_floor() < b.of_floor(); });
  if (out.size() > most) out.resize(most);
  return out;
}

std::uint32_t healthy_partner(const SuspectHost& suspect, std::uint32_t excluded,
                              const PartnerChoice& among) {
  const auto counts = [&](std::uint32_t rail) {
    return std::find(suspect.rails.begin(), suspect.rails.end(), rail) != suspect.rails.end();
  };
  const std::set<NicId> proven = good_without(suspect.host, among.samples);
  struct Known {
    bool is_proven = true;
    bool is_suspect = false;
    double score = 0;
  };
  std::map<std::uint32_t, Known> hosts;  // the worst of the rails that count
  for (const auto& [nic, score] : scores_of(among.samples)) {
    if (!counts(nic.rail) || nic.host == suspect.host || nic.host == excluded) continue;
    const auto [at, is_new] = hosts.try_emplace(nic.host);
    Known& known = at->second;
    known.is_proven = known.is_proven && proven.contains(nic);
    known.is_suspect = known.is_suspect || is_among(nic, among.suspects);
    known.score = is_new ? score.value : std::min(known.score, score.value);
  }
  std::uint32_t best = suspect.host;
  std::tuple<bool, bool, double> best_key;
  for (const auto& [host, known] : hosts) {
    if (known.is_suspect && !known.is_proven) continue;
    const std::tuple key(known.is_proven, among.kinds.at(host) == among.kinds.at(suspect.host),
                         known.score);
    if (best != suspect.host && key <= best_key) continue;
    best = host;
    best_key = key;
  }
  return best;
}

std::vector<Sample> without_nics(const std::set<NicId>& nics, std::vector<Sample> samples) {
  std::erase_if(samples, [&](const Sample& sample) {
    return nics.contains({sample.from, sample.rail}) || nics.contains({sample.to, sample.rail});
  });
  return samples;
}

}  // namespace weir::preflight
