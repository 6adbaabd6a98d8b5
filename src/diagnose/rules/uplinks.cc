// I4 and I26: uplinks. Switches of two tiers with the same hash use only part of the paths; a leaf
// with fewer or slower uplinks than its peers slows all of its hosts, in traffic between leaves
// only.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

std::optional<unsigned> seed_of(const PortView& port) {
  if (port.device == nullptr || !port.device->ecmp_seed.is_known()) return std::nullopt;
  return *port.device->ecmp_seed;
}

/// The design gives them different seeds, or there is none to ask.
bool should_differ(const PortView& port, const PortView& peer) {
  return port.wanted_switch == nullptr || peer.wanted_switch == nullptr ||
         port.wanted_switch->ecmp_seed != peer.wanted_switch->ecmp_seed;
}

void look_for_same_seeds(const View& view, Suspicions& out) {
  std::vector<std::string> alike;
  std::optional<unsigned> seed;
  for (const PortView& port : view.ports()) {
    if (!port.peer) continue;
    const PortView& peer = view.ports()[*port.peer];
    const auto own = seed_of(port);
    if (!own || own != seed_of(peer) || !should_differ(port, peer)) continue;
    seed = own;
    for (const std::string& name : {port.switch_name, peer.switch_name})
      if (std::find(alike.begin(), alike.end(), name) == alike.end()) alike.push_back(name);
  }
  if (alike.empty()) return;
  finding::Where where;
  if (alike.size() < view.switches().size()) where.switch_name = alike.front();
  std::vector<finding::EvidenceLine> lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(alike.size(), 4); ++i)
    lines.push_back(fact_line(alike[i], fmt::format("ECMP hash seed: {}", *seed)));
  out.add(
      {.id = "ecmp.same_seed",
       .verdict = fmt::format(
           "{} and {}{} use the same ECMP hash seed {}: the second tier "
           "repeats the choice of the first, and some paths are never used.",
           alike[0], alike[1],
           alike.size() > 2 ? fmt::format(" and {} more", alike.size() - 2) : std::string(), *seed),
       .where = where,
       .evidence = std::move(lines),
       .explains = {
           {"ecmp.polarised"}, {"ecmp.imbalance"}, {"pfc.sustained"}, {"leaf.uplink_bottleneck"}}});
}

/// Cables to the same neighbour below, in their order: which of them carried anything.
struct Bundle {
  std::string neighbour;
  std::vector<bool> used;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  }
};

std::vector<Bundle> bundles_of(const View& view, const std::string& name) {
  std::vector<Bundle> all;
  for (const PortView* port : view.ports_of(name)) {
    const auto sent = port->counts.of("switch.port.tx.packets");
    if (!port->peer || !sent || leads_up(view, *port) != std::optional(false)) continue;
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const Bundle& known) { return known.neighbour == port->neighbour; });
    if (at == all.end()) at = all.insert(all.end(), Bundle{port->neighbour, {}});
    at->used.push_back(*sent > 0);
  }
  const std::size_t cables = all.empty() ? 0 : all.front().used.size();
  std::erase_if(all, [&](const Bundle& bundle) {
    return cables < 2 || bundle.used.size() != cables || bundle.count() == 0;
  });
  return all;
}

double log_choose(std::size_t all, std::size_t some) {
  return std::lgamma(static_cast<double>(all) + 1) - std::lgamma(static_cast<double>(some) + 1) -
         std::lgamma(static_cast<double>(all - some) + 1);
}

/// The least number of connections for which the switch chose a cable downwards: one per cable that
/// brought traffic which can only go down. Traffic from below may go up again, unless this is the
/// top tier.
std::size_t arrivals(const View& view, const std::string& name) {
  std::size_t above = 0;
  std::size_t below = 0;
  bool is_top = true;
  for (const PortView* port : view.ports_of(name)) {
    const bool is_up = leads_up(view, *port).value_or(true);
    is_top = is_top && !is_up;
    if (port->counts.of("switch.port.rx.packets").value_or(0) > 0) ++(is_up ? above : below);
  }
  return is_top ? below : above;
}

/// The logarithm of the probability that bundles which use so many cables each leave the same ones
/// idle, or that so many connections all miss them: the smaller of the two. 0 (certain) if every
/// cable is used in one of the bundles.
double chance_of(const std::vector<Bundle>& bundles, std::size_t connections) {
  if (bundles.empty()) return 0;
  const std::size_t cables = bundles.front().used.size();
  std::size_t together = 0;
  for (std::size_t i = 0; i < cables; ++i)
    together += std::any_of(bundles.begin(), bundles.end(),
                            [&](const Bundle& bundle) { return bundle.used[i]; })
                    ? 1
                    : 0;
  if (together == cables) return 0;
  double by_bundles = log_choose(cables, together);
  const double by_connections =
      by_bundles + static_cast<double>(connections) *
                       std::log(static_cast<double>(together) / static_cast<double>(cables));
  for (const Bundle& bundle : bundles)
    by_bundles += log_choose(together, bundle.count()) - log_choose(cables, bundle.count());
  return std::min({by_bundles, by_connections, 0.0});
}

/// A switch with the same hash as the tier below uses the same cables to every neighbour and leaves
/// the same ones idle.
void look_for_alike_choices(const View& view, Suspicions& out) {
  double chance = 0;
  std::vector<std::string> names;
  for (const std::string& name : view.switches()) {
    const double here = chance_of(bundles_of(view, name), arrivals(view, name));
    chance += here;
    if (here < 0) names.push_back(name);
  }
  if (names.empty() || chance > std::log(view.thresholds().hash_chance)) return;
  std::vector<finding::EvidenceLine> lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i)
    lines.push_back(fact_line(names[i], "the same cables are unused in every bundle"));
  out.add({.id = "ecmp.polarised",
           .verdict = fmt::format(
               "{}{} leave{} the same cables idle towards every neighbour: the "
               "hash repeats that of the tier below, and some paths are never "
               "used.",
               names.front(),
               names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : std::string(),
               names.size() > 1 ? "" : "s"),
           .confidence = finding::Confidence::kMedium,
           .evidence = std::move(lines),
           .explains = {{"ecmp.imbalance"}, {"pfc.sustained"}}});
}

/// What a leaf can send upwards now.
struct Uplinks {
  std::string leaf;
  double capacity = 0;  // bit/s
  std::size_t up = 0;
  std::size_t all = 0;
};

std::optional<Uplinks> uplinks_of(const View& view, const std::string& name) {
  if (!has_hosts(view, name)) return std::nullopt;
  Uplinks out;
  out.leaf = name;
  for (const PortView* port : view.ports_of(name)) {
    if (leads_up(view, *port) != std::optional(true)) continue;
    if (port->facts == nullptr || !port->facts->up.is_known() || !port->speed) return std::nullopt;
    ++out.all;
    if (!*port->facts->up) continue;
    ++out.up;
    out.capacity += static_cast<double>(port->speed->raw());
  }
  return out.all == 0 ? std::nullopt : std::optional(out);
}

void look_for_narrow_leaves(const View& view, Suspicions& out) {
  std::vector<Uplinks> leaves;
  for (const std::string& name : view.switches())
    if (auto leaf = uplinks_of(view, name)) leaves.push_back(*std::move(leaf));
  if (leaves.size() < 2) return;
  const auto widest =
      std::max_element(leaves.begin(), leaves.end(),
                       [](const Uplinks& a, const Uplinks& b) { return a.capacity < b.capacity; });
  const auto is_narrow = [&](const Uplinks& leaf) {
    return leaf.capacity < view.thresholds().narrow_uplinks * widest->capacity;
  };
  // If half of them are narrow, the fabric was built that way.
  const auto count = std::count_if(leaves.begin(), leaves.end(), is_narrow);
  if (static_cast<std::size_t>(count) * 2 > leaves.size()) return;
  const auto text = [](double capacity) {
    return to_text(BitRate::raw(static_cast<std::int64_t>(capacity)));
  };
  for (const Uplinks& leaf : leaves) {
    if (!is_narrow(leaf)) continue;
    out.add(
        {.id = "leaf.uplink_bottleneck",
         .verdict =
             fmt::format("{} has {} of uplinks, {} has {}: its hosts are slow in traffic "
                         "between leaves.",
                         leaf.leaf, text(leaf.capacity), widest->leaf, text(widest->capacity)),
         .where = {.switch_name = leaf.leaf},
         .confidence = finding::Confidence::kHigh,
         .evidence = {fact_line(leaf.leaf, fmt::format("uplinks: {} of {} up", leaf.up, leaf.all))},
         .explains = {{"ecmp.imbalance"}, {"pfc.sustained"}}});
  }
}

/// What a switch shows of its ports at one moment, in percent of the line: much arrives evenly on
/// all of them, so their far ends are alike, and what is sent goes over a few of them only.
void look_for_idle_paths(const View& view, const std::string& name, Suspicions& out) {
  struct PathUse {
    const PortView* port = nullptr;
    double sent = 0;
    double received = 0;
  };
  const Thresholds& limits = view.thresholds();
  std::vector<PathUse> uses;
  for (const PortView* port : view.ports_of(name)) {
    const auto sent = port->counts.level("switch.port.tx.utilisation.percent");
    const auto received = port->counts.level("switch.port.rx.utilisation.percent");
    if (!sent || !received || port->is_fabric() == std::optional(false)) continue;
    uses.push_back({port, static_cast<double>(*sent) / 100, static_cast<double>(*received) / 100});
  }
  if (uses.size() < limits.paths_compared) return;
  const auto [least, most] = std::minmax_element(
      uses.begin(), uses.end(),
      [](const PathUse& a, const PathUse& b) { return a.received < b.received; });
  const bool is_even = most->received <= limits.hot_link * least->received;
  const auto count = [&](auto&& is) {
    return static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), is));
  };
  const std::size_t full = count([&](const PathUse& use) { return use.sent >= limits.full_path; });
  const std::size_t idle = count([&](const PathUse& use) { return use.sent <= limits.idle_path; });
  if (!is_even || least->received <= 0 || full == 0 || idle * 2 < uses.size()) return;
  std::vector<finding::EvidenceLine> lines;
  for (const PathUse& use : uses)
    if (lines.size() < 8)
      lines.push_back(use.port->counts.line("switch.port.tx.utilisation.percent"));
  out.add({.id = "ecmp.imbalance",
           .verdict = fmt::format("{} sends over {} of {} alike ports at {} of the line or more, "
                                  "and {} of them are idle: ECMP does not spread the flows.",
                                  name, full, uses.size(), percent(limits.full_path), idle),
           .where = {.switch_name = name},
           .confidence = finding::Confidence::kHigh,
           .evidence = std::move(lines),
           .explains = {{"pfc.sustained"}}});
}

}  // namespace

void look_for_same_hash(const View& view, Suspicions& out) {
  const std::size_t before = out.candidates().size();
  look_for_same_seeds(view, out);
  const bool are_read = std::all_of(view.ports().begin(), view.ports().end(),
                                    [](const PortView& port) { return seed_of(port).has_value(); });
  if (out.candidates().size() == before && !are_read) look_for_alike_choices(view, out);
}

void look_for_uplinks(const View& view, Suspicions& out) {
  look_for_narrow_leaves(view, out);
  for (const std::string& name : view.switches())
    look_for_idle_paths(view, name, out);
}

}  // namespace weir::diagnose
