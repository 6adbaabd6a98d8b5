// weir help: what people type before they know that --help is there.
#include "cli/frame/help.h"

#include <variant>

#include "cli/frame/command_table.h"
#include "cli/frame/commands.h"
#include "cli/frame/parse.h"
#include "cli/json/developer_json.h"

namespace weir::cli {
namespace {

ExitCode run_help(const Args& args, Context& context) {
  const Parsed parsed = parse_help_topic(command_table(), args.all("VERB"));
  if (const auto* error = std::get_if<UsageError>(&parsed)) {
    fail(context, ExitCode::kUsage, error->message);
    context.err << "see weir --help\n";
    return ExitCode::kUsage;
  }
  const std::string text = help_for(command_table(), std::get<HelpRequest>(parsed).verb);
  if (context.json) {
    print_text_json(context, args.command(), text);
  } else {
    context.out << text;
  }
  return ExitCode::kOk;
}

}  // namespace

Command help_command() {
  return {
      .name = "help",
      .group = Group::kOperators,
      .summary = "the list of verbs, or the help of one",
      .description = "The same texts as weir --help and weir VERB --help.",
      .arguments = {{.name = "VERB",
                     .help = "a verb, of one word or two",
                     .repeated = true,
                     .completes = Completes::kVerbs}},
      .examples = {{"weir help tos", "the same as weir tos --help"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_help,
  };
}

}  // namespace weir::cli
