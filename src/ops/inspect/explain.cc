#include "ops/inspect/explain.h"

#include <algorithm>

#include "base/text.h"
#include "counters/catalog.h"
#include "design/tables/platforms.h"
#include "design/tables/switch_models.h"

namespace weir::ops {
namespace {

constexpr std::array kTables = {
    TableTopic{"nics", design::explain_nics}, TableTopic{"models", design::explain_models},
    TableTopic{"asics", design::explain_asics}, TableTopic{"systems", design::explain_systems},
    TableTopic{"knobs", design::explain_knobs}};

}  // namespace

const TableTopic* find_table(std::string_view name) {
  const auto* found = std::find_if(kTables.begin(), kTables.end(),
                                   [&](const TableTopic& table) { return table.name == name; });
  return found == kTables.end() ? nullptr : found;
}

const TableTopic* table_with(std::string_view row) {
  for (const TableTopic& table : kTables) {
    const std::string text = table.text();
    for (const std::string_view line : split(text, '\n')) {
      const std::string_view bare = trim(line);
      if (bare.substr(0, bare.find(' ')) == row) return &table;
    }
  }
  return nullptr;
}

Meaning look_up(const std::string& name) {
  Meaning meaning;
  meaning.finding = finding::find(name);
  meaning.counter = counters::resolve(name);
  meaning.knob = design::find_knob(name);
  meaning.variable = readers::find_variable(name);
  // Kmin on a NIC: only where nothing real has the name.
  if (!meaning.is_known()) meaning.phantom = design::find_phantom(name);
  return meaning;
}

std::vector<std::string> explained_topics() {
  std::vector<std::string> names;
  for (const finding::CatalogEntry& entry : finding::catalog())
    names.emplace_back(entry.id);
  for (const counters::Counter& counter : counters::catalog())
    names.emplace_back(counter.id);
  for (const design::NicKnob& knob : design::nic_knobs())
    names.emplace_back(knob.name);
  for (const readers::VariableMeaning& variable : readers::variable_meanings())
    names.emplace_back(variable.name);
  for (const TableTopic& table : kTables)
    names.emplace_back(table.name);
  return names;
}

std::vector<std::string> explained_spellings() {
  std::vector<std::string> names = explained_topics();
  for (const finding::CatalogEntry& entry : finding::catalog())
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  const std::vector<std::string> raw = counters::every_name();
  names.insert(names.end(), raw.begin(), raw.end());
  return names;
}

}  // namespace weir::ops
