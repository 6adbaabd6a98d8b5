// weir fidelity dcqcn: the packet engine beside the fluid model, on the one bottleneck that both
// can describe.
#include "sim/results/fidelity.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/developer_json.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::string_view kSets[] = {"paper", "paper_ext", "cx_default", "ref400", "hpcc_ns3"};

Result<sim::FidelityCase> gather_fidelity(const Args& args) {
  sim::FidelityCase out;
  out.set = args.value("set");
  const auto rate = parse_rate(args.value("rate"));
  if (!rate) return rate.error().within("--rate");
  out.rate = *rate;
  const auto flows = parse_u64(args.value("flows"));
  if (!flows || *flows < 1 || *flows > 1024)
    return invalid_error(
        fmt::format("--flows: expected a number from 1 to 1024, found '{}'", args.value("flows")));
  out.flows = static_cast<int>(*flows);
  if (args.has("mtu")) {
    const auto mtu = parse_bytes(args.value("mtu"));
    if (!mtu) return mtu.error().within("--mtu");
    if (*mtu < 64_B || *mtu > 9216_B)
      return invalid_error(
          fmt::format("--mtu: expected 64B to 9216B, found '{}'", args.value("mtu")));
    out.mtu = *mtu;
  }
  const auto duration = parse_duration(args.value("duration"));
  if (!duration) return duration.error().within("--duration");
  if (*duration <= 1_ms) return invalid_error("--duration: more than 1ms is needed to settle");
  out.duration = *duration;
  out.warm_up = *duration * 3 / 10;
  out.start = args.value("start") == "fair" ? sim::StartAt::kFairShare : sim::StartAt::kLineRate;
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return seed.error().within("--seed");
  out.seed = *seed;
  return out;
}

std::string fidelity_verdict(const sim::FidelityCase& what, const sim::FidelityResult& result) {
  const double ratio = result.fluid_queue_kb > 0 ? result.queue_mean_kb / result.fluid_queue_kb : 0;
  return fmt::format(
      "{} flows of {} at {}: the packet queue is {:.1f} KB, the fluid model's {:.1f} KB ({:.2f} "
      "times).",
      what.flows, what.set, to_text(what.rate), result.queue_mean_kb, result.fluid_queue_kb, ratio);
}

void print_fidelity(const sim::FidelityCase& what, const sim::FidelityResult& result,
                    Context& context) {
  context.out << paint(context, Tone::kStrong, fidelity_verdict(what, result)) << '\n';
  if (context.quiet) return;
  context.out << fmt::format(
      "\n"
      "  queue        {:.1f} KB mean, {:.1f} sd, {:.1f} to {:.1f}\n"
      "  utilisation  {:.2f} %\n"
      "  fairness     {:.4f} (Jain)\n"
      "  marked       {:.4f} %\n"
      "  CNPs         {:.1f} per flow and second\n"
      "\nBoth are models; nothing here was measured. Digest {:016x}.\n",
      result.queue_mean_kb, result.queue_sd_kb, result.queue_min_kb, result.queue_max_kb,
      result.utilisation * 100, result.jain, result.mark_probability * 100,
      result.cnp_per_flow_per_s, result.digest);
}

ExitCode run_fidelity(const Args& args, Context& context) {
  const auto what = gather_fidelity(args);
  if (!what) return usage_error(context, args.command(), what.error().what);
  const auto result = sim::dcqcn_fidelity(*what);
  if (!result) return fail(context, ExitCode::kBadInput, result.error().what);
  if (context.json) {
    print_fidelity_json(context, args.command(), *what, *result, fidelity_verdict(*what, *result));
  } else {
    print_fidelity(*what, *result, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command fidelity_dcqcn_command() {
  return {
      .name = "fidelity dcqcn",
      .group = Group::kDevelopers,
      .summary = "compare the simulator's DCQCN with the fluid model",
      .description =
          "Equal flows into one port, without PFC, packet by packet, compared with the fixed point "
          "of "
          "the fluid model with the same parameters. The first 30 % of the time are not measured.",
      .options =
          {{.name = "set",
            .metavar = "SET",
            .help = "set of DCQCN parameters",
            .default_value = "paper_ext",
            .choices = {std::begin(kSets), std::end(kSets)}},
           {.name = "rate", .metavar = "R", .help = "rate of every link", .default_value = "40G"},
           {.name = "flows", .metavar = "N", .help = "number of flows", .default_value = "2"},
           {.name = "mtu", .metavar = "BYTES", .help = "packet size (default: as in the set)"},
           {.name = "duration", .metavar = "T", .help = "simulated time", .default_value = "1s"},
           {.name = "start",
            .metavar = "WHERE",
            .help = "flows start at their fair share, or at line rate",
            .default_value = "line",
            .choices = {"fair", "line"}},
           {.name = "seed", .metavar = "N", .help = "random seed", .default_value = "1"}},
      .examples = {{"weir fidelity dcqcn --set paper_ext --rate 40G --flows 10",
                    "one row of the published comparison"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .run = run_fidelity,
  };
}

}  // namespace weir::cli
