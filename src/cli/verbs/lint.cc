// weir lint: the design's mistakes, before anything is touched.
#include "design/lint/lint.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/frame/transition.h"
#include "design/fabric/effective.h"
#include "render/text/findings_text.h"

namespace weir::cli {
namespace {

std::string headline(const DesignInput& input, const finding::Judgement& judgement) {
  const std::string size = size_of(input.intent);
  if (judgement.findings.empty())
    return fmt::format("{} is sound: nothing found in {}.", input.design.file, size);
  const std::string_view verdict =
      judgement.count(finding::Severity::kError) > 0     ? "will not work as it stands"
      : judgement.count(finding::Severity::kWarning) > 0 ? "needs a look"
                                                         : "is sound";
  return fmt::format("{} {}: {} in {}.", input.design.file, verdict, render::count_text(judgement),
                     size);
}

// A design file again, so that it can be saved and used; the verdict is its first comment.
void print_effective(const DesignInput& input, std::string_view verdict, Context& context) {
  context.out << "# " << verdict << '\n' << design::effective_text(input.design);
}

ExitCode run_lint(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  const finding::Judgement judgement = design::lint(input->design, input->intent);
  const std::string verdict = headline(*input, judgement);
  const bool shows_effective = args.has("show-effective");
  if (shows_effective && !context.json) {
    print_effective(*input, verdict, context);
    return exit_for(args, judgement);
  }
  Json extra = {{"design", input->design.file},
                {"hosts", input->intent.hosts.size()},
                {"switches", input->intent.switches.size()},
                {"links", input->intent.links.size()}};
  if (shows_effective) extra["effective"] = design::effective_text(input->design);
  return print_judgement(args, context, judgement, verdict, extra);
}

}  // namespace

Command lint_command() {
  return {
      .name = "lint",
      .group = Group::kOperators,
      .summary = "the mistakes of a design, before anything is touched",
      .description =
          "Reads the design, derives what must be true of every NIC and switch port, and reports "
          "what would go wrong: each finding with its line, the reason, and what to change.",
      .arguments = {design_argument()},
      .options = {{.name = "show-effective",
                   .help = "print the file with every default filled in, and why"}},
      .examples = {{"weir lint", "./fabric.yaml, or the file that $WEIR_DESIGN names"},
                   {"weir lint pod16.yaml --fail-on warning",
                    "for a pipeline that allows no warnings"},
                   {"weir lint --show-effective > effective.yaml",
                    "what takes effect, with reasons"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput},
      .rows = {"A1", "A2"},
      .judges = true,
      .run = run_lint,
  };
}

}  // namespace weir::cli
