#include "lab/rehearsal/rehearsal_chances.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"
#include "sim/fabric/route.h"

namespace weir::lab {
namespace {

using sim::Network;
using sim::NodeKind;

constexpr std::uint64_t kOfPorts = 0x9A7B5;  // purpose of the random stream
/// Simulated annealing (Kirkpatrick, Gelatt & Vecchi, Science 1983): one queue pair after another
/// alone would stay where two have to change places. Moves for each queue pair, and at most.
constexpr std::size_t kMoves = 200;
constexpr std::size_t kMostMoves = 30'000;
/// What comes as near as this is found; else another search is made, while moves are left.
constexpr double kFound = 0.03;
constexpr std::size_t kMovesInAll = 60'000;
/// From moves of any size to none that comes less near.
constexpr double kCooling = 1e-4;
constexpr std::size_t kMostHops = 16;

/// Where a flow goes, as the simulator routes it.
class Router {
 public:
  explicit Router(const Network& network) : network_(network), links_(network.nodes.size()) {
    routes_.build(network);
    for (std::uint32_t l = 0; l < network.links.size(); ++l) {
      links_[network.links[l].a].push_back(l);
      links_[network.links[l].b].push_back(l);
    }
  }

  /// Links between switches, as LinkLoads counts them.
  void find(const sim::QueuePair& qp, std::uint16_t port, std::vector<std::uint32_t>& out) const {
    out.clear();
    const std::uint32_t key = sim::flow_key(qp.source, qp.target, port);
    std::uint32_t node = far_end(links_[qp.source].front(), qp.source);
    while (out.size() < kMostHops) {
      const auto ways = routes_.next(node, qp.target);
      if (ways.empty()) return;
      const auto& config = network_.switches[network_.nodes[node].config];
      const std::uint32_t way =
          sim::pick(key, config.ecmp_seed, static_cast<std::uint32_t>(ways.size()));
      const std::uint32_t link = links_[node][ways[way]];
      const std::uint32_t next = far_end(link, node);
      if (network_.nodes[next].kind == NodeKind::kNic) return;
      out.push_back(2 * link + (network_.links[link].a == node ? 0 : 1));
      node = next;
    }
  }

 private:
  [[nodiscard]] std::uint32_t far_end(std::uint32_t link, std::uint32_t node) const {
    const sim::Link& of = network_.links[link];
    return of.a == node ? of.b : of.a;
  }

  const Network& network_;
  sim::Routes routes_;
  std::vector<std::vector<std::uint32_t>> links_;  // by node and local port
};

class Search {
 public:
  Search(const Network& network, std::span<const std::int64_t> bytes, const LinkLoads& loads,
         std::uint64_t luck)
      : network_(network),
        bytes_(bytes),
        loads_(loads),
        router_(network),
        random_(luck, 0, kOfPorts),
        carried_(loads.size(), 0) {
    for (std::size_t q = 0; q < bytes_.size(); ++q) {
      out_.of_qps.push_back(network.qps[q].source_port);
      carry(q, out_.of_qps[q], 1);
      if (bytes_[q] > 0 && !path_.empty()) movable_.push_back(q);
    }
    find_scale();
    for (const std::size_t q : movable_)
      heat_ += wire(q) * wire(q) / static_cast<double>(movable_.size());
    out_.off = off();
  }

  [[nodiscard]] Ports run() {
    const std::size_t moves = std::min(kMoves * movable_.size(), kMostMoves);
    Ports best = out_;
    for (std::size_t made = 0; made + moves <= kMovesInAll && best.off > kFound && moves > 0;
         made += moves) {
      anneal(moves);
      if (out_.off < best.off) best = out_;
    }
    return best;
  }

 private:
  void anneal(std::size_t moves) {
    const double cooling = std::pow(kCooling, 1 / static_cast<double>(moves));
    double heat = heat_;
    for (std::size_t i = 0; i < moves; ++i, heat *= cooling)
      move(movable_[random_.below(movable_.size())], heat);
    out_.off = off();
  }

  void carry(std::size_t q, std::uint16_t port, double sign) {
    router_.find(network_.qps[q], port, path_);
    for (const std::uint32_t link : path_)
      carried_[link] += sign * static_cast<double>(bytes_[q]);
  }

  /// Headers, and what was sent twice: bytes on the wire for each byte of a message.
  void find_scale() {
    double wire = 0;
    double user = 0;
    for (std::size_t l = 0; l < loads_.size(); ++l) {
      if (!loads_[l]) continue;
      wire += *loads_[l];
      user += carried_[l];
    }
    scale_ = user > 0 ? wire / user : 1;
  }

  [[nodiscard]] double wire(std::size_t q) const { return static_cast<double>(bytes_[q]) * scale_; }

  /// What a path adds to the squared error, where the queue pair is on none.
  [[nodiscard]] double cost(std::size_t q, std::uint16_t port) {
    const double more = wire(q);
    router_.find(network_.qps[q], port, path_);
    double sum = 0;
    for (const std::uint32_t link : path_)
      if (loads_[link]) sum += more * (2 * (carried_[link] * scale_ - *loads_[link]) + more);
    return sum;
  }

  void move(std::size_t q, double heat) {
    constexpr std::uint64_t kSteps = 1U << 20U;
    std::uint16_t& port = out_.of_qps[q];
    const auto other =
        static_cast<std::uint16_t>(sim::kFirstSourcePort + random_.below(sim::kSourcePorts));
    carry(q, port, -1);
    const double worse = cost(q, other) - cost(q, port);
    const double chance = static_cast<double>(random_.below(kSteps)) / static_cast<double>(kSteps);
    if (worse <= 0 || chance < std::exp(-worse / heat)) port = other;
    carry(q, port, 1);
  }

  [[nodiscard]] double off() const {
    double error = 0;
    double all = 0;
    for (std::size_t l = 0; l < loads_.size(); ++l) {
      if (!loads_[l]) continue;
      const double difference = carried_[l] * scale_ - *loads_[l];
      error += difference * difference;
      all += *loads_[l] * *loads_[l];
    }
    return all > 0 ? std::sqrt(error / all) : 0;
  }

  const Network& network_;
  std::span<const std::int64_t> bytes_;
  const LinkLoads& loads_;
  Router router_;
  RandomStream random_;
  std::vector<double> carried_;  // bytes of messages, by link
  double scale_ = 1;
  double heat_ = 0;                   // to begin with: squared bytes of a queue pair
  std::vector<std::size_t> movable_;  // queue pairs that cross links between switches
  std::vector<std::uint32_t> path_;
  Ports out_;
};

}  // namespace

LinkLoads link_loads(const diagnose::View& view) {
  const design::Intent& intent = *view.intent();
  for (const design::SwitchIntent& one : intent.switches)
    if (one.load_balancing != design::LoadBalancing::kEcmp) return {};
  LinkLoads out(2 * intent.links.size());
  bool is_any = false;
  for (const diagnose::PortView& port : view.ports()) {
    const auto sent = port.counts.of("switch.port.tx.bytes");
    if (port.wanted == nullptr || port.wanted->is_access || !sent) continue;
    const design::PortRef& lower = intent.links[port.wanted->link].lower;
    const bool is_lower = lower.kind == design::NodeKind::kSwitch &&
                          &intent.switches[lower.node] == port.wanted_switch;
    out[2 * port.wanted->link + (is_lower ? 0 : 1)] = static_cast<double>(*sent);
    is_any = true;
  }
  return is_any ? out : LinkLoads();
}

Ports ports_for(const Network& network, std::span<const std::int64_t> bytes, const LinkLoads& loads,
                std::uint64_t luck) {
  WEIR_CHECK(bytes.size() == network.qps.size() && loads.size() == 2 * network.links.size());
  return Search(network, bytes, loads, luck).run();
}

NicLoads nic_loads(const diagnose::View& view, const sim::Fabric& fabric) {
  NicLoads out(fabric.nics.size());
  for (const diagnose::NicView& nic : view.nics()) {
    const auto sent = nic.counts.of("nic.port.tx.bytes");
    const auto received = nic.counts.of("nic.port.rx.bytes");
    if (!sent || !received) continue;
    for (std::size_t n = 0; n < fabric.nics.size(); ++n)
      if (fabric.hosts[fabric.nics[n].host] == nic.host && fabric.nics[n].device == nic.device)
        out[n] = {static_cast<double>(*sent), static_cast<double>(*received)};
  }
  return out;
}

NicLoads posted_loads(const sim::Fabric& fabric) {
  std::vector<std::int64_t> bytes(fabric.network.qps.size(), 0);
  for (const sim::Message& message : fabric.network.messages)
    bytes[message.qp] += message.size.raw();
  return carried_loads(fabric, bytes);
}

NicLoads carried_loads(const sim::Fabric& fabric, std::span<const std::int64_t> bytes) {
  WEIR_CHECK(bytes.size() == fabric.network.qps.size());
  NicLoads out(fabric.nics.size(), NicLoad());
  for (std::size_t q = 0; q < bytes.size(); ++q) {
    const sim::QueuePair& qp = fabric.network.qps[q];
    out[qp.source]->sent += static_cast<double>(bytes[q]);
    out[qp.target]->received += static_cast<double>(bytes[q]);
  }
  return out;
}

double difference(const NicLoads& one, const NicLoads& observed) {
  constexpr double kNothing = 20'000;  // bytes: a few packets more or less
  double sum = 0;
  for (std::size_t n = 0; n < observed.size(); ++n) {
    if (!observed[n] || !one[n]) continue;
    const double sent = std::log((one[n]->sent + kNothing) / (observed[n]->sent + kNothing));
    const double received =
        std::log((one[n]->received + kNothing) / (observed[n]->received + kNothing));
    sum += sent * sent + received * received;
  }
  return sum;
}

}  // namespace weir::lab
