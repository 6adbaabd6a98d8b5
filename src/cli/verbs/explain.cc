// weir explain: any finding, counter or knob in words.
#include "ops/inspect/explain.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/explain_json.h"
#include "counters/catalog.h"
#include "finding/search.h"
#include "render/text/explain_text.h"

namespace weir::cli {
namespace {

constexpr std::size_t kExplainWidth = 100;

void print_meaning(const ops::Meaning& meaning, Context& context) {
  std::vector<std::string> texts;
  if (meaning.finding != nullptr) texts.push_back(render::explain(*meaning.finding, kExplainWidth));
  if (meaning.counter) texts.push_back(counters::explain(*meaning.counter));
  if (meaning.knob != nullptr) texts.push_back(design::explain(*meaning.knob));
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
  context.out << fmt::format("No finding, counter or knob is called '{}'. May be relevant:\n",
                             words);
  for (const finding::Related& offered : related)
    context.out << fmt::format("  {}: {} ({})\n", offered.id, finding::find(offered.id)->title,
                               offered.why);
  return ExitCode::kOk;
}

ExitCode explain_name(const Args& args, const std::string& name, Context& context) {
  const ops::Meaning meaning = ops::look_up(name);
  if (!meaning.is_known()) {
    const bool is_description = name.find(' ') != std::string::npos;
    const auto related = finding::search(name);
    if (is_description && !related.empty()) return explain_words(args, name, related, context);
    const std::string guess = did_you_mean(name, ops::explained_spellings());
    return usage_error(context, args.command(),
                       fmt::format("no finding, counter or knob is called '{}'{}", name,
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
      "{} findings, {} counters and {} knobs; weir explain NAME explains one, weir explain "
      "nics, asics, systems or knobs shows a table.\n",
      finding::catalog().size(), counters::catalog().size(), design::nic_knobs().size());
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
      .summary = "explain a finding, counter or knob: what, why, how to fix",
      .description =
          "Explains a finding by its id or alias; a counter by its id or its name in any driver, "
          "switch or document; a congestion-control knob of a NIC by any of its names; for a "
          "symptom in words, names findings to read. Without a name, lists all.",
      .arguments = {{.name = "NAME",
                     .help = "dscp.tos_confusion, rx_prio3_pause, rpg_ai_rate, ...; a table: nics, "
                             "asics, systems, knobs",
                     .repeated = true,
                     .completes = Completes::kTopics}},
      .options = {{.name = "list", .help = "list all names; with --quiet one per line"}},
      .examples = {{"weir explain dscp.tos_confusion", "a finding, with the fix for each platform"},
                   {"weir explain np_cnp_sent", "a counter: what is normal, what growth means"},
                   {"weir explain Kmin", "a knob that NICs do not have, and what to use"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_explain,
  };
}

}  // namespace weir::cli
