#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "ops/inspect/validate.h"
#include "ops/verify/stage.h"

namespace weir::ops {
namespace {

/// What goes on where nothing is started yet. A lab is still by itself.
std::vector<evidence::Evidence> idle_window(const Stage& stage, const Observation& first) {
  if (stage.set.lab) return {};
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return window_of(first.all(), observe(stage.set).all());
}

diagnose::LoadClaim claim_of(const Drive& drive, const host::LoadReport& load) {
  diagnose::LoadClaim claim;
  claim.host = drive.ran_on;
  claim.program = load.name();
  claim.exit_status = drive.outcome.exit_status;
  claim.claims_data = load.perftest.is_there() || load.collective.is_there();
  claim.expected = load.expected;
  claim.is_inbound = load.flow == host::Flow::kIn;
  claim.device = load.perftest.device;
  claim.used_sockets = load.collective.network == "Socket";
  if (load.perftest_command) claim.tclass = load.perftest_command->tclass;
  claim.problems = load.problems;
  claim.sees_all_ends = drive.sees_all_ends;
  return claim;
}

}  // namespace

Result<Stage> set_up(const VerifyRequest& request) {
  WEIR_TRY(set, open_hosts(request.source));
  if (set.are_captured) return bad_request("nothing can be run on a captured machine");
  WEIR_TRY(fabric, fabric_for(request.design, set));
  std::string ran_on = set.hosts.front()->name();
  WEIR_TRY(everyone, with_whole_lab(std::move(set)));
  return Stage{std::move(everyone), std::move(fabric), std::move(ran_on), request.thresholds};
}

Result<Watched> watch_command(Stage& stage, const std::vector<std::string>& words,
                              const ProgressCallback& progress, bool watches_idle,
                              const host::LoadControl& control) {
  Watched out;
  WEIR_TRY(before, observe_some(stage.set));
  if (watches_idle) {
    out.drive.idle = idle_window(stage, before);
    if (!out.drive.idle.empty()) before = observe(stage.set);
  }
  if (stage.set.lab) stage.set.lab->on_progress([&](double share) { tell(progress, share); });
  std::string left;
  host::LoadControl controlled = control;
  controlled.on_left = [&](const std::string& why) {
    left = why;
    if (control.on_left) control.on_left(why);
  };
  auto ran = stage.set.named(stage.ran_on).run(words, controlled);
  if (!left.empty()) return Failure{FailureKind::kLeft, std::move(left)};
  if (control.is_interrupted && control.is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted: the load was stopped"};
  WEIR_TRY(outcome, or_could_not_look(std::move(ran)));
  constexpr int kNotFound = 127;  // POSIX, Shell Command Language: the command was not found
  if (outcome.exit_status == kNotFound)
    return could_not_look(
        fmt::format("{} was not run on {} (status 127): {}", join(words, " "), stage.ran_on,
                    outcome.errors.empty() ? "the command was not found" : trim(outcome.errors)));
  // A lab reads the words of a load itself, and has run nothing where they are wrong.
  constexpr int kUsage = 2;
  if (stage.set.lab && outcome.exit_status == kUsage && outcome.output.empty())
    return bad_input(std::string(trim(outcome.errors)));
  out.after = observe(stage.set);
  out.drive.words = words;
  out.drive.ran_on = stage.ran_on;
  out.drive.outcome = std::move(outcome);
  out.drive.sees_all_ends = stage.set.lab.has_value();
  out.window = window_of(before.all(), out.after.all());
  return out;
}

std::vector<evidence::Evidence> window_of(const std::vector<evidence::Evidence>& before,
                                          const std::vector<evidence::Evidence>& after) {
  std::vector<evidence::Evidence> window = after;
  for (evidence::Evidence& piece : window) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const auto& other) {
      return other.provenance.host == piece.provenance.host;
    });
    if (same == before.end() || same->snapshots.empty()) continue;
    piece.snapshots.insert(piece.snapshots.begin(), same->snapshots.back());
  }
  return window;
}

Verified judge_drive(Drive drive, const diagnose::View& view) {
  Verified verified;
  verified.load = host::read_load(drive.words, drive.outcome);
  verified.judged = diagnose::judge_load(view, claim_of(drive, verified.load), drive.idle);
  verified.totals = diagnose::totals_of(view);
  verified.drive = std::move(drive);
  verified.is_simulated = std::any_of(view.evidence().begin(), view.evidence().end(),
                                      [](const auto& piece) { return piece.provenance.simulated; });
  return verified;
}

Result<Verified> verify_load(const VerifyRequest& request,
                             const std::vector<std::string>& command) {
  WEIR_TRY(stage, set_up(request));
  WEIR_TRY(watched, watch_command(stage, command, request.progress, true,
                                  {.is_interrupted = request.is_interrupted}));
  Verified verified =
      judge_drive(std::move(watched.drive), diagnose::View(stage.subject(watched.window)));
  add_unseen(watched.after, verified.judged.judgement);
  return verified;
}

}  // namespace weir::ops
