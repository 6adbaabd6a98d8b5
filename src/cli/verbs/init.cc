// weir init: a commented design to start from.
#include <fmt/format.h>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/design_json.h"
#include "design/file/templates.h"
#include "ops/fabric/design.h"

namespace weir::cli {
namespace {

void print_templates(const Args& args, Context& context) {
  if (context.json) return print_templates_json(context, args.command());
  TextTable table({"template", "what it is"});
  for (const design::Template& entry : design::templates())
    table.add_row({std::string(entry.name), std::string(entry.summary)});
  context.out << fmt::format("{} templates; weir init --template NAME writes one.\n\n",
                             design::templates().size())
              << table.to_text(2, 100);
}

std::string summary_of(const Args& args, const ops::NewDesign& made) {
  if (!made.template_name.empty()) return made.summary;
  return fmt::format("{} with {}, as found on {}", counted(made.hosts, "host"),
                     counted(made.rails, "rail"),
                     args.has("from-bundles") ? "the hosts of the bundles" : "this machine");
}

void print_written(const Args& args, const ops::NewDesign& made, const std::string& path,
                   Context& context) {
  if (context.json) return print_new_design_json(context, args.command(), made, path);
  context.out << paint(context, Tone::kStrong,
                       fmt::format("Wrote {}: {}", path, summary_of(args, made)))
              << '\n';
  if (context.quiet) return;
  if (!made.open.empty()) context.out << "\nnot known from the hosts; the file says where:\n";
  for (const std::string& text : made.open)
    context.out << "  " << text << '\n';
  const std::string argument = path == kDesignFile ? "" : " " + path;
  context.out << "\nnext:\n  edit " << path << "\n  weir lint" << argument << '\n';
  if (!made.open.empty()) context.out << "  weir validate" << argument << '\n';
}

ExitCode write_design(const Args& args, const ops::NewDesign& made, Context& context) {
  const std::string& path = args.value("output");
  const ExitCode code = made.template_name.empty() ? completeness(made.seen) : ExitCode::kOk;
  if (path == "-") {
    if (context.json) {
      print_new_design_json(context, args.command(), made, "");
    } else {
      context.out << made.text;
    }
    return code;
  }
  if (file_exists(path) && !args.has("force"))
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} exists and was not changed; name another file with --output, or "
                            "overwrite it with --force",
                            path));
  if (const Status written = write_file_atomic(path, made.text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  print_written(args, made, path, context);
  return code;
}

ExitCode run_init(const Args& args, Context& context) {
  if (args.has("list")) {
    print_templates(args, context);
    return ExitCode::kOk;
  }
  const auto bundles = args.get("from-bundles");
  if (args.has("from-host") && bundles)
    return usage_error(context, args.command(),
                       "--from-host and --from-bundles exclude each other");
  if (!args.has("from-host") && !bundles)
    return write_design(args, ops::design_from_template(args.value("template")), context);
  ops::Source source;
  if (bundles) source.captures = {*bundles};
  const auto made = ops::design_from_hosts(source);
  if (!made) return fail(context, args.command(), made.error());
  print_unseen(made->seen, context);
  return write_design(args, *made, context);
}

std::vector<std::string_view> template_names() {
  std::vector<std::string_view> names;
  for (const design::Template& entry : design::templates())
    names.push_back(entry.name);
  return names;
}

}  // namespace

Command init_command() {
  return {
      .name = "init",
      .group = Group::kOperators,
      .summary = "write a commented design to start from",
      .description =
          "Writes fabric.yaml from a template: a complete fabric, every section commented, without "
          "lint findings; change what differs from yours. Or from hosts as they are: this one, or "
          "many from their bundles; each value says whether it was found or is not known. An "
          "existing file is not overwritten without --force.",
      .options = {{.name = "template",
                   .letter = 't',
                   .metavar = "NAME",
                   .help = "template to write; see --list",
                   .default_value = "pod16",
                   .choices = template_names()},
                  {.name = "from-host", .help = "from the settings of this machine"},
                  {.name = "from-bundles",
                   .metavar = "DIR",
                   .help = "from the settings of the hosts of these bundles",
                   .completes = Completes::kFiles},
                  {.name = "output",
                   .letter = 'o',
                   .metavar = "FILE",
                   .help = "where to write; - is standard output",
                   .default_value = kDesignFile,
                   .completes = Completes::kFiles},
                  {.name = "force", .help = "overwrite the file"},
                  {.name = "list", .help = "list the templates, write nothing"}},
      .examples = {{"weir init", "fabric.yaml: 16 hosts, 2 leaves, a spine"},
                   {"weir init --template rail256 -o ai.yaml", "32 hosts with 8 rails each"},
                   {"weir init --from-host", "this machine as it is"},
                   {"weir init --list", "the templates"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .run = run_init,
  };
}

}  // namespace weir::cli
