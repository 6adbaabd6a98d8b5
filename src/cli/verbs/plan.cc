// weir plan: what would have to change on the hosts; changes nothing.
#include "ops/change/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/change_json.h"
#include "cli/text/plan_text.h"
#include "ops/change/apply.h"

namespace weir::cli {
namespace {

std::string plan_verdict(const ops::Plan& plan) {
  const std::size_t steps = plan.step_count();
  const std::size_t left = plan.leftover_count();
  const std::string hosts = counted(plan.hosts.size(), "host");
  const std::string simulated = simulated_word(plan.seen.is_simulated());
  const std::string& file = plan.fabric.design.file;
  if (steps == 0 && left == 0)
    return fmt::format("Nothing to do: {}{} already {} {}.", hosts, simulated,
                       plan.hosts.size() == 1 ? "matches" : "match", file);
  const auto changing = static_cast<std::size_t>(
      std::count_if(plan.hosts.begin(), plan.hosts.end(),
                    [](const host::HostPlan& host) { return !host.steps.empty(); }));
  const std::string rest =
      left > 0 ? fmt::format("; {} cannot be fixed from {}", counted(left, "difference"),
                             plan.hosts.size() == 1 ? "this host" : "these hosts")
               : "";
  return fmt::format("{} on {} of {}{} to reach {}{}. Nothing has been changed.",
                     counted(steps, "change"), changing, hosts, simulated, file, rest);
}

void print_unfinished(const Args& args, Context& context, const ops::Plan& plan) {
  const auto open = ops::unfinished_apply(args.get("state").value_or(""), plan.set);
  if (!open) {
    context.err << fmt::format("weir: {}\n", open.error().what);
  } else if (*open) {
    context.err << fmt::format("weir: {} is {}: weir rollback{} undoes it\n", (*open)->title(),
                               host::to_text((*open)->phase), state_words(args));
  }
}

ExitCode run_plan(const Args& args, Context& context) {
  const auto request = plan_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  const auto plan = ops::plan(*request);
  if (!plan) return fail(context, args.command(), plan.error());
  print_unseen(plan->seen, context);
  print_unfinished(args, context, *plan);
  const std::string verdict = plan_verdict(*plan);
  std::vector<std::string> next;
  if (plan->step_count() > 0 && !plan->set.are_captured)
    next.push_back("weir apply" + plan_words(args));
  const ExitCode code = plan->is_partial() ? ExitCode::kPartial : ExitCode::kOk;
  if (context.json) {
    print_plan_json(context, args.command(), *plan, verdict, next);
    return code;
  }
  context.out << verdict << '\n';
  if (context.quiet) return code;
  context.out << plan_table(plan->hosts, Tense::kWillBe) << plan_commands(plan->hosts);
  if (!next.empty()) context.out << "\nnext:\n  " << next.front() << '\n';
  return code;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .group = Group::kOperators,
      .summary = "what would have to change on the hosts; changes nothing",
      .description =
          "Compares each rail with the design and lists every change, old value and new, in the "
          "order "
          "in which it is safe to make them, with the equivalent commands, the risk (a new PFC "
          "mask "
          "takes the link down for a moment), and what the driver cannot do.",
      .arguments = {design_argument()},
      .options = with_host_options({state_option()}),
      .examples = {{"weir plan --lab lab", "all hosts of a lab against its own design"},
                   {"weir plan fabric.yaml --lab lab --host gpu03 --json",
                    "one host, for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_plan,
  };
}

}  // namespace weir::cli
