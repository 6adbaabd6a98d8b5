#include "cli/frame/run.h"

#include <algorithm>
#include <exception>
#include <new>
#include <variant>

#include <fmt/format.h>

#include "base/untrusted/printable.h"
#include "cli/frame/command.h"
#include "cli/frame/help.h"
#include "cli/frame/parse.h"
#include "cli/frame/progress.h"
#include "cli/json/error.h"

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
    const std::string text = help_for(table, help->verb);
    if (context.json) {
      print_help_json(context, text);
    } else {
      context.out << text;
    }
    return ExitCode::kOk;
  }
  if (std::holds_alternative<VersionRequest>(parsed)) {
    if (context.json) {
      print_version_json(context, version_line());
    } else {
      context.out << version_line() << '\n';
    }
    return ExitCode::kOk;
  }
  const Invocation& invocation = std::get<Invocation>(parsed);
  context.json = invocation.args.has("json");
  context.quiet = invocation.args.has("quiet");
  context.colour = wants_colour(invocation.args, context);
  const auto places = confinement(invocation.args);
  if (context.give_up_root && places) {
    if (const Status done = context.give_up_root(*places); !done)
      return fail(context, ExitCode::kCouldNotLook, done.error().what);
  }
  const bool gives_up_root = is_serving(invocation.args) && !asks_machines(invocation.args);
  if (context.give_up_root_to_serve && gives_up_root) {
    if (const Status done = context.give_up_root_to_serve(places_of_server(invocation.args)); !done)
      return fail(context, ExitCode::kCouldNotLook, done.error().what);
  }
  if (context.keep_output && invocation.command->changes) context.keep_output();
  // A user may type what a verb reads from "-": nothing may be written over it.
  const bool reads_input = std::find(words.begin(), words.end(), "-") != words.end();
  Working working(context.err, context.stderr_is_terminal && !reads_input,
                  std::string(invocation.command->name));
  StoppingStream out(context.out, working);
  StoppingStream err(context.err, working);
  Context own{.out = out,
              .err = err,
              .environment = context.environment,
              .stdout_is_terminal = context.stdout_is_terminal,
              .stderr_is_terminal = context.stderr_is_terminal,
              .ask = {},
              .crew = context.crew,
              .json = context.json,
              .quiet = context.quiet,
              .colour = context.colour};
  if (context.ask)
    own.ask = [&](const std::string& question) {
      working.stop();
      return context.ask(question);
    };
  const ExitCode code = invocation.command->run(invocation.args, own);
  // What could not be written is main's to report.
  context.out.setstate(context.out.rdstate() | (out.rdstate() & std::ios::badbit));
  return code;
}

}  // namespace

namespace {

ExitCode run_guarded(std::span<const Command> table, const std::vector<std::string>& words,
                     Context& context) {
  context.json = asks_for_json(words);
  try {
    return dispatch(table, words, context);
  } catch (const std::bad_alloc&) {
    // One that was too large, or many that were not: what had been taken is free again here.
    return fail(context, ExitCode::kBadInput,
                "not enough memory for this input on this machine; nothing was finished");
  } catch (const std::exception& error) {
    const ExitCode code =
        fail(context, ExitCode::kInternalError, fmt::format("internal error: {}", error.what()));
    context.err << "This is a bug in weir; please report it with the command line.\n";
    return code;
  }
}

}  // namespace

ExitCode run(std::span<const Command> table, const std::vector<std::string>& words,
             Context& context) {
  // The one place where text meets a terminal: whatever a file, a switch or a name holds, a
  // control character is shown, not sent.
  PrintableBuffer out_buffer(context.out);
  PrintableBuffer err_buffer(context.err);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  // As std::cerr does: progress and errors come when they are written.
  if ((context.err.flags() & std::ios::unitbuf) != 0) err.setf(std::ios::unitbuf);
  Context shown = {.out = out,
                   .err = err,
                   .environment = context.environment,
                   .stdout_is_terminal = context.stdout_is_terminal,
                   .stderr_is_terminal = context.stderr_is_terminal,
                   .ask = context.ask,
                   .give_up_root = context.give_up_root,
                   .give_up_root_to_serve = context.give_up_root_to_serve,
                   .keep_output = context.keep_output,
                   .crew = context.crew};
  const ExitCode code = run_guarded(table, words, shown);
  context.json = shown.json;
  context.quiet = shown.quiet;
  context.colour = shown.colour;
  return code;
}

}  // namespace weir::cli
