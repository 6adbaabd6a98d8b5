#include "model/ideal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace weir::model {
namespace {

/// size * over / under at `rate`, rounded down.
Duration transfer(Bytes size, std::int64_t over, std::int64_t under, BitRate rate) {
  WEIR_CHECK(size >= 0_B && over >= 0 && under > 0 && rate.raw() > 0);
  const Int128 bit_ps = Int128{size.raw()} * 8 * over * kPicosecondsPerSecond;
  return Duration::raw(static_cast<std::int64_t>(bit_ps / rate.raw() / under));
}

int rounds(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

Duration all_reduce_transfer(const Collective& c) {
  WEIR_CHECK(c.ranks >= 2);
  return transfer(c.size, 2 * (std::int64_t{c.ranks} - 1), c.ranks, c.rate);
}

/// P(no link has more than `limit` flows) times exp-scaled weights: coefficient of x^flows in the
/// power of a Poisson law cut at `limit`. Poisson weights keep every number between 0 and 1.
double within_limit(int flows, int links, int limit, const std::vector<double>& poisson) {
  std::vector<double> sum(static_cast<std::size_t>(flows) + 1, 0.0);
  sum[0] = 1;
  constexpr double kNegligible = 1e-25;
  for (int link = 0; link < links; ++link) {
    std::vector<double> next(sum.size(), 0.0);
    for (std::size_t have = 0; have < sum.size(); ++have) {
      const double weight = sum[have];
      if (weight < kNegligible) continue;
      const std::size_t most = std::min(static_cast<std::size_t>(limit), sum.size() - 1 - have);
      for (std::size_t add = 0; add <= most; ++add)
        next[have + add] += weight * poisson[add];
    }
    sum = std::move(next);
  }
  return sum.back();
}

double log_poisson(double mean, int count) {
  return count * std::log(mean) - mean - std::lgamma(count + 1.0);
}

}  // namespace

Duration ring_all_reduce(const Collective& c) {
  return all_reduce_transfer(c) + c.per_message * 2 * (c.ranks - 1);
}

Duration halving_doubling_all_reduce(const Collective& c) {
  WEIR_CHECK(std::has_single_bit(static_cast<unsigned>(c.ranks)));
  return all_reduce_transfer(c) + c.per_message * 2 * rounds(c.ranks);
}

Duration double_tree_all_reduce(const Collective& c) {
  WEIR_CHECK(c.ranks >= 2);
  return transfer(c.size, 2, 1, c.rate) + c.per_message * 2 * rounds(c.ranks);
}

Duration all_reduce_bound(const Collective& c) {
  return std::max(all_reduce_transfer(c), c.per_message * rounds(c.ranks));
}

Duration ring_all_gather(const Collective& c) {
  WEIR_CHECK(c.ranks >= 2);
  return transfer(c.size, c.ranks - 1, c.ranks, c.rate) + c.per_message * (c.ranks - 1);
}

Duration all_to_all_nic_bound(const AllToAll& a) {
  WEIR_CHECK(a.ranks >= 2);
  return transfer(a.pair, a.ranks - 1, 1, a.rate);
}

Duration all_to_all_uplink_bound(const AllToAll& a) {
  WEIR_CHECK(a.hosts_per_leaf >= 1 && a.hosts_per_leaf <= a.ranks && a.oversubscription_under > 0);
  return transfer(a.pair, (a.ranks - a.hosts_per_leaf) * a.oversubscription_over,
                  a.oversubscription_under, a.rate);
}

Duration all_to_all_bound(const AllToAll& a) {
  return std::max(all_to_all_nic_bound(a), all_to_all_uplink_bound(a));
}

Duration incast_drain(const Incast& in) {
  WEIR_CHECK(in.senders >= 1);
  return transfer(in.message, in.senders, 1, in.rate);
}

Bytes incast_peak_queue(const Incast& in) {
  WEIR_CHECK(in.senders >= 1);
  return in.message * (in.senders - 1);
}

Bytes incast_queue_before_feedback(const Incast& in, Duration delay) {
  return std::min(bytes_in(delay, in.rate) * (in.senders - 1), incast_peak_queue(in));
}

Duration store_and_forward_latency(const IdlePath& path) {
  WEIR_CHECK(path.switches >= 0);
  return (serialization_time(path.frame, path.rate) + path.propagation) * (path.switches + 1) +
         path.switch_delay * path.switches;
}

Duration cut_through_latency(const IdlePath& path) {
  WEIR_CHECK(path.switches >= 0 && path.header <= path.frame);
  return serialization_time(path.frame, path.rate) + path.propagation * (path.switches + 1) +
         (serialization_time(path.header, path.rate) + path.switch_delay) * path.switches;
}

double no_collision_probability(int flows, int links) {
  WEIR_CHECK(flows >= 0 && links >= 1);
  double probability = 1;
  for (int i = 0; i < flows; ++i)
    probability *= std::max(0.0, 1 - static_cast<double>(i) / links);
  return probability;
}

double idle_link_share(int flows, int links) {
  WEIR_CHECK(flows >= 0 && links >= 1);
  return std::pow(1 - 1.0 / links, flows);
}

MaxLoad ecmp_max_load(int flows, int links) {
  WEIR_CHECK(flows >= 1 && links >= 1);
  const double mean_load = static_cast<double>(flows) / links;
  std::vector<double> poisson(static_cast<std::size_t>(flows) + 1);
  for (int j = 0; j <= flows; ++j)
    poisson[static_cast<std::size_t>(j)] = std::exp(log_poisson(mean_load, j));
  const double all = std::exp(log_poisson(flows, flows));  // P(the Poisson loads add up to `flows`)
  // E[max] = sum over k of P(max > k); E[max^2] = sum of (2k+1) * P(max > k).
  MaxLoad load;
  double square = 0;
  constexpr double kRest = 1e-9;
  for (int k = 0; k < flows; ++k) {
    const bool cannot_fit = std::int64_t{k} * links < flows;
    const double beyond = cannot_fit ? 1 : 1 - within_limit(flows, links, k, poisson) / all;
    if (beyond < kRest) break;
    load.mean += beyond;
    square += (2.0 * k + 1) * beyond;
  }
  load.deviation = std::sqrt(std::max(0.0, square - load.mean * load.mean));
  return load;
}

double go_back_n_efficiency(double p, double in_flight) {
  WEIR_CHECK(p >= 0 && p < 1 && in_flight >= 0);
  return (1 - p) / (1 - p + p * in_flight);
}

double go_back_n_efficiency(double p, double in_flight, double timeout_packets) {
  WEIR_CHECK(p >= 0 && p < 1 && in_flight >= 0 && timeout_packets >= 0);
  return 1 / (1 + p * in_flight + p * p / (1 - p) * timeout_packets);
}

BitRate loop_deadlock_rate(int hops, BitRate rate, int ttl) {
  WEIR_CHECK(hops >= 1 && ttl >= 1 && rate.raw() > 0);
  return rate * hops / ttl;
}

}  // namespace weir::model
