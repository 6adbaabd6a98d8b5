#include "cli/fleet/fleet_change.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/interruption.h"
#include "cli/json/change_json.h"

namespace weir::cli {
namespace {

using ops::FleetHostState;

/// "128 hosts: 120 rolled back (360 changes undone), 8 no answer."
std::string fleet_verdict(const ops::FleetChange& done) {
  std::vector<std::string> parts;
  for (const FleetHostState state :
       {FleetHostState::kDone, FleetHostState::kKept, FleetHostState::kNothing,
        FleetHostState::kTooLate, FleetHostState::kInPart, FleetHostState::kFailed,
        FleetHostState::kNoAnswer, FleetHostState::kNotAsked}) {
    const std::size_t count = done.count(state);
    if (count == 0) continue;
    std::string part = fmt::format("{} {}", count, state_text(done.verb, state));
    if (state == FleetHostState::kDone && done.verb != ops::FleetVerb::kConfirm)
      part += fmt::format(" ({} undone)", counted(done.changes(), "change"));
    parts.push_back(std::move(part));
  }
  return fmt::format("{}: {}.", counted(done.hosts.size(), "host"), join(parts, ", "));
}

std::vector<ops::FoldedAnswer> answers_of(const ops::FleetChange& done) {
  std::vector<ops::FoldedAnswer> answers;
  for (const ops::FleetHostAnswer& host : done.hosts)
    ops::add_answer(host.host,
                    std::string(state_text(done.verb, host.state)) +
                        (host.detail.empty() ? "" : ": " + host.detail),
                    answers);
  return answers;
}

ExitCode fleet_code(const ops::FleetChange& done) {
  if (Interruption::has_come()) return ExitCode::kInterrupted;
  if (done.count(FleetHostState::kTooLate) > 0) return ExitCode::kRolledBack;
  const std::size_t missing = done.count(FleetHostState::kNoAnswer);
  if (missing == done.hosts.size()) return ExitCode::kCouldNotLook;
  const std::size_t wrong =
      missing + done.count(FleetHostState::kFailed) + done.count(FleetHostState::kInPart);
  return wrong > 0 ? ExitCode::kPartial : ExitCode::kOk;
}

/// The same again where it is not done. A host that may have been rolled back without our knowing
/// is not asked again: a second rollback undoes the apply before.
std::vector<std::string> next_steps(const Args& args, const ops::FleetChange& done) {
  std::vector<FleetHostState> open = {FleetHostState::kNotAsked, FleetHostState::kInPart,
                                      FleetHostState::kFailed};
  if (done.verb != ops::FleetVerb::kRollback) open.push_back(FleetHostState::kNoAnswer);
  std::vector<std::string> next;
  const std::vector<std::string> names = done.names(open);
  if (!names.empty())
    next.push_back(fmt::format("weir {}{}{}", args.command().name,
                               done.verb == ops::FleetVerb::kRollbackPending ? " --pending" : "",
                               fleet_words(args, fold_hosts(names))));
  if (done.verb != ops::FleetVerb::kConfirm)
    next.push_back(fmt::format("weir validate{}", fleet_words(args)));
  return next;
}

}  // namespace

ExitCode run_fleet_change(const Args& args, Context& context, const ops::FleetSource& fleet,
                          ops::FleetVerb verb) {
  if (args.has("state"))
    return usage_error(context, args.command(),
                       "--state is for this machine: each host's own weir knows its directory");
  if (verb == ops::FleetVerb::kRollback) {
    std::vector<std::string> names;
    for (const host::FleetHost& host : fleet.hosts)
      names.push_back(host.name);
    const Consent consent = ask_consent(
        args, context,
        fmt::format("This undoes the last apply on {}: {}. What others changed since in the same "
                    "settings is lost; links may go down for a moment.",
                    counted(names.size(), "host"), fold_hosts(names)));
    if (consent != Consent::kGiven) return exit_for(consent);
  }
  const Interruption interruption;
  const auto done = ops::change_fleet(fleet, verb, Interruption::has_come);
  if (!done) return fail(context, args.command(), done.error());
  const ExitCode code = fleet_code(*done);
  const std::vector<std::string> next = next_steps(args, *done);
  if (context.json) {
    print_fleet_change_json(context, args.command(), *done, fleet_verdict(*done), next);
    return code;
  }
  context.out << with_answers(args, context, fleet_verdict(*done), answers_of(*done)) << '\n';
  if (!context.quiet && !next.empty()) context.out << "\nnext:\n  " << join(next, "\n  ") << '\n';
  return code;
}

}  // namespace weir::cli
