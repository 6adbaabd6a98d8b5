// weir lint: the design's mistakes, before anything is configured.
#include <fmt/format.h>

#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/judging.h"
#include "cli/json/design_json.h"
#include "ops/fabric/design.h"
#include "render/text/findings_text.h"

namespace weir::cli {
namespace {

std::string lint_verdict(const ops::Linted& linted) {
  const std::string& file = linted.fabric.design.file;
  const std::string size = size_of(linted.fabric.intent);
  const finding::Judgement& judgement = linted.judgement;
  if (judgement.findings.empty()) return fmt::format("{} is sound: no mistakes in {}.", file, size);
  const std::string_view verdict =
      judgement.count(finding::Severity::kError) > 0     ? "will not work as written"
      : judgement.count(finding::Severity::kWarning) > 0 ? "needs a review"
                                                         : "is sound";
  return fmt::format("{} {}: {} in {}.", file, verdict, render::count_text(judgement), size);
}

ExitCode run_lint(const Args& args, Context& context) {
  const auto path = design_path(args, context);
  if (!path) return fail(context, args.command(), path.error());
  const auto linted = ops::lint(*path);
  if (!linted) return fail(context, args.command(), linted.error());
  const std::string verdict = lint_verdict(*linted);
  const bool shows_effective = args.has("show-effective");
  if (context.json) {
    print_linted_json(context, args.command(), *linted, verdict, shows_effective);
  } else if (shows_effective) {
    // A design file again, so that it can be saved and used; the verdict is its first comment.
    context.out << "# " << verdict << '\n' << linted->effective;
  } else {
    print_findings(context, linted->judgement, verdict);
  }
  return exit_for(args, linted->judgement);
}

}  // namespace

Command lint_command() {
  return {
      .name = "lint",
      .group = Group::kOperators,
      .summary = "find the mistakes of a design, before anything is configured",
      .description =
          "Reads the design, derives the settings of every NIC and switch port, and reports what "
          "would go wrong: each finding with its line, the reason, and what to change.",
      .arguments = {design_argument()},
      .options = {{.name = "show-effective",
                   .help = "print the file with every default filled in, and why"}},
      .examples = {{"weir lint", "./fabric.yaml, or the file that $WEIR_DESIGN names"},
                   {"weir lint pod16.yaml --fail-on warning",
                    "for a pipeline that allows no warnings"},
                   {"weir lint --show-effective > effective.yaml",
                    "every default, with its reason"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput},
      .judges = true,
      .looks = Looks::kAtFiles,
      .run = run_lint,
  };
}

}  // namespace weir::cli
