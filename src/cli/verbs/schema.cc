// weir schema: the formats that other programs read and write, as JSON Schemas.
#include "design/file/schema.h"

#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/json/object.h"
#include "evidence/schema.h"

namespace weir::cli {
namespace {

constexpr std::string_view kDesignSchema = "design";

std::vector<std::string_view> names() {
  const auto of_evidence = evidence::schema_names();
  std::vector<std::string_view> all = {kDesignSchema};
  all.insert(all.end(), of_evidence.begin(), of_evidence.end());
  return all;
}

Json schema_of(std::string_view name) {
  return name == kDesignSchema ? design::design_schema() : evidence::schema(name);
}

// A schema says in its own `title` what it describes.
std::string title_of(std::string_view name) {
  return schema_of(name).value("title", "");
}

void print_schemas(const Args& args, Context& context) {
  if (context.json) {
    Json object = json_object(args.command());
    object["schemas"] = Json::array();
    for (const std::string_view name : names())
      object["schemas"].push_back({{"name", name}, {"title", title_of(name)}});
    print_json(context, object);
    return;
  }
  if (!context.quiet)
    context.out << fmt::format("{} schemas; weir schema NAME prints one.\n\n", names().size());
  TextTable table({"", ""});
  for (const std::string_view name : names())
    table.add_row({std::string(name), title_of(name)});
  context.out << table.to_text(context.quiet ? 0 : 2, 100);
}

ExitCode run_schema(const Args& args, Context& context) {
  const auto name = args.get("NAME");
  if (!name) {
    print_schemas(args, context);
    return ExitCode::kOk;
  }
  const Json schema = schema_of(*name);
  if (context.json) {
    Json object = json_object(args.command());
    object["name"] = *name;
    object["json_schema"] = schema;
    print_json(context, object);
  } else {
    context.out << schema.dump(2) << '\n';
  }
  return ExitCode::kOk;
}

}  // namespace

Command schema_command() {
  return {
      .name = "schema",
      .group = Group::kDevelopers,
      .summary = "JSON Schemas of the files that weir reads and writes",
      .description =
          "Prints a JSON Schema (draft 2020-12): of the design file, for editors that check while "
          "you type, and of the objects that verbs print with --json. Without a name, the list.",
      .arguments = {{.name = "NAME", .help = "which schema", .choices = names()}},
      .examples = {{"weir schema design > fabric.schema.json", "for an editor"},
                   {"weir schema", "the list"}},
      .exit_codes = {ExitCode::kOk},
      .rows = {"A1"},
      .run = run_schema,
  };
}

}  // namespace weir::cli
