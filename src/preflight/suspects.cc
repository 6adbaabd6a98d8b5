#include "preflight/suspects.h"

#include <algorithm>
#include <map>
#include <set>

#include "preflight/measure.h"

namespace weir::preflight {
namespace {

struct Score {
  double value = 1;
  bool is_receiving = false;
};

/// Per host that took part.
std::map<std::uint32_t, Score> scores_of(const std::vector<Sample>& samples) {
  std::map<std::uint32_t, std::vector<double>> sent;
  std::map<std::uint32_t, std::vector<double>> received;
  for (const Sample& sample : samples) {
    sent[sample.from].push_back(sample.of_floor());
    received[sample.to].push_back(sample.of_floor());
  }
  std::map<std::uint32_t, Score> out;
  for (const auto& [host, values] : sent)
    out[host] = {median_of(values), false};
  for (const auto& [host, values] : received) {
    const double value = median_of(values);
    const auto known = out.find(host);
    if (known == out.end() || value < known->second.value) out[host] = {value, true};
  }
  return out;
}

/// Of each host among those of its kind; none where they are too few.
std::map<std::uint32_t, double> z_of(const std::map<std::uint32_t, Score>& scores,
                                     const std::vector<std::uint32_t>& kinds,
                                     const finding::Thresholds& limits) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_kind;
  for (const auto& [host, score] : scores)
    by_kind[kinds.at(host)].push_back(host);
  std::map<std::uint32_t, double> out;
  for (const auto& [kind, hosts] : by_kind) {
    if (hosts.size() < limits.like_hosts) continue;
    std::vector<double> values;
    for (const std::uint32_t host : hosts)
      values.push_back(scores.at(host).value);
    const std::vector<double> z = robust_z(values, limits.least_spread);
    for (std::size_t i = 0; i < hosts.size(); ++i)
      out[hosts[i]] = z[i];
  }
  return out;
}

bool is_among(std::uint32_t host, const std::vector<Suspect>& suspects) {
  return std::any_of(suspects.begin(), suspects.end(),
                     [&](const Suspect& suspect) { return suspect.host == host; });
}

}  // namespace

std::vector<Suspect> suspects_among(const std::vector<Sample>& samples,
                                    const std::vector<std::uint32_t>& kinds,
                                    const finding::Thresholds& limits, std::size_t most) {
  const std::map<std::uint32_t, Score> scores = scores_of(samples);
  const std::map<std::uint32_t, double> z = z_of(scores, kinds, limits);
  std::vector<Suspect> out;
  for (const auto& [host, score] : scores) {
    if (score.value >= 1) continue;
    const auto among_like = z.find(host);
    if (among_like != z.end() && among_like->second > -limits.outlier_z) continue;
    out.push_back({.host = host,
                   .score = score.value,
                   .is_receiving = score.is_receiving,
                   .z = among_like == z.end() ? 0 : among_like->second});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Suspect& a, const Suspect& b) { return a.score < b.score; });
  if (out.size() > most) out.resize(most);
  return out;
}

std::vector<HostPair> suspect_pairs(const std::vector<Sample>& samples,
                                    const std::vector<Suspect>& suspects, std::size_t most) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> worst;
  for (const Sample& sample : samples) {
    if (!sample.is_slow() || is_among(sample.from, suspects) || is_among(sample.to, suspects))
      continue;
    const auto key = std::minmax(sample.from, sample.to);
    const auto [at, is_new] = worst.try_emplace({key.first, key.second}, sample.of_floor());
    if (!is_new) at->second = std::min(at->second, sample.of_floor());
  }
  std::vector<std::pair<double, HostPair>> ordered;
  for (const auto& [pair, value] : worst)
    ordered.push_back({value, {pair.first, pair.second}});
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HostPair> out;
  for (std::size_t i = 0; i < ordered.size() && i < most; ++i)
    out.push_back(ordered[i].second);
  return out;
}

std::uint32_t healthy_partner(std::uint32_t suspect, std::uint32_t excluded,
                              const std::vector<Sample>& samples,
                              const std::vector<Suspect>& suspects,
                              const std::vector<std::uint32_t>& kinds) {
  std::uint32_t best = suspect;
  std::pair<bool, double> best_key = {false, -1};
  for (const auto& [host, score] : scores_of(samples)) {
    if (host == suspect || host == excluded || is_among(host, suspects)) continue;
    const std::pair<bool, double> key = {kinds.at(host) == kinds.at(suspect), score.value};
    if (best == suspect || key > best_key) {
      best = host;
      best_key = key;
    }
  }
  return best;
}

}  // namespace weir::preflight
