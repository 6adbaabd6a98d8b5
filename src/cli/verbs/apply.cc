// weir apply: makes the hosts what the design wants, and nothing else.
#include "host/change/apply.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/progress.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/applying.h"
#include "cli/verbs/planning.h"
#include "host/change/watchdog.h"
#include "host/linux/host.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using host::HostOutcome;
using host::HostPlan;
using host::StepOutcome;
using host::StepState;

/// Host by host; the first failure ends it, and hosts after that one stay as they are.
std::vector<HostOutcome> apply_all(const Planning& planning, Context& context,
                                   host::JournalWriter& journal) {
  Progress progress(context.err, context.stderr_is_terminal, "applying");
  const std::size_t total = std::max<std::size_t>(step_count(planning.plans), 1);
  std::size_t done = 0;
  const host::HostFinder find_host = finder_of(planning.set);
  std::vector<HostOutcome> outcomes;
  for (const HostPlan& plan : planning.plans) {
    host::HostIo* io = find_host(plan.host);
    WEIR_CHECK(io != nullptr);
    host::ApplyEnvironment environment = apply_environment(planning.set);
    environment.before_step = [&](const host::Step& /*step*/) {
      progress.update(static_cast<double>(done++) / static_cast<double>(total), plan.host);
    };
    outcomes.push_back(host::apply_plan(*io, plan, &journal, environment));
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

struct Confirmation {
  Duration within;
  std::int64_t until = 0;  // Unix seconds
};

std::vector<std::string> next_of(const Args& args, const Planning& planning, bool is_failed,
                                 const std::optional<Confirmation>& confirmation) {
  if (is_failed) return {fmt::format("weir plan{}", planning.words)};
  std::vector<std::string> next;
  if (confirmation) next.push_back(fmt::format("weir confirm{}", state_words(args, planning.set)));
  next.push_back(fmt::format("weir validate{}", planning.words));
  return next;
}

/// nullopt with kOk: not asked for.
std::optional<Confirmation> confirmation_of(const Args& args, Context& context, bool is_lab,
                                            ExitCode& code) {
  const auto text = args.get("confirm-within");
  if (!text) return std::nullopt;
  const auto within = parse_duration(*text);
  constexpr Duration kLeast = 5_s;
  constexpr Duration kMost = 86400_s;
  if (!within || *within < kLeast || *within > kMost || is_lab) {
    code = fail(context, ExitCode::kUsage,
                is_lab ? "--confirm-within is for this machine: a lab cannot be cut off"
                       : fmt::format("--confirm-within {}: expected a time from 5s to 24h, as in "
                                     "120s",
                                     *text));
    return std::nullopt;
  }
  return Confirmation{*within, 0};
}

/// Steps with the same risk told once: what a person is asked about.
std::string question_of(const Planning& planning) {
  std::vector<std::string> risks;
  for (const HostPlan& plan : planning.plans) {
    for (const host::Step& step : plan.steps) {
      if (step.risk.empty()) continue;
      const std::string risk =
          fmt::format("{}: {}", host::name_of(step.operation.change), step.risk);
      if (std::find(risks.begin(), risks.end(), risk) == risks.end()) risks.push_back(risk);
    }
  }
  if (risks.empty()) return "";
  return fmt::format("{} to make.\n  {}\n", counted(step_count(planning.plans), "change"),
                     join(risks, "\n  "));
}

/// An apply that nobody ended stands in the way of the next.
ExitCode refuse_open(Context& context, const host::StoredJournal& open, const std::string& words) {
  const bool is_awaiting = open.journal.phase == host::JournalPhase::kAwaiting;
  return fail(
      context, ExitCode::kCouldNotLook,
      fmt::format("the apply of {} at {} is {}: {}weir rollback{} puts it back",
                  open.journal.head.design, open.journal.head.time,
                  host::to_text(open.journal.phase),
                  is_awaiting ? fmt::format("weir confirm{} keeps it, ", words) : "", words));
}

/// In a lab the time is the lab's.
host::JournalHead head_of(const Planning& planning) {
  return {.time = planning.set.lab ? planning.seen.hosts.front().provenance.time : time_now(),
          .tool = version_line(),
          .design = planning.input.design.file,
          .boot = planning.set.lab ? std::string() : host::boot_id(),
          .steps = static_cast<unsigned>(step_count(planning.plans))};
}

/// In the watchdog's process, which has no terminal and perhaps not even the files of its session.
Status roll_back_unconfirmed(const host::StateDirectory& state, const host::StoredJournal& stored,
                             std::string_view reason) {
  HostSet set;
  set.hosts.push_back(host::make_linux_host());
  host::ApplyEnvironment environment = apply_environment(set);
  environment.is_interrupted = {};
  WEIR_TRY(done,
           host::roll_back(state, stored, finder_of(set), host::boot_id(), reason, environment));
  if (done.is_whole) return {};
  return Error{ErrorCode::kIo, "not all of it could be put back: weir rollback tries again"};
}

/// Makes the changes and writes down how it ended; nullopt where it could not begin, and `code`
/// says why.
std::optional<std::vector<HostOutcome>> make_changes(const Args& args, Context& context,
                                                     Planning& planning,
                                                     std::optional<Confirmation>& confirmation,
                                                     ExitCode& code) {
  const auto stop = [&](ExitCode why) {
    code = why;
    return std::nullopt;
  };
  const host::StateDirectory state = state_of(args, planning.set);
  if (const Status ready = state.prepare(); !ready) return stop(fail_state(context, ready.error()));
  auto lock = state.lock();
  if (!lock) return stop(fail_state(context, lock.error()));
  const auto open = state.open_journal();
  if (!open) return stop(fail_state(context, open.error()));
  if (*open) return stop(refuse_open(context, **open, state_words(args, planning.set)));
  auto journal = state.create();
  if (!journal) return stop(fail_state(context, journal.error()));
  const Interruption interruption;
  if (const Status begun = journal->begin(head_of(planning)); !begun)
    return stop(fail_state(context, begun.error()));
  std::optional<host::Watchdog> watchdog;
  if (confirmation) {
    context.out.flush();
    context.err.flush();
    auto started = host::Watchdog::start(
        state, *lock, [&](const host::StoredJournal& stored, std::string_view reason) {
          return roll_back_unconfirmed(state, stored, reason);
        });
    if (!started) {
      (void)journal->ended(true).has_value();
      return stop(fail(context, ExitCode::kCouldNotLook, started.error().what));
    }
    watchdog.emplace(std::move(*started));
  }
  std::vector<HostOutcome> outcomes = apply_all(planning, context, *journal);
  if (!outcomes.empty() && !outcomes.back().is_done()) {
    if (outcomes.back().was_refused) (void)journal->ended(true).has_value();
    return outcomes;
  }
  if (confirmation) {
    constexpr std::int64_t kPicoseconds = 1'000'000'000'000;
    confirmation->until = std::time(nullptr) + confirmation->within.raw() / kPicoseconds;
  }
  const Status ended = confirmation ? journal->awaiting(confirmation->until) : journal->kept();
  if (!ended) {
    for (HostOutcome& outcome : outcomes) {
      outcome.failure = ended.error().what;
      host::undo(*finder_of(planning.set)(outcome.host), outcome, &*journal);
    }
  }
  return outcomes;
}

ExitCode code_of(const Planning& planning, const std::vector<HostOutcome>& outcomes) {
  if (!outcomes.empty() && !outcomes.back().is_done()) {
    const HostOutcome& failed = outcomes.back();
    if (failed.was_interrupted) return ExitCode::kInterrupted;
    return failed.was_refused ? ExitCode::kCouldNotLook : ExitCode::kRolledBack;
  }
  const bool is_partial = !planning.seen.unseen.empty() || unread_count(planning.plans) > 0;
  return is_partial ? ExitCode::kPartial : ExitCode::kOk;
}

std::string deadline_text(const Confirmation& confirmation) {
  return fmt::format("Rolled back in {} unless weir confirm is typed.",
                     to_text(confirmation.within));
}

void print_outcome(const Args& args, Context& context, const Planning& planning,
                   const std::vector<HostOutcome>& outcomes,
                   const std::optional<Confirmation>& confirmation) {
  const bool is_failed = !outcomes.empty() && !outcomes.back().is_done();
  const bool is_awaiting = confirmation && !is_failed && !outcomes.empty();
  std::string verdict = verdict_of(planning, outcomes);
  if (is_awaiting) verdict += " " + deadline_text(*confirmation);
  const std::vector<std::string> next =
      next_of(args, planning, is_failed, is_awaiting ? confirmation : std::nullopt);
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["design"] = planning.input.design.file;
    object["changed"] =
        count_of(outcomes, StepState::kDone) + count_of(outcomes, StepState::kUnconfirmed);
    object["hosts"] = Json::array();
    for (const HostOutcome& outcome : outcomes)
      object["hosts"].push_back(outcome_json(outcome));
    object["unseen"] = planning.seen.unseen;
    object["confirm_until"] = is_awaiting ? Json(confirmation->until) : Json();
    object["next"] = next;
    print_json(context, object);
    return;
  }
  context.out << verdict << '\n';
  if (context.quiet) return;
  context.out << (is_failed ? failure_text(planning, outcomes)
                            : plan_table(planning.plans, Tense::kIsNow));
  context.out << "\nnext:\n  " << join(next, "\n  ") << '\n';
}

ExitCode run_apply(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto planning = make_plans(args, context, code);
  if (!planning) return code;
  if (!planning->set.captures.empty())
    return fail(context, ExitCode::kUsage,
                "a captured machine cannot be changed: weir plan shows what would be");
  // A lab's hosts are one file: written once for all of them.
  lab::Lab* const lab = planning->set.lab ? &*planning->set.lab : nullptr;
  auto confirmation = confirmation_of(args, context, lab != nullptr, code);
  if (code != ExitCode::kOk) return code;
  std::vector<HostOutcome> outcomes;
  if (step_count(planning->plans) > 0) {
    const std::string question = lab == nullptr ? question_of(*planning) : "";
    if (!question.empty() && !may_go_on(args, context, question, code)) return code;
    if (lab != nullptr) {
      if (const Status begun = lab->begin(); !begun)
        return fail(context, ExitCode::kCouldNotLook, begun.error().what);
    }
    auto made = make_changes(args, context, *planning, confirmation, code);
    if (lab != nullptr) {
      if (const Status written = lab->commit(); !written)
        return fail(context, ExitCode::kRolledBack, written.error().what);
    }
    if (!made) return code;
    outcomes = std::move(*made);
  }
  print_outcome(args, context, *planning, outcomes, confirmation);
  return code_of(*planning, outcomes);
}

}  // namespace

Command apply_command() {
  return {
      .name = "apply",
      .group = Group::kOperators,
      .summary = "make the hosts what the design wants, and nothing else",
      .description =
          "Changes what weir plan lists and nothing else, in the safe order, reads each change "
          "back from the driver, and writes it down first, so that it can be undone after a crash "
          "too. Where a change fails, does not show or costs the link, or you interrupt, "
          "everything is undone. A second apply changes nothing.",
      .arguments = {design_argument()},
      .options = with_change_options(
          with_host_options({{.name = "confirm-within",
                              .metavar = "TIME",
                              .help = "undo it all unless weir confirm is typed in time: 120s"}})),
      .examples = {{"sudo weir apply fabric.yaml --confirm-within 120s", "this host"},
                   {"weir apply --lab lab", "all hosts of a lab"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial, ExitCode::kRolledBack, ExitCode::kInterrupted},
      .rows = {"B1", "B2"},
      .run = run_apply,
  };
}

}  // namespace weir::cli
