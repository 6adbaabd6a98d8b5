// weir explain: any finding, counter, knob or variable in words.
#include "ops/inspect/explain.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/explain_json.h"
#include "counters/catalog.h"
#include "finding/search.h"
#include "finding/symptom_rows.h"
#include "render/text/explain_text.h"

namespace weir::cli {
namespace {

constexpr std::size_t kExplainWidth = 100;

void print_meaning(const ops::Meaning& meaning, Context& context) {
  std::vector<std::string> texts;
  if (meaning.finding != nullptr) texts.push_back(render::explain(*meaning.finding, kExplainWidth));
  if (meaning.counter) texts.push_back(counters::explain(*meaning.counter));
  if (meaning.knob != nullptr) texts.push_back(design::explain(*meaning.knob));
  if (meaning.variable != nullptr) texts.push_back(readers::explain(*meaning.variable));
  if (meaning.phantom != nullptr) texts.push_back(design::explain(*meaning.phantom));
  context.out << join(texts, "\n");
}

ExitCode explain_table(const Args& args, const ops::TableTopic& table, Context& context) {
  if (context.json) {
    print_table_json(context, args.command(), table);
  } else {
    context.out << table.text();
  }
  return ExitCode::kOk;
}

/// A description instead of a name: findings worth reading for its words.
ExitCode explain_words(const Args& args, const std::string& words,
                       const std::vector<finding::Related>& related, Context& context) {
  if (context.json) {
    print_related_json(context, args.command(), words, related);
    return ExitCode::kOk;
  }
  context.out << fmt::format("Nothing is called '{}'. May be relevant:\n", words);
  for (const finding::Related& offered : related)
    context.out << fmt::format("  {}: {} ({})\n", offered.id, finding::find(offered.id)->title,
                               offered.why);
  return ExitCode::kOk;
}

/// A description that fits rows of the table of symptoms: what each points at, and what to read.
ExitCode explain_symptom(const Args& args, const std::string& words,
                         const std::vector<const finding::SymptomRow*>& rows, Context& context) {
  if (context.json) {
    print_symptoms_json(context, args.command(), words, rows);
    return ExitCode::kOk;
  }
  context.out << fmt::format("'{}' fits {}; what each points at:\n", words,
                             counted(rows.size(), "known symptom"));
  constexpr std::size_t kIndent = 4;
  for (const finding::SymptomRow* row : rows) {
    context.out << fmt::format("\n  {}\n    {}\n", row->symptom, row->cause);
    const std::string ids = join(finding::findings_of(*row), ", ");
    context.out << fmt::format("    {}\n",
                               hang("weir explain " + ids, kExplainWidth - kIndent, kIndent));
  }
  context.out << "\nWhich one it is, counters tell: weir diagnose.\n";
  return ExitCode::kOk;
}

ExitCode explain_name(const Args& args, const std::string& name, Context& context) {
  const ops::Meaning meaning = ops::look_up(name);
  if (!meaning.is_known()) {
    const bool is_description = name.find(' ') != std::string::npos;
    if (const auto rows = finding::look_up_symptom(name); is_description && !rows.empty())
      return explain_symptom(args, name, rows, context);
    const auto related = finding::search(name);
    if (is_description && !related.empty()) return explain_words(args, name, related, context);
    if (const ops::TableTopic* const table = ops::table_with(name))
      return usage_error(
          context, args.command(),
          fmt::format("'{}' is a row of a table: weir explain {}", name, table->name));
    const std::string guess = did_you_mean(name, ops::explained_spellings());
    return usage_error(context, args.command(),
                       fmt::format("no finding, counter, knob or variable is called '{}'{}", name,
                                   guess.empty() ? "; weir explain --list lists all" : guess));
  }
  if (context.json) {
    print_meaning_json(context, args.command(), name, meaning);
  } else {
    print_meaning(meaning, context);
  }
  return ExitCode::kOk;
}

void print_topics(Context& context) {
  context.out << fmt::format(
      "{} findings, {} counters, {} knobs and {} variables; weir explain NAME explains one, weir "
      "explain nics, models, asics, systems or knobs shows a table.\n",
      finding::catalog().size(), counters::catalog().size(), design::nic_knobs().size(),
      readers::variable_meanings().size());
  TextTable findings({"finding", "severity", "what"});
  for (const finding::CatalogEntry& entry : finding::catalog()) {
    findings.add_row(
        {std::string(entry.id), std::string(to_text(entry.severity)), std::string(entry.title)});
  }
  context.out << '\n' << findings.to_text(0, kExplainWidth);
  TextTable table({"counter", "unit", "mlx5 name"});
  for (const counters::Counter& counter : counters::catalog()) {
    const counters::RawName* name = counters::name_for(counter, counters::Driver::kMlx5);
    table.add_row({std::string(counter.id), std::string(to_text(counter.unit)),
                   std::string(name == nullptr ? "-" : name->pattern)});
  }
  context.out << '\n' << table.to_text(0, kExplainWidth) << '\n' << design::explain_knobs();
  TextTable variables({"variable", "what"});
  for (const readers::VariableMeaning& variable : readers::variable_meanings())
    variables.add_row({std::string(variable.name), std::string(variable.what)});
  context.out << '\n' << variables.to_text(0, kExplainWidth);
}

ExitCode explain_all(const Args& args, Context& context) {
  if (context.json) {
    print_topics_json(context, args.command());
  } else if (context.quiet) {
    context.out << join(ops::explained_topics(), "\n") << '\n';
  } else {
    print_topics(context);
  }
  return ExitCode::kOk;
}

ExitCode run_explain(const Args& args, Context& context) {
  if (args.has("list") || !args.has("NAME")) return explain_all(args, context);
  // A counter as a document prints it may have blanks: "ECN marks/sec".
  const std::string name = join(args.all("NAME"), " ");
  if (const ops::TableTopic* table = ops::find_table(name))
    return explain_table(args, *table, context);
  return explain_name(args, name, context);
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .group = Group::kOperators,
      .summary = "explain a finding, counter, knob or variable: why, and the fix",
      .description =
          "Explains a finding by its id or alias; a counter by its id or its name in any driver, "
          "switch or document; a congestion-control knob of a NIC by any of its names; an "
          "environment "
          "variable of NCCL or UCX; for a symptom in words, names findings to read. Without a "
          "name, lists all.",
      .arguments = {{.name = "NAME",
                     .help = "dscp.tos_confusion, rx_prio3_pause, rpg_ai_rate, NCCL_IB_TC, ...; a "
                             "table: nics, models, asics, systems, knobs",
                     .repeated = true,
                     .completes = Completes::kTopics}},
      .options = {{.name = "list", .help = "list all names; with --quiet one per line"}},
      .examples = {{"weir explain dscp.tos_confusion", "a finding, with the fix for each platform"},
                   {"weir explain np_cnp_sent", "a counter: what is normal, what growth means"},
                   {"weir explain Kmin", "a knob that NICs do not have, and what to use"},
                   {"weir explain NCCL_IB_TC", "an environment variable of a job"},
                   {"weir explain 'throughput dropped, no pauses'", "a symptom in words"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_explain,
  };
}

}  // namespace weir::cli
