// weir apply: makes the hosts match the design, and changes nothing else.
#include "ops/change/apply.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "cli/fleet/apply_waves.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/frame/progress.h"
#include "cli/json/change_json.h"
#include "cli/text/plan_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using host::HostOutcome;
using host::StepOutcome;
using host::StepState;

/// The hosts that were changed, of which nothing or something is left.
std::string hosts_text(const ops::Applied& applied, bool are_restored) {
  std::vector<std::string> names;
  for (const HostOutcome& host : applied.hosts)
    if (!host.steps.empty() && host.is_restored() == are_restored) names.push_back(host.host);
  return compact_names(names);
}

std::string failed_verdict(const ops::Applied& applied, const std::string& simulated) {
  const HostOutcome& failed = applied.hosts.back();
  const std::string head = failed.was_interrupted
                               ? fmt::format("Interrupted at {}{}", failed.host, simulated)
                               : fmt::format("{}{} failed", failed.host, simulated);
  const bool is_alone = applied.hosts.size() == 1 && !failed.was_interrupted;
  const std::string who = is_alone ? " and" : ", and " + hosts_text(applied, applied.is_restored());
  const std::string rest = !applied.is_restored()      ? "could NOT be rolled back completely"
                           : applied.hosts.size() == 1 ? "was rolled back"
                                                       : "were rolled back";
  return fmt::format("{}{} {}: {}.", head, who, rest, failed.failure);
}

/// Of an apply that did nothing while an earlier one is not ended; empty where none is.
std::string pending_text(const ops::Transaction& transaction, const std::string& words) {
  if (!transaction.pending) return "";
  const ops::Pending& pending = *transaction.pending;
  if (!pending.left)
    return fmt::format("{} is {}: weir rollback{} undoes it.", pending.title,
                       host::to_text(pending.phase), words);
  return fmt::format(
      "NOT confirmed yet: {} is rolled back in {} unless weir confirm{} is typed; weir rollback{} "
      "undoes it now.",
      pending.title, to_text(*pending.left), words, words);
}

std::string apply_verdict(const ops::Plan& plan, const ops::Applied& applied) {
  const std::string simulated = simulated_word(plan.seen.is_simulated());
  if (applied.is_failed()) return failed_verdict(applied, simulated);
  const std::size_t steps = plan.step_count();
  if (steps == 0)
    return fmt::format("Nothing to do on {}{}: every setting that can be changed matches {}.",
                       counted(plan.hosts.size(), "host"), simulated, plan.fabric.design.file);
  const auto changed = static_cast<std::size_t>(std::count_if(
      applied.hosts.begin(), applied.hosts.end(),
      [](const HostOutcome& outcome) { return outcome.is_done() && !outcome.steps.empty(); }));
  const std::size_t unconfirmed = applied.count(StepState::kUnconfirmed);
  const std::string confirmed =
      unconfirmed == 0
          ? "each read back from the driver"
          : fmt::format("read back from the driver except {} that it does not report", unconfirmed);
  return fmt::format("Applied {} on {}{}, {}.", counted(steps, "change"), counted(changed, "host"),
                     simulated, confirmed);
}

/// After a failure: every step of that host, and which hosts were done or not tried.
std::string failure_text(const ops::Plan& plan, const ops::Applied& applied) {
  const HostOutcome& failed = applied.hosts.back();
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
  if (applied.hosts.size() > 1)
    text += fmt::format(
        "{} before it: {}.\n", counted(applied.hosts.size() - 1, "host"),
        applied.is_restored() ? "rolled back too" : "not all of it rolled back: weir rollback");
  if (applied.hosts.size() < plan.hosts.size())
    text += fmt::format("{} after it: not touched.\n",
                        counted(plan.hosts.size() - applied.hosts.size(), "host"));
  return text;
}

/// Steps with the same risk named once: what a person is asked about.
std::string question_of(const ops::Plan& plan) {
  std::vector<std::string> risks;
  for (const host::HostPlan& host : plan.hosts) {
    for (const host::Step& step : host.steps) {
      if (step.risk.empty()) continue;
      const std::string risk =
          fmt::format("{}: {}", host::name_of(step.operation.change), step.risk);
      if (std::find(risks.begin(), risks.end(), risk) == risks.end()) risks.push_back(risk);
    }
  }
  if (risks.empty()) return "";
  return fmt::format("{} to make.\n  {}\n", counted(plan.step_count(), "change"),
                     join(risks, "\n  "));
}

ops::Result<ops::ApplyRequest> apply_request(const Args& args, const Context& context) {
  ops::ApplyRequest request;
  request.state = args.get("state").value_or("");
  request.tool = version_line();
  request.is_interrupted = Interruption::has_come;
  request.despite_lint = args.has("despite-lint");
  request.expect = args.get("expect").value_or("");
  request.wait = wait_for_lock(context);
  const auto text = args.get("confirm-within");
  if (!text) return request;
  const auto within = parse_duration(*text);
  constexpr Duration kLeast = 5_s;
  constexpr Duration kMost = 86400_s;
  if (!within || *within < kLeast || *within > kMost)
    return ops::bad_request(fmt::format(
        "--confirm-within {}: expected a time from 5s to 24h, such as 120s or 5min", *text));
  request.confirm_within = *within;
  return request;
}

ExitCode code_of(const ops::Plan& plan, const ops::Applied& applied) {
  if (applied.is_failed()) {
    const HostOutcome& failed = applied.hosts.back();
    if (failed.was_interrupted) return ExitCode::kInterrupted;
    return failed.was_refused ? ExitCode::kCouldNotLook : ExitCode::kRolledBack;
  }
  return plan.is_partial() ? ExitCode::kPartial : ExitCode::kOk;
}

std::string guard_text(const host::JournalGuard& guard) {
  return guard.unit.empty() ? "a process waits for it" : guard.unit + ".timer";
}

void print_applied(const Args& args, Context& context, const ops::Transaction& transaction,
                   const ops::Applied& applied) {
  const ops::Plan& plan = transaction.plan;
  const bool is_awaiting = applied.confirm_until && !applied.is_failed();
  std::string verdict = apply_verdict(plan, applied);
  std::vector<std::string> next;
  if (is_awaiting) {
    verdict += fmt::format(" Rolled back in {} unless weir confirm is typed ({}).",
                           args.value("confirm-within"), guard_text(*applied.guard));
    next.push_back(fmt::format("weir confirm{}", state_words(args)));
  }
  if (transaction.pending) {
    verdict += " " + pending_text(transaction, state_words(args));
    if (transaction.pending->left) next.push_back("weir confirm" + state_words(args));
    next.push_back("weir rollback" + state_words(args));
  }
  next.push_back((applied.is_failed() ? "weir plan" : "weir validate") + plan_words(args));
  if (context.json)
    return print_applied_json(context, args.command(), transaction, applied, verdict, next);
  context.out << verdict << '\n';
  if (context.quiet) return;
  context.out << (applied.is_failed() ? failure_text(plan, applied)
                                      : plan_table(plan.hosts, Tense::kIsNow));
  context.out << "\nnext:\n  " << join(next, "\n  ") << '\n';
}

/// weir-settle.service reads one directory.
std::string boot_note(const Args& args) {
  const std::string state = args.get("state").value_or(std::string(host::kDefaultStateDirectory));
  if (args.has("lab") || !args.has("confirm-within") || state == host::kDefaultStateDirectory)
    return "";
  return fmt::format(
      "weir: nothing settles {} at boot: after a restart of this machine type weir rollback{}\n",
      printable_line(state), state_words(args));
}

ExitCode run_apply(const Args& args, Context& context) {
  const auto planned = plan_request(args, context);
  if (!planned) return fail(context, args.command(), planned.error());
  auto request = apply_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  if (asks_for_waves(args, *planned) && args.has("expect"))
    return usage_error(context, args.command(),
                       "--expect is of this host: waves say it themselves");
  if (asks_for_waves(args, *planned)) return run_waves(args, context, *planned, *request);
  if (const std::string note = boot_note(args); !note.empty() && !context.quiet)
    context.err << note << std::flush;
  auto transaction = ops::begin_apply(*planned, *request);
  if (!transaction) return fail(context, args.command(), transaction.error());
  // Nothing is left to do, and what an earlier apply did awaits its confirmation: no output of this
  // one keeps its rollback from the lock.
  if (transaction->pending) transaction->lock.reset();
  const ops::Plan& plan = transaction->plan;
  if (!transaction->left.empty()) context.err << "weir: " << transaction->left << '\n';
  print_unseen(plan.seen, context);
  const std::string question = plan.set.lab || plan.set.are_captured ? "" : question_of(plan);
  if (!question.empty()) {
    const Consent consent = ask_consent(args, context, question);
    if (consent != Consent::kGiven) return exit_for(consent);
  }
  context.out.flush();
  context.err.flush();
  const Interruption interruption;
  Progress bar(context.err, context.stderr_is_terminal, "applying");
  request->progress = bar.callback();
  const auto applied = ops::apply(*transaction, *request);
  Interruption::ignore_from_here();
  // Nothing is printed under the lock: a terminal that does not take it would keep others out, and
  // the rollback of what is not confirmed.
  transaction->lock.reset();
  bar.clear();
  if (!applied) return fail(context, args.command(), applied.error());
  print_applied(args, context, *transaction, *applied);
  return code_of(plan, *applied);
}

std::vector<Option> apply_options() {
  std::vector<Option> own = {
      {.name = "confirm-within",
       .metavar = "TIME",
       .help = "roll back unless weir confirm is typed in time, such as 120s"},
      {.name = "expect",
       .metavar = "DIGEST",
       .help = "only the design with this digest: what weir sends to a fleet"},
      despite_lint_option()};
  for (Option& option : wave_options())
    own.push_back(std::move(option));
  return with_change_options(with_live_host_options(std::move(own)));
}

}  // namespace

Command apply_command() {
  return {
      .name = "apply",
      .group = Group::kOperators,
      .summary = "configure the hosts as designed, and change nothing else",
      .description =
          "Makes the changes that weir plan lists, in a safe order. Each is recorded first, so "
          "that "
          "it can be undone even after a crash, and read back from the driver. If a change fails, "
          "is not reported back, or takes the link down for good, or on Ctrl-C, SIGTERM or SIGHUP, "
          "all "
          "of it is rolled back, on every host. A second apply changes nothing, and is refused "
          "where "
          "it would while the first is not confirmed. On a fleet each host is changed by its own "
          "weir, in waves: a canary, a batch, the rest; each host rolls itself back unless it is "
          "confirmed, and the first red flag ends it and rolls its wave back.",
      .arguments = {design_argument()},
      .options = apply_options(),
      .refuses = {{.name = "root",
                   .why = "a captured machine cannot be changed: weir plan shows what would "
                          "change"}},
      .examples = {{"sudo weir apply fabric.yaml --confirm-within 120s", "this host"},
                   {"weir apply --lab lab", "all hosts of a lab"},
                   {"weir apply --hosts gpu[001-128] --sudo", "a fleet, in waves"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial, ExitCode::kRolledBack, ExitCode::kInterrupted},
      .takes_fleet = true,
      .changes = true,
      .run = run_apply,
  };
}

}  // namespace weir::cli
