// weir confirm: keeps what an apply with --confirm-within made.
#include <ctime>

#include <fmt/format.h>

#include "base/json.h"
#include "cli/frame/commands.h"
#include "cli/verbs/applying.h"

namespace weir::cli {
namespace {

using host::JournalPhase;
using host::StoredJournal;

ExitCode answer(const Args& args, Context& context, ExitCode code, const std::string& verdict,
                bool is_confirmed) {
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["confirmed"] = is_confirmed;
    print_json(context, object);
  } else {
    context.out << verdict << '\n';
  }
  return code;
}

/// Nothing waits: say what became of the last apply.
ExitCode too_late(const Args& args, Context& context, const host::StateDirectory& state) {
  const auto all = state.journals();
  if (!all) return fail_state(context, all.error());
  if (all->empty())
    return answer(args, context, ExitCode::kOk,
                  fmt::format("Nothing to confirm: {} has no apply.", state.path()), false);
  const host::Journal& last = all->back().journal;
  const bool was_undone =
      last.phase == JournalPhase::kUndone || last.phase == JournalPhase::kUndoneInPart;
  if (was_undone)
    return answer(args, context, ExitCode::kRolledBack,
                  fmt::format("Too late: the apply of {} at {} was {}: {}.", last.head.design,
                              last.head.time, host::to_text(last.phase), last.reason),
                  false);
  return answer(args, context, ExitCode::kOk,
                fmt::format("Nothing to confirm: the apply of {} at {} stands already.",
                            last.head.design, last.head.time),
                true);
}

ExitCode run_confirm(const Args& args, Context& context) {
  const HostSet set;
  const host::StateDirectory state = state_of(args, set);
  if (const Status ready = state.prepare(); !ready) return fail_state(context, ready.error());
  const auto lock = state.lock();
  if (!lock) return fail_state(context, lock.error());
  const auto open = state.open_journal();
  if (!open) return fail_state(context, open.error());
  if (!*open) return too_late(args, context, state);
  const StoredJournal& stored = **open;
  if (stored.journal.phase != JournalPhase::kAwaiting)
    return fail(
        context, ExitCode::kCouldNotLook,
        fmt::format("the apply of {} at {} was cut off: weir rollback{} puts it back",
                    stored.journal.head.design, stored.journal.head.time, state_words(args, set)));
  auto journal = state.reopen(stored);
  if (!journal) return fail_state(context, journal.error());
  if (const Status kept = journal->kept(); !kept) return fail_state(context, kept.error());
  return answer(
      args, context, ExitCode::kOk,
      fmt::format("Confirmed: {} of {} stay.", counted(stored.journal.standing(), "change"),
                  stored.journal.head.design),
      true);
}

}  // namespace

Command confirm_command() {
  return {
      .name = "confirm",
      .group = Group::kOperators,
      .summary = "keep what weir apply --confirm-within made",
      .description =
          "After weir apply --confirm-within 120s the host goes back to what it was unless this "
          "is typed in time. Type it in a new session: that proves the host can still be "
          "reached.",
      .options = {state_option()},
      .examples = {{"sudo weir confirm", "the changes stay"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kRolledBack},
      .rows = {"B2"},
      .run = run_confirm,
  };
}

}  // namespace weir::cli
