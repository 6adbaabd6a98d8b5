// weir schema: the formats that other programs read and write, as JSON Schemas.
#include "evidence/schema.h"

#include <fmt/format.h>

#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/json/developer_json.h"

namespace weir::cli {
namespace {

std::vector<std::string_view> names() {
  const auto of_evidence = evidence::schema_names();
  std::vector<std::string_view> all = {"design"};
  all.insert(all.end(), of_evidence.begin(), of_evidence.end());
  return all;
}

ExitCode list_schemas(const Args& args, Context& context) {
  if (context.json) {
    print_schemas_json(context, args.command());
    return ExitCode::kOk;
  }
  const std::vector<SchemaRow> rows = schema_rows();
  if (!context.quiet)
    context.out << fmt::format("{} schemas; weir schema NAME prints one.\n\n", rows.size());
  TextTable table({"", ""});
  for (const SchemaRow& row : rows)
    table.add_row({row.name, row.title});
  context.out << table.to_text(context.quiet ? 0 : 2, 100);
  return ExitCode::kOk;
}

ExitCode run_schema(const Args& args, Context& context) {
  const auto name = args.get("NAME");
  if (!name) return list_schemas(args, context);
  print_schema(context, args.command(), *name);
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
      .run = run_schema,
  };
}

}  // namespace weir::cli
