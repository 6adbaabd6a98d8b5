// weir calc wred: marking thresholds by port speed: the design's, where to start, what others
// publish, and what DCQCN's fluid model makes of them.
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "design/prove/fluid.h"
#include "model/dcqcn_fluid.h"
#include "model/wred.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kWredWidth = 100;
constexpr std::array kFlows = {2, 4, 8, 16, 32, 64};

// Ports of one speed. Flows meet at a host's port first, so one of those stands for the speed.
struct SpeedClass {
  BitRate speed;
  std::size_t ports = 0;
  const design::SwitchPortIntent* port = nullptr;
  std::string switch_name;
};

struct SpeedAnswer {
  SpeedClass where;
  model::WredStart start;
  std::vector<model::PublishedWred> published;
  Result<model::FluidParameters> fluid;  // an error where the model has no place for the values
  std::vector<model::FluidRow> rows;
};

struct WredAnswer {
  const DesignInput* input = nullptr;
  Duration loop_delay;
  std::vector<SpeedAnswer> speeds;  // fastest first
};

std::vector<SpeedClass> speed_classes(const design::Intent& intent) {
  std::map<BitRate, SpeedClass, std::greater<>> classes;
  for (const design::SwitchIntent& one : intent.switches) {
    for (const design::SwitchPortIntent& port : one.ports) {
      SpeedClass& entry = classes[port.speed];
      entry.speed = port.speed;
      ++entry.ports;
      const bool is_better = entry.port == nullptr || (port.is_access && !entry.port->is_access);
      if (!is_better) continue;
      entry.port = &port;
      entry.switch_name = one.name;
    }
  }
  std::vector<SpeedClass> list;
  list.reserve(classes.size());
  for (auto& [speed, entry] : classes)
    list.push_back(std::move(entry));
  return list;
}

WredAnswer judge_wred(const DesignInput& input) {
  WredAnswer answer{&input, design::least_loop_delay(input.design, input.intent), {}};
  for (SpeedClass& where : speed_classes(input.intent)) {
    SpeedAnswer one{where,
                    model::wred_start(where.speed),
                    model::published_wred_at(where.speed),
                    design::fluid_at(input.design, input.intent, *where.port, kFlows.front()),
                    {}};
    if (one.fluid) one.rows = model::fluid_table(*one.fluid, kFlows, answer.loop_delay);
    answer.speeds.push_back(std::move(one));
  }
  return answer;
}

std::string curve_text(Bytes min, Bytes max, Share probability) {
  return fmt::format("min {}, max {}, {}", to_text(min), to_text(max), to_text(probability));
}

std::string verdict(const WredAnswer& answer) {
  const SpeedAnswer& fastest = answer.speeds.front();
  const design::WredIntent& wred = fastest.where.port->wred;
  std::string text =
      fmt::format("WRED of {} at {}: {}", answer.input->design.file, to_text(fastest.where.speed),
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

std::string flows_table(const SpeedAnswer& one, Duration loop_delay) {
  const bool is_meaningful = model::is_stability_meaningful(*one.fluid);
  TextTable table(
      {"flows", "queue KB", "delay", "marked", "utilisation", "equilibrium", "stability"},
      {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft,
       Align::kLeft});
  for (const model::FluidRow& row : one.rows) {
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

std::string published_table(const SpeedAnswer& one) {
  const design::WredIntent& wred = one.where.port->wred;
  const model::WredCurve& start = one.start.curve;
  TextTable table(
      {"whose", "for", "min", "max", "probability", ""},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  const std::string speed = to_text(one.where.speed);
  table.add_row({"this design", speed, to_text(wred.min), to_text(wred.max),
                 to_text(wred.probability), wred.ecn ? "" : "ECN is off"});
  table.add_row({"starting value", speed, to_text(start.min), to_text(start.max),
                 to_text(start.max_share), one.start.why});
  for (const model::PublishedWred& row : one.published) {
    table.add_row({std::string(row.who), std::string(row.rates), optional_text(row.min),
                   optional_text(row.max), row.max_share ? to_text(*row.max_share) : "-",
                   fmt::format("{}{}{}", row.nic, row.nic.empty() ? "" : "; ", row.tag)});
  }
  return table.to_text(2, kWredWidth);
}

void print_wred(const WredAnswer& answer, Context& context) {
  context.out << paint(context, Tone::kStrong, verdict(answer)) << '\n';
  if (context.quiet) return;
  for (const SpeedAnswer& one : answer.speeds) {
    context.out << fmt::format("\n{} ({} switch ports, values of {} {}):\n\n",
                               to_text(one.where.speed), one.where.ports, one.where.switch_name,
                               one.where.port->name)
                << published_table(one) << '\n';
    if (one.fluid) {
      context.out << flows_table(one, answer.loop_delay);
    } else {
      context.out << "  no equilibrium to show: " << one.fluid.error().what << '\n';
    }
  }
  context.out
      << '\n'
      << wrap(fmt::format(
                  "Queue, marking and utilisation are the fixed point of DCQCN's fluid model, "
                  "equal flows into one port; a packet system sits up to half "
                  "higher. The loop of this fabric takes at least {}. Nothing here "
                  "was measured.",
                  approximate(answer.loop_delay)),
              kWredWidth)
      << '\n';
}

Json wred_json(const model::FluidRow& row) {
  Json object = {{"flows", row.flows},
                 {"regime", model::to_text(row.fixed.regime)},
                 {"queue_bytes", row.fixed.queue_bytes},
                 {"queue_delay_us", row.fixed.queue_delay_s * 1e6},
                 {"mark_probability", row.fixed.mark_probability},
                 {"utilisation", row.utilisation}};
  if (row.margin) object["delay_margin_ns"] = row.margin->raw() / 1'000;
  return object;
}

Json wred_json(const model::PublishedWred& row) {
  Json object = {{"who", row.who}, {"rates", row.rates}};
  if (row.min) object["min_bytes"] = row.min->raw();
  if (row.max) object["max_bytes"] = row.max->raw();
  if (row.max_share) object["probability"] = static_cast<double>(row.max_share->raw()) / 1e6;
  object["nic"] = row.nic;
  object["tag"] = row.tag;
  return object;
}

Json wred_json(const SpeedAnswer& one) {
  const auto curve = [](Bytes min, Bytes max, Share share) {
    return Json{{"min_bytes", min.raw()},
                {"max_bytes", max.raw()},
                {"probability", static_cast<double>(share.raw()) / 1e6}};
  };
  const design::WredIntent& wred = one.where.port->wred;
  Json object = {{"speed_bps", one.where.speed.raw()}, {"ports", one.where.ports}};
  object["wred"] = curve(wred.min, wred.max, wred.probability);
  object["wred"]["ecn"] = wred.ecn;
  object["start"] = curve(one.start.curve.min, one.start.curve.max, one.start.curve.max_share);
  object["published"] = Json::array();
  for (const model::PublishedWred& row : one.published)
    object["published"].push_back(wred_json(row));
  object["flows"] = Json::array();
  for (const model::FluidRow& row : one.rows)
    object["flows"].push_back(wred_json(row));
  if (one.fluid) {
    object["stability_is_meaningful"] = model::is_stability_meaningful(*one.fluid);
  } else {
    object["no_equilibrium"] = one.fluid.error().what;
  }
  return object;
}

Json wred_json(const WredAnswer& answer, Json object) {
  object["verdict"] = verdict(answer);
  object["design"] = answer.input->design.file;
  object["loop_delay_ns"] = answer.loop_delay.raw() / 1'000;
  object["speeds"] = Json::array();
  for (const SpeedAnswer& one : answer.speeds)
    object["speeds"].push_back(wred_json(one));
  return object;
}

ExitCode run_wred(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  const WredAnswer answer = judge_wred(*input);
  if (answer.speeds.empty()) {
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} has no switch ports, and only a switch marks", input->design.file));
  }
  if (context.json) {
    print_json(context, wred_json(answer, json_object(args.command())));
  } else {
    print_wred(answer, context);
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
          "For each port speed of the design: its WRED thresholds, where to start, what others "
          "publish, and the queue, marking and use that DCQCN settles at with 2 to 64 flows into "
          "one "
          "port, by the fluid model.",
      .arguments = {design_argument()},
      .examples = {{"weir calc wred", "./fabric.yaml"},
                   {"weir calc wred pod16.yaml --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"F4"},
      .run = run_wred,
  };
}

}  // namespace weir::cli
