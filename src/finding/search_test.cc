#include "finding/search.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

bool has_row(const Related& related, std::string_view row) {
  const CatalogEntry* entry = find(related.id);
  EXPECT_NE(entry, nullptr) << related.id;
  return entry != nullptr &&
         std::find(entry->rows.begin(), entry->rows.end(), row) != entry->rows.end();
}

std::string ids(const std::vector<Related>& related) {
  std::vector<std::string> out;
  for (const Related& offered : related)
    out.push_back(offered.id);
  return join(out, ", ");
}

TEST(Search, EveryFindingHasOneRowOfSymptoms) {
  std::set<std::string_view> known;
  for (const Symptoms& row : symptoms()) {
    const CatalogEntry* entry = find(row.id);
    ASSERT_NE(entry, nullptr) << row.id;
    EXPECT_EQ(entry->id, row.id);
    EXPECT_FALSE(row.words.empty()) << row.id;
    EXPECT_TRUE(known.insert(entry->id).second) << row.id << " twice";
  }
  for (const CatalogEntry& entry : catalog())
    EXPECT_TRUE(known.contains(entry.id)) << entry.id << " has no symptoms";
}

// Each row of diagnosis by its symptom, as the requirements word it and in other words.
TEST(Search, SymptomsFindTheirRow) {
  const auto text = read_file(WEIR_TEST_DATA "/finding/symptoms.tsv");
  ASSERT_TRUE(text.has_value());
  std::set<std::string_view> rows;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const auto cells = split(line, '\t');
    ASSERT_EQ(cells.size(), 2U) << line;
    rows.insert(cells[0]);
    const auto related = search(cells[1]);
    const bool is_found = std::any_of(related.begin(), related.end(), [&](const Related& offered) {
      return has_row(offered, cells[0]);
    });
    EXPECT_TRUE(is_found) << line << ": offered " << ids(related);
  }
  EXPECT_EQ(rows.size(), 29U);
}

TEST(Search, TheIdAndTheTitleOfAFindingFindIt) {
  for (const CatalogEntry& entry : catalog()) {
    for (const std::string& text :
         {std::string(entry.id) + " " + std::string(entry.title), std::string(entry.id)}) {
      const auto related = search(text);
      EXPECT_TRUE(std::any_of(related.begin(), related.end(),
                              [&](const Related& offered) { return offered.id == entry.id; }))
          << text << ": offered " << ids(related);
    }
  }
}

TEST(Search, OffersAtMostThreeAndSaysWhichWordsTheyShare) {
  const auto related = search("Pause frames everywhere, PFC watchdog reports a storm on the spine");
  ASSERT_EQ(related.size(), kMostRelated);
  EXPECT_TRUE(related.front().why.starts_with("words in common: ")) << related.front().why;
  EXPECT_NE(related.front().why.find("storm"), std::string::npos) << related.front().why;
}

TEST(Search, OffersNothingForATextAboutSomethingElse) {
  EXPECT_TRUE(search("").empty());
  EXPECT_TRUE(search("12 34 56 --- == ::").empty());
  EXPECT_TRUE(
      search("Dear all, lunch is at noon today; bring the blue folder and a pencil.").empty());
}

TEST(Search, ADeniedWordIsNotTheWordAlone) {
  const auto related = search("throughput dropped, no pauses");
  EXPECT_TRUE(std::any_of(related.begin(), related.end(), [](const Related& offered) {
    return has_row(offered, "I2");
  })) << ids(related);
}

}  // namespace
}  // namespace weir::finding
