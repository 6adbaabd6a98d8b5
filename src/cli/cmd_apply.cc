// weir apply: makes the hosts what the design wants, and nothing else.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/plan_text.h"
#include "cli/planning.h"
#include "cli/progress.h"
#include "host/apply.h"

namespace weir::cli {
namespace {

using host::HostOutcome;
using host::HostPlan;
using host::StepOutcome;
using host::StepState;

host::HostIo* find_io(const HostSet& set, const std::string& name) {
  const auto found = std::find_if(set.hosts.begin(), set.hosts.end(),
                                  [&](const auto& host) { return host->name() == name; });
  return found == set.hosts.end() ? nullptr : found->get();
}

/// Host by host; the first failure ends it, and hosts after that one stay as they are.
std::vector<HostOutcome> apply_all(const Planning& planning, Context& context) {
  Progress progress(context.err, context.stderr_is_terminal, "applying");
  const std::size_t total = std::max<std::size_t>(step_count(planning.plans), 1);
  std::size_t done = 0;
  std::vector<HostOutcome> outcomes;
  for (const HostPlan& plan : planning.plans) {
    host::HostIo* io = find_io(planning.set, plan.host);
    WEIR_CHECK(io != nullptr);
    outcomes.push_back(host::apply_plan(*io, plan, [&](const host::Step& /*step*/) {
      progress.update(static_cast<double>(done++) / static_cast<double>(total), plan.host);
    }));
    if (!outcomes.back().is_done()) break;
  }
  return outcomes;
}

std::size_t count_of(const std::vector<HostOutcome>& outcomes, StepState state) {
  std::size_t count = 0;
  for (const HostOutcome& outcome : outcomes)
    count += static_cast<std::size_t>(
        std::count_if(outcome.steps.begin(), outcome.steps.end(),
                      [&](const StepOutcome& step) { return step.state == state; }));
  return count;
}

std::size_t changed_hosts(const std::vector<HostOutcome>& outcomes) {
  return static_cast<std::size_t>(std::count_if(
      outcomes.begin(), outcomes.end(),
      [](const HostOutcome& outcome) { return outcome.is_done() && !outcome.steps.empty(); }));
}

std::string verdict_of(const Planning& planning, const std::vector<HostOutcome>& outcomes) {
  const std::string simulated = simulated_word(planning.seen.is_simulated());
  const std::string& file = planning.input.design.file;
  if (!outcomes.empty() && !outcomes.back().is_done()) {
    const HostOutcome& failed = outcomes.back();
    const std::string rest =
        failed.is_restored() ? "it is as it was before" : "NOT all of it could be undone";
    return fmt::format("{}{} failed and {}: {}.", failed.host, simulated, rest, failed.failure);
  }
  const std::size_t steps = step_count(planning.plans);
  if (steps == 0)
    return fmt::format(
        "Nothing to do on {}{}: every setting that can be changed is as {} wants it.",
        counted(planning.plans.size(), "host"), simulated, file);
  const std::size_t unconfirmed = count_of(outcomes, StepState::kUnconfirmed);
  const std::string confirmed =
      unconfirmed == 0
          ? "each read back from the driver"
          : fmt::format("read back but for {} that the driver does not show", unconfirmed);
  return fmt::format("Applied {} on {}{}, {}.", counted(steps, "change"),
                     counted(changed_hosts(outcomes), "host"), simulated, confirmed);
}

/// After a failure: every step of that host, and which hosts were done or not tried.
std::string failure_text(const Planning& planning, const std::vector<HostOutcome>& outcomes) {
  const HostOutcome& failed = outcomes.back();
  std::string text = fmt::format("\n{}\n", failed.host);
  TextTable table({"rail", "setting", "was", "tried", "now"});
  for (const StepOutcome& outcome : failed.steps) {
    const host::Step& step = outcome.step;
    const std::string error = outcome.error.empty() ? "" : ": " + outcome.error;
    table.add_row({step.rail, host::name_of(step.operation.change),
                   step.before ? host::value_text(*step.before) : "?",
                   host::value_text(step.operation.change),
                   std::string(host::to_text(outcome.state)) + error});
  }
  text += table.to_text(2);
  if (outcomes.size() > 1)
    text +=
        fmt::format("{} before it changed and stay so.\n", counted(outcomes.size() - 1, "host"));
  if (outcomes.size() < planning.plans.size())
    text += fmt::format("{} after it not touched.\n",
                        counted(planning.plans.size() - outcomes.size(), "host"));
  return text;
}

Json outcome_json(const HostOutcome& outcome) {
  Json steps = Json::array();
  for (const StepOutcome& one : outcome.steps) {
    Json step = step_json(one.step);
    step["state"] = host::to_text(one.state);
    step["error"] = one.error;
    steps.push_back(std::move(step));
  }
  return {{"host", outcome.host},
          {"done", outcome.is_done()},
          {"restored", !outcome.is_done() && outcome.is_restored()},
          {"failure", outcome.failure},
          {"steps", std::move(steps)}};
}

std::vector<std::string> next_of(const Planning& planning, bool is_failed) {
  if (is_failed) return {fmt::format("weir plan{}", planning.words)};
  return {fmt::format("weir validate{}", planning.words)};
}

ExitCode run_apply(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto planning = make_plans(args, context, code);
  if (!planning) return code;
  // A lab's hosts are one file: written once for all of them.
  lab::Lab* const lab = planning->set.lab ? &*planning->set.lab : nullptr;
  if (lab != nullptr) {
    if (const Status begun = lab->begin(); !begun)
      return fail(context, ExitCode::kCouldNotLook, begun.error().what);
  }
  const std::vector<HostOutcome> outcomes = apply_all(*planning, context);
  if (lab != nullptr) {
    if (const Status written = lab->commit(); !written)
      return fail(context, ExitCode::kRolledBack, written.error().what);
  }
  const bool is_failed = !outcomes.empty() && !outcomes.back().is_done();
  const bool is_partial = !planning->seen.unseen.empty() || unread_count(planning->plans) > 0;
  code = is_failed ? ExitCode::kRolledBack : is_partial ? ExitCode::kPartial : ExitCode::kOk;
  const std::string verdict = verdict_of(*planning, outcomes);
  const std::vector<std::string> next = next_of(*planning, is_failed);
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["design"] = planning->input.design.file;
    object["changed"] =
        count_of(outcomes, StepState::kDone) + count_of(outcomes, StepState::kUnconfirmed);
    object["hosts"] = Json::array();
    for (const HostOutcome& outcome : outcomes)
      object["hosts"].push_back(outcome_json(outcome));
    object["unseen"] = planning->seen.unseen;
    object["next"] = next;
    print_json(context, object);
    return code;
  }
  context.out << verdict << '\n';
  if (context.quiet) return code;
  context.out << (is_failed ? failure_text(*planning, outcomes)
                            : plan_table(planning->plans, Tense::kIsNow));
  context.out << "\nnext:\n  " << join(next, "\n  ") << '\n';
  return code;
}

}  // namespace

Command apply_command() {
  return {
      .name = "apply",
      .group = Group::kOperators,
      .summary = "make the hosts what the design wants, and nothing else",
      .description =
          "Changes what weir plan lists and nothing else, in the safe order, and reads each change "
          "back from the driver. Where a change fails, does not show or costs the link, everything "
          "done on that host is undone. A second apply changes nothing.",
      .arguments = {design_argument()},
      .options = with_host_options(),
      .examples = {{"weir apply --lab lab --host gpu03", "one host first"},
                   {"weir apply --lab lab", "then all of them"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial, ExitCode::kRolledBack},
      .rows = {"B1", "B2"},
      .run = run_apply,
  };
}

}  // namespace weir::cli
