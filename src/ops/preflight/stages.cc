// Stages that need no schedule: facts, idle, path, overload, collectives, failure, soak.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/behaviour/burst.h"
#include "diagnose/core/diagnose.h"
#include "finding/catalog.h"
#include "lab/expectation/expectation.h"
#include "ops/inspect/validate.h"
#include "ops/preflight/bench.h"
#include "ops/verify/verify.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::Better;
using preflight::Measure;
using preflight::StageResult;

constexpr double kPicoseconds = 1e12;

double seconds_of(Duration time) {
  return static_cast<double>(time.raw()) / kPicoseconds;
}

/// Where a load did not finish and no counter says why.
void add_unfinished(const Bench& bench, const lab::LoadOutcome& outcome,
                    finding::Judgement& judgement) {
  if (outcome.is_finished && outcome.totals.failed == 0) return;
  if (judgement.count(finding::Severity::kError) > 0) return;
  std::vector<std::string> open;
  for (std::size_t i = 0; i < outcome.flows.size(); ++i) {
    if (outcome.flows[i].is_done()) continue;
    const std::string text = fmt::format("{} to {}", bench.name(outcome.ends[i].first),
                                         bench.name(outcome.ends[i].second));
    if (std::find(open.begin(), open.end(), text) == open.end()) open.push_back(text);
  }
  constexpr std::size_t kNamed = 4;
  const std::size_t all = open.size();
  if (open.size() > kNamed) open.resize(kNamed);
  finding::Finding finding = finding::make_finding(
      "transport.retries_exhausted",
      fmt::format("Messages did not arrive: {}{}.", join(open, ", "),
                  all > kNamed ? fmt::format(" and {} other pairs", all - kNamed) : ""));
  judgement.findings.push_back(std::move(finding));
  finding::settle(judgement);
}

Measure one_value(std::string metric, std::string unit, Better better, double value) {
  return {.metric = std::move(metric),
          .unit = std::move(unit),
          .better = better,
          .values = preflight::distribution_of({value}),
          .floor = std::nullopt};
}

Measure completions(std::string metric, const lab::LoadOutcome& outcome) {
  std::vector<double> times;
  for (const sim::Flow& flow : outcome.flows)
    if (flow.is_done()) times.push_back(seconds_of(flow.completion));
  return {.metric = std::move(metric),
          .unit = "s",
          .better = Better::kLess,
          .values = preflight::distribution_of(std::move(times)),
          .floor = std::nullopt};
}

Status wait_idle(const Bench& bench, std::chrono::seconds time) {
  for (std::chrono::seconds done{0}; done < time; ++done) {
    if (bench.is_interrupted())
      return Failure{FailureKind::kInterrupted, "interrupted while the counters were watched"};
    tell(bench.request().progress,
         static_cast<double>(done.count()) / static_cast<double>(time.count()), "idle");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return {};
}

/// Slow moments of the last load, and what flow control did in them.
std::string slow_moments(const lab::Lab& lab) {
  const auto record = lab.last_run();
  if (!record) return {};
  std::vector<double> rates(record->times.size(), 0);
  std::vector<double> pauses;
  std::vector<double> cnps;
  for (const lab::Curve& curve : record->curves) {
    if (curve.measure == lab::Measure::kRate)
      for (std::size_t i = 0; i < std::min(rates.size(), curve.values.size()); ++i)
        rates[i] += curve.values[i];
    if (curve.measure == lab::Measure::kPauseTime && curve.where.empty()) pauses = curve.values;
    if (curve.measure == lab::Measure::kCnps && curve.where.empty()) cnps = curve.values;
  }
  const preflight::LineUp found = preflight::line_up(rates, pauses, cnps);
  return fmt::format(
      "{} of {} moments moved less than half of the median rate; {} of these coincide with pauses, "
      "{} with CNPs",
      found.slow, found.samples, found.with_pauses, found.with_cnps);
}

/// The same load on the fabric as designed, by the simulator.
std::string expected_text(const Bench& bench, const std::vector<std::string>& workloads,
                          const Window& window, Duration took) {
  lab::KnownLoad known;
  for (const std::string& text : workloads)
    known.workloads.push_back(sim::parse_workload(text).value());
  known.took = took;
  const auto replicas =
      lab::Replicas::play(bench.design(), bench.intent(), known, available_cores());
  if (!replicas) return fmt::format("not compared with the simulator: {}", replicas.error().what);
  const lab::Expectation found = replicas->compare(diagnose::View(bench.subject(window)));
  std::string out = fmt::format(
      "the simulator, on the fabric as designed ({} runs): {} of {} values outside its range",
      found.replicas, found.outside.size(), found.compared);
  if (!found.outside.empty()) {
    const lab::Deviation& first = found.outside.front();
    out += fmt::format("; first {}{}: {:g} {}, expected {:g} to {:g}", first.what,
                       first.where.empty() ? "" : " at " + first.where, first.measured, first.unit,
                       first.low, first.high);
  }
  return out;
}

/// Pauses of priorities that the design does not make lossless.
void judge_other_pauses(const diagnose::View& view, const design::Intent& intent,
                        finding::Judgement& judgement) {
  PrioritySet lossless;
  for (const design::SwitchIntent& device : intent.switches)
    lossless =
        PrioritySet::from_mask(static_cast<std::uint8_t>(lossless.mask() | device.lossless.mask()));
  for (const diagnose::NicView& nic : view.nics())
    for (unsigned priority = 0; priority < 8; ++priority) {
      if (lossless.contains(Priority::of(priority))) continue;
      const auto frames = nic.counts.of("nic.prio.pause_rx.frames", priority);
      if (frames.value_or(0) == 0) continue;
      finding::Finding finding = finding::make_finding(
          "pfc.wrong_priority",
          fmt::format("{} was paused in priority {}, which the design does not make lossless.",
                      nic.host, priority),
          nic.where());
      finding.evidence.push_back(nic.counts.line("nic.prio.pause_rx.frames", priority));
      judgement.findings.push_back(std::move(finding));
    }
  finding::settle(judgement);
}

/// Findings of a later window behind those of an earlier one.
void add_judgement(finding::Judgement more, finding::Judgement& judgement) {
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive ||
                       more.conclusion == finding::Conclusion::kInconclusive;
  for (finding::Finding& finding : more.findings) {
    const bool is_known = std::any_of(
        judgement.findings.begin(), judgement.findings.end(),
        [&](const auto& other) { return other.id == finding.id && other.where == finding.where; });
    if (!is_known) judgement.findings.push_back(std::move(finding));
  }
  for (finding::Unknown& unknown : more.unknown)
    judgement.unknown.push_back(std::move(unknown));
  finding::settle(judgement);
  if (is_open && judgement.conclusion == finding::Conclusion::kHealthy)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

bool has_red_flag(const Bench& bench, const finding::Judgement& judgement) {
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [&](const auto& found) { return found.severity >= bench.request().red_flag; });
}

}  // namespace

namespace {

/// What a driver does not show is a note: the loads show what it does. What was refused, and hosts
/// that could not be read, stay open.
void note_unshown(const Observation& seen, finding::Judgement& judgement, StageResult& stage) {
  if (!seen.unseen.empty() || seen.was_refused() || judgement.unknown.empty()) return;
  stage.notes.push_back(fmt::format("{} not shown by hosts or switches, judged under load: {}",
                                    counted(judgement.unknown.size(), "setting"),
                                    judgement.unknown.front().check));
  judgement.unknown.clear();
  if (judgement.conclusion == finding::Conclusion::kInconclusive) finding::settle(judgement);
}

}  // namespace

Status run_facts(Bench& bench, StageResult& stage) {
  PreflightRequest request = bench.request();
  // A fabric that is not as designed is not the one that was planned, however mild the difference.
  request.red_flag = std::min(request.red_flag, finding::Severity::kWarning);
  WEIR_TRY(validated, validate({.source = request.source,
                                .design = request.design,
                                .thresholds = request.thresholds}));
  stage.why = fmt::format("{} as designed", counted(validated.seen.hosts.size(), "host"));
  note_unshown(validated.seen, validated.judgement, stage);
  settle_stage(request, std::move(validated.judgement), stage);
  return {};
}

Status run_idle(Bench& bench, StageResult& stage) {
  const bool is_quick = bench.request().is_quick;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    if (!bench.is_lab()) return wait_idle(bench, std::chrono::seconds(is_quick ? 30 : 300));
    // The simulator ends with its last message: one byte, after the time in which nothing is sent.
    WEIR_TRY(outcome, bench.run({fmt::format("pair,size=1B,start={}us", is_quick ? 500 : 2000)}));
    stage.took = outcome.elapsed;
    return {};
  }));
  const diagnose::View view(bench.subject(window));
  finding::Judgement judgement = diagnose::diagnose(view);
  judge_other_pauses(view, bench.intent(), judgement);
  // That nothing was sent is what is wanted here.
  judgement.unknown.clear();
  if (judgement.conclusion != finding::Conclusion::kFindings)
    judgement.conclusion = finding::Conclusion::kHealthy;
  stage.why = "no counter of errors, loss or flow control moved";
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_path(Bench& bench, StageResult& stage) {
  std::optional<lab::LoadOutcome> outcome;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    WEIR_TRY(ran, bench.run({"permutation,shift=1,size=64KB,iterations=4"}));
    outcome = std::move(ran);
    return {};
  }));
  stage.took = outcome->elapsed;
  finding::Judgement judgement = diagnose::diagnose(bench.subject(window));
  add_unfinished(bench, *outcome, judgement);
  stage.measures.push_back(completions("message_time", *outcome));
  stage.why = fmt::format("{} arrived, over every NIC", counted(outcome->flows.size(), "message"));
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_overload(Bench& bench, StageResult& stage) {
  const std::vector<std::string> receivers = receivers_of(bench.intent(), bench.request().is_quick);
  const std::size_t senders = bench.hosts() - 1;
  // Enough to fill queues past every threshold, and no more than a second of simulating.
  constexpr std::size_t kBytes = 16'000'000;
  constexpr std::size_t kLeast = 250'000;
  const std::size_t size = std::max(kBytes / senders, kLeast);
  finding::Judgement judgement;
  std::uint64_t pauses = 0;
  std::uint64_t marks = 0;
  for (const std::string& receiver : receivers) {
    std::optional<lab::LoadOutcome> outcome;
    WEIR_TRY(window, bench.watch([&]() -> Status {
      WEIR_TRY(ran, bench.run({fmt::format("incast,to={},size={}B", receiver, size)}));
      outcome = std::move(ran);
      return {};
    }));
    stage.took += outcome->elapsed;
    const diagnose::View view(bench.subject(window));
    finding::Judgement judged = diagnose::diagnose(view);
    const diagnose::Burst burst = diagnose::count_burst(view, senders, receiver);
    diagnose::Burst acted = burst;  // a mark is action enough
    acted.pauses = burst.pauses.value_or(0) + burst.marks.value_or(0);
    diagnose::judge_burst(acted, judged);
    judge_other_pauses(view, bench.intent(), judged);
    add_unfinished(bench, *outcome, judged);
    pauses += burst.pauses.value_or(0);
    marks += burst.marks.value_or(0);
    add_judgement(std::move(judged), judgement);
    stage.measures.push_back(completions("message_time_to_" + receiver, *outcome));
    if (has_red_flag(bench, judgement)) break;
  }
  stage.why = fmt::format("nothing was lost; {} pause frames, {} packets marked", pauses, marks);
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

namespace {

/// A collective alone in its window.
Result<lab::LoadOutcome> collective(Bench& bench, const std::vector<std::string>& workloads,
                                    finding::Judgement& judgement, StageResult& stage,
                                    bool is_compared) {
  std::optional<lab::LoadOutcome> outcome;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    WEIR_TRY(ran, bench.run(workloads));
    outcome = std::move(ran);
    return {};
  }));
  stage.took += outcome->elapsed;
  finding::Judgement judged = diagnose::diagnose(bench.subject(window));
  add_unfinished(bench, *outcome, judged);
  add_judgement(std::move(judged), judgement);
  if (is_compared && outcome->is_finished)
    stage.notes.push_back(fmt::format("{}: {}", workloads.front(),
                                      expected_text(bench, workloads, window, outcome->elapsed)));
  return std::move(*outcome);
}

Duration longest_round(const sim::WorkloadResult& result) {
  Duration longest;
  for (const sim::StepResult& step : result.steps)
    longest = std::max(longest, step.time());
  return longest;
}

}  // namespace

Status run_collectives(Bench& bench, StageResult& stage) {
  const bool is_quick = bench.request().is_quick;
  finding::Judgement judgement;
  const std::string all_reduce = is_quick ? "all-reduce,size=1MB" : "all-reduce,size=4MB";
  WEIR_TRY(reduced, collective(bench, {all_reduce}, judgement, stage, false));
  if (reduced.workloads.front().bus_bandwidth)
    stage.measures.push_back(one_value("all_reduce_bus_bandwidth", "bit/s", Better::kMore,
                                       *reduced.workloads.front().bus_bandwidth));
  // Every NIC sends about as much, however many there are.
  const std::size_t size =
      std::max<std::size_t>((is_quick ? 1'000'000U : 4'000'000U) / bench.hosts(), 16'384);
  const std::string all_to_all = fmt::format("all-to-all,size={}B", size);
  WEIR_TRY(exchanged, collective(bench, {all_to_all}, judgement, stage, !is_quick));
  stage.measures.push_back(completions("all_to_all_message_time", exchanged));
  const Duration alone = longest_round(exchanged.workloads.front());
  stage.measures.push_back(one_value("all_to_all_time", "s", Better::kLess, seconds_of(alone)));
  stage.notes.push_back(slow_moments(*bench.set().lab));
  std::vector<std::string> with_others = background_of(bench.intent());
  if (!with_others.empty()) {
    with_others.insert(with_others.begin(), all_to_all);
    WEIR_TRY(beside, collective(bench, with_others, judgement, stage, false));
    const Duration time = longest_round(beside.workloads.front());
    stage.measures.push_back(
        one_value("all_to_all_time_with_background", "s", Better::kLess, seconds_of(time)));
    stage.why = fmt::format("all-to-all in {}, with other traffic in {}", approximate(alone),
                            approximate(time));
  } else {
    stage.why = fmt::format("all-to-all in {}", approximate(alone));
    stage.notes.emplace_back("the design has no class for other traffic: none was added");
  }
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_failure(Bench& bench, StageResult& stage) {
  const PreflightRequest& request = bench.request();
  const std::string failure = failure_of(bench.intent());
  WEIR_TRY(verified, verify_failure({.source = request.source,
                                     .design = request.design,
                                     .thresholds = request.thresholds,
                                     .progress = request.progress,
                                     .is_interrupted = request.is_interrupted},
                                    {.failure = failure,
                                     .command = {},
                                     .state = request.state,
                                     .tool = request.tool,
                                     .wait = request.wait}));
  for (const Phase& phase : verified.phases) {
    stage.took += phase.elapsed;
    stage.measures.push_back(one_value(fmt::format("time_{}", phase.name), "s", Better::kLess,
                                       seconds_of(phase.elapsed)));
  }
  stage.why = fmt::format("{}: stayed lossless, and recovered", failure);
  settle_stage(request, std::move(verified.judged.judgement), stage);
  return {};
}

Status run_soak(Bench& bench, StageResult& stage) {
  const Duration wanted = bench.request().soak.value_or(Duration());
  const std::size_t size = std::max<std::size_t>(4'000'000U / bench.hosts(), 16'384);
  const std::string load = fmt::format("all-to-all,size={}B", size);
  std::vector<double> times;
  finding::Judgement judgement;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    while (stage.took < wanted) {
      WEIR_TRY(ran, bench.run({load}));
      if (!ran.is_finished || ran.elapsed == Duration()) {
        add_unfinished(bench, ran, judgement);
        return {};
      }
      stage.took += ran.elapsed;
      times.push_back(seconds_of(ran.elapsed));
      tell(bench.request().progress,
           static_cast<double>(stage.took.raw()) / static_cast<double>(wanted.raw()), "soak");
    }
    return {};
  }));
  add_judgement(diagnose::diagnose(bench.subject(window)), judgement);
  stage.why =
      fmt::format("{} in {}", counted(times.size(), "all-to-all round"), approximate(stage.took));
  stage.measures.push_back({.metric = "all_to_all_time",
                            .unit = "s",
                            .better = Better::kLess,
                            .values = preflight::distribution_of(std::move(times)),
                            .floor = std::nullopt});
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

}  // namespace weir::ops
