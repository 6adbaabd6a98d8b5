#include "cli/text/top_text.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace weir::cli {
namespace {

ops::RailRates rail(std::string host, double sent, double paused) {
  ops::RailRates row;
  row.host = std::move(host);
  row.device = "mlx5_0";
  row.up = true;
  row.speed = 100_Gbps;
  row.sent = sent;
  row.paused = paused;
  return row;
}

std::vector<std::string> hosts_of(const std::vector<ops::RailRates>& rows) {
  std::vector<std::string> hosts;
  for (const ops::RailRates& row : rows)
    hosts.push_back(row.host);
  return hosts;
}

// COVERS K1
TEST(Top, RowsAreSortedByWhatIsAskedAndUnknownComesLast) {
  std::vector<ops::RailRates> rows = {rail("gpu10", 1e9, 0), rail("gpu2", 5e9, 0.2),
                                      rail("gpu3", 0, 0.5)};
  rows[2].sent.reset();
  TopView view;
  EXPECT_EQ(hosts_of(chosen_rows(rows, view)), (std::vector<std::string>{"gpu3", "gpu2", "gpu10"}));
  view.sort = TopSort::kSent;
  EXPECT_EQ(hosts_of(chosen_rows(rows, view)), (std::vector<std::string>{"gpu2", "gpu10", "gpu3"}));
  view.sort = TopSort::kName;
  EXPECT_EQ(hosts_of(chosen_rows(rows, view)), (std::vector<std::string>{"gpu2", "gpu3", "gpu10"}));
  view.filter = "gpu3";
  EXPECT_EQ(hosts_of(chosen_rows(rows, view)), (std::vector<std::string>{"gpu3"}));
}

TEST(Top, TheScreenFitsTheTerminalAndAnUnknownNumberIsNoZero) {
  std::vector<ops::RailRates> rows(50, rail(std::string(90, 'x'), 1e9, 0));
  rows[0].marks = 0;
  TopView view;
  view.width = 80;
  view.height = 10;
  finding::Judgement judgement;
  const auto lines = top_screen(rows, {}, &judgement, view);
  EXPECT_EQ(lines.size(), 10U);
  for (const std::string& line : lines)
    EXPECT_LE(display_width(line), 80U) << line;
  EXPECT_EQ(lines.back(), "findings: 0 errors, 0 warnings");
  const auto narrow = top_screen({rail("gpu1", 1e9, 0)}, {}, nullptr, {});
  EXPECT_NE(narrow.back().find('?'), std::string::npos) << narrow.back();
}

TEST(Top, TheCurveShowsTheLastLooksAndLeavesGaps) {
  TopHistory history;
  history.add({rail("gpu1", 0, 0)});
  history.add({rail("gpu1", 100e9, 0)});
  EXPECT_EQ(history.curve(rail("gpu1", 0, 0), 4), "\u28b8");
  ops::RailRates unknown = rail("gpu1", 0, 0);
  unknown.sent.reset();
  history.add({unknown});
  history.add({unknown});
  EXPECT_EQ(history.curve(unknown, 4), "\u28b8 ");
  EXPECT_EQ(history.curve(rail("gpu9", 0, 0), 4), "") << "never seen";
}

TEST(Top, AHostileNameStaysOnItsLine) {
  const auto lines = top_screen({rail("a\x1b[2Jb", 1e9, 0)}, {}, nullptr, {});
  for (const std::string& line : lines)
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace weir::cli
