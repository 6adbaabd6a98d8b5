// Stage 4: pairs of hosts, first few, then all, by a schedule; suspects again, alone.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "ops/preflight/bench.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::Round;
using preflight::Sample;

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

/// Small messages: every host takes part, on all rails.
Result<Latencies> measure_latencies(Bench& bench, const std::vector<Round>& rounds) {
  Latencies out;
  for (const Round& round : preflight::covering_rounds(rounds)) {
    WEIR_TRY(times, bench.rig().latencies(round));
    const auto add = [](auto& more, auto& all) {
      all.insert(all.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
    };
    add(times.seconds, out.seconds);
    add(times.p99, out.p99);
    add(times.p999, out.p999);
    add(times.jitter, out.jitter);
    add(times.notes, out.notes);
  }
  return out;
}

void add_latencies(Latencies latencies, preflight::StageResult& stage) {
  const auto add = [&](std::string_view metric, std::vector<double> values) {
    stage.measures.push_back(
        measure_of(std::string(metric), "s", preflight::Better::kLess, std::move(values)));
  };
  add("latency", std::move(latencies.seconds));
  // perftest prints quantiles, no single messages: what is spread here are pairs and rails.
  if (!latencies.p99.empty()) add("latency_p99", std::move(latencies.p99));
  if (!latencies.p999.empty()) add("latency_p999", std::move(latencies.p999));
  if (!latencies.jitter.empty()) add("jitter", std::move(latencies.jitter));
  constexpr std::size_t kNamed = 4;
  const std::size_t all = latencies.notes.size();
  for (std::size_t i = 0; i < std::min(all, kNamed); ++i)
    stage.notes.push_back(std::move(latencies.notes[i]));
  if (all > kNamed)
    stage.notes.push_back(fmt::format("no latency: {} more", counted(all - kNamed, "pair")));
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
    WEIR_TRY(times, measure_latencies(bench, rounds));
    latencies = std::move(times);
    return {};
  }));
  const diagnose::View view(bench.subject(window));
  finding::Judgement of_few = std::exchange(judgement, diagnose::diagnose(view));
  add_warnings(std::move(of_few), judgement);
  note_cover(cover_of(view), stage);
  add_rates(samples, "", stage);
  add_latencies(std::move(latencies), stage);
  add_nic_measures(bench, samples, stage);
  WEIR_TRY_STATUS(retest_slow(bench, samples, stage, judgement));
  const preflight::Measure& first = *stage.find("pair_bandwidth");
  stage.why =
      fmt::format("{} in {}; a pair alone {} of at least {}", counted(samples.size(), "exchange"),
                  counted(rounds.size(), "round"), preflight::value_text(first, first.values.least),
                  preflight::value_text(first, first.floor.value_or(0)));
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

}  // namespace weir::ops
