#pragma once
// What a name stands for: a finding, a counter, a knob of a NIC or an environment variable.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counters/explain.h"
#include "design/tables/nic_knobs.h"
#include "finding/catalog.h"
#include "readers/job/job.h"

namespace weir::ops {

/// Everything that has a name: usually one of these, now and then a counter and a knob.
struct Meaning {
  const finding::CatalogEntry* finding = nullptr;
  std::optional<counters::Resolution> counter;
  const design::NicKnob* knob = nullptr;
  const design::PhantomKnob* phantom = nullptr;
  const readers::VariableMeaning* variable = nullptr;

  [[nodiscard]] bool is_known() const {
    return finding != nullptr || counter || knob != nullptr || phantom != nullptr ||
           variable != nullptr;
  }
};

[[nodiscard]] Meaning look_up(const std::string& name);

/// Whole tables, by the word that other texts refer to them with.
struct TableTopic {
  std::string_view name;
  std::string (*text)();
};
/// nullptr: no table of that name.
[[nodiscard]] const TableTopic* find_table(std::string_view name);
/// The table with a row of that name: "sn5600" is in models; nullptr: none has.
[[nodiscard]] const TableTopic* table_with(std::string_view row);

/// Every finding, counter, knob, variable and table.
[[nodiscard]] std::vector<std::string> explained_topics();
/// The same with all their other names, for "did you mean".
[[nodiscard]] std::vector<std::string> explained_spellings();

}  // namespace weir::ops
