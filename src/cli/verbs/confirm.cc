// weir confirm: keeps what an apply with --confirm-within made.
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/fleet/fleet_change.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/change_json.h"
#include "ops/change/apply.h"

namespace weir::cli {
namespace {

std::string confirm_verdict(const ops::Confirmed& confirmed) {
  const host::Journal& journal = confirmed.journal;
  switch (confirmed.state) {
    case ops::ConfirmState::kConfirmed:
      return fmt::format("Confirmed: {} of {} kept.", counted(journal.standing(), "change"),
                         journal.head.design);
    case ops::ConfirmState::kNoApply:
      return fmt::format("Nothing to confirm: {} has no apply.", confirmed.directory);
    case ops::ConfirmState::kKeptAlready:
      return fmt::format("Nothing to confirm: the apply of {} at {} is kept already.",
                         journal.head.design, journal.head.time);
    case ops::ConfirmState::kUndoneInPart:
      return fmt::format(
          "Too late: the apply of {} at {} was rolled back in part: {}; {} could NOT be undone. "
          "weir "
          "rollback tries again.",
          journal.head.design, journal.head.time, journal.reason,
          counted(journal.standing(), "change"));
    case ops::ConfirmState::kTooLate:
      return fmt::format("Too late: the apply of {} at {} was {}: {}.", journal.head.design,
                         journal.head.time, host::to_text(journal.phase), journal.reason);
  }
  WEIR_UNREACHABLE("every state has a verdict");
}

ExitCode run_confirm(const Args& args, Context& context) {
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  if (source->fleet)
    return run_fleet_change(args, context, *source->fleet, ops::FleetVerb::kConfirm);
  const auto confirmed =
      ops::confirm(*source, args.get("state").value_or(""), wait_for_lock(context));
  if (!confirmed) return fail(context, args.command(), confirmed.error());
  if (context.json) {
    print_confirmed_json(context, args.command(), confirm_verdict(*confirmed), confirmed->state);
  } else {
    context.out << confirm_verdict(*confirmed) << '\n';
  }
  const bool was_undone = confirmed->state == ops::ConfirmState::kTooLate ||
                          confirmed->state == ops::ConfirmState::kUndoneInPart;
  return was_undone ? ExitCode::kRolledBack : ExitCode::kOk;
}

}  // namespace

Command confirm_command() {
  return {
      .name = "confirm",
      .group = Group::kOperators,
      .summary = "keep the changes of weir apply --confirm-within",
      .description =
          "weir apply --confirm-within 120s is rolled back unless weir confirm is typed in time. "
          "Type "
          "it in a new session: that proves that the host can still be reached. On a fleet each "
          "host's own weir does it, all at once.",
      .options = with_lab_option({state_option()}),
      .refuses = {{.name = "host", .why = "an apply is kept as a whole: leave it out"},
                  {.name = "root", .why = "a captured machine cannot be changed"}},
      .examples = {{"sudo weir confirm", "the changes stay"},
                   {"weir confirm --hosts gpu[001-128] --sudo", "on every host of a fleet"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial, ExitCode::kRolledBack, ExitCode::kInterrupted},
      .takes_fleet = true,
      .changes = true,
      .run = run_confirm,
  };
}

}  // namespace weir::cli
