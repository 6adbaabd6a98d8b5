// weir docs: the documents that are made from the command table, for the package and the
// repository.
#include "base/json.h"
#include "cli/frame/command_table.h"
#include "cli/frame/commands.h"
#include "cli/frame/documents.h"
#include "cli/json/object.h"
#include "design/file/schema.h"

namespace weir::cli {
namespace {

ExitCode print_document(const Args& args, Context& context, const std::string& text) {
  if (context.json) {
    Json object = json_object(args.command());
    object["text"] = text;
    print_json(context, object);
  } else {
    context.out << text;
  }
  return ExitCode::kOk;
}

ExitCode run_man(const Args& args, Context& context) {
  return print_document(args, context, man_page(command_table()));
}

ExitCode run_commands(const Args& args, Context& context) {
  return print_document(args, context, commands_page(command_table()));
}

ExitCode run_design_file(const Args& args, Context& context) {
  return print_document(args, context, design::design_reference());
}

ExitCode run_completion(const Args& args, Context& context) {
  return print_document(args, context, bash_completion(command_table()));
}

}  // namespace

Command docs_man_command() {
  return {
      .name = "docs man",
      .group = Group::kDocuments,
      .summary = "the man page weir(1)",
      .description = "Prints the man page in roff, made from the command table.",
      .examples = {{"weir docs man > weir.1", "then: man ./weir.1"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_man,
  };
}

Command docs_commands_command() {
  return {
      .name = "docs commands",
      .group = Group::kDocuments,
      .summary = "docs/commands.md",
      .description = "Prints the reference of all verbs in Markdown, made from the command table.",
      .examples = {{"weir docs commands > docs/commands.md", "after a change of the table"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_commands,
  };
}

Command docs_design_file_command() {
  return {
      .name = "docs design-file",
      .group = Group::kDocuments,
      .summary = "docs/design-file.md",
      .description = "Prints the reference of the design file in Markdown, made from its fields.",
      .examples = {{"weir docs design-file > docs/design-file.md", "after a change of the format"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_design_file,
  };
}

Command docs_completion_command() {
  return {
      .name = "docs completion",
      .group = Group::kDocuments,
      .summary = "the completion script of a shell",
      .description = "Prints a script that completes verbs, options, choices and files.",
      .arguments = {{.name = "SHELL", .help = "the shell", .required = true, .choices = {"bash"}}},
      .examples = {{"weir docs completion bash > weir.bash", "then: source weir.bash"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_completion,
  };
}

}  // namespace weir::cli
