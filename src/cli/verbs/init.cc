// weir init: a commented design to start from.
#include <fmt/format.h>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/design_json.h"
#include "design/file/templates.h"
#include "design/file/value_text.h"
#include "design/tables/switch_models.h"
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
  if (is_name_taken(path) && !args.has("force"))
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} exists and was not changed; name another file with --output, or "
                            "overwrite it with --force",
                            path));
  if (const Status written = write_file_atomic(path, made.text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  print_written(args, made, path, context);
  return code;
}

/// Words of --system, --model, --hosts, --rails and --speed.
ops::Result<render::FabricSize> fabric_size_of(const Args& args) {
  render::FabricSize size;
  const auto number = [&](std::string_view name, int fallback, int most) -> ops::Result<int> {
    const auto text = args.get(name);
    if (!text) return fallback;
    const auto value = parse_u64(*text);
    if (!value || *value < 1 || *value > static_cast<std::uint64_t>(most))
      return ops::bad_request(
          fmt::format("--{}: expected a number from 1 to {}, found '{}'", name, most, *text));
    return static_cast<int>(*value);
  };
  WEIR_TRY(hosts, number("hosts", 16, 8'192));
  WEIR_TRY(rails, number("rails", 1, 64));
  size.hosts = hosts;
  size.rails = rails;
  const auto speed = design::ValueText<BitRate>::parse(args.get("speed").value_or("400G"));
  if (!speed) return ops::bad_request("--speed: " + speed.error().what);
  size.speed = *speed;
  if (const auto word = args.get("system")) {
    const auto system = design::ValueText<design::SwitchSystem>::parse(*word);
    if (!system) return ops::bad_request("--system: " + system.error().what);
    size.system = *system;
  } else if (const auto model = args.get("model")) {
    const design::SwitchModel* const known = design::find_switch_model(*model);
    for (const auto& entry : vocab::kSwitchSystems)
      if (known != nullptr && known->runs(entry.system)) size.system = entry.system;
  }
  size.model = args.get("model").value_or(render::usual_model(size.system));
  return size;
}

bool asks_for_size(const Args& args) {
  for (const std::string_view name : {"system", "model", "hosts", "rails", "speed"})
    if (args.get(name)) return true;
  return false;
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
  if (asks_for_size(args)) {
    if (args.has("template"))
      return usage_error(context, args.command(),
                         "a template has a size of its own: give --template, or a size");
    if (args.has("from-host") || bundles)
      return usage_error(context, args.command(),
                         "a size is for a new design: not with --from-host or --from-bundles");
    const auto size = fabric_size_of(args);
    if (!size) return fail(context, args.command(), size.error());
    const auto made = ops::design_from_size(*size);
    if (!made) return fail(context, args.command(), made.error());
    return write_design(args, *made, context);
  }
  if (!args.has("from-host") && !bundles)
    return write_design(args, ops::design_from_template(args.get("template").value_or("pod16")),
                        context);
  ops::Source source;
  if (bundles) source.captures = {*bundles};
  const auto made = ops::design_from_hosts(source);
  if (!made) return fail(context, args.command(), made.error());
  print_unseen(made->seen, context);
  return write_design(args, *made, context);
}

std::vector<std::string_view> system_words() {
  std::vector<std::string_view> words;
  for (const auto& entry : vocab::kSwitchSystems)
    words.push_back(entry.name);
  return words;
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
          "lint findings. With --hosts and the options beside it, a design of that size without "
          "oversubscription; weir lint says where its switches cannot do all of it (Junos marks in "
          "steps of 1 % of a queue). Or from hosts as they are: this one, or many from their "
          "bundles; each "
          "value says whether it was found or is not known. --force overwrites a file.",
      .options = {{.name = "template",
                   .letter = 't',
                   .metavar = "NAME",
                   .help = "template to write (pod16 if none is named); see --list",
                   .choices = template_names()},
                  {.name = "system",
                   .metavar = "S",
                   .help = "for your own size: system of the switches",
                   .choices = system_words()},
                  {.name = "model", .metavar = "M", .help = "their model (weir explain models)"},
                  {.name = "hosts", .metavar = "N", .help = "how many hosts (16)"},
                  {.name = "rails", .metavar = "N", .help = "RDMA NICs of each (1)"},
                  {.name = "speed", .metavar = "RATE", .help = "speed of the NICs (400G)"},
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
                   .completes = Completes::kFiles,
                   .writes = Writes::kFile},
                  {.name = "force", .help = "overwrite the file"},
                  {.name = "list", .help = "list the templates, write nothing"}},
      .examples = {{"weir init", "fabric.yaml: 16 hosts, 2 leaves, a spine"},
                   {"weir init --template rail256 -o ai.yaml", "32 hosts with 8 rails each"},
                   {"weir init --system sonic --model sn5600 --hosts 128 --rails 8 --speed 400G",
                    "your own size"},
                   {"weir init --from-host", "this machine as it is"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtFiles,
      .run = run_init,
  };
}

}  // namespace weir::cli
