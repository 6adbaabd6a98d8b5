// weir validate: is the configuration what the design wants?
#include <fmt/format.h>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/host_input.h"
#include "cli/host_judging.h"
#include "diagnose/validate.h"

namespace weir::cli {
namespace {

ExitCode run_validate(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  const auto input = design_for(args, context, *set, code);
  if (!input) return code;
  Observation seen = observe(*set, context);
  restore_names(seen, input->intent, context);
  if (seen.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  finding::Judgement judgement = diagnose::validate(seen.all(), input->intent);
  add_unseen(seen, judgement);
  const std::string design = args.has("DESIGN") ? " " + args.value("DESIGN") : "";
  if (judgement.conclusion == finding::Conclusion::kFindings) {
    judgement.next = {fmt::format("weir plan{}{}", design, set->flag()),
                      fmt::format("weir apply{}{}", design, set->flag())};
  } else {
    judgement.next = {fmt::format("weir verify{}{} -- ib_write_bw …", design, set->flag())};
  }
  return print_judgement(args, context, judgement,
                         match_verdict(seen, judgement, input->design.file),
                         {{"design", input->design.file},
                          {"hosts", seen.hosts.size()},
                          {"switches", seen.switches ? seen.switches->switches.size() : 0},
                          {"simulated", seen.is_simulated()}});
}

}  // namespace

Command validate_command() {
  return {
      .name = "validate",
      .group = Group::kOperators,
      .summary = "is the configuration what the design wants?",
      .description =
          "Reads every setting of every rail (and of the switches of a lab) back and holds it "
          "against the design: expected, found, why it matters, what to type. Rails or hosts that "
          "differ from each other are a finding of their own. What could not be read is unknown "
          "and never passes.",
      .arguments = {design_argument()},
      .options = with_host_options(),
      .examples = {{"weir validate --lab lab", "a lab against its own design"},
                   {"weir validate fabric.yaml --lab lab --host gpu[01-04]", "some of its hosts"},
                   {"weir validate --lab lab --quiet", "a line a fault"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"C1", "C2", "C10"},
      .judges = true,
      .run = run_validate,
  };
}

}  // namespace weir::cli
