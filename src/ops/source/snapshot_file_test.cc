#include "ops/source/snapshot_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/testing.h"
#include "evidence/drawn_evidence.h"

namespace weir::ops {
namespace {

std::string text_of(const std::vector<evidence::Evidence>& captures) {
  std::vector<const evidence::Evidence*> pieces;
  for (const evidence::Evidence& capture : captures)
    pieces.push_back(&capture);
  std::string text;
  write_snapshot({{"schema", "weir/snapshot/1"}}, pieces,
                 [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<evidence::Evidence> drawn_captures() {
  std::vector<evidence::Evidence> out;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    evidence::Evidence drawn = evidence::draw_evidence(seed);
    drawn.provenance.host = fmt::format("gpu{:02}", seed);
    if (drawn.snapshots.empty()) continue;
    drawn.snapshots.erase(drawn.snapshots.begin(), drawn.snapshots.end() - 1);
    out.push_back(std::move(drawn));
  }
  return out;
}

TEST(SnapshotFile, EveryDrawnHostComesBackFromItsLines) {
  COVERS("D2", "G8");
  const std::vector<evidence::Evidence> captures = drawn_captures();
  ASSERT_GT(captures.size(), 10U);
  const auto back = read_snapshot_text(text_of(captures), "drawn.json");
  ASSERT_TRUE(back) << back.error().what;
  ASSERT_EQ(back->size(), captures.size());
  for (std::size_t i = 0; i < captures.size(); ++i)
    EXPECT_TRUE((*back)[i] == captures[i]) << captures[i].provenance.host;
}

// Lines of ports are compared with earlier ones; another layout of the text must not change what is
// read.
TEST(SnapshotFile, TheSameDocumentWithOtherBlanksSaysTheSame) {
  COVERS("G8");
  const std::string text = text_of(drawn_captures());
  const auto by_line = read_snapshot_text(text, "drawn.json");
  const auto as_document = read_snapshot_text(Json::parse(text).dump(1), "drawn.json");
  ASSERT_TRUE(by_line && as_document);
  EXPECT_TRUE(*by_line == *as_document);
}

TEST(SnapshotFile, APortWithAnotherNumberMissingOrAddedIsReadAsItIs) {
  COVERS("D2");
  using counters::Place;
  using counters::Reading;
  evidence::Evidence capture;
  capture.provenance.host = "gpu01";
  capture.snapshots.emplace_back();
  const auto add = [&](const std::string& device, std::vector<counters::Sample> samples) {
    capture.snapshots[0].nics.emplace_back(device, "eth0", "mlx5_core", std::move(samples));
  };
  const counters::Sample sent{Place::kHwCounters, "np_cnp_sent", Reading::of(7)};
  const counters::Sample refused{Place::kHwCounters, "out_of_sequence",
                                 Reading::missing(counters::Missing::kPermission)};
  const counters::Sample lost{Place::kHwCounters, "out_of_sequence",
                              Reading::of(18'446'744'073'709'551'614ULL)};
  add("mlx5_0", {sent, lost});
  add("mlx5_1", {sent, lost});
  add("mlx5_2", {sent, refused});
  add("mlx5_3", {sent});
  add("mlx5_4", {lost, sent});
  const auto back = read_snapshot_text(text_of({capture}), "one.json");
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_TRUE(back->front().snapshots == capture.snapshots);
}

TEST(SnapshotFile, ADamagedLineIsAnErrorWithItsPlace) {
  COVERS("G8");
  std::string text = text_of(drawn_captures());
  const std::size_t at = text.find("\"value\":");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 8, "x");
  const auto back = read_snapshot_text(text, "broken.json");
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().what.find("broken.json"), std::string::npos) << back.error().what;
}

}  // namespace
}  // namespace weir::ops
