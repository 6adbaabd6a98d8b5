// Stage 4 beyond 128 hosts: pairs that were slow below two leaves, until the link or its leaf is
// known.
#include "preflight/bisect.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/behaviour/preflight.h"
#include "ops/preflight/bench.h"

namespace weir::ops {
namespace {

using preflight::Carried;
using preflight::HostPair;
using preflight::Sample;
using preflight::SideCount;
using preflight::Trial;

// Each is a load of its own: of hosts some seconds.
constexpr std::size_t kMostLeafPairs = 3;
constexpr std::size_t kSameLeaves = 12;
constexpr std::size_t kEachSide = 12;
// Of all rails together.
constexpr std::size_t kMostRuns = kMostLeafPairs * (kSameLeaves + 2 * kEachSide);

/// Pairs that were measured alone, for all rails: a load runs on every rail of its hosts, and is
/// not repeated for the next one.
class PairRuns {
 public:
  explicit PairRuns(Bench& bench) : bench_(bench) {
    for (std::uint32_t i = 0; i < bench.intent().switches.size(); ++i) {
      const auto& ports = bench.intent().switches[i].ports;
      if (std::any_of(ports.begin(), ports.end(), [](const auto& port) { return port.is_access; }))
        leaves_.insert(i);
    }
  }

  struct Run {
    std::vector<Sample> samples;   // of all rails
    std::vector<Carried> carried;  // none where nobody counts
  };
  /// nullptr: it would be one load too many.
  Result<const Run*> run(const HostPair& pair, std::uint32_t rail) {
    const auto known = runs_.find(key_of(pair));
    if (known != runs_.end()) return &known->second;
    if (runs_.size() >= kMostRuns) return nullptr;
    tell(bench_.request().progress, static_cast<double>(runs_.size()) / kMostRuns,
         fmt::format("slow link of rail {}: {} and {} alone", rail, bench_.name(pair.first),
                     bench_.name(pair.second)));
    Run out;
    const auto load = [&]() -> Status {
      WEIR_TRY(ran, bench_.rig().exchange({pair}, 0));
      out.samples = std::move(ran);
      return {};
    };
    if (bench_.set().with_switches) {
      WEIR_TRY(window, bench_.watch(load));
      out.carried = carried_in(diagnose::View(bench_.subject(window)));
    } else {
      WEIR_TRY_STATUS(load());
    }
    return &runs_.emplace(key_of(pair), std::move(out)).first->second;
  }

  [[nodiscard]] bool is_spent() const { return runs_.size() >= kMostRuns; }
  [[nodiscard]] const std::set<std::uint32_t>& leaves() const { return leaves_; }

  /// The pairs, and before them those that were measured already and fit too: they cost nothing.
  /// Each once, at most `most`.
  template <class Fits>
  [[nodiscard]] std::vector<HostPair> known_first(const std::vector<HostPair>& pairs,
                                                  const Fits& fits, std::size_t most) const {
    std::vector<HostPair> out;
    const auto add = [&](const HostPair& pair) {
      const bool is_there = std::any_of(out.begin(), out.end(), [&](const HostPair& other) {
        return key_of(other) == key_of(pair);
      });
      if (!is_there && out.size() < most) out.push_back(pair);
    };
    for (const auto& [key, run] : runs_)
      if (fits(HostPair{key.first, key.second})) add({key.first, key.second});
    for (const HostPair& pair : pairs)
      add(pair);
    return out;
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key_of(const HostPair& pair) { return std::minmax(pair.first, pair.second); }

  [[nodiscard]] std::vector<Carried> carried_in(const diagnose::View& view) const {
    std::map<std::uint32_t, std::uint64_t> bytes;
    for (const diagnose::PortView& port : view.ports())
      if (port.wanted != nullptr && !port.wanted->is_access)
        bytes[port.wanted->link] += port.counts.of("switch.port.tx.bytes").value_or(0);
    std::vector<Carried> out;
    for (const auto& [link, count] : bytes) {
      const design::LinkIntent& wanted = bench_.intent().links.at(link);
      out.push_back({link, wanted.lower.node, wanted.upper.node, count});
    }
    return out;
  }

  Bench& bench_;
  std::set<std::uint32_t> leaves_;
  std::map<Key, Run> runs_;
};

/// The search for one link, from a pair that was slow in the rounds.
class Bisection {
 public:
  /// Hosts that turn out to be slow themselves are added to `slow_hosts`.
  Bisection(Bench& bench, PairRuns& runs, std::set<std::uint32_t>& slow_hosts, const HostPair& slow,
            std::uint32_t rail)
      : bench_(bench),
        runs_(runs),
        slow_hosts_(slow_hosts),
        slow_(slow),
        rail_(rail),
        groups_(leaves_of(bench, rail)) {}

  [[nodiscard]] static std::vector<std::uint32_t> leaves_of(const Bench& bench,
                                                            std::uint32_t rail) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < bench.hosts(); ++i) {
      const auto& nics = bench.host(i).nics;
      const auto& nic = nics.at(std::min<std::size_t>(rail, nics.size() - 1));
      out.push_back(bench.intent().links[nic.link].upper.node);
    }
    return out;
  }

  Status run(finding::Judgement& judgement) {
    std::vector<HostPair> pairs = {slow_};
    const std::vector<HostPair> others = runs_.known_first(
        preflight::pairs_between(slow_, groups_, kSameLeaves),
        [&](const HostPair& pair) {
          return std::minmax(groups_[pair.first], groups_[pair.second]) ==
                 std::minmax(groups_[slow_.first], groups_[slow_.second]);
        },
        kSameLeaves);
    std::copy_if(others.begin(), others.end(), std::back_inserter(pairs),
                 [&](const HostPair& pair) { return pair != slow_; });
    for (const HostPair& pair : pairs) {
      WEIR_TRY(is_slow, try_pair(pair, judgement));
      if (is_slow) break;
    }
    if (!worst_) return {};  // the rounds shared links, or a host is slow
    WEIR_TRY_STATUS(try_others(judgement));
    blame(judgement);
    return {};
  }

 private:
  /// Pairs of a host's leaf with leaves that are neither of the two.
  [[nodiscard]] std::vector<HostPair> elsewhere(std::uint32_t host, std::uint32_t other) const {
    const auto is_third = [&](std::uint32_t leaf) {
      return leaf != groups_[host] && leaf != groups_[other];
    };
    return runs_.known_first(
        preflight::pairs_elsewhere(host, other, groups_, kEachSide),
        [&](const HostPair& pair) {
          const std::uint32_t a = groups_[pair.first];
          const std::uint32_t b = groups_[pair.second];
          return (a == groups_[host] && is_third(b)) || (b == groups_[host] && is_third(a));
        },
        kEachSide);
  }

  /// Pairs of either leaf with third ones, by turns, until one link is left.
  Status try_others(finding::Judgement& judgement) {
    const auto first = elsewhere(slow_.first, slow_.second);
    const auto second = elsewhere(slow_.second, slow_.first);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
      for (const bool is_first : {true, false}) {
        const auto& pairs = is_first ? first : second;
        if (i >= pairs.size()) continue;
        const std::size_t before = trials_.size();
        WEIR_TRY(is_slow, try_pair(pairs[i], judgement));
        if (trials_.size() == before) continue;
        SideCount& side = is_first ? first_ : second_;
        ++side.tried;
        side.slow += is_slow ? 1 : 0;
      }
      if (preflight::suspect_links(trials_).size() == 1) return {};
    }
    return {};
  }

  [[nodiscard]] const Sample* slowest_of(const PairRuns::Run& run) const {
    const Sample* out = nullptr;
    for (const Sample& sample : run.samples)
      if (sample.rail == rail_ && sample.is_slow() &&
          (out == nullptr || sample.of_floor() < out->of_floor()))
        out = &sample;
    return out;
  }

  /// Alone, with what the links carried where switches are counted. No trial where a host of the
  /// pair is slow itself.
  Result<bool> try_pair(const HostPair& pair, finding::Judgement& judgement) {
    for (const std::uint32_t host : {pair.first, pair.second})
      if (slow_hosts_.contains(host)) return false;
    WEIR_TRY(run, runs_.run(pair, rail_));
    if (run == nullptr) return false;
    const Sample* const worst = slowest_of(*run);
    if (worst != nullptr) {
      for (const std::uint32_t host : {pair.first, pair.second}) {
        WEIR_TRY(is_cleared, clears(host, judgement));
        if (!is_cleared) return false;
      }
      if (!worst_ || worst->of_floor() < worst_->of_floor()) worst_ = *worst;
    }
    trials_.push_back({.pair = pair, .is_slow = worst != nullptr, .links = links_of(pair, *run)});
    return worst != nullptr;
  }

  /// Whether the host reaches its floor with one below its own leaf, to whom no link between
  /// switches leads; where it is alone there, with one of two below other leaves.
  Result<bool> clears(std::uint32_t host, finding::Judgement& judgement) {
    constexpr std::size_t kPartners = 2;
    std::vector<HostPair> pairs;
    for (std::uint32_t other = 0; other < groups_.size(); ++other)
      if (other != host && groups_[other] == groups_[host]) pairs.push_back({host, other});
    const bool is_below_leaf = !pairs.empty();
    if (!is_below_leaf) pairs = preflight::pairs_elsewhere(host, host, groups_, groups_.size());
    std::erase_if(pairs, [&](const HostPair& pair) { return slow_hosts_.contains(pair.second); });
    if (pairs.size() > kPartners) pairs.resize(kPartners);
    std::vector<std::string> partners;
    const Sample* worst = nullptr;
    for (const HostPair& pair : pairs) {
      WEIR_TRY(run, runs_.run(pair, rail_));
      if (run == nullptr) return false;
      const Sample* const slow = slowest_of(*run);
      if (slow == nullptr) return true;
      if (worst == nullptr) worst = slow;
      partners.push_back(bench_.name(pair.second));
    }
    if (!is_below_leaf || partners.size() < kPartners) return false;
    slow_hosts_.insert(host);
    diagnose::judge_slow_host(bench_.name(host), lone_pair(bench_, *worst), partners, judgement);
    return false;
  }

  /// A pair that reached its floor while one on another rail did not clears nothing: whose data a
  /// link above the leaves carried, nobody knows.
  [[nodiscard]] std::vector<std::uint32_t> links_of(const HostPair& pair,
                                                    const PairRuns::Run& run) const {
    const auto any = [&](const auto& is_such) {
      return std::any_of(run.samples.begin(), run.samples.end(), is_such);
    };
    const bool is_slow = slowest_of(run) != nullptr;
    if (!is_slow && any([](const Sample& sample) { return sample.is_slow(); })) return {};
    const finding::Thresholds& limits = bench_.request().thresholds;
    const bool has_arrived = !any([](const Sample& sample) { return sample.rate == 0; });
    return preflight::links_between(
        run.carried, {groups_[pair.first], groups_[pair.second]}, runs_.leaves(),
        has_arrived ? std::optional(limits.link_carried) : std::nullopt);
  }

  /// Of more tiers a slow link may be above the spines: then which leaves' pairs are slow does not
  /// tell whose uplink it is.
  [[nodiscard]] bool has_two_tiers() const {
    const auto& switches = bench_.intent().switches;
    return std::all_of(switches.begin(), switches.end(),
                       [](const auto& device) { return device.tier <= 2; });
  }

  void blame(finding::Judgement& judgement) {
    const design::Intent& intent = bench_.intent();
    const std::vector<std::uint32_t> links = preflight::suspect_links(trials_);
    diagnose::LinkSearch search{.rail = rail_,
                                .leaves = {intent.switches[groups_[slow_.first]].name,
                                           intent.switches[groups_[slow_.second]].name},
                                .tried = trials_.size(),
                                .worst = lone_pair(bench_, *worst_)};
    search.slow = static_cast<std::size_t>(
        std::count_if(trials_.begin(), trials_.end(), [](const Trial& t) { return t.is_slow; }));
    for (const std::uint32_t link : links)
      search.links.push_back(link_text(intent, link));
    if (links.size() == 1) {
      const design::PortRef& lower = intent.links[links.front()].lower;
      search.switch_name = intent.switches[lower.node].name;
      search.port = intent.switches[lower.node].ports[lower.port].name;
    }
    if (const preflight::End end = preflight::faulty_end(first_, second_);
        has_two_tiers() && end != preflight::End::kNotKnown) {
      auto sides = std::pair(side_of(slow_.first, first_), side_of(slow_.second, second_));
      if (end == preflight::End::kSecond) std::swap(sides.first, sides.second);
      search.faulty = std::move(sides);
    }
    diagnose::judge_slow_link(search, judgement);
  }

  [[nodiscard]] diagnose::LinkSearch::Side side_of(std::uint32_t host,
                                                   const SideCount& count) const {
    const design::Intent& intent = bench_.intent();
    return {.leaf = intent.switches[groups_[host]].name,
            .uplinks = uplinks_of(intent, groups_[host]).size(),
            .slow = count.slow,
            .tried = count.tried};
  }

  Bench& bench_;
  PairRuns& runs_;
  std::set<std::uint32_t>& slow_hosts_;
  HostPair slow_;
  std::uint32_t rail_;
  std::vector<std::uint32_t> groups_;  // the leaf of each host, on this rail
  std::vector<Trial> trials_;
  std::optional<Sample> worst_;
  SideCount first_;
  SideCount second_;
};

}  // namespace

std::vector<std::uint32_t> uplinks_of(const design::Intent& intent, std::uint32_t leaf) {
  std::vector<std::uint32_t> out;
  for (const design::SwitchPortIntent& port : intent.switches.at(leaf).ports)
    if (!port.is_access) out.push_back(port.link);
  return out;
}

std::string link_text(const design::Intent& intent, std::uint32_t link) {
  const auto end = [&](const design::PortRef& ref) {
    const design::SwitchIntent& device = intent.switches.at(ref.node);
    return fmt::format("{} {}", device.name, device.ports.at(ref.port).name);
  };
  return fmt::format("{} - {}", end(intent.links.at(link).lower), end(intent.links.at(link).upper));
}

std::string links_text(const design::Intent& intent, const std::vector<std::uint32_t>& links) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> named;
  std::set<std::string> lower;
  std::set<std::string> upper;
  for (const std::uint32_t link : links) {
    named.push_back(link_text(intent, link));
    lower.insert(intent.switches.at(intent.links.at(link).lower.node).name);
    upper.insert(intent.switches.at(intent.links.at(link).upper.node).name);
  }
  if (named.size() <= kNamed) return join(named, ", ");
  const std::vector<std::string> lower_names(lower.begin(), lower.end());
  const std::vector<std::string> upper_names(upper.begin(), upper.end());
  return fmt::format("{} - {}", compact_names(lower_names), compact_names(upper_names));
}

Status bisect_links(Bench& bench, const std::vector<Sample>& samples,
                    std::set<std::uint32_t> slow_hosts, preflight::StageResult& stage,
                    finding::Judgement& judgement) {
  PairRuns runs(bench);
  std::map<std::uint32_t, std::vector<Sample>> by_rail;
  for (const Sample& sample : preflight::samples_without(slow_hosts, samples))
    by_rail[sample.rail].push_back(sample);
  for (const auto& [rail, own] : by_rail) {
    const auto is_link = [](const auto& finding) { return finding.id == "link.degraded"; };
    const auto links = [&] {
      return std::count_if(judgement.findings.begin(), judgement.findings.end(), is_link);
    };
    const auto before = links();
    for (const HostPair& slow :
         preflight::slow_between_groups(own, Bisection::leaves_of(bench, rail), kMostLeafPairs)) {
      if (slow_hosts.contains(slow.first) || slow_hosts.contains(slow.second)) continue;
      if (runs.is_spent()) {
        stage.notes.push_back(
            fmt::format("slow links were looked for with {} pairs, alone; not any more on rail {}",
                        kMostRuns, rail));
        break;
      }
      WEIR_TRY_STATUS(Bisection(bench, runs, slow_hosts, slow, rail).run(judgement));
      if (links() > before) break;  // the next rail: one link at a time
    }
  }
  return {};
}

}  // namespace weir::ops
