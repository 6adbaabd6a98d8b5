// weir calc wred: marking thresholds by port speed: the design's, where to start, what others
// publish, and what DCQCN's fluid model makes of them.
#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/json/calc_json.h"
#include "ops/fabric/calc.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kWredWidth = 100;
std::string curve_text(Bytes min, Bytes max, Share probability) {
  return fmt::format("min {}, max {}, {}", to_text(min), to_text(max), to_text(probability));
}

std::string wred_verdict(const ops::WredAnswer& answer) {
  const ops::SpeedAnswer& fastest = answer.speeds.front();
  const design::WredIntent& wred = fastest.port.wred;
  std::string text = fmt::format("WRED of {} at {}: {}", answer.file, to_text(fastest.speed),
                                 curve_text(wred.min, wred.max, wred.probability));
  if (!wred.ecn) return text + "; but ECN is off.";
  const std::optional<int> most =
      fastest.fluid ? model::most_flows_on_ramp(*fastest.fluid) : std::optional<int>(0);
  if (!fastest.fluid) return text + ".";
  if (!most) return text + "; any number of flows finds an equilibrium below max.";
  return text + fmt::format("; up to {} flows to one port find an equilibrium below max.", *most);
}

std::string kilobytes(double bytes) {
  return fmt::format("{:.1f}", bytes / 1000);
}

std::string margin_text(const model::FluidRow& row, Duration loop_delay, bool is_meaningful) {
  if (!is_meaningful) return "ask the simulator";
  if (!row.margin) return "stable";
  return fmt::format("{} to {}", *row.margin > loop_delay ? "stable" : "swings: stable",
                     approximate(*row.margin));
}

std::string flows_table(const ops::SpeedAnswer& entry, Duration loop_delay) {
  const bool is_meaningful = model::is_stability_meaningful(*entry.fluid);
  TextTable table(
      {"flows", "queue KB", "delay", "marked", "utilisation", "equilibrium", "stability"},
      {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft,
       Align::kLeft});
  for (const model::FluidRow& row : entry.rows) {
    const auto delay = Duration::raw(std::llround(row.fixed.queue_delay_s * 1e12));
    table.add_row({std::to_string(row.flows), kilobytes(row.fixed.queue_bytes), approximate(delay),
                   fmt::format("{:.3f} %", row.fixed.mark_probability * 100),
                   fmt::format("{:.1f} %", row.utilisation * 100),
                   row.fixed.regime == model::FluidRegime::kRamp ? "on the ramp" : "parked at max",
                   margin_text(row, loop_delay, is_meaningful)});
  }
  return table.to_text(2);
}

std::string optional_text(const std::optional<Bytes>& value) {
  return value ? to_text(*value) : std::string("-");
}

std::string published_table(const ops::SpeedAnswer& entry) {
  const design::WredIntent& wred = entry.port.wred;
  const model::WredCurve& start = entry.start.curve;
  TextTable table(
      {"source", "speed", "min", "max", "probability", ""},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  const std::string speed = to_text(entry.speed);
  table.add_row({"this design", speed, to_text(wred.min), to_text(wred.max),
                 to_text(wred.probability), wred.ecn ? "" : "ECN is off"});
  table.add_row({"starting value", speed, to_text(start.min), to_text(start.max),
                 to_text(start.max_share), entry.start.why});
  for (const model::PublishedWred& row : entry.published) {
    table.add_row({std::string(row.who), std::string(row.rates), optional_text(row.min),
                   optional_text(row.max), row.max_share ? to_text(*row.max_share) : "-",
                   fmt::format("{}{}{}", row.nic, row.nic.empty() ? "" : "; ", row.tag)});
  }
  return table.to_text(2, kWredWidth);
}

void print_wred(const ops::WredAnswer& answer, Context& context) {
  context.out << paint(context, Tone::kStrong, wred_verdict(answer)) << '\n';
  if (context.quiet) return;
  for (const ops::SpeedAnswer& entry : answer.speeds) {
    context.out << fmt::format("\n{} ({} switch ports, values of {} {}):\n\n", to_text(entry.speed),
                               entry.ports, entry.switch_name, entry.port.name)
                << published_table(entry) << '\n';
    if (entry.fluid) {
      context.out << flows_table(entry, answer.loop_delay);
    } else {
      context.out << "  no equilibrium to show: " << entry.fluid.error().what << '\n';
    }
  }
  context.out
      << '\n'
      << wrap(fmt::format(
                  "Queue, marking and utilisation are the fixed point of DCQCN's fluid model, "
                  "equal flows into one port; a real queue is up to half "
                  "higher. The loop of this fabric takes at least {}. Nothing here "
                  "was measured.",
                  approximate(answer.loop_delay)),
              kWredWidth)
      << '\n';
}

ExitCode run_wred(const Args& args, Context& context) {
  const auto path = design_path(args, context);
  if (!path) return fail(context, args.command(), path.error());
  const auto answer = ops::calc_wred(*path);
  if (!answer) return fail(context, args.command(), answer.error());
  if (context.json) {
    print_wred_json(context, args.command(), *answer, wred_verdict(*answer));
  } else {
    print_wred(*answer, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command calc_wred_command() {
  return {
      .name = "calc wred",
      .group = Group::kOperators,
      .summary = "marking thresholds by speed, and the queue they give",
      .description =
          "For each port speed of the design: its WRED thresholds, a starting value, what others "
          "publish, and the queue, marking and utilisation that DCQCN settles at with 2 to 64 "
          "flows into one port, by the fluid model.",
      .arguments = {design_argument()},
      .examples = {{"weir calc wred", "./fabric.yaml"},
                   {"weir calc wred pod16.yaml --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_wred,
  };
}

}  // namespace weir::cli
