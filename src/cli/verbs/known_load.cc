#include "cli/verbs/known_load.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/parallel.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/progress.h"
#include "units/format.h"

namespace weir::cli {
namespace {

std::string amount(double number) {
  return number < 10 ? fmt::format("{:.1f}", number) : with_thousands(std::llround(number));
}

}  // namespace

std::vector<Option> known_load_options() {
  return {{.name = "workload",
           .letter = 'w',
           .metavar = "W",
           .help = "what ran, as for weir sim: compare with it",
           .repeated = true},
          {.name = "took", .metavar = "T", .help = "how long the workload took"},
          {.name = "seed", .metavar = "N", .help = "random seed of the workload"}};
}

Result<std::optional<lab::KnownLoad>> known_load(const Args& args) {
  lab::KnownLoad out;
  for (const std::string& text : args.all("workload")) {
    auto workload = sim::parse_workload(text);
    if (!workload) return workload.error().within("--workload");
    out.workloads.push_back(std::move(*workload));
  }
  if (out.workloads.empty()) {
    for (const std::string_view name : {"took", "seed"})
      if (args.has(name)) return invalid_error(fmt::format("--{} needs --workload", name));
    return std::optional<lab::KnownLoad>();
  }
  if (args.has("seed")) {
    const auto seed = parse_u64(args.value("seed"));
    if (!seed) return seed.error().within("--seed");
    out.seed = *seed;
  }
  if (args.has("took")) {
    const auto took = parse_duration(args.value("took"));
    if (!took) return took.error().within("--took");
    if (took->raw() <= 0) return invalid_error("--took: must be more than 0");
    out.took = *took;
    // The design may be slower than what was measured; a load that never ends must be given up.
    constexpr std::int64_t kTimes = 10;
    out.limit = *out.took * kTimes;
  }
  return std::optional(std::move(out));
}

Result<lab::Expectation> compare_load(const diagnose::Case& observed, const design::Design& design,
                                      const lab::KnownLoad& load, Context& context) {
  Progress bar(context.err, context.stderr_is_terminal, "simulating the load");
  const auto told = [&](std::size_t done) {
    constexpr auto kAll = lab::Replicas::kCount;
    bar.update(static_cast<double>(done) / static_cast<double>(kAll),
               fmt::format("{} of {}", done, kAll));
  };
  auto replicas = lab::Replicas::play(design, *observed.intent, load, available_cores(), told);
  if (!replicas) return replicas.error().within("--workload");
  return replicas->compare(observed);
}

std::string expectation_text(const lab::Expectation& expected) {
  if (expected.compared == 0)
    return "Expectation: no counter of the real run can be compared with the simulated load.\n";
  if (expected.outside.empty())
    return fmt::format(
        "Expectation: all {} values are within the range of {} simulated runs of this load on the "
        "design.\n",
        expected.compared, expected.replicas);
  std::string out = fmt::format(
      "Expectation: {} of {} values are outside the range of {} simulated runs of this load on the "
      "design.\n",
      expected.outside.size(), expected.compared, expected.replicas);
  constexpr std::size_t kShown = 12;
  TextTable table(
      {"value", "where", "measured", "low", "high", "unit"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  for (std::size_t i = 0; i < std::min(kShown, expected.outside.size()); ++i) {
    const lab::Deviation& item = expected.outside[i];
    table.add_row({item.what, item.where.empty() ? "all" : item.where, amount(item.measured),
                   amount(item.low), amount(item.high), item.unit});
  }
  out += table.to_text(2);
  if (expected.outside.size() > kShown)
    out += fmt::format("  and {} more (--json lists all)\n", expected.outside.size() - kShown);
  return out;
}

Json expectation_json(const lab::Expectation& expected) {
  Json outside = Json::array();
  for (const lab::Deviation& item : expected.outside) {
    Json row = {{"what", item.what}, {"where", item.where}, {"unit", item.unit},
                {"low", item.low},   {"high", item.high},   {"measured", item.measured}};
    if (!item.counter.empty()) row["counter"] = item.counter;
    outside.push_back(std::move(row));
  }
  return {{"replicas", expected.replicas},
          {"compared", expected.compared},
          {"outside", std::move(outside)}};
}

}  // namespace weir::cli
