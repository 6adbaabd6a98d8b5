// weir explain: any finding, counter or knob in words. What a name stands for is asked in three
// catalogues; this file only finds the entry and prints it.
#include "counters/explain.h"

#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/object.h"
#include "counters/catalog.h"
#include "design/tables/nic_knobs.h"
#include "design/tables/platforms.h"
#include "finding/catalog.h"
#include "render/text/explain_text.h"

namespace weir::cli {
namespace {

constexpr std::size_t kExplainWidth = 100;

// Whole tables, by the word that other texts refer to them with.
struct TableTopic {
  std::string_view name;
  std::string (*text)();
};
constexpr std::array kTables = {
    TableTopic{"nics", design::explain_nics}, TableTopic{"asics", design::explain_asics},
    TableTopic{"systems", design::explain_systems}, TableTopic{"knobs", design::explain_knobs}};

// Everything that bears a name: usually one of these, now and then a counter and a knob.
struct Meaning {
  const finding::CatalogEntry* finding = nullptr;
  std::optional<counters::Resolution> counter;
  const design::NicKnob* knob = nullptr;
  const design::PhantomKnob* phantom = nullptr;

  [[nodiscard]] bool is_known() const {
    return finding != nullptr || counter || knob != nullptr || phantom != nullptr;
  }
};

Meaning look_up(const std::string& name) {
  Meaning meaning;
  meaning.finding = finding::find(name);
  meaning.counter = counters::resolve(name);
  meaning.knob = design::find_knob(name);
  // Kmin on a NIC: only where nothing real bears the name.
  if (!meaning.is_known()) meaning.phantom = design::find_phantom(name);
  return meaning;
}

std::vector<std::string> topics() {
  std::vector<std::string> names;
  for (const finding::CatalogEntry& entry : finding::catalog())
    names.emplace_back(entry.id);
  for (const counters::Counter& counter : counters::catalog())
    names.emplace_back(counter.id);
  for (const design::NicKnob& knob : design::nic_knobs())
    names.emplace_back(knob.name);
  for (const TableTopic& table : kTables)
    names.emplace_back(table.name);
  return names;
}

std::vector<std::string> every_spelling() {
  std::vector<std::string> names = topics();
  for (const finding::CatalogEntry& entry : finding::catalog())
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  const std::vector<std::string> raw = counters::every_name();
  names.insert(names.end(), raw.begin(), raw.end());
  return names;
}

Json to_json(const finding::CatalogEntry& entry) {
  Json fixes = Json::array();
  for (const finding::CatalogFix& fix : entry.fix)
    fixes.push_back({{"platform", fix.platform}, {"commands", fix.commands}, {"note", fix.note}});
  return {{"id", entry.id},           {"title", entry.title}, {"severity", to_text(entry.severity)},
          {"aliases", entry.aliases}, {"rows", entry.rows},   {"phase", entry.phase},
          {"why", entry.why},         {"fix", fixes},         {"sources", entry.sources}};
}

Json to_json(const counters::Counter& counter) {
  Json names = Json::array();
  for (const counters::RawName& name : counters::names_of(counter)) {
    names.push_back({{"driver", to_text(name.driver)},
                     {"place", to_text(name.place)},
                     {"name", name.pattern},
                     {"bits", name.bits},
                     {"unit", to_text(name.unit.value_or(counter.unit))}});
  }
  return {{"id", counter.id},
          {"kind", to_text(counter.kind)},
          {"unit", to_text(counter.unit)},
          {"meaning", counter.meaning},
          {"normal", counter.normal},
          {"climbing", counter.climbing},
          {"caveat", counter.caveat},
          {"rows", counter.rows},
          {"names", names}};
}

Json to_json(const design::NicKnob& knob) {
  return {{"name", knob.name},
          {"debugfs", knob.debugfs},
          {"mlxconfig", knob.mlxconfig},
          {"side", knob.is_notification_point ? "notification_point" : "reaction_point"},
          {"range", design::range_text(knob)},
          {"default", design::knob_text(knob, knob.fallback)},
          {"meaning", knob.meaning},
          {"trap", knob.trap},
          {"source", knob.source}};
}

// `finding`, `counter`, `knob` hold what bears the name; those that do not are left out.
Json to_json(const std::string& name, const Meaning& meaning, Json object) {
  object["name"] = name;
  if (meaning.finding != nullptr) object["finding"] = to_json(*meaning.finding);
  if (meaning.counter) {
    object["counter"] = to_json(*meaning.counter->match.counter);
    object["counter"]["word"] = meaning.counter->word;
  }
  if (meaning.knob != nullptr) object["knob"] = to_json(*meaning.knob);
  if (meaning.phantom != nullptr) {
    object["knob"] = {{"name", meaning.phantom->name},
                      {"exists", false},
                      {"real", meaning.phantom->real},
                      {"instead", meaning.phantom->instead}};
  }
  return object;
}

void print(const Meaning& meaning, Context& context) {
  std::vector<std::string> texts;
  if (meaning.finding != nullptr) texts.push_back(render::explain(*meaning.finding, kExplainWidth));
  if (meaning.counter) texts.push_back(counters::explain(*meaning.counter));
  if (meaning.knob != nullptr) texts.push_back(design::explain(*meaning.knob));
  if (meaning.phantom != nullptr) texts.push_back(design::explain(*meaning.phantom));
  context.out << join(texts, "\n");
}

ExitCode explain_table(const Args& args, const TableTopic& table, Context& context) {
  if (context.json) {
    Json object = json_object(args.command());
    object["name"] = table.name;
    object["table"] = table.text();
    print_json(context, object);
  } else {
    context.out << table.text();
  }
  return ExitCode::kOk;
}

ExitCode explain_one(const Args& args, const std::string& name, Context& context) {
  const Meaning meaning = look_up(name);
  if (!meaning.is_known()) {
    const std::string guess = did_you_mean(name, every_spelling());
    return usage_error(context, args.command(),
                       fmt::format("no finding, counter or knob is called '{}'{}", name,
                                   guess.empty() ? "; weir explain --list has them all" : guess));
  }
  if (context.json) {
    print_json(context, to_json(name, meaning, json_object(args.command())));
  } else {
    print(meaning, context);
  }
  return ExitCode::kOk;
}

Json list_to_json(Json object) {
  object["findings"] = Json::array();
  for (const finding::CatalogEntry& entry : finding::catalog()) {
    object["findings"].push_back({{"id", entry.id},
                                  {"severity", to_text(entry.severity)},
                                  {"title", entry.title},
                                  {"rows", entry.rows}});
  }
  object["counters"] = Json::array();
  for (const counters::Counter& counter : counters::catalog())
    object["counters"].push_back({{"id", counter.id}, {"unit", to_text(counter.unit)}});
  object["knobs"] = Json::array();
  for (const design::NicKnob& knob : design::nic_knobs())
    object["knobs"].push_back({{"name", knob.name}, {"range", design::range_text(knob)}});
  return object;
}

void print_list(Context& context) {
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
    print_json(context, list_to_json(json_object(args.command())));
  } else if (context.quiet) {
    context.out << join(topics(), "\n") << '\n';
  } else {
    print_list(context);
  }
  return ExitCode::kOk;
}

ExitCode run_explain(const Args& args, Context& context) {
  if (args.has("list") || !args.has("NAME")) return explain_all(args, context);
  // A counter as a document prints it may have blanks: "ECN marks/sec".
  const std::string name = join(args.all("NAME"), " ");
  for (const TableTopic& table : kTables) {
    if (table.name == name) return explain_table(args, table, context);
  }
  return explain_one(args, name, context);
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .group = Group::kOperators,
      .summary = "any finding, counter or knob: what, why, how to fix",
      .description =
          "A finding by its id or a check's name; a counter by its id or as any driver, switch or "
          "document spells it; a NIC's congestion-control knob by any of its names. Without a "
          "name, "
          "the list of all.",
      .arguments = {{.name = "NAME",
                     .help = "dscp.tos_confusion, rx_prio3_pause, rpg_ai_rate, ...; a table: nics, "
                             "asics, systems, knobs",
                     .repeated = true,
                     .completes = Completes::kTopics}},
      .options = {{.name = "list", .help = "all names; with --quiet one a line"}},
      .examples = {{"weir explain dscp.tos_confusion", "a finding, with the fix for each platform"},
                   {"weir explain np_cnp_sent", "a counter: what is normal, what growth means"},
                   {"weir explain Kmin", "a knob that NICs do not have, and what to use"}},
      .exit_codes = {ExitCode::kOk},
      .rows = {"A2", "D1"},
      .run = run_explain,
  };
}

}  // namespace weir::cli
