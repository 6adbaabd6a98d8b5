// weir validate: does the configuration match the design?
#include "ops/inspect/validate.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "cli/fleet/fleet_input.h"
#include "cli/fleet/node_line.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/progress.h"
#include "cli/frame/switch_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/inspect_json.h"
#include "cli/text/match_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr Duration kLongestWatch = 3600_s;

ops::Result<std::optional<Duration>> watch_time(const Args& args) {
  const auto text = args.get("watch");
  if (!text) return std::optional<Duration>();
  if (args.has("lab") || args.has("root"))
    return ops::bad_request("--watch looks at a running machine, not at a lab or a capture");
  const auto time = parse_duration(*text);
  if (!time) return ops::bad_request(time.error().within("--watch").what);
  if (time->raw() <= 0 || *time > kLongestWatch)
    return ops::bad_request(
        fmt::format("--watch: expected a time of at most 1h, found '{}'", *text));
  return std::optional(*time);
}

ops::Result<ops::ValidateRequest> request_of(const Args& args, const Context& context) {
  ops::ValidateRequest request;
  WEIR_TRY(watch, watch_time(args));
  request.watch = watch;
  const bool has_hosts =
      args.has("lab") || args.has("root") || names_fleet(args) || !args.has("switch");
  WEIR_TRY(source, source_of(args, context));
  request.source = has_hosts ? std::optional(source) : std::nullopt;
  WEIR_TRY(design, design_path_for_hosts(args, context));
  request.design = std::move(design);
  request.despite_lint = args.has("despite-lint");
  WEIR_TRY(files, switch_files(args.all("switch"), "--switch", SwitchNames::kOptional));
  request.switches = std::move(files);
  request.bundle_key = bundle_key(context);
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  return request;
}

std::string validate_verdict(const Args& args, const ops::Validated& validated) {
  const std::string& file = validated.fabric.design.file;
  const std::string verdict =
      match_verdict(validated.seen, validated.judgement, file, fail_severity(args));
  const std::vector<std::string>& unknown_hosts = validated.not_in_design;
  if (unknown_hosts.empty()) return verdict;
  std::vector<std::string> known;
  for (const design::HostIntent& host : validated.fabric.intent.hosts)
    known.push_back(host.name);
  const std::string lost =
      fmt::format("{} {} not in {}, which has {}", compact_names(unknown_hosts),
                  unknown_hosts.size() == 1 ? "is" : "are", file, compact_names(known));
  if (unknown_hosts.size() == validated.seen.hosts.size()) return lost + ": nothing was compared.";
  return fmt::format("{} {}.", verdict, lost);
}

void print_drain(const Args& args, Context& context, const finding::Judgement& judgement) {
  const std::string reason = drain_reason(args, judgement);
  if (!reason.empty()) context.out << reason << '\n';
  if (exit_for(args, judgement) == ExitCode::kPartial)
    context.err << fmt::format("weir: {} skipped: data not available; weir validate lists them\n",
                               counted(judgement.unknown.size(), "check"));
}

/// Switches that differ are configured anew; hosts are changed, or else tried under load.
std::vector<std::string> next_steps(const Args& args, const ops::Validated& validated) {
  const std::string design = args.has("DESIGN") ? " " + shell_word(args.value("DESIGN")) : "";
  const std::string hosts = source_words(args);
  const finding::Judgement& judgement = validated.judgement;
  std::vector<std::string> next;
  if (validated.seen.hosts.empty()) {
    for (const evidence::Switch& node : validated.seen.switches->switches) {
      const bool is_wrong = std::any_of(
          judgement.findings.begin(), judgement.findings.end(),
          [&](const finding::Finding& found) { return found.where.switch_name == node.name; });
      if (is_wrong) next.push_back(fmt::format("weir render{} --node {}", design, node.name));
    }
    return next;
  }
  const bool are_captured = args.has("root");  // nothing can be changed or run there
  if (judgement.conclusion == finding::Conclusion::kFindings) {
    next.push_back(fmt::format("weir plan{}{}", design, hosts));
    if (!are_captured) next.push_back(fmt::format("weir apply{}{}", design, hosts));
    return next;
  }
  if (are_captured) return next;
  return {fmt::format("weir verify{}{} -- ib_write_bw …", design, hosts)};
}

/// A prolog of Slurm drains the node all the same, with this reason.
ExitCode could_not_validate(const Args& args, Context& context, const ops::Failure& failure) {
  if (args.has("slurm") && failure.kind == ops::FailureKind::kCouldNotLook)
    context.out << fmt::format("weir:cannot_look {}\n",
                               failure.what.substr(0, failure.what.find(". ")));
  return styled_failure(args, fail(context, args.command(), failure));
}

ExitCode run_validate(const Args& args, Context& context) {
  auto request = request_of(args, context);
  if (!request) return fail(context, args.command(), request.error());
  Progress bar(context.err, context.stderr_is_terminal, "watching the links");
  request->progress = bar.callback();
  auto validated = ops::validate(*request);
  bar.clear();
  if (!validated) return could_not_validate(args, context, validated.error());
  print_unseen(validated->seen, context);
  print_unread(validated->configs, context);
  finding::Judgement& judgement = validated->judgement;
  judgement.next = next_steps(args, *validated);
  if (context.json) {
    print_validated_json(
        context, args.command(), *validated, validate_verdict(args, *validated),
        args.has("slurm") ? std::optional(drain_reason(args, judgement)) : std::nullopt);
  } else if (args.has("format")) {
    context.out << npd_line(args, judgement) << '\n';
  } else if (args.has("slurm")) {
    print_drain(args, context, judgement);
  } else {
    const auto answers =
        ops::fold_answers(validated->seen, judgement,
                          judgement.unknown.empty() ? "as designed" : "no difference found");
    print_findings(context, judgement,
                   with_answers(args, context, validate_verdict(args, *validated), answers));
  }
  return styled_exit(args, judgement);
}

std::vector<Option> validate_options() {
  std::vector<Option> own = {
      {.name = "slurm", .help = "one line, the reason to drain the node, or none"},
      {.name = "watch",
       .metavar = "TIME",
       .help = "watch the links this long for flaps and bad frames"},
      despite_lint_option(),
      switch_option(),
      threshold_option()};
  for (Option& option : node_options())
    own.push_back(std::move(option));
  return with_host_options(std::move(own));
}

}  // namespace

Command validate_command() {
  return {
      .name = "validate",
      .group = Group::kOperators,
      .summary = "does the configuration match the design?",
      .description =
          "Compares every setting of every rail, and of a lab's switches, with the design: "
          "expected, "
          "found, why it matters, what to type. Rails or hosts that differ are a finding too. A "
          "check without data is skipped and never passes.",
      .arguments = {design_argument()},
      .options = validate_options(),
      .examples = {{"weir validate fabric.yaml --root bundles/", "from bundles"},
                   {"weir validate fabric.yaml --switch leaf1=leaf1.cfg", "one switch"},
                   {"weir validate fabric.yaml --watch 30s --slurm", "as a health check"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_validate,
  };
}

}  // namespace weir::cli
