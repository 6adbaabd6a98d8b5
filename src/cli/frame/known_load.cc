#include "cli/frame/known_load.h"

#include <fmt/format.h>

#include "base/text.h"
#include "units/format.h"

namespace weir::cli {

std::vector<Option> known_load_options() {
  return {{.name = "workload",
           .letter = 'w',
           .metavar = "W",
           .help = "workload that ran; compares with simulated runs",
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

}  // namespace weir::cli
