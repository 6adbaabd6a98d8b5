// weir check: the hosts against the usual convention; no design needed.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/verbs/host_judging.h"
#include "diagnose/core/convention.h"
#include "diagnose/validate/validate.h"

namespace weir::cli {
namespace {

/// The codes of the convention as given; an error names the range.
template <class Code>
Result<Code> code_of(const Args& args, std::string_view option) {
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
  WEIR_TRY(dscp, code_of<Dscp>(args, "dscp"));
  WEIR_TRY(priority, code_of<Priority>(args, "priority"));
  convention.dscp = dscp;
  convention.priority = priority;
  return convention;
}

ExitCode run_check(const Args& args, Context& context) {
  const auto convention = convention_of(args);
  if (!convention) return usage_error(context, args.command(), convention.error().what);
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  const Observation seen = observe(*set, context);
  if (seen.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  finding::Judgement judgement =
      diagnose::validate(seen.hosts, diagnose::conventional_intent(seen.hosts, *convention));
  add_unseen(seen, judgement);
  judgement.next = {fmt::format("weir validate{}", set->flag())};
  const std::string against = fmt::format("the usual convention (DSCP {}, priority {})",
                                          convention->dscp.value(), convention->priority.value());
  return print_judgement(args, context, judgement, match_verdict(seen, judgement, against),
                         {{"hosts", seen.hosts.size()}, {"simulated", seen.is_simulated()}});
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .group = Group::kOperators,
      .summary = "the hosts against the usual convention; no design needed",
      .description =
          "Judges every rail by what RoCEv2 fabrics usually agree on: trust in DSCP, one code "
          "point "
          "for RDMA on one lossless priority, PFC there and nowhere else, ECN on both sides, no "
          "802.3x pause. What is a matter of the site (speed, MTU, shares) is not judged.",
      .options = with_host_options(
          {{.name = "dscp", .metavar = "N", .help = "code point of RDMA", .default_value = "26"},
           {.name = "priority", .metavar = "N", .help = "its priority", .default_value = "3"}}),
      .examples = {{"weir check --lab lab", "all hosts of a lab"},
                   {"weir check --lab lab --dscp 24 --priority 3", "a site that uses CS3"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"C11"},
      .judges = true,
      .run = run_check,
  };
}

}  // namespace weir::cli
