// Stages that need no schedule: facts, idle, path, loopback, overload, collectives, failure, soak.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/behaviour/burst.h"
#include "diagnose/behaviour/preflight.h"
#include "diagnose/core/diagnose.h"
#include "ops/inspect/validate.h"
#include "ops/preflight/bench.h"
#include "ops/verify/verify.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::StageResult;

/// Where a load did not finish and no counter says why.
void add_unfinished(const Bench& bench, const LoadRun& run, finding::Judgement& judgement) {
  if (run.is_finished) return;
  diagnose::UnfinishedLoad load;
  for (const auto& [from, to] : run.open)
    load.open.emplace_back(bench.name(from), bench.name(to));
  load.notes = run.notes;
  diagnose::judge_unfinished(load, judgement);
}

PrioritySet lossless_of(const design::Intent& intent) {
  unsigned mask = 0;
  for (const design::SwitchIntent& device : intent.switches)
    mask |= device.lossless.mask();
  return PrioritySet::from_mask(static_cast<std::uint8_t>(mask));
}

/// Findings of a later window behind those of an earlier one.
void add_judgement(finding::Judgement more, finding::Judgement& judgement) {
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive ||
                       more.conclusion == finding::Conclusion::kInconclusive;
  add_findings(std::move(more.findings), judgement);
  for (finding::Unknown& unknown : more.unknown)
    judgement.unknown.push_back(std::move(unknown));
  finding::settle(judgement);
  if (is_open && judgement.conclusion == finding::Conclusion::kHealthy)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

bool has_red_flag(const Bench& bench, const finding::Judgement& judgement) {
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [&](const auto& found) { return found.severity >= bench.request().red_flag; });
}

}  // namespace

namespace {

/// What a driver does not show is a note: the loads show what it does. What was refused, and hosts
/// that could not be read, stay open.
void note_unshown(const Observation& seen, finding::Judgement& judgement, StageResult& stage) {
  if (!seen.unseen.empty() || seen.was_refused() || judgement.unknown.empty()) return;
  stage.notes.push_back(fmt::format("{} not shown by hosts or switches, judged under load: {}",
                                    counted(judgement.unknown.size(), "setting"),
                                    judgement.unknown.front().check));
  judgement.unknown.clear();
  if (judgement.conclusion == finding::Conclusion::kInconclusive) finding::settle(judgement);
}

/// Lines of a file that nobody understands are no setting that is wrong.
void note_unread(const Validated& validated, finding::Judgement& judgement, StageResult& stage) {
  for (const finding::Unknown& unread : unread_lines(validated.configs)) {
    std::erase_if(judgement.unknown,
                  [&](const finding::Unknown& other) { return other.check == unread.check; });
    stage.notes.push_back(fmt::format("{} {}", unread.check, unread.reason));
  }
}

/// On real hosts only files show what switches are set to.
void note_switches(const Validated& validated, StageResult& stage) {
  const auto& seen = validated.seen.switches;
  std::vector<std::string> missing;
  for (const design::SwitchIntent& wanted : validated.fabric.intent.switches) {
    const bool is_seen = seen && std::any_of(seen->switches.begin(), seen->switches.end(),
                                             [&](const evidence::Switch& device) {
                                               return device.name == wanted.name;
                                             });
    if (!is_seen) missing.push_back(wanted.name);
  }
  if (missing.empty()) return;
  stage.notes.push_back(fmt::format(
      "settings of {} were not looked at ({}): --switch NAME=FILE, a running configuration",
      counted(missing.size(), "switch"), compact_names(missing)));
}

}  // namespace

Status run_facts(Bench& bench, StageResult& stage) {
  PreflightRequest request = bench.request();
  // A fabric that is not as designed is not the one that was planned, however mild the difference.
  request.red_flag = std::min(request.red_flag, finding::Severity::kWarning);
  WEIR_TRY(validated, validate({.source = request.source,
                                .design = request.design,
                                .despite_lint = request.despite_lint,
                                .switches = request.switches,
                                .thresholds = request.thresholds}));
  stage.why = fmt::format("{} as designed", counted(validated.seen.hosts.size(), "host"));
  note_unread(validated, validated.judgement, stage);
  note_unshown(validated.seen, validated.judgement, stage);
  note_switches(validated, stage);
  settle_stage(request, std::move(validated.judgement), stage);
  return {};
}

namespace {

/// Where nothing is to be sent over a link, links that carried nothing are no open question.
void expect_quiet_links(finding::Judgement& judgement) {
  judgement.unknown.clear();
  if (judgement.conclusion != finding::Conclusion::kFindings)
    judgement.conclusion = finding::Conclusion::kHealthy;
}

}  // namespace

Status run_idle(Bench& bench, StageResult& stage) {
  WEIR_TRY(window, bench.watch([&]() -> Status {
    WEIR_TRY(time, bench.rig().rest());
    stage.took = time;
    return {};
  }));
  const diagnose::View view(bench.subject(window));
  finding::Judgement judgement = diagnose::diagnose(view);
  diagnose::judge_other_pauses(view, lossless_of(bench.intent()), judgement);
  expect_quiet_links(judgement);
  stage.why = "no counter of errors, loss or flow control moved";
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

namespace {

/// A load alone in its window, with what it measured, and a judgement of the window.
struct WatchedLoad {
  LoadRun run;
  Window window;
};
Result<WatchedLoad> watch_load(Bench& bench, StageResult& stage, finding::Judgement& judgement,
                               const std::function<Result<LoadRun>()>& load) {
  WatchedLoad out;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    WEIR_TRY(ran, load());
    out.run = std::move(ran);
    return {};
  }));
  out.window = std::move(window);
  stage.took += out.run.elapsed;
  for (preflight::Measure& measure : out.run.measures)
    stage.measures.push_back(measure);
  if (out.run.is_finished)
    for (const std::string& note : out.run.notes)
      stage.notes.push_back(note);
  finding::Judgement judged = diagnose::diagnose(bench.subject(out.window));
  add_unfinished(bench, out.run, judged);
  add_judgement(std::move(judged), judgement);
  return out;
}

}  // namespace

Status run_path(Bench& bench, StageResult& stage) {
  finding::Judgement judgement;
  finding::Judgement paths;
  WEIR_TRY(done,
           watch_load(bench, stage, judgement, [&] { return bench.rig().neighbours(paths); }));
  if (!bench.is_lab()) judge_fec(bench, done.window, paths, stage);  // the simulator has no FEC
  add_judgement(std::move(paths), judgement);
  stage.why = done.run.summary;
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_loopback(Bench& bench, StageResult& stage) {
  finding::Judgement judgement;
  finding::Judgement slow;
  WEIR_TRY(done, watch_load(bench, stage, judgement, [&] { return bench.rig().loopback(slow); }));
  expect_quiet_links(judgement);  // a NIC turns such packets round by itself
  add_judgement(std::move(slow), judgement);
  stage.why = done.run.summary;
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_overload(Bench& bench, StageResult& stage) {
  finding::Judgement judgement;
  std::uint64_t pauses = 0;
  std::uint64_t marks = 0;
  for (const std::string& receiver : receivers_of(bench)) {
    WEIR_TRY(done,
             watch_load(bench, stage, judgement, [&] { return bench.rig().incast(receiver); }));
    const diagnose::View view(bench.subject(done.window));
    finding::Judgement judged;
    const diagnose::Burst burst = diagnose::count_burst(view, bench.hosts() - 1, receiver);
    diagnose::Burst acted = burst;  // a mark is action enough
    if (burst.pauses || burst.marks.value_or(0) > 0)
      acted.pauses = burst.pauses.value_or(0) + burst.marks.value_or(0);
    diagnose::judge_burst(acted, judged);
    diagnose::judge_other_pauses(view, lossless_of(bench.intent()), judged);
    pauses += burst.pauses.value_or(0);
    marks += burst.marks.value_or(0);
    add_judgement(std::move(judged), judgement);
    if (has_red_flag(bench, judgement)) break;
  }
  stage.why = fmt::format("nothing was lost; {} pause frames, {} packets marked", pauses, marks);
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_collectives(Bench& bench, StageResult& stage) {
  finding::Judgement judgement;
  if (bench.rig().has_all_reduce()) {
    WEIR_TRY(reduced,
             watch_load(bench, stage, judgement, [&] { return bench.rig().all_reduce(); }));
  }
  WEIR_TRY(exchanged,
           watch_load(bench, stage, judgement, [&] { return bench.rig().all_to_all(); }));
  stage.why = fmt::format("all-to-all {}", exchanged.run.summary);
  if (exchanged.run.is_finished) {
    std::string expected =
        bench.rig().expectation(exchanged.window.evidence, exchanged.run.elapsed);
    if (!expected.empty()) stage.notes.push_back(std::move(expected));
    for (std::string& note : bench.rig().take_moments())
      stage.notes.push_back(std::move(note));
  }
  if (bench.rig().has_other_classes()) {
    WEIR_TRY(beside, watch_load(bench, stage, judgement,
                                [&] { return bench.rig().all_to_all_with_others(); }));
    stage.why += fmt::format(", with other traffic {}", beside.run.summary);
    for (const std::string& note : bench.rig().take_moments())
      stage.notes.push_back("with other traffic: " + note);
  } else {
    stage.notes.emplace_back("the design has no class for other traffic: none was added");
  }
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

Status run_failure(Bench& bench, StageResult& stage) {
  WEIR_TRY(failed, bench.rig().under_failure());
  for (const auto& [name, elapsed] : failed.phases) {
    stage.took += elapsed;
    stage.measures.push_back(measure_of(fmt::format("time_{}", name), "s", preflight::Better::kLess,
                                        {seconds_of(elapsed)}));
  }
  stage.totals = failed.totals;
  stage.why = fmt::format("{}: stayed lossless, and recovered", failed.failure);
  settle_stage(bench.request(), std::move(failed.judgement), stage);
  return {};
}

Status run_soak(Bench& bench, StageResult& stage) {
  const Duration wanted = bench.request().soak.value_or(Duration());
  std::map<std::string, preflight::Measure> measures;  // the medians of the loads
  std::map<std::string, std::vector<double>> values;
  finding::Judgement judgement;
  WEIR_TRY(window, bench.watch([&]() -> Status {
    while (stage.took < wanted) {
      WEIR_TRY(ran, bench.rig().soak_load());
      if (!ran.is_finished || ran.elapsed == Duration()) {
        add_unfinished(bench, ran, judgement);
        return {};
      }
      stage.took += ran.elapsed;
      for (const preflight::Measure& measure : ran.measures) {
        measures.try_emplace(measure.metric, measure);
        values[measure.metric].push_back(measure.values.p50);
      }
      tell(bench.request().progress,
           static_cast<double>(stage.took.raw()) / static_cast<double>(wanted.raw()), "soak");
    }
    return {};
  }));
  add_judgement(diagnose::diagnose(bench.subject(window)), judgement);
  std::size_t rounds = 0;
  for (auto& [metric, measure] : measures) {
    rounds = values[metric].size();
    measure.values = preflight::distribution_of(std::move(values[metric]));
    stage.measures.push_back(std::move(measure));
  }
  stage.why = fmt::format("{} in {}", counted(rounds, "all-to-all round"), approximate(stage.took));
  settle_stage(bench.request(), std::move(judgement), stage);
  return {};
}

}  // namespace weir::ops
