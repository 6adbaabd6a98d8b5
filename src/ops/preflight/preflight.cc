#include "ops/preflight/preflight.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "ops/change/state.h"
#include "ops/preflight/bench.h"
#include "ops/source/fleet.h"
#include "ops/verify/host_load.h"
#include "preflight/baseline.h"

namespace weir::ops {
namespace {

using preflight::Report;
using preflight::StageId;
using preflight::StageResult;
using preflight::State;

Status run_stage(Bench& bench, StageResult& stage) {
  switch (stage.id) {
    case StageId::kFacts: return run_facts(bench, stage);
    case StageId::kIdle: return run_idle(bench, stage);
    case StageId::kPath: return run_path(bench, stage);
    case StageId::kLoopback: return run_loopback(bench, stage);
    case StageId::kPairs: return run_pairs(bench, stage);
    case StageId::kOverload: return run_overload(bench, stage);
    case StageId::kCollectives: return run_collectives(bench, stage);
    case StageId::kFailure: return run_failure(bench, stage);
    case StageId::kSoak: return run_soak(bench, stage);
  }
  WEIR_UNREACHABLE("every stage is run");
}

/// Takes over what passed before, so that it is not run again.
Status take_earlier(const PreflightRequest& request, Report& report) {
  if (request.resume.empty()) return {};
  WEIR_TRY(earlier, or_bad_input(read_preflight(request.resume)));
  const auto unlike = preflight::differences(earlier.identity, report.identity);
  if (!unlike.empty())
    return bad_input(
        fmt::format("{} is of another fabric, of one that was changed since, or of other loads ({} "
                    "was {}, is {}): start again without --resume",
                    request.resume, unlike.front().field, unlike.front().was, unlike.front().is));
  std::vector<std::string> unknown;
  for (const preflight::IdentityDifference& each :
       preflight::not_said(earlier.identity, report.identity))
    unknown.push_back(each.field);
  const auto lacks_hosts = [&](const StageResult& stage) {
    return std::any_of(earlier.lost.begin(), earlier.lost.end(),
                       [&](const auto& host) { return host.stage <= stage.id; });
  };
  for (StageResult& stage : earlier.stages) {
    if (stage.state != State::kPassed || lacks_hosts(stage)) continue;
    report.ended = earlier.ended;  // until another stage runs
    if (!unknown.empty())
      stage.notes.push_back(
          fmt::format("passed before, in a run of an earlier version that does not say: {}",
                      join(unknown, ", ")));
    unknown.clear();  // said once
    report.stages.at(preflight::number_of(stage.id)) = std::move(stage);
  }
  return {};
}

bool is_wanted(const PreflightRequest& request, const StageResult& stage) {
  if (stage.state != State::kNotRun) return false;  // passed before, or does not apply
  if (request.from && stage.id < *request.from) return false;
  if (request.until && stage.id > *request.until) return false;
  return stage.budget != "-";  // nothing was planned, and `why` says it
}

Status check_range(const PreflightRequest& request) {
  if (request.from && request.until && *request.from > *request.until)
    return bad_request("--from-stage is behind --until: nothing would run");
  if (!request.switches.empty() && request.from && *request.from > StageId::kFacts)
    return bad_request("--switch is for stage 0, before --from-stage");
  if (request.soak && request.until && *request.until < StageId::kSoak)
    return bad_request("--soak is stage 8, behind --until");
  return {};
}

void say_not_run(const PreflightRequest& request, Report& report) {
  for (StageResult& stage : report.stages) {
    if (stage.state != State::kNotRun || !stage.why.empty()) continue;
    if (const StageResult* const failed = report.failed()) {
      stage.why = fmt::format("stage {} failed", preflight::number_of(failed->id));
    } else if ((request.from && stage.id < *request.from) ||
               (request.until && stage.id > *request.until)) {
      stage.why = "not asked for";
    }
  }
}

/// Hosts that gave no look would end every load: they are left out of all, and said.
void leave_out_unseen(const Observation& seen, HostSet& set) {
  if (set.lab) return;
  std::erase_if(set.hosts, [&](const auto& host) {
    return std::none_of(seen.hosts.begin(), seen.hosts.end(), [&](const auto& evidence) {
      return evidence.provenance.host == host->name();
    });
  });
}

/// What is planned for later stages, by the hosts that are left.
void plan_again(Bench& bench, StageId after, Report& report) {
  Report planned = preflight::empty_report();
  bench.rig().plan(planned);
  for (StageResult& stage : report.stages) {
    if (stage.id <= after || stage.state != State::kNotRun) continue;
    StageResult& now = planned.stages.at(preflight::number_of(stage.id));
    stage.budget = std::move(now.budget);
    stage.why = std::move(now.why);
    stage.state = now.state;
  }
}

/// A host that died in a stage would end every later one: who cannot be looked at now is lost, and
/// left out from here on. Of a stage behind which a host could not be read nothing is known of that
/// host, be it back or not.
Status settle_lost(Bench& bench, StageResult& stage, Report& report) {
  const std::vector<std::string> unread = bench.take_unread();
  if (stage.state == State::kPassed && !unread.empty()) {
    stage.state = State::kOpen;
    stage.why = fmt::format("not read after the load: {}", join(fold_reasons(unread), "; "));
  }
  if (unread.empty() && stage.state != State::kOpen) return {};
  const Observation now = observe(bench.set());
  if (bench.is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted while lost hosts were looked for"};
  if (now.unseen.empty()) return {};
  std::vector<std::string> names;
  for (const std::string& text : now.unseen) {
    const std::size_t colon = std::min(text.find(": "), text.size());
    const std::string why = colon < text.size() ? text.substr(colon + 2) : "it gives no answer";
    report.lost.push_back({text.substr(0, colon), stage.id, why});
    names.push_back(text.substr(0, colon));
  }
  bench.leave_out(names);
  if (bench.hosts() > 0) {
    stage.notes.push_back(fmt::format("lost, and left out of later stages: {}", fold_hosts(names)));
    plan_again(bench, stage.id, report);
    return {};
  }
  stage.notes.emplace_back("lost: every host");
  for (StageResult& later : report.stages)
    if (later.id > stage.id && later.state == State::kNotRun) {
      later.budget = "-";
      later.why = "no host is left";
    }
  return {};
}

}  // namespace

Result<Report> run_preflight(const PreflightRequest& request) {
  WEIR_TRY_STATUS(check_range(request));
  WEIR_TRY(opened, open_hosts(source_for_loads(request.source)));
  if (opened.are_captured) return bad_request("nothing can be run on a captured machine");
  WEIR_TRY(set, with_whole_lab(std::move(opened)));
  WEIR_TRY(fabric, fabric_for(request.design, set));
  WEIR_TRY(overridden, lint_errors(fabric, request.despite_lint));
  WEIR_TRY(seen, observe_some(set));
  leave_out_unseen(seen, set);
  Bench bench(request, std::move(set), std::move(fabric));
  if (bench.is_lab() && bench.hosts() < 2)
    return bad_input("the design has a single host: there is nothing to exchange data with");
  Report report = preflight::empty_report();
  report.tool = request.tool;
  report.identity = identity_of(bench, seen);
  report.settings = settings_of(bench, seen);
  report.unseen = seen.unseen;
  report.started = seen.hosts.front().provenance.time;  // a lab has a time of its own
  bench.remember(seen);
  bench.rig().plan(report);
  WEIR_TRY_STATUS(take_earlier(request, report));
  if (request.on_plan) request.on_plan(report);
  for (StageResult& stage : report.stages) {
    if (report.failed() != nullptr) break;
    if (!is_wanted(request, stage)) continue;
    if (request.is_interrupted && request.is_interrupted())
      return Failure{FailureKind::kInterrupted,
                     fmt::format("interrupted before stage {}", preflight::number_of(stage.id))};
    const Status ran = run_stage(bench, stage);
    // On real hosts a tool may be missing, or a host: that stage has no answer, others may.
    const bool is_open = !ran && !bench.is_lab() && ran.error().kind == FailureKind::kCouldNotLook;
    if (!ran && !is_open) return ran.error();
    if (is_open) {
      stage.state = State::kOpen;
      stage.why = ran.error().what;
    }
    if (auto totals = bench.take_totals()) stage.totals = std::move(totals);
    for (std::string& note : bench.rig().take_moments())
      if (ran) stage.notes.push_back(std::move(note));
    if (!bench.is_lab()) WEIR_TRY_STATUS(settle_lost(bench, stage, report));
    report.ended = bench.is_lab() ? bench.seen_until() : time_now();
    if (request.on_stage) request.on_stage(report, stage.id);
  }
  say_not_run(request, report);
  return report;
}

}  // namespace weir::ops
