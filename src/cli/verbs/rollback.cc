// weir rollback: puts back what the last apply changed.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/applying.h"

namespace weir::cli {
namespace {

using host::HostOutcome;
using host::Rollback;
using host::StepOutcome;
using host::StoredJournal;

std::size_t step_count(const std::vector<HostOutcome>& hosts) {
  std::size_t count = 0;
  for (const HostOutcome& host : hosts)
    count += host.steps.size();
  return count;
}

/// "the apply of fabric.yaml at 2026-11-15T12:03:44Z".
std::string name_of(const StoredJournal& stored) {
  const host::JournalHead& head = stored.journal.head;
  return fmt::format("the apply of {} at {}", head.design, head.time);
}

std::string verdict_of(const StoredJournal& stored, const Rollback& done) {
  const std::size_t steps = step_count(done.hosts);
  if (done.was_restarted)
    return fmt::format("The machine was restarted since {}: what it changed went with that.",
                       name_of(stored));
  if (steps == 0) return fmt::format("Ended {}: it had changed nothing yet.", name_of(stored));
  if (done.is_whole)
    return fmt::format("Rolled back {}: {} put back, every setting is as it was before.",
                       name_of(stored), counted(steps, "change"));
  std::size_t left = 0;
  for (const HostOutcome& host : done.hosts)
    left += static_cast<std::size_t>(std::count_if(
        host.steps.begin(), host.steps.end(),
        [](const StepOutcome& step) { return step.state == host::StepState::kNotUndone; }));
  return fmt::format("Rolled back {} in part: {} of {} could NOT be put back.", name_of(stored),
                     left, counted(steps, "change"));
}

std::string table_of(const HostOutcome& host) {
  TextTable table({"rail", "setting", "was", "is again", ""});
  for (auto one = host.steps.rbegin(); one != host.steps.rend(); ++one) {
    const bool is_well = one->state == host::StepState::kUndone;
    table.add_row({one->step.rail, host::name_of(one->step.operation.change),
                   host::value_text(one->step.operation.change),
                   !is_well           ? "?"
                   : one->step.before ? host::value_text(*one->step.before)
                                      : "",
                   is_well ? "" : "not put back: " + one->error});
  }
  return table.to_text(2);
}

/// Hosts with the same table are told once.
std::string tables_of(const Rollback& done) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const HostOutcome& host : done.hosts) {
    if (host.steps.empty()) continue;
    const std::string table = table_of(host);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == table; });
    if (same == groups.end()) {
      groups.push_back({table, {host.host}});
    } else {
      same->second.push_back(host.host);
    }
  }
  std::string text;
  for (const auto& [table, hosts] : groups)
    text += fmt::format("\n{}\n{}", compact_names(hosts), table);
  return text;
}

Json json_of(const Command& command, const StoredJournal& stored, const Rollback& done) {
  Json object = json_object(command);
  object["verdict"] = verdict_of(stored, done);
  object["journal"] = stored.file;
  object["design"] = stored.journal.head.design;
  object["applied"] = stored.journal.head.time;
  object["whole"] = done.is_whole;
  object["restarted"] = done.was_restarted;
  object["steps"] = Json::array();
  for (const HostOutcome& host : done.hosts) {
    for (const StepOutcome& one : host.steps) {
      Json step = step_json(one.step);
      step["host"] = host.host;
      step["state"] = host::to_text(one.state);
      step["error"] = one.error;
      object["steps"].push_back(std::move(step));
    }
  }
  return object;
}

/// A change that somebody kept is not put back by accident; what was left half done is.
bool is_agreed(const Args& args, Context& context, const HostSet& set, const StoredJournal& stored,
               ExitCode& code) {
  if (set.lab || stored.journal.is_open()) return true;
  const bool is_flap = std::any_of(
      stored.journal.steps.begin(), stored.journal.steps.end(), [](const host::JournalStep& step) {
        return std::holds_alternative<host::SetPfc>(step.operation.change) &&
               step.state != host::JournalStepState::kUndone;
      });
  return may_go_on(
      args, context,
      fmt::format("This puts back {} of {}.{}", counted(stored.journal.standing(), "change"),
                  name_of(stored), is_flap ? " PFC takes links down for a moment." : ""),
      code);
}

ExitCode report(const Args& args, Context& context, const StoredJournal& stored,
                const Rollback& done) {
  const ExitCode code = done.is_whole ? ExitCode::kOk : ExitCode::kPartial;
  if (context.json) {
    print_json(context, json_of(args.command(), stored, done));
    return code;
  }
  context.out << verdict_of(stored, done) << '\n';
  if (!context.quiet) context.out << tables_of(done);
  return code;
}

ExitCode nothing_to_do(const Args& args, Context& context, const std::string& directory) {
  const std::string verdict =
      fmt::format("Nothing to roll back: {} has no apply that stands.", directory);
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["journal"] = nullptr;
    object["whole"] = true;
    object["steps"] = Json::array();
    print_json(context, object);
  } else {
    context.out << verdict << '\n';
  }
  return ExitCode::kOk;
}

ExitCode run_rollback(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  if (args.has("host"))
    return fail(context, ExitCode::kUsage, "an apply is put back as a whole: leave --host out");
  auto set = open_hosts(args, context, code);
  if (!set) return code;
  if (!set->captures.empty())
    return fail(context, ExitCode::kUsage, "a captured machine cannot be changed");
  const host::StateDirectory state = state_of(args, *set);
  if (const Status ready = state.prepare(); !ready) return fail_state(context, ready.error());
  const auto lock = state.lock();
  if (!lock) return fail_state(context, lock.error());
  const auto found = state.last_standing();
  if (!found) return fail_state(context, found.error());
  if (!*found) return nothing_to_do(args, context, state.path());
  const StoredJournal& stored = **found;
  if (!is_agreed(args, context, *set, stored, code)) return code;

  const Interruption interruption;  // an undoing is not interrupted
  host::ApplyEnvironment environment = apply_environment(*set);
  environment.is_interrupted = {};
  if (set->lab) {
    if (const Status begun = set->lab->begin(); !begun)
      return fail(context, ExitCode::kCouldNotLook, begun.error().what);
  }
  const auto done =
      host::roll_back(state, stored, finder_of(*set), set->lab ? std::string() : host::boot_id(),
                      "asked for", environment);
  if (set->lab) {
    if (const Status written = set->lab->commit(); !written)
      return fail(context, ExitCode::kCouldNotLook, written.error().what);
  }
  if (!done) return fail_state(context, done.error());
  return report(args, context, stored, *done);
}

}  // namespace

Command rollback_command() {
  return {
      .name = "rollback",
      .group = Group::kOperators,
      .summary = "put back what the last apply changed",
      .description =
          "Puts back every setting that the last weir apply changed, the last change first, and "
          "reads each back from the driver; settings it did not change are not touched. After a "
          "weir apply that was killed it finishes the undoing. Given again, it goes one apply "
          "further back.",
      .options = with_change_options(with_host_options()),
      .examples = {{"sudo weir rollback", "this host as it was before the last apply"},
                   {"weir rollback --lab lab", "the hosts of a lab"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"B2"},
      .run = run_rollback,
  };
}

}  // namespace weir::cli
