// Stage 4 beyond 128 hosts: pairs that were slow below two leaves, until the link or its leaf is
// known.
#include "preflight/bisect.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "finding/catalog.h"
#include "ops/preflight/bench.h"

namespace weir::ops {
namespace {

using preflight::HostPair;
using preflight::Sample;
using preflight::SideCount;
using preflight::Trial;

// Each is a load of its own: of hosts some seconds.
constexpr std::size_t kMostLeafPairs = 3;
constexpr std::size_t kSameLeaves = 12;
constexpr std::size_t kEachSide = 12;

/// A leaf's links to other switches.
std::vector<std::uint32_t> uplinks_of(const design::Intent& intent, std::uint32_t leaf) {
  std::vector<std::uint32_t> out;
  for (const design::SwitchPortIntent& port : intent.switches.at(leaf).ports)
    if (!port.is_access) out.push_back(port.link);
  return out;
}

/// "leaf1 swp9 - spine2 swp1".
std::string link_text(const design::Intent& intent, std::uint32_t link) {
  const auto end = [&](const design::PortRef& ref) {
    const design::SwitchIntent& device = intent.switches.at(ref.node);
    return fmt::format("{} {}", device.name, device.ports.at(ref.port).name);
  };
  return fmt::format("{} - {}", end(intent.links.at(link).lower), end(intent.links.at(link).upper));
}

/// The search for one link, from a pair that was slow in the rounds.
class Bisection {
 public:
  Bisection(Bench& bench, const HostPair& slow, std::uint32_t rail)
      : bench_(bench), slow_(slow), rail_(rail), groups_(leaves_of(bench, rail)) {}

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
    for (const HostPair& pair : preflight::pairs_between(slow_, groups_, kSameLeaves)) {
      WEIR_TRY(is_slow, try_pair(pair));
      if (is_slow) break;
    }
    if (!worst_) return {};  // the rounds shared links
    WEIR_TRY_STATUS(try_others());
    blame(judgement);
    return {};
  }

 private:
  /// Pairs of either leaf with third ones, by turns, until one link is left.
  Status try_others() {
    const auto first = preflight::pairs_elsewhere(slow_.first, slow_.second, groups_, kEachSide);
    const auto second = preflight::pairs_elsewhere(slow_.second, slow_.first, groups_, kEachSide);
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
      for (const bool is_first : {true, false}) {
        const auto& pairs = is_first ? first : second;
        if (i >= pairs.size()) continue;
        WEIR_TRY(is_slow, try_pair(pairs[i]));
        SideCount& side = is_first ? first_ : second_;
        ++side.tried;
        side.slow += is_slow ? 1 : 0;
      }
      if (preflight::suspect_links(trials_).size() == 1) return {};
    }
    return {};
  }

  /// Alone, with what the links carried where switches are counted.
  Result<bool> try_pair(const HostPair& pair) {
    std::vector<Sample> samples;
    const auto run = [&]() -> Status {
      WEIR_TRY(ran, bench_.rig().exchange({pair}, 0));
      samples = std::move(ran);
      return {};
    };
    Trial trial{.pair = pair};
    if (bench_.set().with_switches) {
      WEIR_TRY(window, bench_.watch(run));
      trial.links = links_that_carried(diagnose::View(bench_.subject(window)), pair);
    } else {
      WEIR_TRY_STATUS(run());
    }
    for (const Sample& sample : samples) {
      if (sample.rail != rail_ || !sample.is_slow()) continue;
      trial.is_slow = true;
      if (!worst_ || sample.of_floor() < worst_->of_floor()) worst_ = sample;
    }
    trials_.push_back(trial);
    return trial.is_slow;
  }

  /// Uplinks of the two leaves that carried data: a tenth of what the busiest did or more, so that
  /// acknowledgements on their way back do not count.
  [[nodiscard]] std::vector<std::uint32_t> links_that_carried(const diagnose::View& view,
                                                              const HostPair& pair) const {
    std::map<std::uint32_t, std::uint64_t> bytes;
    for (const std::uint32_t leaf : {groups_[pair.first], groups_[pair.second]})
      for (const std::uint32_t link : uplinks_of(bench_.intent(), leaf))
        bytes[link] = 0;
    for (const diagnose::PortView& port : view.ports()) {
      if (port.wanted == nullptr || !bytes.contains(port.wanted->link)) continue;
      bytes[port.wanted->link] += port.counts.of("switch.port.tx.bytes").value_or(0);
    }
    std::uint64_t most = 0;
    for (const auto& [link, count] : bytes)
      most = std::max(most, count);
    std::vector<std::uint32_t> out;
    for (const auto& [link, count] : bytes)
      if (most > 0 && count >= most / 10) out.push_back(link);
    return out;
  }

  void blame(finding::Judgement& judgement) {
    const design::Intent& intent = bench_.intent();
    const std::vector<std::uint32_t> links = preflight::suspect_links(trials_);
    finding::Where where{.rail = fmt::format("{}", rail_)};
    std::string what;
    if (!links.empty()) {
      std::vector<std::string> names;
      for (const std::uint32_t link : links)
        names.push_back(link_text(intent, link));
      where.link = join(names, ", ");
      const design::PortRef& lower = intent.links[links.front()].lower;
      if (links.size() == 1) {
        where.switch_name = intent.switches[lower.node].name;
        where.port = intent.switches[lower.node].ports[lower.port].name;
      }
      what =
          fmt::format("{} slow: {} carried every pair that was slow alone, and none that was not",
                      links.size() == 1 ? "A link is" : "One of these links is", where.link);
    } else if (const preflight::End end = preflight::faulty_end(first_, second_);
               end != preflight::End::kNotKnown) {
      const bool is_first = end == preflight::End::kFirst;
      const std::uint32_t leaf = groups_[is_first ? slow_.first : slow_.second];
      const std::uint32_t other = groups_[is_first ? slow_.second : slow_.first];
      const SideCount& here = is_first ? first_ : second_;
      const SideCount& there = is_first ? second_ : first_;
      where.switch_name = intent.switches[leaf].name;
      what = fmt::format(
          "One of the {} uplinks of {} is slow: alone, {} of {} pairs of its hosts with hosts of "
          "third leaves were below the floor, and {} of {} pairs of {}. Which one, the counters of "
          "the switch tell",
          uplinks_of(intent, leaf).size(), where.switch_name, here.slow, here.tried, there.slow,
          there.tried, intent.switches[other].name);
    } else {
      where.link = fmt::format("{} - {}", intent.switches[groups_[slow_.first]].name,
                               intent.switches[groups_[slow_.second]].name);
      what = fmt::format("A path between {} and {} is slow",
                         intent.switches[groups_[slow_.first]].name,
                         intent.switches[groups_[slow_.second]].name);
    }
    add_finding(std::move(what), std::move(where), judgement);
  }

  void add_finding(std::string what, finding::Where where, finding::Judgement& judgement) const {
    const bool is_known = std::any_of(
        judgement.findings.begin(), judgement.findings.end(),
        [&](const auto& known) { return known.id == "link.degraded" && known.where == where; });
    if (is_known) return;
    const auto slow = static_cast<std::size_t>(
        std::count_if(trials_.begin(), trials_.end(), [](const Trial& t) { return t.is_slow; }));
    finding::Finding finding =
        finding::make_finding("link.degraded",
                              fmt::format("{} ({} of {}, tried one at a time).", what, slow,
                                          counted(trials_.size(), "pair")),
                              std::move(where));
    finding.severity = finding::Severity::kError;
    finding.evidence.push_back({.source = "bisection, alone in the fabric",
                                .line = sample_text(bench_, *worst_),
                                .counter = "",
                                .value = std::nullopt});
    judgement.findings.push_back(std::move(finding));
    finding::settle(judgement);
  }

  Bench& bench_;
  HostPair slow_;
  std::uint32_t rail_;
  std::vector<std::uint32_t> groups_;  // the leaf of each host, on this rail
  std::vector<Trial> trials_;
  std::optional<Sample> worst_;
  SideCount first_;
  SideCount second_;
};

}  // namespace

Status bisect_links(Bench& bench, const std::vector<Sample>& samples,
                    finding::Judgement& judgement) {
  std::map<std::uint32_t, std::vector<Sample>> by_rail;
  for (const Sample& sample : samples)
    by_rail[sample.rail].push_back(sample);
  for (const auto& [rail, own] : by_rail) {
    const std::size_t before = judgement.findings.size();
    for (const HostPair& slow :
         preflight::slow_between_groups(own, Bisection::leaves_of(bench, rail), kMostLeafPairs)) {
      WEIR_TRY_STATUS(Bisection(bench, slow, rail).run(judgement));
      if (judgement.findings.size() > before) break;  // the next rail: one link at a time
    }
  }
  return {};
}

}  // namespace weir::ops
