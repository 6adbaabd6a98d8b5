#include "cli/text/tune_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "tune/table/knobs.h"
#include "tune/table/moves.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kTuneWidth = 100;

std::string percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string interval(const tune::Change& change) {
  if (change.pairs < 2) return "-";
  return fmt::format("{} ({:+.1f} to {:+.1f})", percent(change.mean), 100 * change.low,
                     100 * change.high);
}

std::string limit_text(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string of_runs(std::uint64_t count, std::uint64_t all) {
  return fmt::format("{} of {}", count, all);
}

/// Microseconds or a slowdown, by the objective.
std::string objective_text(double value, tune::Objective objective) {
  const bool is_ratio =
      objective == tune::Objective::kP99 || objective == tune::Objective::kLatency;
  if (is_ratio) return fmt::format("{:.2f}x", value);
  return value >= 1000 ? fmt::format("{:.3g}ms", value / 1000) : fmt::format("{:.3g}us", value);
}

std::string step_line(const tune::StepOutcome& step) {
  if (step.text.empty()) return fmt::format("  {:<9} {}", step.name, to_text(step.state));
  return fmt::format("  {:<9} {:<8} {}", step.name, to_text(step.state), step.text);
}

std::string steps_text(const tune::TuneResult& result) {
  std::string out = "steps\n";
  for (const tune::StepOutcome& step : result.steps) {
    out += wrap(step_line(step), kTuneWidth, 21) + "\n";
    // What failed more than once, and what the failures did to both.
    if ((step.state == tune::StepState::kFailed && step.details.size() > 1) ||
        step.name == "failure")
      for (const std::string& detail : step.details)
        out += wrap("  " + detail, kTuneWidth, 4) + "\n";
  }
  return out;
}

std::string changes_text(const tune::TuneResult& result) {
  TextTable table({"change", "from", "to", "bought", "paused runs with, without"});
  for (const tune::Bought& row : result.bought)
    table.add_row({row.knob, row.from, row.to, interval(row.objective),
                   fmt::format("{}, {}", of_runs(row.bad_with, row.runs),
                               of_runs(row.bad_without, row.runs))});
  std::string out = table.to_text(2, kTuneWidth);
  for (const tune::Bought& row : result.bought)
    out += wrap(fmt::format("  price of {}: {}", row.knob, row.price), kTuneWidth, 4) + "\n";
  return out;
}

std::string loads_text(const tune::TuneResult& result) {
  TextTable table({std::string(to_text(result.objective)), "change", "paused runs", "load"});
  TextTable costs({"p99", "deepest queue", "marked", "fairness", "load"});
  const auto arrow = [](const std::string& from, const std::string& to) {
    return from + " -> " + to;
  };
  const auto queue = [](const tune::Summary& summary) {
    return approximate(Bytes::raw(static_cast<std::int64_t>(summary.queue_bytes.mean)));
  };
  const auto marked = [](const tune::Summary& summary) {
    return fmt::format("{:.1f} %", 100 * summary.mark_share.mean);
  };
  for (const tune::WorkloadOutcome& row : result.outcomes) {
    const std::string load = (row.is_held_out ? "* " : "") + row.workload;
    table.add_row({arrow(objective_text(row.start.objective.mean, result.objective),
                         objective_text(row.chosen.objective.mean, result.objective)),
                   interval(row.objective),
                   fmt::format("{} -> {} of {}, rate <{:.1f} %", row.start.bad, row.chosen.bad,
                               row.chosen.runs, 100 * row.chosen.bad_upper),
                   load});
    costs.add_row({percent(row.p99.mean), arrow(queue(row.start), queue(row.chosen)),
                   arrow(marked(row.start), marked(row.chosen)),
                   fmt::format("{:.3f} -> {:.3f}", row.start.jain.mean, row.chosen.jain.mean),
                   load});
  }
  return table.to_text(2, kTuneWidth) +
         wrap(fmt::format("  *: never seen by the search. Paused: a port for more than {} of the "
                          "time; the rate of such runs is bounded with 95 % confidence.",
                          limit_text(result.pause_limit)),
              kTuneWidth, 2) +
         "\n\nwhat it costs, or not\n" + costs.to_text(2, kTuneWidth);
}

std::string target_cell(const tune::TargetRow& row) {
  const tune::TargetSide& now = row.now();
  const bool was_other = row.chosen && row.start.state != now.state;
  if (now.state == tune::TargetState::kNotJudged) return "-";
  return fmt::format("{}{}", was_other ? fmt::format("{}, now ", to_text(row.start.state)) : "",
                     to_text(now.state));
}

std::string target_text(const tune::TuneResult& result) {
  TextTable table({"marks", "pauses", "drops", "use", "tails", "load"});
  std::vector<std::string> cells;
  std::string missed;
  for (const tune::TargetRow& row : result.target) {
    if (row.now().state == tune::TargetState::kMissed)
      missed += wrap(fmt::format("  {} of {}: {}", row.goal, row.workload, row.now().text),
                     kTuneWidth, 4) +
                "\n";
    if (row.goal == "idle") continue;
    cells.push_back(target_cell(row));
    if (cells.size() < 5) continue;
    cells.push_back(row.workload);
    table.add_row(std::move(cells));
    cells.clear();
  }
  if (!missed.empty()) missed = "  missed\n" + missed;
  return "the target: frequent marks, rare PFC, no drops, high use, short tails\n" +
         table.to_text(2, kTuneWidth) + missed;
}

std::string tried_text(const tune::TuneResult& result) {
  std::string out;
  TextTable table({"move", "value", "effect on the search seeds", "paused runs", "outcome"});
  for (const tune::TriedMove& row : result.tried)
    table.add_row(
        {row.move, fmt::format("{} -> {}", row.from, row.to),
         row.runs == 0 ? "-" : interval(row.objective),
         row.runs == 0 ? "-" : fmt::format("{} -> {} of {}", row.bad_start, row.bad, row.runs),
         row.outcome});
  if (!result.tried.empty()) out += "moves tried, one at a time\n" + table.to_text(2, kTuneWidth);
  std::vector<std::string> inert;
  std::vector<std::string> ranked;
  for (const tune::Sensitivity& row : result.sensitivity)
    (row.is_inert ? inert : ranked).push_back(row.knob);
  if (!ranked.empty())
    out += wrap("knobs by influence: " + join(ranked, ", "), kTuneWidth, 2) + "\n";
  if (!inert.empty())
    out += wrap("knobs that do nothing here: " + join(inert, ", "), kTuneWidth, 2) + "\n";
  return out;
}

std::string curve_text(const tune::TuneResult& result) {
  TextTable table(
      {"paused at most", std::string(to_text(result.objective)), "longest pause", "settings"});
  for (const tune::CurvePoint& row : result.curve) {
    std::vector<std::string> settings;
    for (const tune::KnobSetting& setting : row.settings)
      settings.push_back(fmt::format("{}={}", setting.knob, setting.value));
    table.add_row({limit_text(row.pause_limit) + (row.is_knee ? " (knee)" : ""),
                   interval(row.objective), limit_text(row.pause_share),
                   settings.empty() ? "as designed" : join(settings, " ")});
  }
  return "what pausing would buy (selection seeds)\n" + table.to_text(2, kTuneWidth);
}

std::string peer_text(const tune::PeerCheck& peer) {
  if (!peer.was_run)
    return peer.why_not.empty()
               ? std::string()
               : wrap("not checked in the HPCC simulator's semantics: " + peer.why_not, kTuneWidth,
                      2) +
                     "\n";
  TextTable table({"load", "ours", "HPCC semantics", "ratio", "agrees"});
  for (const tune::PeerWorkload& row : peer.workloads)
    table.add_row({row.workload, interval(row.ours), interval(row.peer),
                   row.ratio ? fmt::format("{:.2f}", *row.ratio) : "-", row.agrees ? "yes" : "no"});
  std::string out =
      "the same changes in the HPCC simulator's semantics\n" + table.to_text(2, kTuneWidth);
  if (!peer.unchecked.empty())
    out += wrap("  not checked, no such knob there: " + join(peer.unchecked, ", "), kTuneWidth, 4) +
           "\n";
  return out;
}

}  // namespace

std::string tune_verdict(const tune::TuneResult& result) {
  switch (result.verdict) {
    case tune::Verdict::kRefused:
      return fmt::format("{} is not tuned: {}.", result.design, result.reason);
    case tune::Verdict::kNothingToTune:
      return fmt::format("Nothing to tune in {}: {} (simulated).", result.design, result.reason);
    case tune::Verdict::kNotProven:
      return fmt::format("{} stays as it is: {} (simulated).", result.design, result.reason);
    case tune::Verdict::kTuned:
      return fmt::format("{}: {} with {} (simulated).", result.design, result.reason,
                         counted(result.chosen.size(), "change"));
  }
  WEIR_UNREACHABLE("every verdict has a sentence");
}

void print_tuned(const ops::Tuned& tuned, Context& context) {
  const tune::TuneResult& result = tuned.result;
  const Tone tone = result.verdict == tune::Verdict::kRefused ? Tone::kBad : Tone::kStrong;
  context.out << paint(context, tone, hang(tune_verdict(result), kTuneWidth, 0)) << '\n';
  if (context.quiet) return;
  context.out << '\n' << steps_text(result);
  if (!result.bought.empty()) context.out << '\n' << changes_text(result);
  if (!result.outcomes.empty()) context.out << '\n' << loads_text(result);
  if (!result.target.empty()) context.out << '\n' << target_text(result);
  if (const std::string peer = peer_text(result.peer); !peer.empty()) context.out << '\n' << peer;
  if (const std::string tried = tried_text(result); !tried.empty()) context.out << '\n' << tried;
  if (!result.curve.empty()) context.out << '\n' << curve_text(result);
  for (const tune::KnobSetting& row : result.fixed)
    context.out << fmt::format("{} was left alone: {}\n", row.knob, row.value);
  for (const std::string& note : result.notes)
    context.out << wrap("note: " + note, kTuneWidth, 2) << '\n';
  if (!tuned.patch.empty()) context.out << "\nfor the design file\n" << tuned.patch;
  context.out << fmt::format("\n{} runs, seed {}", result.runs, result.seed);
  for (const std::string& path : tuned.written)
    context.out << fmt::format("\nwrote {}", path);
  context.out << '\n';
}

std::string list_tune_knobs(std::size_t width) {
  TextTable table({"knob", "where", "meaning and price"});
  for (const tune::Knob& knob : tune::knobs())
    table.add_row({std::string(knob.id), knob.place == tune::KnobPlace::kNic ? "NIC" : "switch",
                   fmt::format("{}; {}", knob.meaning, knob.price)});
  return table.to_text(2, width);
}

}  // namespace weir::cli
