// Stage 4: what was slow in the rounds is measured again, alone, before anything is blamed. First
// what slow NICs have in common (the fabric, a rail, a leaf), then single NICs and hosts, then
// pairs of which neither end is slow.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/behaviour/preflight.h"
#include "ops/preflight/bench.h"

namespace weir::ops {
namespace {

using diagnose::LonePair;
using preflight::Common;
using preflight::HostPair;
using preflight::NicId;
using preflight::Sample;
using preflight::SlowGroup;
using preflight::Suspect;
using preflight::SuspectHost;

// Measured again, alone: each costs a run or two.
constexpr std::size_t kMostSuspects = 6;
constexpr std::size_t kMostPairs = 4;
constexpr std::size_t kPartners = 2;

using Rails = std::vector<std::uint32_t>;

/// The slowest on these rails that is below its floor; nullptr: none is.
const Sample* slowest_on(const Rails& rails, const std::vector<Sample>& samples) {
  const Sample* out = nullptr;
  for (const Sample& sample : samples) {
    const bool counts = std::find(rails.begin(), rails.end(), sample.rail) != rails.end();
    if (counts && sample.is_slow() && (out == nullptr || sample.of_floor() < out->of_floor()))
      out = &sample;
  }
  return out;
}

Rails slow_rails(const Rails& rails, const std::vector<Sample>& samples) {
  Rails out;
  std::copy_if(rails.begin(), rails.end(), std::back_inserter(out),
               [&](std::uint32_t rail) { return slowest_on({rail}, samples) != nullptr; });
  return out;
}

Rails both(const Rails& a, const Rails& b) {
  Rails out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

class Retest {
 public:
  Retest(Bench& bench, std::vector<Sample> samples, preflight::StageResult& stage,
         finding::Judgement& judgement)
      : bench_(bench),
        samples_(std::move(samples)),
        stage_(stage),
        judgement_(judgement),
        kinds_(bench.kinds()) {
    for (std::uint32_t host = 0; host < bench.hosts(); ++host)
      for (std::uint32_t rail = 0; rail < bench.host(host).nics.size(); ++rail)
        leaves_[{host, rail}] = bench.intent().links[bench.host(host).nics[rail].link].upper.node;
  }

  Status run() {
    WEIR_TRY_STATUS(try_between_leaves());
    WEIR_TRY_STATUS(try_groups());
    WEIR_TRY_STATUS(try_suspects());
    WEIR_TRY_STATUS(try_pairs());
    if (!cleared_.empty())
      stage_.notes.push_back(fmt::format(
          "below the floor among others, and above it alone: {}; the rounds shared links",
          compact_names(cleared_)));
    if (bisects())
      WEIR_TRY_STATUS(bisect_links(bench_, samples_, std::move(blamed_), stage_, judgement_));
    return {};
  }

 private:
  /// Of many hosts the link between two leaves is looked for, not the pair.
  [[nodiscard]] bool bisects() const { return bench_.hosts() > preflight::kAllPairsHosts; }

  [[nodiscard]] std::string nic_text(std::uint32_t host, const Rails& rails) const {
    if (bench_.host(host).nics.size() == rails.size()) return bench_.name(host);
    std::vector<std::string> numbers;
    for (const std::uint32_t rail : rails)
      numbers.push_back(fmt::format("{}", rail));
    return fmt::format("{} rail {}", bench_.name(host), join(numbers, " and "));
  }

  /// On every rail that both have.
  Result<std::vector<Sample>> exchange(std::uint32_t first, std::uint32_t second) {
    WEIR_TRY(ran, bench_.rig().exchange({{first, second}}, 0));
    alone_.insert(alone_.end(), ran.begin(), ran.end());
    return ran;
  }

  [[nodiscard]] std::uint32_t partner_of(const SuspectHost& suspect, std::uint32_t excluded) const {
    std::vector<Sample> known = samples_;
    known.insert(known.end(), alone_.begin(), alone_.end());
    return preflight::healthy_partner(suspect, excluded,
                                      {.samples = known, .suspects = suspects_, .kinds = kinds_});
  }

  void forget(const std::set<NicId>& nics) {
    samples_ = preflight::without_nics(nics, std::move(samples_));
    alone_ = preflight::without_nics(nics, std::move(alone_));
  }

  void add(finding::Finding finding) {
    judgement_.findings.push_back(std::move(finding));
    finding::settle(judgement_);
  }

  // ---- links between switches ----

  /// Rails on which every pair below different leaves was slow in the rounds, and none below one.
  [[nodiscard]] Rails slow_between() const {
    struct Count {
      std::size_t slow = 0;
      std::size_t all = 0;
    };
    std::map<std::uint32_t, std::pair<Count, Count>> rails;  // between leaves, within one
    for (const Sample& sample : samples_) {
      auto& [between, within] = rails[sample.rail];
      Count& count = is_between(sample) ? between : within;
      ++count.all;
      count.slow += sample.is_slow() ? 1U : 0U;
    }
    Rails out;
    for (const auto& [rail, counts] : rails)
      if (counts.first.all > 0 && counts.first.slow == counts.first.all && counts.second.slow == 0)
        out.push_back(rail);
    return out;
  }

  [[nodiscard]] bool is_between(const Sample& sample) const {
    return leaves_.at({sample.from, sample.rail}) != leaves_.at({sample.to, sample.rail});
  }

  /// Two hosts below each of two leaves, of the rails' first; empty where there are none.
  [[nodiscard]] std::vector<HostPair> below_two_leaves(std::uint32_t rail) const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> below;
    for (std::uint32_t host = 0; host < bench_.hosts(); ++host) {
      const auto leaf = leaves_.find({host, rail});
      if (leaf != leaves_.end()) below[leaf->second].push_back(host);
    }
    std::vector<HostPair> out;
    for (const auto& [leaf, hosts] : below)
      if (hosts.size() >= 2 && out.size() < 2) out.push_back({hosts[0], hosts[1]});
    return out.size() < 2 ? std::vector<HostPair>() : out;
  }

  /// By its design a pair between leaves, alone, reaches what one below a leaf does: no link
  /// between switches is slower than a NIC, and none so long that a stream waits for its answers.
  [[nodiscard]] bool is_fast_by_design() const {
    constexpr Duration kSwitching = 20_us;          // NICs and switches, both ways
    constexpr std::int64_t kLinksBothWays = 2 * 6;  // host, leaf, spine, core and down again
    BitRate fastest;
    for (std::uint32_t host = 0; host < bench_.hosts(); ++host)
      for (const design::NicIntent& nic : bench_.host(host).nics)
        fastest = std::max(fastest, bench_.line_rate(nic));
    Duration longest;
    for (const design::LinkIntent& link : bench_.intent().links)
      longest = std::max(longest, link.propagation);
    const double round_trip = seconds_of(longest * kLinksBothWays + kSwitching);
    const double under_way = static_cast<double>(fastest.raw()) / 8 * round_trip;
    if (under_way * 2 > static_cast<double>(bench_.rig().window().raw())) return false;
    const auto& all = bench_.intent().switches;
    return std::all_of(all.begin(), all.end(), [&](const design::SwitchIntent& device) {
      return std::all_of(device.ports.begin(), device.ports.end(), [&](const auto& port) {
        return port.is_access || uplink_rate(port) >= fastest;
      });
    });
  }

  [[nodiscard]] BitRate uplink_rate(const design::SwitchPortIntent& port) const {
    const auto& shaper = bench_.design().links[bench_.intent().links[port.link].group].shaper;
    return shaper.is_set() ? std::min(port.speed, *shaper) : port.speed;
  }

  Status try_between_leaves() {
    const Rails rails = slow_between();
    if (rails.empty() || !is_fast_by_design()) return {};
    const std::vector<HostPair> below = below_two_leaves(rails.front());
    if (below.empty()) return {};
    const auto [first, second] = std::pair(below[0], below[1]);
    diagnose::SlowBetweenLeaves found;
    std::vector<Sample> within;
    for (const HostPair& pair : {first, second}) {
      WEIR_TRY(ran, exchange(pair.first, pair.second));
      if (!slow_rails(rails, ran).empty()) return {};
      within.insert(within.end(), ran.begin(), ran.end());
    }
    Rails slow = rails;
    std::vector<Sample> between;
    for (const HostPair& pair :
         {HostPair{first.first, second.first}, HostPair{first.second, second.second}}) {
      WEIR_TRY(ran, exchange(pair.first, pair.second));
      slow = both(slow, slow_rails(slow, ran));
      if (slow.empty()) return {};  // alone it is fast: the rounds shared links
      between.push_back(*slowest_on(slow, ran));
    }
    blame_links(slow, between, within);
    return {};
  }

  void blame_links(const Rails& rails, const std::vector<Sample>& between,
                   const std::vector<Sample>& within) {
    diagnose::SlowBetweenLeaves found;
    if (rails.size() < bench_.host(0).nics.size()) {
      std::vector<std::string> numbers;
      for (const std::uint32_t rail : rails)
        numbers.push_back(fmt::format("{}", rail));
      found.rail = join(numbers, ", ");
    }
    for (const Sample& sample : between)
      found.slow.push_back(lone_pair(bench_, sample));
    for (const Sample& sample : within)
      if (sample.rail == rails.front() && sample.from < sample.to)
        found.within.push_back(lone_pair(bench_, sample));
    std::set<std::uint32_t> leaves;
    for (const auto& [nic, leaf] : leaves_)
      if (std::find(rails.begin(), rails.end(), nic.rail) != rails.end()) leaves.insert(leaf);
    std::vector<std::uint32_t> links;
    for (const std::uint32_t leaf : leaves)
      for (const std::uint32_t link : uplinks_of(bench_.intent(), leaf))
        links.push_back(link);
    found.links = links_text(bench_.intent(), links);
    found.count = links.size();
    add(diagnose::slow_between_leaves(found));
    // It explains them: neither their hosts nor their paths are looked at again.
    const auto is_explained = [&](const Sample& sample) {
      return is_between(sample) &&
             std::find(rails.begin(), rails.end(), sample.rail) != rails.end();
    };
    std::erase_if(samples_, is_explained);
    std::erase_if(alone_, is_explained);
  }

  // ---- what slow NICs have in common ----

  Status try_groups() {
    for (const SlowGroup& group : preflight::slow_groups(samples_, leaves_)) {
      WEIR_TRY(together, try_group(group));
      if (together == Together::kProven) forget({group.nics.begin(), group.nics.end()});
      if (together == Together::kByLoad) groups_.push_back(group);
    }
    return {};
  }

  /// Hosts of a group, the best first, each with the rails that count.
  [[nodiscard]] std::vector<SuspectHost> members_of(const SlowGroup& group) const {
    const std::map<NicId, double> scores = preflight::nic_scores(samples_);
    std::map<std::uint32_t, SuspectHost> hosts;
    std::map<std::uint32_t, double> worst;
    for (const NicId& nic : group.nics) {
      SuspectHost& host = hosts[nic.host];
      host.host = nic.host;
      host.rails.push_back(nic.rail);
      const auto [at, is_new] = worst.try_emplace(nic.host, scores.at(nic));
      if (!is_new) at->second = std::min(at->second, scores.at(nic));
    }
    std::vector<SuspectHost> out;
    for (auto& [number, host] : hosts)
      out.push_back(std::move(host));
    std::stable_sort(out.begin(), out.end(), [&](const SuspectHost& a, const SuspectHost& b) {
      return worst.at(a.host) > worst.at(b.host);
    });
    return out;
  }

  /// Two pairs of hosts, no host twice, that meet below the same leaf on all rails that count: no
  /// link between switches is in their way. Fewer where there are none.
  [[nodiscard]] std::vector<HostPair> pairs_within(const std::vector<SuspectHost>& members) const {
    std::vector<HostPair> out;
    std::set<std::uint32_t> busy;
    for (const SuspectHost& first : members)
      for (const SuspectHost& second : members) {
        if (out.size() == kPartners || busy.contains(first.host)) break;
        if (first.host == second.host || busy.contains(second.host)) continue;
        const Rails rails = both(first.rails, second.rails);
        const bool is_within =
            !rails.empty() && std::all_of(rails.begin(), rails.end(), [&](std::uint32_t rail) {
              return leaves_.at({first.host, rail}) == leaves_.at({second.host, rail});
            });
        if (!is_within) continue;
        busy.insert({first.host, second.host});
        out.push_back({first.host, second.host});
      }
    return out;
  }

  enum class Together : std::uint8_t {
    kProven,  // slow alone: what they have in common is to blame
    kByLoad,  // fast alone: the rounds shared links
    kMixed,   // some fast, some slow: each for itself
  };

  Result<Together> try_group(const SlowGroup& group) {
    const std::vector<SuspectHost> members = members_of(group);
    Rails rails;
    for (const NicId& nic : group.nics)
      rails.push_back(nic.rail);
    std::sort(rails.begin(), rails.end());
    rails.erase(std::unique(rails.begin(), rails.end()), rails.end());
    const std::vector<HostPair> pairs = pairs_within(members);
    if (pairs.empty()) {
      stage_.notes.push_back(fmt::format(
          "{}: all {} hosts are below their floors in the rounds; no two of them meet below one "
          "leaf, so that whether links between switches are narrow by design is not known",
          common_text(group), members.size()));
      return Together::kByLoad;
    }
    std::vector<Sample> ran;
    std::vector<Rails> slow;
    for (const HostPair& pair : pairs) {
      WEIR_TRY(again, exchange(pair.first, pair.second));
      slow.push_back(slow_rails(rails, again));
      ran.insert(ran.end(), again.begin(), again.end());
    }
    const Rails in_all = both(slow.front(), slow.back());
    if (!in_all.empty()) {
      blame_group(group, members.size(), in_all, ran);
      return Together::kProven;
    }
    if (!slow.front().empty() || !slow.back().empty()) return Together::kMixed;
    WEIR_TRY(are_uplinks, try_uplinks(group, members, ran));
    if (are_uplinks) return Together::kProven;
    stage_.notes.push_back(fmt::format(
        "{}: all {} hosts are below their floors among others; {} and {} are above them "
        "alone",
        common_text(group), members.size(), bench_.name(pairs.front().first),
        bench_.name(pairs.front().second)));
    return Together::kByLoad;
  }

  [[nodiscard]] std::string common_text(const SlowGroup& group) const {
    switch (group.common) {
      case Common::kFabric: return bench_.host(0).nics.size() > 1 ? "Every rail" : "The only rail";
      case Common::kRail: return fmt::format("Rail {}", group.number);
      case Common::kLeaf: return bench_.intent().switches.at(group.number).name;
    }
    WEIR_UNREACHABLE("every group has something in common");
  }

  void blame_group(const SlowGroup& group, std::size_t hosts, const Rails& slow,
                   const std::vector<Sample>& ran) {
    std::set<std::uint32_t> rails;
    std::set<std::uint32_t> leaves;
    for (const NicId& nic : group.nics) {
      rails.insert(nic.rail);
      leaves.insert(leaves_.at(nic));
    }
    diagnose::SlowTogether found{.what = common_text(group), .hosts = hosts};
    if (slow.size() < rails.size()) {  // alone, its other rails were fast
      std::vector<std::string> numbers;
      for (const std::uint32_t rail : slow)
        numbers.push_back(fmt::format("{}", rail));
      found.what = fmt::format("Rail {}", join(numbers, " and "));
    }
    if (slow.size() == 1) found.rail = fmt::format("{}", slow.front());
    if (leaves.size() == 1) found.switch_name = bench_.intent().switches.at(*leaves.begin()).name;
    for (const std::uint32_t rail : slow)
      found.alone.push_back(lone_pair(bench_, *slowest_on({rail}, ran)));
    std::stable_sort(
        found.alone.begin(), found.alone.end(),
        [](const LonePair& a, const LonePair& b) { return a.rate * b.floor < b.rate * a.floor; });
    constexpr std::size_t kShown = 4;
    if (found.alone.size() > kShown) found.alone.resize(kShown);
    add(diagnose::slow_together(found));
  }

  /// Hosts below a leaf that are fast with each other: with two below other leaves they may not be.
  Result<bool> try_uplinks(const SlowGroup& group, const std::vector<SuspectHost>& members,
                           const std::vector<Sample>& fast) {
    if (group.common != Common::kLeaf || has_narrow_uplinks(group.number) ||
        !is_reachable_between_leaves())
      return false;
    std::vector<Sample> slow;
    for (std::size_t i = 0; i < kPartners; ++i) {
      const SuspectHost& member = members.at(i);
      const auto other = above_floor_elsewhere(group, member, slow);
      if (!other) return false;
      WEIR_TRY(again, exchange(member.host, *other));
      const Sample* const worst = slowest_on(member.rails, again);
      if (worst == nullptr) return false;
      slow.push_back(*worst);
    }
    diagnose::SlowTogether found{
        .what = {}, .hosts = members.size(), .rail = {}, .switch_name = common_text(group)};
    for (const Sample& sample : slow)
      found.alone.push_back(lone_pair(bench_, sample));
    const auto& ports = bench_.intent().switches.at(group.number).ports;
    const auto uplinks =
        std::count_if(ports.begin(), ports.end(), [](const auto& port) { return !port.is_access; });
    const auto reached = std::find_if(fast.begin(), fast.end(), [&](const Sample& sample) {
      return sample.rail == members.front().rails.front();
    });
    add(diagnose::slow_uplinks(found, lone_pair(bench_, *reached),
                               static_cast<std::size_t>(uplinks)));
    return true;
  }

  /// A host below another leaf, none of whose NICs on these rails is slow, and not tried before.
  [[nodiscard]] std::optional<std::uint32_t> above_floor_elsewhere(
      const SlowGroup& group, const SuspectHost& member, const std::vector<Sample>& tried) const {
    const std::map<NicId, double> scores = preflight::nic_scores(samples_);
    for (std::uint32_t host = 0; host < bench_.hosts(); ++host) {
      const bool is_tried = std::any_of(tried.begin(), tried.end(), [&](const Sample& sample) {
        return sample.from == host || sample.to == host;
      });
      const bool fits =
          !is_tried && std::all_of(member.rails.begin(), member.rails.end(), [&](auto rail) {
            const auto score = scores.find({host, rail});
            return score != scores.end() && score->second >= 1 &&
                   leaves_.at({host, rail}) != group.number;
          });
      if (fits) return host;
    }
    return std::nullopt;
  }

  /// A link to another switch that carries less than a NIC: slow by design.
  [[nodiscard]] bool has_narrow_uplinks(std::uint32_t leaf) const {
    BitRate fastest;
    for (std::uint32_t host = 0; host < bench_.hosts(); ++host)
      for (const design::NicIntent& nic : bench_.host(host).nics)
        fastest = std::max(fastest, bench_.line_rate(nic));
    const auto& ports = bench_.intent().switches.at(leaf).ports;
    return std::any_of(ports.begin(), ports.end(),
                       [&](const auto& port) { return !port.is_access && port.speed < fastest; });
  }

  // ---- NICs and hosts ----

  Status try_suspects() {
    std::set<std::uint32_t> tried;
    while (tried.size() < kMostSuspects) {
      // Whose partner was slow is no suspect any more.
      suspects_ = preflight::suspects_among(samples_, kinds_, groups_, bench_.request().thresholds);
      const std::vector<SuspectHost> hosts = preflight::suspect_hosts(suspects_);
      const auto next = std::find_if(hosts.begin(), hosts.end(), [&](const SuspectHost& each) {
        return !tried.contains(each.host);
      });
      if (next == hosts.end()) return {};
      tried.insert(next->host);
      WEIR_TRY(slow, try_suspect(*next));
      std::set<NicId> nics;
      for (const std::uint32_t rail : slow)
        nics.insert({next->host, rail});
      forget(nics);
    }
    suspects_ = preflight::suspects_among(samples_, kinds_, groups_, bench_.request().thresholds);
    std::set<std::uint32_t> left;
    for (const Suspect& suspect : suspects_)
      if (!tried.contains(suspect.nic.host)) left.insert(suspect.nic.host);
    if (!left.empty())
      stage_.notes.push_back(
          fmt::format("{} more below the floor in the rounds, not tried alone: the worst {} were",
                      counted(left.size(), "host"), kMostSuspects));
    return {};
  }

  /// With one healthy partner, then with another. The rails of the host that are to blame.
  Result<Rails> try_suspect(const SuspectHost& suspect) {
    std::vector<std::string> partners;
    Rails slow = suspect.rails;
    std::vector<Sample> ran;
    std::optional<Sample> worst;  // with one of them
    std::vector<std::string> good_with;
    std::uint32_t excluded = suspect.host;
    for (std::size_t i = 0; i < kPartners; ++i) {
      const std::uint32_t partner = partner_of(suspect, excluded);
      if (partner == suspect.host) break;
      WEIR_TRY(again, exchange(suspect.host, partner));
      partners.push_back(bench_.name(partner));
      const Sample* const slowest = slowest_on(suspect.rails, again);
      if (slowest == nullptr) good_with.push_back(bench_.name(partner));
      if (slowest != nullptr && !worst) worst = *slowest;
      slow = slow_rails(slow, again);
      ran.insert(ran.end(), again.begin(), again.end());
      excluded = partner;
    }
    if (partners.size() < kPartners) {
      WEIR_TRY_STATUS(try_without_partners(suspect, partners, worst));
      return Rails();
    }
    std::erase_if(slow, [&](auto rail) { return is_good_with_another({suspect.host, rail}); });
    if (!worst) {
      cleared_.push_back(nic_text(suspect.host, suspect.rails));
    } else if (slow.empty()) {
      add_path(*worst, good_with.empty()
                           ? ""
                           : fmt::format("; {} reaches its floor with {}",
                                         bench_.name(suspect.host), join(good_with, " and ")));
    } else {
      blame(suspect.host, slow, ran, partners);
    }
    return slow;
  }

  void blame(std::uint32_t host, const Rails& slow, const std::vector<Sample>& ran,
             const std::vector<std::string>& partners) {
    std::set<std::uint32_t> rails;
    for (const Sample& sample : ran)
      rails.insert(sample.rail);
    if (slow.size() == rails.size()) {
      blamed_.insert(host);
      diagnose::judge_slow_host(bench_.name(host), lone_pair(bench_, *slowest_on(slow, ran)),
                                partners, judgement_);
      return;
    }
    const std::size_t good = rails.size() - slow_rails({rails.begin(), rails.end()}, ran).size();
    for (const std::uint32_t rail : slow) {
      const design::NicIntent& nic = bench_.host(host).nics.at(rail);
      const evidence::Evidence* const seen = bench_.last_seen(host);
      const evidence::Nic* const there = seen == nullptr ? nullptr : seen->find_nic(nic.device);
      const bool is_shown = there != nullptr && there->netdev.is_known();
      const std::string& netdev = is_shown ? *there->netdev : nic.netdev;
      const Sample& worst = *slowest_on({rail}, ran);
      finding::Finding found = diagnose::slow_nic(
          {.host = bench_.name(host), .rail = rail, .device = nic.device, .netdev = netdev},
          lone_pair(bench_, worst), partners, good);
      const auto known = std::find_if(
          judgement_.findings.begin(), judgement_.findings.end(), [&](const auto& other) {
            return other.where.host == found.where.host && other.where.rail == found.where.rail &&
                   other.severity != finding::Severity::kInfo;
          });
      if (known == judgement_.findings.end()) {
        add(std::move(found));
        continue;
      }
      // The counters name its cause: the measurement is one more proof of that.
      known->severity = finding::Severity::kError;
      known->evidence.push_back(found.evidence.front());
      finding::settle(judgement_);
    }
  }

  /// Where fewer than two healthy partners are left nobody knows which end it is. A pair that moves
  /// nothing must not pass because there are few hosts; one that is slow may be so by design, as
  /// all others are: links that are narrower than the NICs, rails that share one.
  Status try_without_partners(const SuspectHost& suspect, const std::vector<std::string>& partners,
                              std::optional<Sample> worst) {
    const std::string& host = bench_.name(suspect.host);
    if (!partners.empty()) {
      if (worst) {
        add_path(*worst, fmt::format("; no second healthy host is left to tell whether {}, {} or "
                                     "the path is slow",
                                     host, partners.front()));
      } else {
        cleared_.push_back(nic_text(suspect.host, suspect.rails));
      }
      return {};
    }
    stage_.notes.push_back(fmt::format("{} is slow, and no healthy partner is left to try it with",
                                       nic_text(suspect.host, suspect.rails)));
    std::vector<Sample> own;
    for (const Sample& sample : samples_)
      if (sample.from == suspect.host || sample.to == suspect.host) own.push_back(sample);
    const Sample* const slowest = slowest_on(suspect.rails, own);
    if (slowest == nullptr) return {};
    WEIR_TRY(again, exchange(slowest->from, slowest->to));
    const Sample* const still = slowest_on(suspect.rails, again);
    if (still == nullptr) {
      cleared_.push_back(nic_text(suspect.host, suspect.rails));
    } else if (still->rate > 0) {
      stage_.notes.push_back(diagnose::to_text(lone_pair(bench_, *still)) +
                             "; no healthy host is left to try either with");
    } else {
      add_path(*still, "; no healthy host is left to try either with");
    }
    return {};
  }

  // ---- pairs ----

  /// What reached its floors, in the rounds or alone.
  [[nodiscard]] std::set<std::pair<NicId, NicId>> known_good() const {
    std::vector<Sample> known = samples_;
    known.insert(known.end(), alone_.begin(), alone_.end());
    return preflight::good_pairs(known);
  }

  /// A NIC that reached its floors both ways with any host is not slow itself.
  [[nodiscard]] bool is_good_with_another(const NicId& nic) const {
    const auto good = known_good();
    return std::any_of(good.begin(), good.end(),
                       [&](const auto& pair) { return pair.first == nic; });
  }

  /// Links between switches may be narrower than NICs, or too long for the load, by design: then no
  /// pair between leaves reaches its floor, and that says nothing of any of them.
  [[nodiscard]] bool is_reachable_between_leaves() const {
    const auto good = known_good();
    return std::any_of(good.begin(), good.end(), [&](const auto& pair) {
      return leaves_.at(pair.first) != leaves_.at(pair.second);
    });
  }

  void add_path(const Sample& worst, const std::string& why) {
    const bool is_between =
        leaves_.at({worst.from, worst.rail}) != leaves_.at({worst.to, worst.rail});
    if (is_between && worst.rate > 0 && !is_reachable_between_leaves()) {
      const std::string note =
          "no pair of hosts below different leaves reaches its floor: whether the links between "
          "switches are slow, or are so by design, is not known";
      if (std::find(stage_.notes.begin(), stage_.notes.end(), note) == stage_.notes.end())
        stage_.notes.push_back(note);
      return;
    }
    finding::Finding found = diagnose::slow_path(lone_pair(bench_, worst), why);
    const bool is_known =
        std::any_of(judgement_.findings.begin(), judgement_.findings.end(),
                    [&](const auto& known) { return known.where.link == found.where.link; });
    if (!is_known) add(std::move(found));
  }

  Status try_pairs() {
    for (const Sample& pair : preflight::suspect_pairs(samples_, suspects_, kMostPairs)) {
      const bool is_between =
          leaves_.at({pair.from, pair.rail}) != leaves_.at({pair.to, pair.rail});
      if (bisects() && is_between) continue;
      WEIR_TRY(again, exchange(pair.from, pair.to));
      const Sample* const worst = slowest_on({pair.rail}, again);
      if (worst == nullptr) continue;
      std::string why;
      for (const std::uint32_t end : {worst->from, worst->to}) {
        WEIR_TRY(known, known_of(end, *worst));
        why += known;
      }
      add_path(*worst, why);
    }
    return {};
  }

  /// What is known of an end of a slow pair: what it reached in the rounds, else with a third host,
  /// alone.
  Result<std::string> known_of(std::uint32_t end, const Sample& slow) {
    const std::string& name = bench_.name(end);
    if (preflight::nic_scores(samples_).at({end, slow.rail}) >= 1)
      return fmt::format("; {} reached its floor with half of its partners or more", name);
    const std::uint32_t other = end == slow.from ? slow.to : slow.from;
    const std::uint32_t third = third_of(end, slow.rail, other);
    if (third == end) return std::string();
    WEIR_TRY(again, exchange(end, third));
    const Sample* const worst = slowest_on({slow.rail}, again);
    return fmt::format("; {} {} its floor with {} alone", name,
                       worst == nullptr ? "reaches" : "does not reach", bench_.name(third));
  }

  /// With whom else the host is tried: the best below its own leaf, to whom no link between
  /// switches leads; where it is alone there, any healthy one.
  [[nodiscard]] std::uint32_t third_of(std::uint32_t host, std::uint32_t rail,
                                       std::uint32_t other) const {
    const std::map<NicId, double> scores = preflight::nic_scores(samples_);
    std::uint32_t best = host;
    for (const auto& [nic, score] : scores) {
      if (nic.rail != rail || nic.host == host || nic.host == other) continue;
      if (leaves_.at(nic) != leaves_.at({host, rail})) continue;
      if (best == host || score > scores.at({best, rail})) best = nic.host;
    }
    return best == host ? partner_of({host, {rail}}, other) : best;
  }

  Bench& bench_;
  std::vector<Sample> samples_;  // of the rounds, without what was blamed
  std::vector<Sample> alone_;
  preflight::StageResult& stage_;
  finding::Judgement& judgement_;
  std::vector<std::uint32_t> kinds_;
  std::map<NicId, std::uint32_t> leaves_;
  std::vector<SlowGroup> groups_;  // that were not slow alone
  std::vector<Suspect> suspects_;
  std::vector<std::string> cleared_;
  std::set<std::uint32_t> blamed_;
};

}  // namespace

Status retest_slow(Bench& bench, const std::vector<Sample>& samples, preflight::StageResult& stage,
                   finding::Judgement& judgement) {
  return Retest(bench, samples, stage, judgement).run();
}

}  // namespace weir::ops
