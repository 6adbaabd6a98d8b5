// weir init: a commented design to start from.
#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "design/file/templates.h"
#include "host/linux/host.h"
#include "render/config/design_from_hosts.h"

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

/// A design to write, and what to say about it.
struct Made {
  std::string text;
  std::string summary;
  Json fields = Json::object();   // of the verb's object
  std::vector<std::string> open;  // what could not be known
  ExitCode code = ExitCode::kOk;
};

ExitCode print_written(const Args& args, const Made& made, const std::string& path,
                       Context& context) {
  if (context.json) {
    Json object = json_object(args.command());
    object.update(made.fields);
    object["file"] = path;
    print_json(context, object);
    return made.code;
  }
  context.out << paint(context, Tone::kStrong, fmt::format("Wrote {}: {}", path, made.summary))
              << '\n';
  if (context.quiet) return made.code;
  if (!made.open.empty()) context.out << "\nnot known from the hosts; the file says where:\n";
  for (const std::string& one : made.open)
    context.out << "  " << one << '\n';
  const std::string argument = path == kDesignFile ? "" : " " + path;
  context.out << "\nnext:\n  edit " << path << "\n  weir lint" << argument << '\n';
  if (!made.open.empty()) context.out << "  weir validate" << argument << '\n';
  return made.code;
}

ExitCode write_design(const Args& args, const Made& made, Context& context) {
  const std::string& path = args.value("output");
  if (path == "-") {
    if (context.json) {
      Json object = json_object(args.command());
      object.update(made.fields);
      object["text"] = made.text;
      print_json(context, object);
    } else {
      context.out << made.text;
    }
    return made.code;
  }
  if (file_exists(path) && !args.has("force")) {
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} exists and was left as it is; name another file with --output, or "
                            "overwrite it with --force",
                            path));
  }
  if (const Status written = write_file_atomic(path, made.text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  return print_written(args, made, path, context);
}

Made made_from(const Template& one) {
  Made made;
  made.text = one.text;
  made.summary = trim(one.summary);
  made.fields["template"] = one.name;
  return made;
}

/// The hosts that a design is to be made from: this one, or those of bundles.
Result<HostSet> hosts_to_read(const Args& args) {
  HostSet set;
  const auto bundles = args.get("from-bundles");
  if (!bundles) {
    set.hosts.push_back(host::make_linux_host());
    return set;
  }
  WEIR_TRY(paths, host::find_captures(*bundles));
  for (const std::string& path : paths) {
    WEIR_TRY(host, host::open_captured_host(path));
    set.hosts.push_back(std::move(host));
  }
  return set;
}

ExitCode init_from_hosts(const Args& args, Context& context) {
  const auto set = hosts_to_read(args);
  if (!set) return fail(context, ExitCode::kBadInput, set.error().what);
  const Observation seen = observe(*set, context);
  if (seen.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  if (!render::has_ethernet_rdma(seen.hosts)) {
    return fail(context, ExitCode::kCouldNotLook,
                std::string("no RDMA NIC on Ethernet was found: a design is for RoCE"));
  }
  render::FoundDesign found = render::design_from_hosts(seen.hosts, "from-hosts");
  Made made;
  made.text = std::move(found.text);
  made.summary = fmt::format("{} with {}, from what {} showed", counted(found.hosts, "host"),
                             counted(found.rails, "rail"),
                             args.has("from-bundles") ? "the bundles" : "this machine");
  made.fields = {{"hosts", found.hosts}, {"rails", found.rails}, {"open", found.open}};
  made.open = std::move(found.open);
  made.code = completeness(seen);
  return write_design(args, made, context);
}

ExitCode run_init(const Args& args, Context& context) {
  if (args.has("list")) {
    print_list(args, context);
    return ExitCode::kOk;
  }
  if (args.has("from-host") && args.has("from-bundles"))
    return usage_error(context, args.command(),
                       "--from-host and --from-bundles exclude each other");
  if (args.has("from-host") || args.has("from-bundles")) return init_from_hosts(args, context);
  const Template* one = design::find_template(args.value("template"));
  WEIR_CHECK(one != nullptr);  // the parser has checked the choice
  return write_design(args, made_from(*one), context);
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
          "clean. Change what differs from yours. Or from hosts as they are: this one, or many "
          "from their bundles; each value says whether it was found or is not known. An existing "
          "file is never overwritten unasked.",
      .options = {{.name = "template",
                   .letter = 't',
                   .metavar = "NAME",
                   .help = "which one; --list says what they are",
                   .default_value = "pod16",
                   .choices = template_names()},
                  {.name = "from-host", .help = "from what this machine shows"},
                  {.name = "from-bundles",
                   .metavar = "DIR",
                   .help = "from what the hosts of these bundles showed",
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
                   {"weir init --template rail256 -o ai.yaml", "32 hosts with 8 rails"},
                   {"weir init --from-host", "this machine as it is"},
                   {"weir init --list", "the templates"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"A1", "C11"},
      .run = run_init,
  };
}

}  // namespace weir::cli
