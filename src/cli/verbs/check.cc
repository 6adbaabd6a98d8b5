// weir check: the hosts against the usual convention; no design needed.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/fleet/node_line.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/inspect_json.h"
#include "cli/text/match_text.h"
#include "ops/inspect/validate.h"

namespace weir::cli {
namespace {

/// The codes of the convention as given; an error names the range.
template <class Code>
Result<Code> code_point_of(const Args& args, std::string_view option) {
  const auto number = parse_u64(args.value(option));
  const std::optional<Code> code = number ? Code::make(*number) : std::nullopt;
  if (!code) {
    return invalid_error(fmt::format("--{}: expected a number from 0 to {}, found '{}'", option,
                                     Code::kLimit - 1, args.value(option)));
  }
  return *code;
}

Result<diagnose::Convention> convention_of(const Args& args) {
  diagnose::Convention convention;
  WEIR_TRY(dscp, code_point_of<Dscp>(args, "dscp"));
  WEIR_TRY(priority, code_point_of<Priority>(args, "priority"));
  convention.dscp = dscp;
  convention.priority = priority;
  return convention;
}

ExitCode run_check(const Args& args, Context& context) {
  const auto convention = convention_of(args);
  if (!convention) return usage_error(context, args.command(), convention.error().what);
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  const auto thresholds = thresholds_of(args);
  if (!thresholds) return usage_error(context, args.command(), thresholds.error().what);
  auto checked = ops::check(*source, *convention, *thresholds);
  if (!checked) return styled_failure(args, fail(context, args.command(), checked.error()));
  print_unseen(checked->seen, context);
  checked->judgement.next = {fmt::format("weir validate{}", source_words(args))};
  const std::string against = fmt::format("the usual convention (DSCP {}, priority {})",
                                          convention->dscp.value(), convention->priority.value());
  const std::string verdict =
      match_verdict(checked->seen, checked->judgement, against, fail_severity(args));
  if (context.json) {
    print_checked_json(context, args.command(), *checked, verdict);
  } else if (args.has("format")) {
    context.out << npd_line(args, checked->judgement) << '\n';
  } else {
    const auto answers =
        ops::fold_answers(checked->seen, checked->judgement,
                          checked->judgement.unknown.empty() ? "as usual" : "no difference found");
    print_findings(context, checked->judgement, with_answers(args, context, verdict, answers));
  }
  return styled_exit(args, checked->judgement);
}

std::vector<Option> check_options() {
  std::vector<Option> own = {
      {.name = "dscp", .metavar = "N", .help = "DSCP of RDMA traffic", .default_value = "26"},
      {.name = "priority",
       .metavar = "N",
       .help = "priority of RDMA traffic",
       .default_value = "3"},
      threshold_option()};
  for (Option& option : node_options())
    own.push_back(std::move(option));
  return with_host_options(std::move(own));
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .group = Group::kOperators,
      .summary = "compare the hosts with the usual convention; no design needed",
      .description =
          "Compares every rail with what RoCEv2 fabrics usually agree on: trust DSCP, one code "
          "point "
          "for RDMA on one lossless priority, PFC on that priority only, ECN as NP and RP, no "
          "802.3x pause. What differs from site to site (speed, MTU, bandwidth shares) is not "
          "checked.",
      .options = check_options(),
      .examples = {{"weir check --lab lab", "all hosts of a lab"},
                   {"weir check --lab lab --dscp 24 --priority 3", "a site that uses CS3"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_check,
  };
}

}  // namespace weir::cli
