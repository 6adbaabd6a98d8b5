#include "cli/frame/run.h"

#include <algorithm>
#include <exception>
#include <variant>

#include <fmt/format.h>

#include "cli/frame/help.h"
#include "cli/frame/parse.h"

namespace weir::cli {
namespace {

// Known before parsing succeeds, since a usage error must also be an object for a program.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

bool wants_colour(const Args& args, const Context& context) {
  if (args.has("no-color")) return false;
  const std::string& when = args.value("color");
  if (when != "auto") return when == "always";
  // https://no-color.org: set and not empty, whatever the value.
  const bool refused = !context.environment("NO_COLOR").value_or("").empty();
  const bool is_dumb = context.environment("TERM").value_or("dumb") == "dumb";
  return context.stdout_is_terminal && !refused && !is_dumb;
}

ExitCode report(const UsageError& error, Context& context) {
  fail(context, ExitCode::kUsage, error.message);
  const std::string verb = error.verb.empty() ? "" : error.verb + " ";
  context.err << "see weir " << verb << "--help\n";
  return ExitCode::kUsage;
}

ExitCode dispatch(std::span<const Command> table, const std::vector<std::string>& words,
                  Context& context) {
  const Parsed parsed = parse(table, words);
  if (const auto* error = std::get_if<UsageError>(&parsed)) return report(*error, context);
  if (const auto* help = std::get_if<HelpRequest>(&parsed)) {
    context.out << help_for(table, help->verb);
    return ExitCode::kOk;
  }
  if (std::holds_alternative<VersionRequest>(parsed)) {
    context.out << version_line() << '\n';
    return ExitCode::kOk;
  }
  const Invocation& invocation = std::get<Invocation>(parsed);
  context.json = invocation.args.has("json");
  context.quiet = invocation.args.has("quiet");
  context.colour = wants_colour(invocation.args, context);
  return invocation.command->run(invocation.args, context);
}

}  // namespace

ExitCode run(std::span<const Command> table, const std::vector<std::string>& words,
             Context& context) {
  context.json = asks_for_json(words);
  try {
    return dispatch(table, words, context);
  } catch (const std::exception& error) {
    const ExitCode code =
        fail(context, ExitCode::kInternalError, fmt::format("internal error: {}", error.what()));
    context.err << "This is a bug in weir; please report it with the command line.\n";
    return code;
  }
}

}  // namespace weir::cli
