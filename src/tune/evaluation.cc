#include "tune/evaluation.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/owned_descriptor.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"

namespace weir::tune {
namespace {

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

struct KeptRun {
  std::string design;
  RunOrder order;
  MadeRun made;
};

Result<KeptRun> kept_run_of(const Json& line) {
  const JsonCursor at(line);
  WEIR_TRY(order, run_order_from_json(line));
  WEIR_TRY(design, at.member("design"));
  WEIR_TRY(digest, design.text());
  WEIR_TRY(metrics_at, at.member("metrics"));
  WEIR_TRY(metrics, metrics_from_json(metrics_at.value()));
  WEIR_TRY(cpu_at, at.member("cpu_s"));
  WEIR_TRY(cpu, cpu_at.number());
  return KeptRun{std::move(digest), std::move(order), {metrics, cpu}};
}

}  // namespace

double objective_of(const Metrics& metrics, Objective objective) {
  switch (objective) {
    case Objective::kStepTime: return metrics.step_us.value_or(metrics.mean_us);
    case Objective::kP99: return metrics.slowdown_p99;
    case Objective::kThroughput: return metrics.duration_us;
    case Objective::kLatency: return metrics.slowdown_mean;
  }
  WEIR_UNREACHABLE("every objective has a value");
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

Evaluator::Evaluator(const design::Design& design, unsigned jobs, Progress progress,
                     Foreman* foreman)
    : variants_(design),
      design_digest_(variants_.design_digest()),
      jobs_(foreman != nullptr ? foreman->workers() : std::max(jobs, 1U)),
      progress_(std::move(progress)),
      foreman_(foreman) {}

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
  digest.add(order.dead_host);
  digest.add(order.is_in_peer ? 1U : 0U);
  return digest.value();
}

void Evaluator::keep(const RunOrder& order, const MadeRun& made) {
  const std::uint64_t key = key_of(order);
  const std::lock_guard lock(guard_);
  known_[key] = {made, true};
  ++made_;
  ++runs_;
  if (file_ != nullptr) {
    Json line = to_json(order);
    line["key"] = fmt::format("{:016x}", key);
    line["design"] = fmt::format("{:016x}", design_digest_);
    line["cpu_s"] = made.cpu_seconds;
    line["metrics"] = to_json(made.metrics);
    std::fputs((line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), file_);
    std::fflush(file_);
  }
  if (progress_) progress_(runs_);
}

Status Evaluator::make(const std::vector<RunOrder>& orders) {
  if (foreman_ != nullptr)
    return foreman_->make(orders,
                          [&](std::size_t i, const MadeRun& made) { keep(orders[i], made); });
  std::vector<ReadyRun> ready;
  for (const RunOrder& order : orders) {
    WEIR_TRY(run, ready_run(order, variants_));
    ready.push_back(std::move(run));
  }
  std::vector<std::optional<Error>> errors(ready.size());
  for_each_index(ready.size(), jobs_, [&](std::size_t i) {
    const auto made = make_run(ready[i]);
    if (made) {
      keep(orders[i], *made);
    } else {
      errors[i] = made.error();
    }
  });
  for (const auto& error : errors)
    if (error) return *error;
  return {};
}

Result<std::vector<Metrics>> Evaluator::run(const std::vector<RunOrder>& orders) {
  variants_.trim();
  std::vector<std::uint64_t> keys;
  std::vector<RunOrder> missing;
  std::set<std::uint64_t> is_missing;
  for (const RunOrder& order : orders) {
    keys.push_back(key_of(order));
    const auto found = known_.find(keys.back());
    if (found == known_.end()) {
      if (is_missing.insert(keys.back()).second) missing.push_back(order);
    } else if (!found->second.is_used) {
      found->second.is_used = true;
      ++runs_;
      if (progress_) progress_(runs_);
    }
  }
  WEIR_TRY_STATUS(make(missing));
  if (file_ != nullptr && std::ferror(file_) != 0)
    return Error{ErrorCode::kIo, "writing results.jsonl: the file could not be written"};
  std::vector<Metrics> out;
  for (const std::uint64_t key : keys)
    out.push_back(known_.at(key).made.metrics);
  return out;
}

double Evaluator::cpu_seconds(const std::vector<RunOrder>& orders) const {
  double sum = 0;
  for (const RunOrder& order : orders)
    sum += known_.at(key_of(order)).made.cpu_seconds;
  return sum;
}

Result<std::size_t> Evaluator::read_results(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  std::optional<RunOrder> first;
  std::size_t number = 0;
  std::size_t whole = 0;  // bytes of complete lines
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (whole + line.size() >= text.size()) break;  // cut short: the run is made again
    whole += line.size() + 1;
    const auto parsed = parse_json(line);
    const bool is_deep = !parsed && parsed.error().code == ErrorCode::kInvalid;
    const auto kept = parsed ? kept_run_of(*parsed)
                             : Result<KeptRun>(parse_error(
                                   is_deep ? fmt::format("JSON deeper than {} levels", kJsonDepth)
                                           : std::string("not JSON")));
    if (!kept) return parse_error(fmt::format("{}:{}: {}", path, number, kept.error().what));
    if (kept->design != fmt::format("{:016x}", design_digest_))
      return parse_error(fmt::format(
          "{}:{}: results of another design; name another directory with --out", path, number));
    if (!first) first = kept->order;
    known_[key_of(kept->order)] = {kept->made, false};
  }
  if (!first) return whole;
  // Another version of the simulator may give other numbers: one run tells.
  const Metrics before = known_.at(key_of(*first)).made.metrics;
  WEIR_TRY(ready, ready_run(*first, variants_));
  WEIR_TRY(again, make_run(ready));
  if (again.metrics.digest != before.digest)
    return parse_error(fmt::format(
        "{}:1: this run gives another result now (another version of Weir wrote it); name another "
        "directory with --out",
        path));
  return whole;
}

Status Evaluator::keep_results(const std::string& path, bool is_resumed) {
  std::size_t whole = 0;
  if (is_resumed && file_exists(path)) {
    WEIR_TRY(kept, read_results(path));
    whole = kept;
  }
  // Whoever can write to the directory may have put a link there: what it leads to is not ours.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const OwnedDescriptor file(::open(path.c_str(), kFlags, 0666));
  if (file.get() < 0)
    return Error{ErrorCode::kIo,
                 fmt::format("open {}: {}", path,
                             errno == ELOOP ? "it is a symbolic link" : "cannot be written")};
  struct stat found {};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_nlink != 1)
    return Error{ErrorCode::kIo, path + " is no plain file with one name and was left as it is"};
  if (::ftruncate(file.get(), static_cast<off_t>(whole)) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be shortened to its whole lines", path)};
  const int again = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
  file_ = again < 0 ? nullptr : ::fdopen(again, "a");
  if (file_ == nullptr)
    return Error{ErrorCode::kIo, fmt::format("open {}: cannot be written", path)};
  return {};
}

}  // namespace weir::tune
