// weir rollback: undoes the last apply.
#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/fleet/fleet_change.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/json/change_json.h"
#include "ops/change/apply.h"

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

/// A journal that ends in the middle of its apply: each change is written down before it is made,
/// but a file that another program cut looks like an apply that was.
std::string unknown_rest(const host::Journal& journal) {
  if (journal.phase != host::JournalPhase::kApplying || journal.steps.size() >= journal.head.steps)
    return "";
  return fmt::format(
      " Its journal has {} of the {} that were planned: it was cut off there, or the "
      "file was; weir plan shows what is left.",
      journal.steps.size(), counted(journal.head.steps, "change"));
}

/// After a restart of the machine.
std::string restarted_verdict(const StoredJournal& stored, const Rollback& done) {
  const std::string head =
      fmt::format("The machine was restarted since {}: ", stored.journal.title());
  const std::string rest = unknown_rest(stored.journal);
  if (done.survived == 0) return head + "its changes are gone." + rest;
  return head + fmt::format("{} had survived and {} undone.{}", counted(done.survived, "change"),
                            done.survived == 1 ? "was" : "were", rest);
}

/// Of a failure that weir verify injected, and its load.
std::string healed_verdict(const StoredJournal& stored, const Rollback& done) {
  const std::string load = done.stopped_load ? " Its load was still running and was stopped."
                           : done.load_error.empty()
                               ? std::string()
                               : fmt::format(" NOT ended: {}.", done.load_error);
  const std::string title = stored.journal.title();
  if (!done.heal_error.empty())
    return fmt::format(
        "{} is NOT over: {}.{} weir rollback tries again; where it is over already, remove {}.",
        title, done.heal_error, load, stored.file);
  const bool was_on = stored.journal.failure && !stored.journal.failure->is_healed;
  return fmt::format("{} {}.{}", was_on ? "Ended" : "Closed", title, load);
}

std::string rollback_verdict(const StoredJournal& stored, const Rollback& done) {
  const std::size_t steps = step_count(done.hosts);
  const std::string title = stored.journal.title();
  const bool was_on = stored.journal.failure && !stored.journal.failure->is_healed;
  if (was_on || done.stopped_load || !done.load_error.empty()) return healed_verdict(stored, done);
  if (done.was_restarted && done.is_whole) return restarted_verdict(stored, done);
  const std::string rest = unknown_rest(stored.journal);
  if (steps == 0)
    return fmt::format("Closed {}: no change to undo is in its journal.{}", title, rest);
  if (done.is_whole)
    return fmt::format("Rolled back {}: {} undone, these settings are as they were before.{}",
                       title, counted(steps, "change"), rest);
  std::size_t left = 0;
  for (const HostOutcome& host : done.hosts)
    left += static_cast<std::size_t>(std::count_if(
        host.steps.begin(), host.steps.end(),
        [](const StepOutcome& step) { return step.state == host::StepState::kNotUndone; }));
  return fmt::format("Rolled back {} in part: {} of {} could NOT be undone.{}", title, left,
                     counted(steps, "change"), rest);
}

std::string table_of(const HostOutcome& host) {
  TextTable table({"rail", "setting", "was", "is now", ""});
  for (auto outcome = host.steps.rbegin(); outcome != host.steps.rend(); ++outcome) {
    const bool is_well = outcome->state == host::StepState::kUndone;
    table.add_row({outcome->step.rail, host::name_of(outcome->step.operation.change),
                   host::value_text(outcome->step.operation.change),
                   !is_well               ? "?"
                   : outcome->step.before ? host::value_text(*outcome->step.before)
                                          : "",
                   is_well ? "" : "not undone: " + outcome->error});
  }
  return table.to_text(2);
}

/// Hosts with the same table share one.
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

/// What other programs made of settings since the apply.
std::string since_text(const std::vector<host::ChangedSince>& changed) {
  if (changed.empty()) return "";
  TextTable table({"host", "rail", "setting", "applied", "is now"});
  for (const host::ChangedSince& setting : changed)
    table.add_row({setting.host, setting.rail, host::name_of(setting.applied),
                   host::value_text(setting.applied), host::value_text(setting.found)});
  return fmt::format("{} changed since by others, and would be lost:\n{}",
                     counted(changed.size(), "setting"), table.to_text(2));
}

/// All that a person decides by.
std::string rollback_question(const ops::RollbackPlan& plan) {
  return fmt::format("{}This undoes {} of {}.{}", since_text(plan.changed_since),
                     counted(plan.journal->journal.standing(), "change"),
                     plan.journal->journal.title(),
                     plan.takes_links_down ? " PFC takes links down for a moment." : "");
}

ops::Result<ops::RollbackPlan> plan_of(const Args& args, Context& context,
                                       const ops::Source& source) {
  return ops::plan_rollback(
      source, args.get("state").value_or(""), wait_for_lock(context),
      args.has("pending") ? ops::RollbackScope::kPending : ops::RollbackScope::kLast);
}

/// A change that a user kept is not undone by accident; what was left half done is. Nothing is
/// asked or listed under the lock: a terminal that takes no output, or where nobody answers, would
/// keep the rollback of what is not confirmed from happening. So it is planned once more, and asked
/// again where that is another plan.
Consent agree_on(const Args& args, Context& context, const ops::Source& source,
                 ops::Result<ops::RollbackPlan>& plan) {
  std::string agreed;
  while (plan && plan->journal && plan->needs_consent && rollback_question(*plan) != agreed) {
    agreed = rollback_question(*plan);
    const std::string since = since_text(plan->changed_since);
    plan->lock.reset();
    if (args.has("yes")) {
      context.err << since << std::flush;
    } else if (const Consent consent = ask_consent(args, context, agreed);
               consent != Consent::kGiven) {
      return consent;
    }
    plan = plan_of(args, context, source);
  }
  return Consent::kGiven;
}

ExitCode nothing_to_do(const Args& args, Context& context, const std::string& directory) {
  const std::string verdict = fmt::format(
      "Nothing to roll back: {} has no apply {}.", directory,
      args.has("pending") ? "that awaits its confirmation, was cut off or was put back in part"
                          : "to undo");
  if (context.json) {
    print_nothing_to_roll_back_json(context, args.command(), verdict);
  } else {
    context.out << verdict << '\n';
  }
  return ExitCode::kOk;
}

void print_done(const Args& args, Context& context, const StoredJournal& stored,
                const Rollback& done, const std::vector<host::ChangedSince>& since) {
  const std::string verdict = rollback_verdict(stored, done);
  if (context.json) {
    print_rollback_json(context, args.command(), stored, done, since, verdict);
  } else {
    context.out << verdict << '\n';
    if (!context.quiet) context.out << tables_of(done);
  }
}

/// For the timer that waits for a confirmation, and at boot: asks nothing.
ExitCode settle_unconfirmed(const Args& args, Context& context) {
  if (args.has("lab") || names_fleet(args))
    return usage_error(context, args.command(), "--unconfirmed is for this machine");
  const Interruption interruption;
  const auto settled = ops::settle(args.get("state").value_or(""));
  Interruption::ignore_from_here();
  if (!settled) return fail(context, args.command(), settled.error());
  if (!settled->was_rolled_back) {
    const std::string verdict =
        settled->journal
            ? fmt::format("{} was confirmed or rolled back while this waited.",
                          settled->journal->journal.title())
            : fmt::format("Nothing to roll back: every apply in {} is confirmed or rolled back.",
                          settled->directory);
    if (context.json) {
      print_nothing_to_roll_back_json(context, args.command(), verdict);
    } else {
      context.out << verdict << '\n';
    }
    return ExitCode::kOk;
  }
  print_done(args, context, *settled->journal, settled->rollback, {});
  return settled->rollback.is_whole ? ExitCode::kOk : ExitCode::kPartial;
}

ExitCode run_rollback(const Args& args, Context& context) {
  if (args.has("unconfirmed") && args.has("pending"))
    return usage_error(context, args.command(),
                       "--unconfirmed waits for the deadline, --pending does not: name one");
  if (args.has("unconfirmed")) return settle_unconfirmed(args, context);
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  if (source->fleet)
    return run_fleet_change(
        args, context, *source->fleet,
        args.has("pending") ? ops::FleetVerb::kRollbackPending : ops::FleetVerb::kRollback);
  auto plan = plan_of(args, context, *source);
  const Consent consent = agree_on(args, context, *source, plan);
  if (consent != Consent::kGiven) return exit_for(consent);
  if (!plan) return fail(context, args.command(), plan.error());
  if (!plan->journal) {
    plan->lock.reset();
    return nothing_to_do(args, context, plan->state.name());
  }
  const Interruption interruption;  // an undoing is not interrupted
  const auto done = ops::roll_back(*plan);
  Interruption::ignore_from_here();
  plan->lock.reset();  // as weir apply: nothing is printed under it
  if (!done) return fail(context, args.command(), done.error());
  print_done(args, context, *plan->journal, *done, plan->changed_since);
  return done->is_whole ? ExitCode::kOk : ExitCode::kPartial;
}

}  // namespace

Command rollback_command() {
  return {
      .name = "rollback",
      .group = Group::kOperators,
      .summary = "undo the last apply",
      .description =
          "Restores every setting that the last weir apply changed, in reverse order, and reads "
          "each "
          "back from the driver; other settings are not touched. After a weir apply that was "
          "killed, it completes the rollback; after a weir verify --under-failure that was killed, "
          "it ends the failure and the load. What other programs changed since is shown first. "
          "Typed again, it undoes the apply before. On a fleet each host's own weir does it, all "
          "at once.",
      .options = with_change_options(with_lab_option(
          {{.name = "unconfirmed",
            .help = "only an apply that is not confirmed in time (waits until then), was cut "
                    "off or put back in part; asks nothing"},
           {.name = "pending",
            .help = "only an apply that still awaits its confirmation, was cut off or put back "
                    "in part, at once; an apply that was confirmed stays"}})),
      .refuses = {{.name = "host", .why = "an apply is undone as a whole: leave it out"},
                  {.name = "root", .why = "a captured machine cannot be changed"}},
      .examples = {{"sudo weir rollback", "this host as it was before the last apply"},
                   {"weir rollback --lab lab", "the hosts of a lab"},
                   {"weir rollback --hosts gpu[001-128] --sudo", "every host of a fleet"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial, ExitCode::kInterrupted},
      .takes_fleet = true,
      .changes = true,
      .run = run_rollback,
  };
}

}  // namespace weir::cli
