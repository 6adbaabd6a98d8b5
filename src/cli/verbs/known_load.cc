#include "cli/verbs/known_load.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "cli/frame/progress.h"
#include "units/format.h"

namespace weir::cli {

std::vector<Option> known_load_options() {
  return {{.name = "workload",
           .letter = 'w',
           .metavar = "W",
           .help = "what ran, as for weir sim: compared",
           .repeated = true},
          {.name = "took", .metavar = "T", .help = "how long that took"},
          {.name = "seed", .metavar = "N", .help = "of what it leaves to chance"}};
}

Result<std::optional<lab::KnownLoad>> known_load(const Args& args) {
  lab::KnownLoad out;
  for (const std::string& text : args.all("workload")) {
    auto one = sim::parse_workload(text);
    if (!one) return one.error().within("--workload");
    out.workloads.push_back(std::move(*one));
  }
  if (out.workloads.empty()) {
    for (const std::string_view name : {"took", "seed"})
      if (args.has(name))
        return invalid_error(
            fmt::format("--{} says more about a load: name it with --workload", name));
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
  }
  // A fault may make a load several times slower; what never ends must end all the same.
  constexpr std::int64_t kTimes = 10;
  out.limit = out.took ? *out.took * kTimes : 100_ms;
  return std::optional(std::move(out));
}

Result<finding::Judgement> rehearse(const diagnose::Case& of, const design::Design& design,
                                    const lab::KnownLoad& load, finding::Judgement said,
                                    Context& context) {
  Progress bar(context.err, context.stderr_is_terminal, "rehearsing");
  lab::Rehearsal rehearsal(design, *of.intent, load, available_cores());
  if (const Status fits = rehearsal.check(); !fits) return fits.error().within("--workload");
  // How many it takes depends on what they show; it is seldom more.
  constexpr double kMostRuns = 100;
  rehearsal.on_progress([&](std::size_t runs) {
    bar.update(std::min(static_cast<double>(runs) / kMostRuns, 1.0), fmt::format("{} runs", runs));
  });
  finding::Judgement out = rehearsal.judge(of, std::move(said));
  bar.clear();
  if (context.quiet) return out;
  context.err << (rehearsal.runs() > 0
                      ? fmt::format("weir: the load was simulated {} times\n", rehearsal.runs())
                      : std::string("weir: the load was not simulated: what was read leaves "
                                    "nothing to guess, or cannot be simulated\n"));
  return out;
}

}  // namespace weir::cli
