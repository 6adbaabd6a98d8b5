// Stage 4: pairs of hosts, first few, then all, by a schedule; suspects again, alone.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "ops/preflight/bench.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::Blame;
using preflight::HostPair;
using preflight::Round;
using preflight::Sample;
using preflight::Suspect;

// Measured again, alone: each costs a run.
constexpr std::size_t kMostSuspects = 6;
constexpr std::size_t kMostPairs = 4;

/// The worst of a retest.
const Sample* slowest(const std::vector<Sample>& samples) {
  const auto found = std::min_element(
      samples.begin(), samples.end(),
      [](const Sample& a, const Sample& b) { return a.of_floor() < b.of_floor(); });
  return found == samples.end() ? nullptr : &*found;
}

bool is_slow(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const Sample& sample) { return sample.is_slow(); });
}

void judge_path(const Bench& bench, const Sample& worst, bool has_others,
                finding::Judgement& judgement) {
  const std::string link = fmt::format("{} - {}", bench.name(std::min(worst.from, worst.to)),
                                       bench.name(std::max(worst.from, worst.to)));
  diagnose::judge_slow_path(lone_pair(bench, worst), link, has_others, judgement);
}

/// Where no healthy partner is left: the worst of its pairs again, alone. A pair that moves nothing
/// must not pass because there are few hosts. One that is slow may be so by design, as all others
/// are: links that are narrower than the NICs, rails that share one.
Status try_worst_pair(Bench& bench, const Suspect& suspect, const std::vector<Sample>& samples,
                      preflight::StageResult& stage, finding::Judgement& judgement,
                      std::vector<std::string>& cleared) {
  std::vector<Sample> own;
  for (const Sample& sample : samples)
    if (sample.from == suspect.host || sample.to == suspect.host) own.push_back(sample);
  const Sample* const worst = slowest(own);
  if (worst == nullptr) return {};
  WEIR_TRY(again, bench.rig().exchange({{worst->from, worst->to}}, 0));
  if (!is_slow(again)) {
    cleared.push_back(bench.name(suspect.host));
    return {};
  }
  const Sample& slow = *slowest(again);
  if (slow.rate > 0) {
    stage.notes.push_back(diagnose::to_text(lone_pair(bench, slow)) +
                          ": all hosts are below their floors");
  } else {
    judge_path(bench, slow, false, judgement);
  }
  return {};
}

/// With one healthy partner, then with another. True where the host is to blame.
Result<bool> try_suspect(Bench& bench, const Suspect& suspect, const std::vector<Sample>& samples,
                         const std::vector<Suspect>& suspects,
                         const std::vector<std::uint32_t>& kinds, preflight::StageResult& stage,
                         finding::Judgement& judgement, std::vector<std::string>& cleared) {
  std::vector<std::string> partners;
  std::vector<Sample> worst;
  std::array<bool, 2> was_slow = {false, false};
  std::uint32_t excluded = suspect.host;
  for (std::size_t i = 0; i < was_slow.size(); ++i) {
    const std::uint32_t partner =
        preflight::healthy_partner(suspect.host, excluded, samples, suspects, kinds);
    if (partner == suspect.host) break;
    WEIR_TRY(again, bench.rig().exchange({{suspect.host, partner}}, 0));
    partners.push_back(bench.name(partner));
    was_slow.at(i) = is_slow(again);
    if (was_slow.at(i)) worst.push_back(*slowest(again));
    excluded = partner;
  }
  const std::string& host = bench.name(suspect.host);
  if (partners.size() < 2) {
    stage.notes.push_back(
        fmt::format("{} is slow, and too few healthy partners are left to try it with", host));
    if (partners.empty()) {
      WEIR_TRY_STATUS(try_worst_pair(bench, suspect, samples, stage, judgement, cleared));
      return false;
    }
    if (worst.empty()) return false;
    was_slow[1] = was_slow[0];  // with the only one there is
  }
  switch (preflight::blame(was_slow[0], was_slow[1])) {
    case Blame::kNobody: cleared.push_back(host); return false;
    case Blame::kHost:
      diagnose::judge_slow_host(host, lone_pair(bench, worst.front()), partners, judgement);
      return true;
    case Blame::kPath: judge_path(bench, worst.front(), true, judgement); return false;
  }
  WEIR_UNREACHABLE("every blame is handled");
}

/// Links that carried nothing in the window, as ports of switches; counted over both directions.
struct Cover {
  std::size_t links = 0;
  std::vector<std::string> unused;
};
Cover cover_of(const diagnose::View& view) {
  Cover out;
  std::map<std::uint32_t, bool> carried;  // by link
  std::map<std::uint32_t, std::string> names;
  for (const diagnose::PortView& port : view.ports()) {
    if (port.wanted == nullptr || port.wanted->is_access) continue;
    const auto bytes = port.counts.of("switch.port.tx.bytes");
    if (!bytes) continue;
    carried[port.wanted->link] = carried[port.wanted->link] || *bytes > 0;
    names.try_emplace(port.wanted->link, port.switch_name + " " + port.name);
  }
  out.links = carried.size();
  for (const auto& [link, was_used] : carried)
    if (!was_used) out.unused.push_back(names.at(link));
  return out;
}

void note_cover(const Cover& cover, preflight::StageResult& stage) {
  if (cover.links == 0) return;
  if (cover.unused.empty()) {
    stage.notes.push_back(fmt::format("all {} links between switches carried data", cover.links));
    return;
  }
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> named = cover.unused;
  if (named.size() > kNamed) named.resize(kNamed);
  stage.notes.push_back(
      fmt::format("{} of {} links between switches carried nothing, so that "
                  "nothing is known of them: {}{}",
                  cover.unused.size(), cover.links, join(named, ", "),
                  cover.unused.size() > kNamed ? " …" : ""));
}

/// Rates of all exchanges, and how fair each round was to those that ran at once. `step` is ""
/// for the rounds of all hosts, "_of_8_hosts" for a step before them.
void add_rates(const std::vector<Sample>& samples, std::string_view step,
               preflight::StageResult& stage) {
  std::vector<double> rates;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> by_round;
  for (const Sample& sample : samples) {
    rates.push_back(sample.rate);
    by_round[{sample.round, sample.rail}].push_back(sample.of_floor());
  }
  std::vector<double> fairness;
  for (const auto& [round, values] : by_round)
    fairness.push_back(preflight::jain_index(values));
  stage.measures.push_back(measure_of(fmt::format("bandwidth{}", step), "bit/s",
                                      preflight::Better::kMore, std::move(rates)));
  stage.measures.push_back(measure_of(fmt::format("jain{}", step), "index",
                                      preflight::Better::kMore, std::move(fairness)));
}

/// The same per NIC: whose it is that a later run has lost.
void add_nic_measures(const Bench& bench, const std::vector<Sample>& samples,
                      preflight::StageResult& stage) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> by_nic;  // host, rail
  for (const Sample& sample : samples)
    for (const std::uint32_t host : {sample.from, sample.to})
      by_nic[{host, sample.rail}].push_back(sample.rate);
  for (auto& [nic, rates] : by_nic)
    stage.measures.push_back(
        {.metric = "bandwidth",
         .unit = "bit/s",
         .better = preflight::Better::kMore,
         .values = preflight::distribution_of(std::move(rates)),
         .subject = fmt::format("{} rail {}", bench.name(nic.first), nic.second)});
}

/// One pair alone: it must reach the floor.
Status run_first_pair(Bench& bench, preflight::StageResult& stage, finding::Judgement& judgement) {
  std::vector<Sample> samples;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    WEIR_TRY(ran, bench.rig().exchange({{0, 1}}, 0));
    samples = std::move(ran);
    return {};
  }));
  judgement = diagnose::diagnose(bench.subject(window));
  std::vector<double> rates;
  double floor = 0;
  for (const Sample& sample : samples) {
    rates.push_back(sample.rate);
    floor = std::max(floor, sample.floor);
  }
  stage.measures.push_back({.metric = "pair_bandwidth",
                            .unit = "bit/s",
                            .better = preflight::Better::kMore,
                            .values = preflight::distribution_of(std::move(rates)),
                            .floor = floor});
  return {};
}

/// Growing numbers of hosts, one round each; true at the first red flag.
Result<bool> grow(Bench& bench, preflight::StageResult& stage, finding::Judgement& judgement) {
  const auto is_red = [&] {
    return std::any_of(
        judgement.findings.begin(), judgement.findings.end(),
        [&](const auto& found) { return found.severity >= bench.request().red_flag; });
  };
  WEIR_TRY_STATUS(run_first_pair(bench, stage, judgement));
  if (is_red()) return true;
  if (bench.request().is_quick) return false;
  for (const std::uint32_t size : preflight::growth(bench.hosts())) {
    if (size == 2) continue;
    std::vector<Sample> samples;
    WEIR_TRY(window, bench.watch([&]() -> Status {
      WEIR_TRY(ran, bench.rig().exchange(preflight::circle_rounds(size).front(), 0));
      samples = std::move(ran);
      return {};
    }));
    add_rates(samples, fmt::format("_of_{}_hosts", size), stage);
    finding::Judgement judged = diagnose::diagnose(bench.subject(window));
    add_warnings(std::move(judgement), judged);
    judgement = std::move(judged);
    if (!is_red()) continue;
    stage.notes.push_back(fmt::format("red flag with the first {} hosts", size));
    return true;
  }
  return false;
}

}  // namespace

diagnose::LonePair lone_pair(const Bench& bench, const Sample& sample) {
  return {.from = bench.name(sample.from),
          .to = bench.name(sample.to),
          .rail = sample.rail,
          .rate = sample.rate,
          .floor = sample.floor};
}

Status run_pairs(Bench& bench, preflight::StageResult& stage) {
  finding::Judgement judgement;
  WEIR_TRY(is_stopped, grow(bench, stage, judgement));
  if (is_stopped) {
    settle_stage(bench.request(), std::move(judgement), stage);
    return {};
  }
  const std::vector<Round> rounds = preflight::rounds_for(bench.leaves(), bench.request().is_quick);
  std::vector<Sample> samples;
  Latencies latencies;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    for (std::uint32_t i = 0; i < rounds.size(); ++i) {
      tell(bench.request().progress, static_cast<double>(i) / static_cast<double>(rounds.size()),
           fmt::format("round {} of {}", i + 1, rounds.size()));
      WEIR_TRY(ran, bench.rig().exchange(rounds[i], i));
      samples.insert(samples.end(), ran.begin(), ran.end());
    }
    WEIR_TRY(times, bench.rig().latencies(rounds.front()));
    latencies = std::move(times);
    return {};
  }));
  const diagnose::View view(bench.subject(window));
  finding::Judgement of_few = std::exchange(judgement, diagnose::diagnose(view));
  add_warnings(std::move(of_few), judgement);
  note_cover(cover_of(view), stage);
  add_rates(samples, "", stage);
  stage.measures.push_back(
      measure_of("latency", "s", preflight::Better::kLess, std::move(latencies.seconds)));
  for (std::string& note : latencies.notes)
    stage.notes.push_back(std::move(note));
  for (preflight::Measure& measure : latencies.more)
    if (measure.values.count > 0) stage.measures.push_back(std::move(measure));
  add_nic_measures(bench, samples, stage);
  const std::vector<std::uint32_t> kinds = bench.kinds();
  const std::vector<Suspect> suspects =
      preflight::suspects_among(samples, kinds, bench.request().thresholds, kMostSuspects);
  std::vector<std::string> cleared;
  std::set<std::uint32_t> blamed;
  for (const Suspect& suspect : suspects) {
    WEIR_TRY(is_to_blame,
             try_suspect(bench, suspect, samples, suspects, kinds, stage, judgement, cleared));
    if (is_to_blame) blamed.insert(suspect.host);
  }
  if (!cleared.empty())
    stage.notes.push_back(
        fmt::format("below the floor among others, and above it alone: {}; the rounds shared links",
                    compact_names(cleared)));
  // Of many hosts the link between two leaves is looked for instead.
  const bool bisects = bench.hosts() > preflight::kAllPairsHosts;
  const std::vector<std::uint32_t> leaves = bench.leaves();
  for (const HostPair& pair : preflight::suspect_pairs(samples, suspects, kMostPairs)) {
    if (bisects && leaves[pair.first] != leaves[pair.second]) continue;
    WEIR_TRY(again, bench.rig().exchange({pair}, 0));
    if (is_slow(again)) judge_path(bench, *slowest(again), true, judgement);
  }
  if (bisects) WEIR_TRY_STATUS(bisect_links(bench, samples, std::move(blamed), stage, judgement));
  const preflight::Measure& first = *stage.find("pair_bandwidth");
  stage.why =
      fmt::format("{} in {}; a pair alone {} of at least {}", counted(samples.size(), "exchange"),
                  counted(rounds.size(), "round"), preflight::value_text(first, first.values.least),
                  preflight::value_text(first, first.floor.value_or(0)));
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

}  // namespace weir::ops
