#include "tune/evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "sim/results/simulate_all.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostVariants = 4096;  // kept; a tuning of 100,000 runs has as many

double in_us(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

/// Of the time from the first post to the last completion, at the port and priority that was paused
/// longest.
double pause_share_of(const sim::Sim& sim, Duration duration) {
  sim::Ps longest = 0;
  for (const sim::PortId port : sim.ports())
    for (unsigned priority = 0; priority < 8; ++priority)
      longest = std::max(longest, sim.paused_for(port, priority));
  if (duration.raw() <= 0) return 0;
  return std::min(1.0, static_cast<double>(longest) / static_cast<double>(duration.raw()));
}

/// Mean slowdown of flows to other receivers than the one that is sent most, where that one gets
/// half as much again as the mean: then the others are victims of its congestion, or not.
std::optional<double> victims_of(const std::vector<sim::Flow>& flows) {
  std::map<sim::NodeId, double> bytes;
  double all = 0;
  for (const sim::Flow& flow : flows) {
    bytes[flow.target] += static_cast<double>(flow.size.raw());
    all += static_cast<double>(flow.size.raw());
  }
  if (bytes.size() < 2) return std::nullopt;
  const auto hot = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (hot->second < 1.5 * all / static_cast<double>(bytes.size())) return std::nullopt;
  double sum = 0;
  double count = 0;
  for (const sim::Flow& flow : flows) {
    if (flow.target == hot->first || !flow.is_done() || flow.ideal.raw() <= 0) continue;
    sum += static_cast<double>(flow.completion.raw()) / static_cast<double>(flow.ideal.raw());
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

Spread spread_over(const std::vector<Metrics>& runs, double (*value)(const Metrics&)) {
  Spread out;
  out.least = out.most = value(runs.front());
  for (const Metrics& run : runs) {
    const double number = value(run);
    out.mean += number / static_cast<double>(runs.size());
    out.least = std::min(out.least, number);
    out.most = std::max(out.most, number);
  }
  return out;
}

Json line_of(std::uint64_t key, std::uint64_t design, const RunOrder& order,
             const Metrics& metrics) {
  return {{"key", fmt::format("{:016x}", key)},
          {"design", fmt::format("{:016x}", design)},
          {"settings", order.settings},
          {"workloads", order.loads},
          {"faults", order.faults},
          {"seed", order.seed},
          {"limit_us", order.limit.raw() / 1'000'000},
          {"metrics", to_json(metrics)}};
}

Result<std::vector<std::string>> texts_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(list, at.member(key));
  WEIR_TRY_STATUS(list.expect_array());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    WEIR_TRY(text, list.at(i).text());
    out.push_back(std::move(text));
  }
  return out;
}

struct KeptRun {
  std::string design;
  RunOrder order;
  Metrics metrics;
};

Result<KeptRun> kept_run_of(const Json& line) {
  const JsonCursor at(line);
  WEIR_TRY_STATUS(at.expect_object());
  KeptRun out;
  WEIR_TRY(design, at.member("design"));
  WEIR_TRY(digest, design.text());
  out.design = std::move(digest);
  WEIR_TRY(settings, texts_at(at, "settings"));
  WEIR_TRY(loads, texts_at(at, "workloads"));
  WEIR_TRY(faults, texts_at(at, "faults"));
  WEIR_TRY(seed_at, at.member("seed"));
  WEIR_TRY(seed, seed_at.whole_number());
  WEIR_TRY(limit_at, at.member("limit_us"));
  WEIR_TRY(limit, limit_at.whole_number());
  if (limit > 1'000'000'000) return limit_at.wrong("at most 1000 s");
  out.order = {std::move(settings), std::move(loads), std::move(faults), seed,
               1_us * static_cast<std::int64_t>(limit)};
  WEIR_TRY(metrics_at, at.member("metrics"));
  WEIR_TRY(metrics, metrics_from_json(metrics_at.value()));
  out.metrics = metrics;
  return out;
}

/// The order as an experiment; an error is of its texts.
Result<sim::Experiment> experiment_of(const RunOrder& order, const design::Variant& variant) {
  sim::Experiment out;
  out.design = &variant.design;
  out.seed = order.seed;
  out.limit = order.limit;
  for (const std::string& text : order.loads) {
    WEIR_TRY(load, parse_load(text));
    out.workloads.push_back(std::move(load.spec));
  }
  for (const std::string& text : order.faults) {
    WEIR_TRY(fault, sim::parse_fault(text));
    out.faults.push_back(std::move(fault));
  }
  return out;
}

}  // namespace

struct Evaluator::Pending {
  std::uint64_t key = 0;
  const RunOrder* order = nullptr;
  const design::Variant* variant = nullptr;
  sim::Experiment experiment;  // without the intent, which is large: it comes with the run
  std::optional<Metrics> metrics;
};

Result<Load> parse_load(const std::string& text) {
  WEIR_TRY(spec, sim::parse_workload(text));
  return Load{text, std::move(spec)};
}

double objective_of(const Metrics& metrics, Objective objective) {
  switch (objective) {
    case Objective::kStepTime: return metrics.step_us.value_or(metrics.mean_us);
    case Objective::kP99: return metrics.slowdown_p99;
    case Objective::kThroughput: return metrics.duration_us;
    case Objective::kLatency: return metrics.slowdown_mean;
  }
  WEIR_UNREACHABLE("every objective has a value");
}

Metrics metrics_of(const sim::Outcome& outcome) {
  const sim::Totals& totals = outcome.results.totals;
  Metrics out;
  out.finished = outcome.is_finished && totals.finished == totals.flows;
  out.mean_us = in_us(totals.completion.mean);
  out.p99_us = in_us(totals.completion.p99);
  out.max_us = in_us(totals.completion.max);
  out.slowdown_mean = totals.slowdown_mean;
  out.slowdown_p99 = totals.slowdown_p99;
  double steps = 0;
  double step_time = 0;
  for (const sim::WorkloadResult& load : outcome.workloads) {
    for (const sim::StepResult& step : load.steps) {
      ++steps;
      step_time += in_us(step.time());
    }
    if (load.bus_bandwidth)
      out.bus_gbps =
          std::min(out.bus_gbps.value_or(*load.bus_bandwidth / 1e9), *load.bus_bandwidth / 1e9);
  }
  if (steps > 0) out.step_us = step_time / steps;
  out.duration_us = in_us(totals.duration);
  out.utilisation = totals.utilisation;
  out.pauses = totals.pauses;
  out.pause_share = pause_share_of(*outcome.sim, totals.duration);
  out.lossless_drops = totals.lossless_drops;
  out.retransmitted = totals.retransmitted;
  out.marked = totals.marked;
  if (totals.received > 0)
    out.mark_share = static_cast<double>(totals.marked) / static_cast<double>(totals.received);
  out.cnps = totals.cnp_handled;
  out.queue_bytes = static_cast<double>(totals.deepest_queue.raw());
  out.jain = totals.jain;
  out.victim_slowdown = victims_of(outcome.results.flows);
  out.digest = outcome.results.digest;
  return out;
}

Summary summary_of(const std::vector<Metrics>& runs, Objective objective, double pause_limit) {
  WEIR_CHECK(!runs.empty());
  Summary out;
  out.runs = runs.size();
  for (const Metrics& run : runs) {
    out.failed += run.is_lossless() ? 0U : 1U;
    out.bad += run.pause_share > pause_limit ? 1U : 0U;
  }
  out.bad_upper = upper_bound(out.bad, out.runs);
  out.objective.least = out.objective.most = objective_of(runs.front(), objective);
  for (const Metrics& run : runs) {
    const double value = objective_of(run, objective);
    out.objective.mean += value / static_cast<double>(runs.size());
    out.objective.least = std::min(out.objective.least, value);
    out.objective.most = std::max(out.objective.most, value);
  }
  out.mean_us = spread_over(runs, [](const Metrics& m) { return m.mean_us; });
  out.p99_us = spread_over(runs, [](const Metrics& m) { return m.p99_us; });
  out.max_us = spread_over(runs, [](const Metrics& m) { return m.max_us; });
  out.slowdown_p99 = spread_over(runs, [](const Metrics& m) { return m.slowdown_p99; });
  out.pauses = spread_over(runs, [](const Metrics& m) { return static_cast<double>(m.pauses); });
  out.pause_share = spread_over(runs, [](const Metrics& m) { return m.pause_share; });
  out.marked = spread_over(runs, [](const Metrics& m) { return static_cast<double>(m.marked); });
  out.mark_share = spread_over(runs, [](const Metrics& m) { return m.mark_share; });
  out.cnps = spread_over(runs, [](const Metrics& m) { return static_cast<double>(m.cnps); });
  out.queue_bytes = spread_over(runs, [](const Metrics& m) { return m.queue_bytes; });
  out.jain = spread_over(runs, [](const Metrics& m) { return m.jain; });
  out.utilisation = spread_over(runs, [](const Metrics& m) { return m.utilisation; });
  std::vector<Metrics> with_victims;
  for (const Metrics& run : runs)
    if (run.victim_slowdown) with_victims.push_back(run);
  if (!with_victims.empty())
    out.victim_slowdown =
        spread_over(with_victims, [](const Metrics& m) { return *m.victim_slowdown; });
  return out;
}

std::vector<double> objective_ratios(const std::vector<Metrics>& before,
                                     const std::vector<Metrics>& after, Objective objective) {
  WEIR_CHECK(before.size() == after.size());
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double a = objective_of(before[i], objective);
    const double b = objective_of(after[i], objective);
    if (!before[i].finished || !after[i].finished || a <= 0 || b <= 0) continue;
    first.push_back(a);
    second.push_back(b);
  }
  return log_ratios(first, second);
}

Evaluator::Evaluator(const design::Design& design, unsigned jobs, Progress progress)
    : design_(design), jobs_(std::max(jobs, 1U)), progress_(std::move(progress)) {
  Digest digest;
  digest.add(design::effective_text(design));
  design_digest_ = digest.value();
}

Evaluator::~Evaluator() {
  if (file_ != nullptr) std::fclose(file_);
}

std::uint64_t Evaluator::key_of(const RunOrder& order) const {
  Digest digest;
  digest.add(design_digest_);
  for (const auto* list : {&order.settings, &order.loads, &order.faults}) {
    digest.add(list->size());
    for (const std::string& text : *list)
      digest.add(text);
  }
  digest.add(order.seed);
  digest.add(static_cast<std::uint64_t>(order.limit.raw()));
  return digest.value();
}

Result<const design::Variant*> Evaluator::variant(const std::vector<std::string>& settings) {
  const auto found = variants_.find(settings);
  if (found != variants_.end()) return found->second.get();
  WEIR_TRY(made, design::with_values(design_, settings));
  auto kept = std::make_unique<design::Variant>(std::move(made));
  return variants_.emplace(settings, std::move(kept)).first->second.get();
}

Status Evaluator::make(std::vector<Pending>& pending) {
  std::mutex guard;
  std::size_t written = 0;
  const auto order = [&](std::size_t i) {
    sim::Experiment mine = pending[i].experiment;
    mine.intent = pending[i].variant->intent;
    return mine;
  };
  const auto take = [&](std::size_t i, const sim::Outcome& outcome) {
    const Metrics metrics = metrics_of(outcome);
    const std::lock_guard lock(guard);
    pending[i].metrics = metrics;
    cpu_seconds_ += outcome.perf.cpu_s + outcome.perf.setup_s;
    ++runs_;
    if (progress_) progress_(runs_);
    // In the order of the runs, whichever ends first: the file does not depend on `jobs`.
    for (; written < pending.size() && pending[written].metrics; ++written) {
      if (file_ == nullptr) continue;
      const Pending& next = pending[written];
      std::fputs(
          (line_of(next.key, design_digest_, *next.order, *next.metrics).dump() + "\n").c_str(),
          file_);
    }
    if (file_ != nullptr) std::fflush(file_);
  };
  WEIR_TRY_STATUS(sim::simulate_all(pending.size(), jobs_, order, take));
  if (file_ != nullptr && std::ferror(file_) != 0)
    return Error{ErrorCode::kIo, "writing results.jsonl: the file could not be written"};
  return {};
}

Result<std::vector<Metrics>> Evaluator::run(const std::vector<RunOrder>& orders) {
  if (variants_.size() > kMostVariants) variants_.clear();
  std::vector<std::uint64_t> keys;
  std::vector<Pending> pending;
  std::map<std::uint64_t, bool> is_pending;
  for (const RunOrder& order : orders) {
    keys.push_back(key_of(order));
    const auto found = known_.find(keys.back());
    if (found != known_.end()) {
      if (!found->second.is_used) {
        found->second.is_used = true;
        ++runs_;
        if (progress_) progress_(runs_);
      }
      continue;
    }
    if (!is_pending.emplace(keys.back(), true).second) continue;
    WEIR_TRY(changed, variant(order.settings));
    WEIR_TRY(experiment, experiment_of(order, *changed));
    pending.push_back({keys.back(), &order, changed, std::move(experiment), {}});
  }
  WEIR_TRY_STATUS(make(pending));
  for (const Pending& each : pending)
    known_[each.key] = {*each.metrics, true};
  std::vector<Metrics> out;
  for (const std::uint64_t key : keys)
    out.push_back(known_.at(key).metrics);
  return out;
}

Status Evaluator::read_results(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  std::optional<RunOrder> first;
  std::size_t number = 0;
  std::size_t whole = 0;  // bytes of complete lines
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (whole + line.size() >= text.size()) break;  // cut short: the run is made again
    whole += line.size() + 1;
    const Json parsed = Json::parse(line, nullptr, false);
    auto kept =
        parsed.is_discarded() ? Result<KeptRun>(parse_error("not JSON")) : kept_run_of(parsed);
    if (!kept) return kept.error().within(fmt::format("{}:{}", path, number));
    if (kept->design != fmt::format("{:016x}", design_digest_))
      return invalid_error(fmt::format(
          "{}:{}: results of another design; name another directory with --out", path, number));
    if (!first) first = kept->order;
    known_[key_of(kept->order)] = {kept->metrics, false};
  }
  if (whole < text.size() && ::truncate(path.c_str(), static_cast<off_t>(whole)) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be shortened to its whole lines", path)};
  if (!first) return {};
  // Another version of the simulator may give other numbers: one run tells.
  const Metrics before = known_.at(key_of(*first)).metrics;
  WEIR_TRY(changed, variant(first->settings));
  WEIR_TRY(experiment, experiment_of(*first, *changed));
  experiment.intent = changed->intent;
  WEIR_TRY(outcome, sim::simulate(experiment));
  if (metrics_of(outcome).digest != before.digest)
    return invalid_error(fmt::format(
        "{}:1: this run gives another result now (another version of Weir wrote it); name another "
        "directory with --out",
        path));
  return {};
}

Status Evaluator::keep_results(const std::string& path, bool is_resumed) {
  if (is_resumed && file_exists(path)) WEIR_TRY_STATUS(read_results(path));
  file_ = std::fopen(path.c_str(), is_resumed ? "a" : "w");
  if (file_ == nullptr)
    return Error{ErrorCode::kIo, fmt::format("open {}: cannot be written", path)};
  return {};
}

}  // namespace weir::tune
