// weir init: a commented design to start from.
#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/design_input.h"
#include "design/templates.h"

namespace weir::cli {
namespace {

using design::Template;

void print_list(const Args& args, Context& context) {
  if (context.json) {
    Json object = json_object(args.command());
    for (const Template& one : design::templates())
      object["templates"].push_back({{"name", one.name}, {"summary", one.summary}});
    print_json(context, object);
    return;
  }
  TextTable table({"template", "what it is"});
  for (const Template& one : design::templates())
    table.add_row({std::string(one.name), std::string(one.summary)});
  context.out << fmt::format("{} templates; weir init --template NAME writes one.\n\n",
                             design::templates().size())
              << table.to_text(2, 100);
}

ExitCode print_written(const Args& args, const Template& one, const std::string& path,
                       Context& context) {
  if (context.json) {
    Json object = json_object(args.command());
    object["template"] = one.name;
    object["file"] = path;
    print_json(context, object);
    return ExitCode::kOk;
  }
  context.out << paint(context, Tone::kStrong, fmt::format("Wrote {}: {}", path, trim(one.summary)))
              << '\n';
  if (context.quiet) return ExitCode::kOk;
  const std::string argument = path == kDesignFile ? "" : " " + path;
  context.out << "\nnext:\n  edit " << path << "\n  weir lint" << argument << '\n';
  return ExitCode::kOk;
}

ExitCode run_init(const Args& args, Context& context) {
  if (args.has("list")) {
    print_list(args, context);
    return ExitCode::kOk;
  }
  const Template* one = design::find_template(args.value("template"));
  WEIR_CHECK(one != nullptr);  // the parser has checked the choice
  const std::string& path = args.value("output");
  if (path == "-") {
    if (context.json) {
      Json object = json_object(args.command());
      object["template"] = one->name;
      object["text"] = one->text;
      print_json(context, object);
    } else {
      context.out << one->text;
    }
    return ExitCode::kOk;
  }
  if (file_exists(path) && !args.has("force")) {
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} exists and was left as it is; name another file with --output, or "
                            "overwrite it with --force",
                            path));
  }
  if (const Status written = write_file_atomic(path, one->text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  return print_written(args, *one, path, context);
}

std::vector<std::string_view> template_names() {
  std::vector<std::string_view> names;
  for (const Template& one : design::templates())
    names.push_back(one.name);
  return names;
}

}  // namespace

Command init_command() {
  return {
      .name = "init",
      .group = Group::kOperators,
      .summary = "write a commented design to start from",
      .description =
          "Writes fabric.yaml from a template: a whole fabric, every section commented, that lints "
          "clean. Change what differs from yours. An existing file is never overwritten unasked.",
      .options = {{.name = "template",
                   .letter = 't',
                   .metavar = "NAME",
                   .help = "which one; --list says what they are",
                   .default_value = "pod16",
                   .choices = template_names()},
                  {.name = "output",
                   .letter = 'o',
                   .metavar = "FILE",
                   .help = "where to write; - is standard output",
                   .default_value = kDesignFile,
                   .completes = Completes::kFiles},
                  {.name = "force", .help = "overwrite the file"},
                  {.name = "list", .help = "list the templates, write nothing"}},
      .examples = {{"weir init", "fabric.yaml: 16 hosts, 2 leaves, a spine"},
                   {"weir init --template rail256 -o ai.yaml", "32 hosts with 8 rails"},
                   {"weir init --list", "the templates"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"A1"},
      .run = run_init,
  };
}

}  // namespace weir::cli
