#include "cli/verbs/sim_repeat.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/parse.h"
#include "cli/frame/progress.h"
#include "cli/json/object.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::uint64_t kMostRuns = 100'000;  // more is a typing error
constexpr std::size_t kRunsShown = 24;        // a screen; all of them are in --json and --out

/// The design under one combination of settings.
struct Point {
  std::vector<std::string> settings;  // "path=value"
  DesignInput input;

  [[nodiscard]] std::string label() const {
    return settings.empty() ? "as designed" : join(settings, ", ");
  }
};

struct Run {
  std::size_t point = 0;
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
  sim::Totals totals;
  bool is_finished = false;
  std::optional<Error> error;

  [[nodiscard]] bool is_lossless() const { return is_finished && totals.lossless_drops == 0; }
};

/// "path=a,b" → "path=a", "path=b".
Result<std::vector<std::string>> values_of(const std::string& sweep) {
  const auto equals = sweep.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == sweep.size())
    return parse_error(fmt::format("--sweep: expected path=value,value…, found '{}'", sweep));
  std::vector<std::string> settings;
  for (const std::string_view value : split(std::string_view(sweep).substr(equals + 1), ','))
    settings.push_back(fmt::format("{}={}", sweep.substr(0, equals), value));
  return settings;
}

/// Every value of each sweep with every value of the others, the last changing fastest.
Result<std::vector<Point>> points_of(const std::vector<std::string>& sweeps,
                                     const DesignInput& input) {
  std::vector<std::vector<std::string>> combinations = {{}};
  for (const std::string& sweep : sweeps) {
    WEIR_TRY(values, values_of(sweep));
    std::vector<std::vector<std::string>> longer;
    for (const auto& one : combinations)
      for (const std::string& value : values) {
        longer.push_back(one);
        longer.back().push_back(value);
      }
    combinations = std::move(longer);
    if (combinations.size() > kMostRuns)
      return invalid_error(fmt::format("--sweep: more than {} points", kMostRuns));
  }
  std::vector<Point> points;
  for (auto& settings : combinations) {
    Point point{std::move(settings), input};
    if (const Status set = set_values(point.settings, point.input); !set)
      return set.error().within("--sweep");
    points.push_back(std::move(point));
  }
  return points;
}

Result<std::uint64_t> count_of(const Args& args, std::string_view name, std::uint64_t fallback) {
  if (!args.has(name)) return fallback;
  const auto count = parse_u64(args.value(name));
  if (!count) return count.error().within(fmt::format("--{}", name));
  if (*count == 0 || *count > kMostRuns)
    return invalid_error(fmt::format("--{}: expected 1 to {}, found {}", name, kMostRuns, *count));
  return *count;
}

void execute(const sim::Experiment& experiment, const std::vector<Point>& points, unsigned jobs,
             Context& context, std::vector<Run>& runs) {
  Progress bar(context.err, context.stderr_is_terminal, "simulating");
  std::mutex guard;
  std::size_t done = 0;
  for_each_index(runs.size(), jobs, [&](std::size_t i) {
    Run& run = runs[i];
    sim::Experiment mine = experiment;
    mine.design = &points[run.point].input.design;
    mine.intent = points[run.point].input.intent;
    mine.seed = run.seed;
    const auto outcome = sim::simulate(mine);
    if (outcome) {
      run.digest = outcome->results.digest;
      run.totals = outcome->results.totals;
      run.is_finished = outcome->is_finished && run.totals.finished == run.totals.flows;
    } else {
      run.error = outcome.error();
    }
    const std::lock_guard lock(guard);
    bar.update(static_cast<double>(++done) / static_cast<double>(runs.size()),
               fmt::format("{} of {} runs", done, runs.size()));
  });
}

// ---- what is said of the runs ----

/// Of one number over the runs of a point.
struct Spread {
  double mean = 0;
  double deviation = 0;  // of the sample; 0 of one run
  double least = 0;
  double most = 0;
};
Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  Spread out;
  for (const double value : values)
    out.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    out.deviation += (value - out.mean) * (value - out.mean);
  out.deviation =
      values.size() < 2 ? 0 : std::sqrt(out.deviation / static_cast<double>(values.size() - 1));
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  return out;
}

double microseconds(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}
std::string repeat_time_text(double us) {
  return approximate(Duration::raw(std::llround(us * 1e6)));
}
std::string range_text(const Spread& spread) {
  if (spread.least == spread.most) return repeat_time_text(spread.mean);
  return fmt::format("{} ({} to {})", repeat_time_text(spread.mean), repeat_time_text(spread.least),
                     repeat_time_text(spread.most));
}
std::string repeat_count_text(std::uint64_t n) {
  return with_thousands(static_cast<std::int64_t>(n));
}

struct Summary {
  std::size_t runs = 0;
  std::size_t lossless = 0;    // finished and without a drop of lossless traffic
  std::size_t unfinished = 0;  // their times are left out
  Spread mean_us;
  Spread p99_us;
  Spread pauses;
  Spread marked;
};
Summary summary_of(const std::vector<Run>& runs, std::optional<std::size_t> point) {
  Summary out;
  std::vector<double> mean, p99, pauses, marked;
  for (const Run& run : runs) {
    if (point && run.point != *point) continue;
    ++out.runs;
    out.lossless += run.is_lossless() ? 1U : 0U;
    pauses.push_back(static_cast<double>(run.totals.pauses));
    marked.push_back(static_cast<double>(run.totals.marked));
    if (!run.is_finished) {
      ++out.unfinished;
      continue;
    }
    mean.push_back(microseconds(run.totals.completion.mean));
    p99.push_back(microseconds(run.totals.completion.p99));
  }
  out.mean_us = spread_of(mean);
  out.p99_us = spread_of(p99);
  out.pauses = spread_of(pauses);
  out.marked = spread_of(marked);
  return out;
}

std::string verdict_of(const Summary& all) {
  std::vector<std::string> parts;
  parts.push_back(all.lossless == all.runs
                      ? fmt::format("all {} runs lossless", all.runs)
                      : fmt::format("{} of {} runs lossless and finished", all.lossless, all.runs));
  if (all.unfinished > 0) parts.push_back(fmt::format("{} NOT finished in time", all.unfinished));
  if (all.unfinished < all.runs)
    parts.push_back(fmt::format("completion p99 {}", range_text(all.p99_us)));
  return join(parts, ", ") + " (simulated).";
}

std::string run_table(const std::vector<Point>& points, const std::vector<Run>& runs) {
  TextTable table(
      {"seed", "mean", "p99", "max", "pauses", "marked", "lossless drops", "digest", "settings"},
      {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kLeft, Align::kLeft});
  for (std::size_t i = 0; i < std::min(runs.size(), kRunsShown); ++i) {
    const Run& run = runs[i];
    const auto time = [&](Duration value) {
      return run.is_finished ? approximate(value) : std::string("-");
    };
    table.add_row({std::to_string(run.seed), time(run.totals.completion.mean),
                   time(run.totals.completion.p99), time(run.totals.completion.max),
                   repeat_count_text(run.totals.pauses), repeat_count_text(run.totals.marked),
                   repeat_count_text(run.totals.lossless_drops), fmt::format("{:016x}", run.digest),
                   points[run.point].label()});
  }
  std::string text = table.to_text(2);
  if (runs.size() > kRunsShown)
    text += fmt::format("  … {} more: --json or --out DIR has all\n", runs.size() - kRunsShown);
  return text;
}

std::string point_table(const std::vector<Point>& points, const std::vector<Run>& runs) {
  TextTable table({"settings", "runs", "lossless", "mean", "p99", "pauses", "marked"},
                  {Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft,
                   Align::kRight, Align::kRight});
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Summary one = summary_of(runs, p);
    const auto times = [&](const Spread& spread) {
      return one.unfinished == one.runs ? std::string("-") : range_text(spread);
    };
    table.add_row({points[p].label(), std::to_string(one.runs), std::to_string(one.lossless),
                   times(one.mean_us), times(one.p99_us), fmt::format("{:.1f}", one.pauses.mean),
                   fmt::format("{:.1f}", one.marked.mean)});
  }
  return table.to_text(2);
}

Json spread_json(const Spread& spread) {
  return {{"mean", spread.mean},
          {"deviation", spread.deviation},
          {"min", spread.least},
          {"max", spread.most}};
}

Json result_object(const DesignInput& input, const std::vector<Point>& points,
                   const std::vector<Run>& runs) {
  Json object = {{"schema", "weir/sim-runs/1"}};
  object["verdict"] = verdict_of(summary_of(runs, std::nullopt));
  object["design"] = input.design.file;
  object["points"] = Json::array();
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Summary one = summary_of(runs, p);
    Json point = {{"settings", points[p].settings},    {"runs", one.runs},
                  {"lossless", one.lossless},          {"unfinished", one.unfinished},
                  {"pauses", spread_json(one.pauses)}, {"marked", spread_json(one.marked)}};
    if (one.unfinished < one.runs)
      point["fct_us"] = {{"mean", spread_json(one.mean_us)}, {"p99", spread_json(one.p99_us)}};
    object["points"].push_back(std::move(point));
  }
  object["runs"] = Json::array();
  for (const Run& run : runs) {
    Json one = {{"settings", points[run.point].settings},
                {"seed", run.seed},
                {"digest", fmt::format("{:016x}", run.digest)},
                {"finished", run.is_finished}};
    one["pauses"] = run.totals.pauses;
    one["marked"] = run.totals.marked;
    one["lossless_drops"] = run.totals.lossless_drops;
    if (run.is_finished)
      one["fct_us"] = {{"mean", microseconds(run.totals.completion.mean)},
                       {"p50", microseconds(run.totals.completion.p50)},
                       {"p99", microseconds(run.totals.completion.p99)},
                       {"max", microseconds(run.totals.completion.max)}};
    object["runs"].push_back(std::move(one));
  }
  return object;
}

std::string runs_csv(const std::vector<Point>& points, const std::vector<Run>& runs) {
  std::string text =
      "settings,seed,digest,finished,fct_mean_us,fct_p99_us,fct_max_us,pauses,marked,"
      "lossless_drops\n";
  for (const Run& run : runs) {
    const auto time = [&](Duration value) {
      return run.is_finished ? fmt::format("{:.3f}", microseconds(value)) : std::string();
    };
    text += fmt::format("\"{}\",{},{:016x},{},{},{},{},{},{},{}\n",
                        join(points[run.point].settings, " "), run.seed, run.digest,
                        run.is_finished, time(run.totals.completion.mean),
                        time(run.totals.completion.p99), time(run.totals.completion.max),
                        run.totals.pauses, run.totals.marked, run.totals.lossless_drops);
  }
  return text;
}

Status write_runs(const std::string& folder, const std::string& csv, const Json& object) {
  WEIR_TRY_STATUS(make_directory(folder));
  WEIR_TRY_STATUS(write_file_atomic(folder + "/runs.csv", csv));
  return write_file_atomic(folder + "/runs.json",
                           object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

ExitCode report(const Args& args, Context& context, const DesignInput& input,
                const std::vector<Point>& points, const std::vector<Run>& runs) {
  const Json object = result_object(input, points, runs);
  if (args.has("out")) {
    const Status written = write_runs(args.value("out"), runs_csv(points, runs), object);
    if (!written) return fail(context, ExitCode::kBadInput, written.error().what);
  }
  if (context.json) {
    print_json(context, object);
    return ExitCode::kOk;
  }
  const Summary all = summary_of(runs, std::nullopt);
  context.out << paint(context, all.lossless == all.runs ? Tone::kGood : Tone::kBad,
                       verdict_of(all))
              << '\n';
  if (context.quiet) return ExitCode::kOk;
  if (points.size() > 1) context.out << '\n' << point_table(points, runs);
  if (points.size() < runs.size()) context.out << '\n' << run_table(points, runs);
  if (args.has("out"))
    context.out << fmt::format("\nwrote {0}/runs.csv, runs.json\n", args.value("out"));
  return ExitCode::kOk;
}

}  // namespace

bool wants_several_runs(const Args& args) {
  return args.has("repeat") || args.has("sweep");
}

ExitCode run_sim_repeat(const Args& args, Context& context, const sim::Experiment& experiment,
                        const DesignInput& input) {
  for (const std::string_view name : {"trace", "pcap", "sample"})
    if (args.has(name))
      return usage_error(context, args.command(),
                         fmt::format("--{} watches one run; leave out --repeat and --sweep", name));
  const auto repeat = count_of(args, "repeat", 1);
  if (!repeat) return usage_error(context, args.command(), repeat.error().what);
  const auto jobs = count_of(args, "jobs", available_cores());
  if (!jobs) return usage_error(context, args.command(), jobs.error().what);
  const auto points = points_of(args.all("sweep"), input);
  if (!points) return usage_error(context, args.command(), points.error().what);
  if (points->size() * *repeat > kMostRuns)
    return usage_error(context, args.command(),
                       fmt::format("{} points, {} times each: more than {} runs", points->size(),
                                   *repeat, kMostRuns));
  std::vector<Run> runs;
  for (std::size_t p = 0; p < points->size(); ++p)
    for (std::uint64_t i = 0; i < *repeat; ++i) {
      runs.emplace_back();
      runs.back().point = p;
      runs.back().seed = experiment.seed + i;
    }
  sim::Experiment quiet = experiment;
  quiet.sample_every = {};  // time series belong to one run
  execute(quiet, *points, static_cast<unsigned>(*jobs), context, runs);
  for (const Run& run : runs)
    if (run.error) return fail(context, ExitCode::kBadInput, run.error->what);
  return report(args, context, input, *points, runs);
}

}  // namespace weir::cli
