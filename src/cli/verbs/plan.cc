// weir plan: what would have to change on the hosts; changes nothing.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "cli/frame/commands.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/applying.h"
#include "cli/verbs/planning.h"

namespace weir::cli {
namespace {

std::string verdict_of(const Planning& planning) {
  const std::size_t steps = step_count(planning.plans);
  const std::string hosts = counted(planning.plans.size(), "host");
  const std::string simulated = simulated_word(planning.seen.is_simulated());
  const std::string& file = planning.input.design.file;
  std::size_t left = 0;
  for (const host::HostPlan& plan : planning.plans)
    left += plan.left.size();
  if (steps == 0 && left == 0)
    return fmt::format("Nothing to do: {}{} as {} wants {}.", hosts, simulated, file,
                       planning.plans.size() == 1 ? "it" : "them");
  const auto changing = static_cast<std::size_t>(
      std::count_if(planning.plans.begin(), planning.plans.end(),
                    [](const host::HostPlan& plan) { return !plan.steps.empty(); }));
  const std::string rest =
      left > 0 ? fmt::format("; {} no change here can mend", counted(left, "setting")) : "";
  return fmt::format("{} on {} of {}{} to reach {}{}. Nothing has been changed.",
                     counted(steps, "change"), changing, hosts, simulated, file, rest);
}

ExitCode run_plan(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto planning = make_plans(args, context, code);
  if (!planning) return code;
  const std::string verdict = verdict_of(*planning);
  const bool is_partial = !planning->seen.unseen.empty() || unread_count(planning->plans) > 0;
  code = is_partial ? ExitCode::kPartial : ExitCode::kOk;
  const std::string next = fmt::format("weir apply{}", planning->words);
  const bool has_steps = step_count(planning->plans) > 0;
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["design"] = planning->input.design.file;
    object["hosts"] = Json::array();
    for (const host::HostPlan& plan : planning->plans)
      object["hosts"].push_back(plan_json(plan));
    object["unseen"] = planning->seen.unseen;
    object["next"] = has_steps ? Json{next} : Json::array();
    print_json(context, object);
    return code;
  }
  context.out << verdict << '\n';
  if (context.quiet) return code;
  note_open_journal(args, context, planning->set);
  context.out << plan_table(planning->plans, Tense::kWillBe) << plan_commands(planning->plans);
  if (has_steps) context.out << "\nnext:\n  " << next << '\n';
  return code;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .group = Group::kOperators,
      .summary = "what would have to change on the hosts; changes nothing",
      .description =
          "Compares each rail with the design and lists what is and what will be, in the order in "
          "which it is safe to change, with the commands it equals, the risk (a new PFC mask takes "
          "the link down for a moment), and what this driver cannot do.",
      .arguments = {design_argument()},
      .options = with_host_options({state_option()}),
      .examples = {{"weir plan --lab lab", "all hosts of a lab against its own design"},
                   {"weir plan fabric.yaml --lab lab --host gpu03 --json", "one, for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"B1", "B2"},
      .run = run_plan,
  };
}

}  // namespace weir::cli
