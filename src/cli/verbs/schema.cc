// weir schema: the formats that other programs read and write, as JSON Schemas.
#include <fmt/format.h>

#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/json/developer_json.h"

namespace weir::cli {
namespace {

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
          "you type, of evidence and counters, and of what each verb prints with --json. Without a "
          "name, the list.",
      .arguments = {{.name = "NAME", .help = "which schema", .choices = schema_names()}},
      .examples = {{"weir schema design > fabric.schema.json", "for an editor"},
                   {"weir schema verify", "what weir verify --json prints"},
                   {"weir schema", "the list"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_schema,
  };
}

}  // namespace weir::cli
