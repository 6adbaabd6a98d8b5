// Loads of a preflight on the simulated hosts of a lab.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/check.h"
#include "base/name_pattern.h"
#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/core/view.h"
#include "lab/expectation/expectation.h"
#include "ops/preflight/bench.h"
#include "preflight/measure.h"
#include "sim/results/simulate.h"
#include "sim/workload/workload_spec.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::Better;
using preflight::Measure;

/// Simulated time after which a load is given up.
constexpr Duration kLoadLimit = 100_ms;
// One queue pair per direction: its messages arrive in order, so that what arrives after the first
// of them was sent after it, and the rate is that of the wire without the start.
constexpr std::int64_t kMessageBytes = 256 * 1024;
constexpr std::uint32_t kMessages = 16;
constexpr std::uint32_t kQuickMessages = 8;
constexpr int kQueuePairs = 1;
constexpr int kDepth = 4;
constexpr Duration kPairLimit = 20_ms;
constexpr std::uint32_t kPings = 200;

sim::WorkloadSpec pair_spec(const std::string& from, const std::string& to) {
  sim::WorkloadSpec spec = sim::parse_workload("pair").value();
  spec.hosts = from + "," + to;
  spec.from = from;
  spec.to = to;
  return spec;
}

/// Flows between two hosts, on one rail: when they had arrived, and their sizes.
struct Stream {
  std::vector<std::pair<std::int64_t, std::int64_t>> done;  // ps, bytes
  std::size_t open = 0;
};
using StreamKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, rail

/// The rail of a NIC: the NICs of a host are numbered in the order of their rails.
std::map<sim::NodeId, std::uint32_t> rails_of(const lab::LoadOutcome& outcome) {
  std::map<std::uint32_t, std::vector<sim::NodeId>> nics;  // by host
  for (std::size_t i = 0; i < outcome.flows.size(); ++i) {
    nics[outcome.ends[i].first].push_back(outcome.flows[i].source);
    nics[outcome.ends[i].second].push_back(outcome.flows[i].target);
  }
  std::map<sim::NodeId, std::uint32_t> rails;
  for (auto& [host, nodes] : nics) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (std::uint32_t rail = 0; rail < nodes.size(); ++rail)
      rails.emplace(nodes[rail], rail);
  }
  return rails;
}

std::map<StreamKey, Stream> streams_of(const lab::LoadOutcome& outcome) {
  const std::map<sim::NodeId, std::uint32_t> rails = rails_of(outcome);
  std::map<StreamKey, Stream> out;
  for (std::size_t i = 0; i < outcome.flows.size(); ++i) {
    const sim::Flow& flow = outcome.flows[i];
    const auto [from, to] = outcome.ends[i];
    Stream& stream = out[{from, to, rails.at(flow.source)}];
    if (flow.is_done()) {
      // At the receiver, where messages arrive in order: acknowledgements may come in a bunch.
      stream.done.emplace_back((flow.post + outcome.deliveries[i]).since_start().raw(),
                               flow.size.raw());
    } else {
      ++stream.open;
    }
  }
  return out;
}

/// Bits per second after the first message; 0 where not all arrived.
double steady_rate(Stream& stream) {
  if (stream.open > 0 || stream.done.size() < 2) return 0;
  std::sort(stream.done.begin(), stream.done.end());
  std::int64_t bytes = 0;
  for (std::size_t i = 1; i < stream.done.size(); ++i)
    bytes += stream.done[i].second;
  const std::int64_t time = stream.done.back().first - stream.done.front().first;
  return time > 0 ? static_cast<double>(bytes) * 8 / seconds_of(Duration::raw(time)) : 0;
}

Measure completions(std::string metric, const lab::LoadOutcome& outcome) {
  std::vector<double> times;
  for (const sim::Flow& flow : outcome.flows)
    if (flow.is_done()) times.push_back(seconds_of(flow.completion));
  return measure_of(std::move(metric), "s", Better::kLess, std::move(times));
}

LoadRun run_of(const lab::LoadOutcome& outcome) {
  LoadRun run;
  run.elapsed = outcome.elapsed;
  run.is_finished = outcome.is_finished && outcome.totals.failed == 0;
  run.transfers = outcome.flows.size();
  for (std::size_t i = 0; i < outcome.flows.size(); ++i)
    if (!outcome.flows[i].is_done()) run.open.push_back(outcome.ends[i]);
  return run;
}

Duration longest_round(const sim::WorkloadResult& result) {
  Duration longest;
  for (const sim::StepResult& step : result.steps)
    longest = std::max(longest, step.time());
  return longest;
}

class LabRig final : public Rig {
 public:
  explicit LabRig(Bench& bench) : bench_(bench) {}

  void plan(preflight::Report& report) const override { plan_lab(bench_, report); }

  Result<Duration> rest() override {
    // The simulator ends with its last message: one byte, after the time in which nothing is sent.
    WEIR_TRY(outcome, run({fmt::format("pair,size=1B,start={}us", is_quick() ? 500 : 2000)}));
    return outcome.elapsed;
  }

  Result<LoadRun> neighbours(finding::Judgement& /*judgement*/) override {
    WEIR_TRY(outcome, run({"permutation,shift=1,size=64KB,iterations=4"}));
    LoadRun out = run_of(outcome);
    out.measures.push_back(completions("message_time", outcome));
    out.summary = fmt::format("{} arrived, over every NIC", counted(out.transfers, "message"));
    return out;
  }

  Result<LoadRun> loopback(finding::Judgement& /*judgement*/) override {
    WEIR_UNREACHABLE("the plan of a lab has no loopback");
  }

  Result<std::vector<preflight::Sample>> exchange(const preflight::Round& round,
                                                  std::uint32_t number) override {
    std::vector<sim::WorkloadSpec> specs;
    for (const auto& [from, to] : both_ways(round)) {
      sim::WorkloadSpec spec = pair_spec(bench_.name(from), bench_.name(to));
      spec.size = Bytes::raw(kMessageBytes);
      spec.iterations = is_quick() ? kQuickMessages : kMessages;
      spec.depth = kDepth;
      spec.qps = kQueuePairs;
      specs.push_back(std::move(spec));
    }
    WEIR_TRY(outcome, run(std::move(specs),
                          fmt::format("preflight: {} in pairs", counted(round.size() * 2, "host")),
                          kPairLimit));
    std::map<StreamKey, Stream> streams = streams_of(outcome);
    std::vector<preflight::Sample> out = bench_.samples_of(round, number);
    for (preflight::Sample& sample : out)
      sample.rate = steady_rate(streams[{sample.from, sample.to, sample.rail}]);
    return out;
  }

  [[nodiscard]] Bytes window() const override { return Bytes::raw(kMessageBytes) * kDepth; }

  Result<Latencies> latencies(const preflight::Round& round) override {
    std::vector<sim::WorkloadSpec> specs;
    for (const preflight::HostPair& pair : round) {
      sim::WorkloadSpec spec = pair_spec(bench_.name(pair.first), bench_.name(pair.second));
      spec.size = 64_B;
      spec.iterations = kPings;
      spec.qps = 1;
      specs.push_back(std::move(spec));
    }
    WEIR_TRY(outcome, run(std::move(specs), "preflight: small messages in pairs", kPairLimit));
    Latencies out;
    for (std::size_t i = 0; i < outcome.flows.size(); ++i)
      if (outcome.flows[i].is_done()) out.seconds.push_back(seconds_of(outcome.deliveries[i]));
    return out;
  }

  Result<LoadRun> incast(const std::string& receiver) override {
    // Enough to fill queues past every threshold, and no more than a second of simulating.
    constexpr std::size_t kBytes = 16'000'000;
    constexpr std::size_t kLeast = 250'000;
    const std::size_t size = std::max(kBytes / (bench_.hosts() - 1), kLeast);
    WEIR_TRY(outcome, run({fmt::format("incast,to={},size={}B", receiver, size)}));
    LoadRun out = run_of(outcome);
    out.measures.push_back(completions("message_time_to_" + receiver, outcome));
    return out;
  }

  [[nodiscard]] bool has_all_reduce() const override { return true; }
  Result<LoadRun> all_reduce() override {
    WEIR_TRY(outcome, run({is_quick() ? "all-reduce,size=1MB" : "all-reduce,size=4MB"}));
    LoadRun out = run_of(outcome);
    if (const auto& bandwidth = outcome.workloads.front().bus_bandwidth)
      out.measures.push_back(
          measure_of("all_reduce_bus_bandwidth", "bit/s", Better::kMore, {*bandwidth}));
    return out;
  }

  Result<LoadRun> all_to_all() override {
    WEIR_TRY(outcome, run({all_to_all_spec()}));
    LoadRun out = run_of(outcome);
    out.measures.push_back(completions("all_to_all_message_time", outcome));
    const Duration alone = longest_round(outcome.workloads.front());
    out.measures.push_back(measure_of("all_to_all_time", "s", Better::kLess, {seconds_of(alone)}));
    out.summary = "in " + approximate(alone);
    moments_ = last_moments();
    return out;
  }

  [[nodiscard]] bool has_other_classes() const override {
    return !background_of(bench_.intent()).empty();
  }
  Result<LoadRun> all_to_all_with_others() override {
    std::vector<std::string> loads = background_of(bench_.intent());
    loads.insert(loads.begin(), all_to_all_spec());
    WEIR_TRY(outcome, run(loads));
    LoadRun out = run_of(outcome);
    const Duration time = longest_round(outcome.workloads.front());
    out.measures.push_back(
        measure_of("all_to_all_time_with_background", "s", Better::kLess, {seconds_of(time)}));
    out.summary = "in " + approximate(time);
    return out;
  }

  std::string expectation(const std::vector<evidence::Evidence>& window, Duration took) override {
    if (is_quick()) return {};
    lab::KnownLoad known;
    known.workloads.push_back(sim::parse_workload(all_to_all_spec()).value());
    known.took = took;
    return fmt::format("{}: {}", all_to_all_spec(), expected_text(bench_, known, window));
  }

  std::vector<std::string> take_moments() override { return std::exchange(moments_, {}); }

  Result<FailureRun> under_failure() override {
    const PreflightRequest& request = bench_.request();
    FailureRun out;
    out.failure = failure_of(bench_.intent());
    WEIR_TRY(verified, verify_failure({.source = request.source,
                                       .design = request.design,
                                       .thresholds = request.thresholds,
                                       .progress = request.progress,
                                       .is_interrupted = request.is_interrupted},
                                      {.failure = out.failure,
                                       .command = {},
                                       .state = request.state,
                                       .tool = request.tool,
                                       .wait = request.wait}));
    for (const Phase& phase : verified.phases)
      out.phases.emplace_back(phase.name, phase.elapsed);
    out.totals = verified.totals;
    out.judgement = std::move(verified.judged.judgement);
    return out;
  }

  Result<LoadRun> soak_load() override {
    WEIR_TRY(outcome, run({fmt::format("all-to-all,size={}B", share_of(kSoakBytes))}));
    LoadRun out = run_of(outcome);
    out.measures.push_back(
        measure_of("all_to_all_time", "s", Better::kLess, {seconds_of(outcome.elapsed)}));
    return out;
  }

 private:
  static constexpr std::size_t kSoakBytes = 4'000'000;

  [[nodiscard]] bool is_quick() const { return bench_.request().is_quick; }
  /// Every NIC sends about as much, however many there are.
  [[nodiscard]] std::size_t share_of(std::size_t bytes) const {
    constexpr std::size_t kLeast = 16'384;
    return std::max<std::size_t>(bytes / bench_.hosts(), kLeast);
  }
  [[nodiscard]] std::string all_to_all_spec() const {
    return fmt::format("all-to-all,size={}B", share_of(is_quick() ? 1'000'000U : 4'000'000U));
  }

  Result<lab::LoadOutcome> run(std::vector<sim::WorkloadSpec> workloads, const std::string& command,
                               Duration limit) {
    if (bench_.is_interrupted())
      return Failure{FailureKind::kInterrupted, "interrupted before the next load"};
    lab::Load load;
    load.command = command;
    load.workloads = std::move(workloads);
    load.limit = limit;
    return or_could_not_look(bench_.set().lab->run_load(load));
  }
  Result<lab::LoadOutcome> run(const std::vector<std::string>& workloads) {
    std::vector<sim::WorkloadSpec> specs;
    for (const std::string& text : workloads) {
      WEIR_TRY(spec, or_could_not_look(sim::parse_workload(text)));
      specs.push_back(std::move(spec));
    }
    return run(std::move(specs), join(workloads, " + "), kLoadLimit);
  }

  [[nodiscard]] std::vector<std::string> last_moments() const;

  Bench& bench_;
  std::vector<std::string> moments_;
};

/// Slow moments of the last load, and what flow control did in them.
std::vector<std::string> LabRig::last_moments() const {
  const auto record = bench_.set().lab->last_run();
  if (!record) return {};
  std::vector<double> rates(record->times.size(), 0);
  preflight::FlowControl control;
  for (const lab::Curve& curve : record->curves) {
    if (curve.measure == lab::Measure::kRate)
      for (std::size_t i = 0; i < std::min(rates.size(), curve.values.size()); ++i)
        rates[i] += curve.values[i];
    if (!curve.where.empty()) continue;  // of a port
    const preflight::FlowControl::Counts counts(curve.values.begin(), curve.values.end());
    if (curve.measure == lab::Measure::kPauseTime) control.pauses = counts;
    if (curve.measure == lab::Measure::kCnps) control.cnps = counts;
    if (curve.measure == lab::Measure::kMarks) control.marks = counts;
    if (curve.measure == lab::Measure::kDrops) control.drops = counts;
  }
  const double share = bench_.request().thresholds.slow_moment;
  return {preflight::line_up_text(preflight::line_up(rates, control, share),
                                  fmt::format("moments moved less than {} of the median rate",
                                              preflight::slow_share_text(share)))};
}

}  // namespace

std::unique_ptr<Rig> make_lab_rig(Bench& bench) {
  return std::make_unique<LabRig>(bench);
}

std::string expected_text(const Bench& bench, const lab::KnownLoad& known,
                          const std::vector<evidence::Evidence>& window) {
  const auto replicas =
      lab::Replicas::play(bench.design(), bench.intent(), known, available_cores());
  if (!replicas) return fmt::format("not compared with the simulator: {}", replicas.error().what);
  const Window whole{window, {}};
  const lab::Expectation found = replicas->compare(diagnose::View(bench.subject(whole)));
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

weir::Result<double> expected_nic_rate(const Bench& bench) {
  constexpr std::size_t kMostHosts = 128;  // more would take minutes
  const std::size_t hosts = bench.hosts();
  if (hosts > kMostHosts) return invalid_error("more than 128 hosts");
  constexpr std::int64_t kBytes = 256 * 1024;
  sim::Experiment experiment;
  experiment.design = &bench.design();
  experiment.intent = bench.intent();
  experiment.limit = kLoadLimit;
  WEIR_TRY(spec, sim::parse_workload(fmt::format("all-to-all,size={}B", kBytes)));
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < hosts; ++i)
    names.push_back(bench.name(i));
  spec.hosts = compact_names(names);
  experiment.workloads.push_back(std::move(spec));
  WEIR_TRY(outcome, sim::simulate(experiment));
  const Duration time = longest_round(outcome.workloads.front());
  if (!outcome.is_finished || time == Duration()) return invalid_error("it does not finish");
  return static_cast<double>(kBytes) * 8 * static_cast<double>(hosts - 1) / seconds_of(time);
}

}  // namespace weir::ops
