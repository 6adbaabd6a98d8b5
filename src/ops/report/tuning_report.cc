#include "ops/report/tuning_report.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/edit.h"
#include "ops/tune/result_file.h"
#include "render/report/svg_chart.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using tune::TuneResult;

render::Estimate estimate_of(const tune::Change& change) {
  if (change.pairs < 2) return {change.mean, change.mean, change.mean};
  return {change.mean, change.low, change.high};
}

std::string share_text(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

std::string microseconds_text(double value) {
  return approximate(Duration::raw(static_cast<std::int64_t>(value * 1e6)));  // picoseconds
}

std::string bytes_text(double value) {
  return approximate(Bytes::raw(static_cast<std::int64_t>(value)));
}

std::string plain_number(double value) {
  return render::short_number(value);
}

std::string bad_text(std::uint64_t bad, std::uint64_t runs) {
  return fmt::format("{} of {}", bad, runs);
}

// ---- the head ----

std::string page_verdict(const TuneResult& result) {
  switch (result.verdict) {
    case tune::Verdict::kTuned:
      return fmt::format("{} {} with {}", tune::to_text(result.objective),
                         render::to_text(estimate_of(result.gain)),
                         counted(result.bought.size(), "change"));
    case tune::Verdict::kNothingToTune: return "Nothing to tune";
    case tune::Verdict::kNotProven: return "Not proven: the start values stay";
    case tune::Verdict::kRefused: break;
  }
  return "Refused: a step before the search failed";
}

std::vector<render::KeyNumber> page_numbers(const TuneResult& result) {
  std::vector<render::KeyNumber> out;
  out.push_back({"changes", std::to_string(result.bought.size()),
                 fmt::format("of {}", counted(result.start.size(), "knob"))});
  std::uint64_t runs = 0;
  std::uint64_t bad_start = 0;
  std::uint64_t bad_chosen = 0;
  double bound = 0;
  for (const tune::WorkloadOutcome& outcome : result.outcomes) {
    if (outcome.is_held_out) continue;  // few runs of these, and no bound that matters
    runs += outcome.start.runs;
    bad_start += outcome.start.bad;
    bad_chosen += outcome.chosen.bad;
    bound = std::max(bound, outcome.chosen.bad_upper);
  }
  if (runs > 0)
    out.push_back({fmt::format("runs paused beyond {}", share_text(result.pause_limit)),
                   fmt::format("{} → {}", bad_start, bad_chosen),
                   fmt::format("of {}; rate at most {:.0f} %", runs, bound * 100)});
  out.push_back(
      {"HPCC semantics",
       !result.peer.was_run ? "not run" : (result.peer.agrees ? "agrees" : "does not"),
       result.peer.unchecked.empty()
           ? ""
           : fmt::format("{} not checked", counted(result.peer.unchecked.size(), "knob"))});
  out.push_back({"simulated runs", with_thousands(static_cast<std::int64_t>(result.runs)),
                 fmt::format("seed {}", result.seed)});
  return out;
}

render::PageTable page_changes(const TuneResult& result) {
  render::PageTable out{"What to change",
                        {"knob", "from", "to", "bought", "paused runs with, without", "price"},
                        {},
                        ""};
  for (const tune::Bought& row : result.bought)
    out.rows.push_back({row.knob, row.from, row.to, render::to_text(estimate_of(row.objective)),
                        fmt::format("{}, {}", bad_text(row.bad_with, row.runs),
                                    bad_text(row.bad_without, row.runs)),
                        row.price});
  return out;
}

std::string page_patch(const TuneResult& result) {
  std::vector<design::ValueEdit> edits;
  for (const tune::Bought& row : result.bought)
    edits.push_back({row.knob, row.to, ""});
  return edits.empty() ? "" : design::lines_of(edits);
}

// ---- the figures ----

void add_trade_off(const TuneResult& result, render::TuningPage& out) {
  if (result.curve.size() == 1) {
    out.notes.emplace_back(
        "Nothing that was tried is better for being paused longer: there is no trade-off to draw.");
    return;
  }
  for (const tune::CurvePoint& point : result.curve)
    out.trade_off.push_back({share_text(point.pause_limit), estimate_of(point.objective),
                             fmt::format("paused {}", share_text(point.pause_share)),
                             point.is_knee});
  if (!result.curve.empty())
    out.trade_off_note =
        "The best that was found while no more is allowed; under each limit the longest pause that "
        "was seen. On the selection seeds, 95 % interval.";
}

void add_ranking(const TuneResult& result, render::TuningPage& out) {
  for (const tune::Sensitivity& row : result.sensitivity)
    out.ranking.push_back({row.knob, row.effect, row.interaction, row.is_inert});
}

struct PanelRow {
  std::string_view title;
  tune::Spread tune::Summary::*spread;
  std::string (*text)(double);
};
constexpr std::array kPanelRows = {
    PanelRow{"deepest queue of a switch", &tune::Summary::queue_bytes, &bytes_text},
    PanelRow{"share of the time that a port was paused", &tune::Summary::pause_share, &share_text},
    PanelRow{"pause frames", &tune::Summary::pauses, &plain_number},
    PanelRow{"share of packets that were marked", &tune::Summary::mark_share, &share_text},
    PanelRow{"CNPs that reached senders", &tune::Summary::cnps, &plain_number},
    PanelRow{"rate: use of the receiving NICs", &tune::Summary::utilisation, &share_text},
    PanelRow{"99th percentile of completion times", &tune::Summary::p99_us, &microseconds_text}};

std::string panel_spread(const tune::Spread& spread, std::string (*text)(double)) {
  if (spread.least == spread.most) return text(spread.mean);
  return fmt::format("{} ({} to {})", text(spread.mean), text(spread.least), text(spread.most));
}

std::string load_label(const tune::WorkloadOutcome& outcome) {
  return outcome.workload + (outcome.is_held_out ? " *" : "");
}

/// A quantity that is zero everywhere has no bars to draw.
void add_panels(const TuneResult& result, render::TuningPage& out) {
  std::vector<std::string> still;
  for (const PanelRow& row : kPanelRows) {
    render::BeforeAfter panel{std::string(row.title), {}};
    bool moves = false;
    for (const tune::WorkloadOutcome& outcome : result.outcomes) {
      const tune::Spread& before = outcome.start.*row.spread;
      const tune::Spread& after = outcome.chosen.*row.spread;
      moves = moves || before.most > 0 || after.most > 0;
      panel.rows.push_back({load_label(outcome), before.mean, after.mean,
                            panel_spread(before, row.text), panel_spread(after, row.text)});
    }
    if (moves) {
      out.before_after.push_back(std::move(panel));
    } else if (!result.outcomes.empty()) {
      still.emplace_back(row.title);
    }
  }
  if (!still.empty())
    out.notes.push_back(fmt::format("Zero in every run, before and after: {}.", join(still, "; ")));
}

// ---- the tables ----

render::PageTable page_loads(const TuneResult& result) {
  render::PageTable out{fmt::format("{} of every load", tune::to_text(result.objective)),
                        {"load", "change", "p99", "paused runs", "fairness (Jain)"},
                        {},
                        "*: never seen by the search. Changes with their 95 % interval."};
  for (const tune::WorkloadOutcome& outcome : result.outcomes)
    out.rows.push_back(
        {load_label(outcome), render::to_text(estimate_of(outcome.objective)),
         render::to_text(estimate_of(outcome.p99)),
         fmt::format("{} → {}", bad_text(outcome.start.bad, outcome.start.runs),
                     bad_text(outcome.chosen.bad, outcome.chosen.runs)),
         fmt::format("{:.3f} → {:.3f}", outcome.start.jain.mean, outcome.chosen.jain.mean)});
  return out;
}

render::PageTable page_target(const TuneResult& result) {
  render::PageTable out{"The target: frequent marks, rare PFC, no drops, high use, short tails",
                        {"load", "part", "start values", "chosen values"},
                        {},
                        "Not judged: the load cannot show it."};
  const auto words = [](const tune::TargetSide& side) {
    return fmt::format("{}: {}", tune::to_text(side.state), side.text);
  };
  std::string last;
  for (const tune::TargetRow& row : result.target) {
    out.rows.push_back({row.workload == last ? "" : row.workload, row.goal, words(row.start),
                        row.chosen ? words(*row.chosen) : "-"});
    last = row.workload;
  }
  return out;
}

render::PageTable page_steps(const TuneResult& result) {
  render::PageTable out{"The four steps", {"step", "state", ""}, {}, ""};
  for (const tune::StepOutcome& step : result.steps)
    out.rows.push_back({step.name, std::string(tune::to_text(step.state)), step.text});
  return out;
}

render::PageTable page_failures(const TuneResult& result) {
  render::PageTable out{
      "Under failures", {"failure", "load", "start values", "chosen values", ""}, {}, ""};
  for (const tune::FailureOutcome& failure : result.failures)
    out.rows.push_back({failure.name, failure.workload, failure.start_passes ? "pass" : "fail",
                        failure.chosen_passes ? "pass" : "fail", failure.reason});
  return out;
}

render::PageTable page_peer(const TuneResult& result) {
  render::PageTable out{
      "The same changes in the HPCC simulator's semantics",
      {"load", "ours", "HPCC semantics", "ratio", "agrees"},
      {},
      result.peer.unchecked.empty()
          ? ""
          : fmt::format("Not checked, no such knob there: {}.", join(result.peer.unchecked, ", "))};
  for (const tune::PeerWorkload& row : result.peer.workloads)
    out.rows.push_back({row.workload, render::to_text(estimate_of(row.ours)),
                        render::to_text(estimate_of(row.peer)),
                        row.ratio ? fmt::format("{:.2f}", *row.ratio) : "-",
                        row.agrees ? "yes" : "no"});
  return out;
}

render::PageTable page_moves(const TuneResult& result) {
  render::PageTable out{"Moves tried, one at a time",
                        {"move", "value", "effect on the search seeds", "paused runs", "outcome"},
                        {},
                        ""};
  for (const tune::TriedMove& move : result.tried)
    out.rows.push_back({move.move, fmt::format("{} → {}", move.from, move.to),
                        render::to_text(estimate_of(move.objective)),
                        fmt::format("{} → {} of {}", move.bad_start, move.bad, move.runs),
                        move.outcome});
  return out;
}

}  // namespace

render::TuningPage tuning_page_of(const TuneResult& result) {
  render::TuningPage out;
  out.title = std::filesystem::path(result.design).stem().string();
  out.subject = fmt::format("weir tune --for {}", tune::to_text(result.objective));
  out.verdict = page_verdict(result);
  if (out.verdict.find(result.reason) == std::string::npos) out.summary = result.reason;
  out.is_good = result.verdict == tune::Verdict::kTuned;
  out.numbers = page_numbers(result);
  out.changes = page_changes(result);
  out.patch = page_patch(result);
  out.objective = std::string(tune::to_text(result.objective));
  for (const tune::Bought& row : result.bought)
    out.bought.push_back(
        {row.knob, estimate_of(row.objective), fmt::format("{} instead of {}", row.to, row.from)});
  add_trade_off(result, out);
  add_ranking(result, out);
  add_panels(result, out);
  out.tables = {page_loads(result),    page_target(result), page_steps(result),
                page_failures(result), page_peer(result),   page_moves(result)};
  for (const std::string& note : result.notes)
    out.notes.push_back(note);
  return out;
}

Result<render::TuningPage> tuning_report(const TuningReportRequest& request) {
  WEIR_TRY(result, or_bad_input(read_tune_result(request.result)));
  render::TuningPage page = tuning_page_of(result);
  if (!request.title.empty()) page.title = request.title;
  page.tool = request.tool;
  return page;
}

}  // namespace weir::ops
