// weir confirm: keeps what an apply with --confirm-within made.
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
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
    case ops::ConfirmState::kTooLate:
      return fmt::format("Too late: the apply of {} at {} was {}: {}.", journal.head.design,
                         journal.head.time, host::to_text(journal.phase), journal.reason);
  }
  WEIR_UNREACHABLE("every state has a verdict");
}

ExitCode run_confirm(const Args& args, Context& context) {
  const auto confirmed = ops::confirm(args.get("state").value_or(""), wait_for_lock(context));
  if (!confirmed) return fail(context, args.command(), confirmed.error());
  const ops::ConfirmState state = confirmed->state;
  if (context.json) {
    print_confirmed_json(
        context, args.command(), confirm_verdict(*confirmed),
        state == ops::ConfirmState::kConfirmed || state == ops::ConfirmState::kKeptAlready);
  } else {
    context.out << confirm_verdict(*confirmed) << '\n';
  }
  return state == ops::ConfirmState::kTooLate ? ExitCode::kRolledBack : ExitCode::kOk;
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
          "it in a new session: that proves that the host can still be reached.",
      .options = {state_option()},
      .examples = {{"sudo weir confirm", "the changes stay"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kRolledBack},
      .changes = true,
      .run = run_confirm,
  };
}

}  // namespace weir::cli
