#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/text/sim_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kRunsShown = 24;  // a screen; all of them are in --json and --out

std::string label_of(const ops::SweepPoint& point) {
  return point.settings.empty() ? "as designed" : join(point.settings, ", ");
}

double microseconds(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

std::string spread_time(double us) {
  return approximate(Duration::raw(std::llround(us * 1e6)));
}

std::string range_text(const ops::Spread& spread) {
  if (spread.least == spread.most) return spread_time(spread.mean);
  return fmt::format("{} ({} to {})", spread_time(spread.mean), spread_time(spread.least),
                     spread_time(spread.most));
}

std::string verdict_of(const ops::RunSummary& all) {
  std::vector<std::string> parts;
  parts.push_back(all.lossless == all.runs
                      ? fmt::format("all {} runs lossless", all.runs)
                      : fmt::format("{} of {} runs lossless and finished", all.lossless, all.runs));
  if (all.unfinished > 0) parts.push_back(fmt::format("{} NOT finished in time", all.unfinished));
  if (all.unfinished < all.runs)
    parts.push_back(fmt::format("completion p99 {}", range_text(all.p99_us)));
  return join(parts, ", ") + " (simulated).";
}

std::string run_table(const ops::Repeated& repeated) {
  TextTable table(
      {"seed", "mean", "p99", "max", "queue", "bus Gb/s", "pauses", "marked", "lossless drops",
       "digest", "settings"},
      {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  for (std::size_t i = 0; i < std::min(repeated.runs.size(), kRunsShown); ++i) {
    const ops::SweepRun& run = repeated.runs[i];
    const auto time = [&](Duration value) {
      return run.is_finished ? approximate(value) : std::string("-");
    };
    table.add_row({std::to_string(run.seed), time(run.totals.completion.mean),
                   time(run.totals.completion.p99), time(run.totals.completion.max),
                   approximate(run.totals.deepest_queue),
                   run.bus_bandwidth ? fmt::format("{:.1f}", *run.bus_bandwidth / 1e9) : "-",
                   count_text(run.totals.pauses), count_text(run.totals.marked),
                   count_text(run.totals.lossless_drops), fmt::format("{:016x}", run.digest),
                   label_of(repeated.points[run.point])});
  }
  std::string text = table.to_text(2);
  if (repeated.runs.size() > kRunsShown)
    text += fmt::format("  … {} more: --json or --out DIR has all\n",
                        repeated.runs.size() - kRunsShown);
  return text;
}

/// Of several runs a mean; a count as a whole number.
std::string mean_count(double mean) {
  return mean == std::floor(mean) ? fmt::format("{:.0f}", mean) : fmt::format("{:.1f}", mean);
}

std::string point_table(const ops::Repeated& repeated) {
  TextTable table(
      {"settings", "runs", "lossless", "mean", "p99", "queue", "bus Gb/s", "pauses", "marked"},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft, Align::kRight,
       Align::kRight, Align::kRight, Align::kRight});
  for (std::size_t p = 0; p < repeated.points.size(); ++p) {
    const ops::RunSummary summary = ops::summary_of(repeated.runs, p);
    const auto times = [&](const ops::Spread& spread) {
      return summary.unfinished == summary.runs ? std::string("-") : range_text(spread);
    };
    table.add_row({label_of(repeated.points[p]), std::to_string(summary.runs),
                   std::to_string(summary.lossless), times(summary.mean_us), times(summary.p99_us),
                   approximate(Bytes::raw(std::llround(summary.queue_bytes.mean))),
                   summary.bus_gbps ? fmt::format("{:.1f}", summary.bus_gbps->mean) : "-",
                   mean_count(summary.pauses.mean), mean_count(summary.marked.mean)});
  }
  return table.to_text(2);
}

}  // namespace

std::string runs_verdict(const ops::Repeated& repeated) {
  return verdict_of(ops::summary_of(repeated.runs, std::nullopt));
}

void print_runs(const ops::Repeated& repeated, Context& context) {
  const ops::RunSummary all = ops::summary_of(repeated.runs, std::nullopt);
  context.out << paint(context, all.lossless == all.runs ? Tone::kGood : Tone::kBad,
                       verdict_of(all))
              << '\n';
  if (context.quiet) return;
  if (repeated.points.size() > 1) context.out << '\n' << point_table(repeated);
  if (repeated.points.size() < repeated.runs.size()) context.out << '\n' << run_table(repeated);
}

std::string runs_csv(const ops::Repeated& repeated) {
  std::string text =
      "settings,seed,digest,finished,fct_mean_us,fct_p99_us,fct_max_us,pauses,marked,"
      "lossless_drops,queue_bytes,bus_gbps\n";
  for (const ops::SweepRun& run : repeated.runs) {
    const auto time = [&](Duration value) {
      return run.is_finished ? fmt::format("{:.3f}", microseconds(value)) : std::string();
    };
    text += fmt::format(
        "\"{}\",{},{:016x},{},{},{},{},{},{},{},{},{}\n",
        join(repeated.points[run.point].settings, " "), run.seed, run.digest, run.is_finished,
        time(run.totals.completion.mean), time(run.totals.completion.p99),
        time(run.totals.completion.max), run.totals.pauses, run.totals.marked,
        run.totals.lossless_drops, run.totals.deepest_queue.raw(),
        run.bus_bandwidth ? fmt::format("{:.3f}", *run.bus_bandwidth / 1e9) : std::string());
  }
  return text;
}

}  // namespace weir::cli
