// The order in which people write the readings of a counter, and what they say above a list of
// them: each that was read wrongly, and one beside it that is meant so.
#include "base/testing.h"
#include "base/text.h"
#include "readers/paste/paste_counted.h"

namespace weir::readers {
namespace {

/// "name=before>after …" of the one place that a line or a table has.
std::string said(const std::vector<Counted>& counts) {
  std::vector<std::string> out;
  for (const Counted& item : counts)
    out.push_back(std::string(item.name) + "=" +
                  (item.before ? std::to_string(*item.before) + ">" : std::string()) +
                  std::to_string(item.value));
  return join(out, " ");
}

std::string line(std::string_view text) {
  const auto found = counted_line(text);
  return found ? said(found->counts) : "nothing";
}

std::string table(std::string_view text) {
  const PlainText plain = plain_text(text);
  const Mark mark;
  const auto found = counted_table({plain.lines, mark});
  if (!found) return "nothing";
  std::vector<std::string> rows;
  for (const CountedLine& row : found->rows)
    rows.push_back(said(row.counts));
  return join(rows, "; ") + (found->seconds ? " in " + std::to_string(*found->seconds) : "");
}

TEST(CountedOrder, ANumberIsOfTheMomentThatItsWordNames) {
  COVERS("D8");
  for (const std::string_view text : {
           "np_cnp_sent: was 12, now 40",
           "np_cnp_sent: now 40, was 12",
           "np_cnp_sent: after 40, before 12",
           "np_cnp_sent 40 now, 12 before",
           "np_cnp_sent 12 before 40 after",
           "np_cnp_sent 40 after 12 before",
           "np_cnp_sent 12 before, now 40",
           "np_cnp_sent before after 12 40",
           "np_cnp_sent delta=28 now=40 was=12",
           "np_cnp_sent 12 before, 40 after, delta 28",
           "np_cnp_sent: post=40 pre=12",
           "np_cnp_sent grew from 12 to 40",
           "np_cnp_sent 12 to 40 increase",
           "np_cnp_sent delta: 12 -> 40",
           "np_cnp_sent 12 -> now 40",
           "np_cnp_sent: before 12, delta 28",
           "np_cnp_sent: now 40, delta 28",
       })
    EXPECT_EQ(line(text), "np_cnp_sent=12>40") << text;
}

TEST(CountedOrder, AResetStaysOne) {
  COVERS("D8");
  EXPECT_EQ(line("np_cnp_sent: was 40, now 12"), "np_cnp_sent=40>12");
  EXPECT_EQ(line("np_cnp_sent 40 -> 12"), "np_cnp_sent=40>12");
  EXPECT_EQ(table("counter before after\nnp_cnp_sent 40 12\n"), "np_cnp_sent=40>12");
}

TEST(CountedOrder, WhatContradictsItselfIsNotRead) {
  COVERS("D8");
  EXPECT_EQ(line("np_cnp_sent: now 40, now 12"), "nothing");
  EXPECT_EQ(line("np_cnp_sent: was 12, now 40, delta 7"), "nothing");
  EXPECT_EQ(line("np_cnp_sent delta 12 40"), "nothing");
}

TEST(CountedOrder, AColumnIsOfTheMomentThatItsHeadingNames) {
  COVERS("D8");
  EXPECT_EQ(table("counter after before\nnp_cnp_sent 40 12\n"), "np_cnp_sent=12>40");
  EXPECT_EQ(table("counter delta before after\nnp_cnp_sent 28 12 40\n"), "np_cnp_sent=12>40");
  EXPECT_EQ(table("counter before (60 s) after\nnp_cnp_sent 12 40\n"), "np_cnp_sent=12>40");
  EXPECT_EQ(table("counter t0+60s t0\nnp_cnp_sent 40 12\n"), "np_cnp_sent=12>40 in 60");
  EXPECT_EQ(table("| counter | 10:00:30 | 10:00:00 |\n|---|---|---|\n| np_cnp_sent | 40 | 12 |\n"),
            "np_cnp_sent=12>40 in 30")
      << "the newest first";
  EXPECT_EQ(table("| counter | 23:59:50 | 00:00:20 |\n|---|---|---|\n| np_cnp_sent | 12 | 40 |\n"),
            "np_cnp_sent=12>40 in 30")
      << "over midnight";
}

TEST(CountedOrder, ARowHeadsNoTable) {
  COVERS("D8");
  EXPECT_EQ(table("a1 b2 foo_bar 5 6\nnp_cnp_sent 1 2\n"), "nothing");
  EXPECT_EQ(table("counter a1 b2\nfoo_bar 5 6\nnp_cnp_sent 1 2\n"),
            "foo_bar=5; foo_bar=6; np_cnp_sent=1; np_cnp_sent=2")
      << "rows that nobody knows in front of one that is known";
}

TEST(CountedOrder, OnlyCountersThatWereClearedBeginAtZero) {
  COVERS("D8");
  for (const std::string_view text :
       {"The leaf switch was reset at 09:12. All is well. Counters of gpu01 mlx5_0:",
        "The counters of gpu01 after the switch was reset at 09:12:",
        "The switch was reset at 09:12, counters of gpu01 mlx5_0:",
        "The temperature alarm cleared at 10:02."})
    EXPECT_FALSE(told_above(text).is_window) << text;
  for (const std::string_view text :
       {"Counters of gpu01 mlx5_0, cleared at 09:12:", "We reset all port counters at 09:12.",
        "hw_counters were zeroed right before:", "5 min, counters zeroed before.",
        "# show queue counters Ethernet8   # towards s1, cleared before the test"})
    EXPECT_TRUE(told_above(text).is_cleared) << text;
}

TEST(CountedOrder, AnIncreaseIsOneOfCountersOnlyInAHeading) {
  COVERS("D8");
  for (const std::string_view text :
       {"After the MTU increase all is well. gpu01 mlx5_0, uptime 90 days:",
        "After the MTU increase, gpu01 mlx5_0:", "The MTU increase of mlx5_0 took 60 s.",
        "increases are seen on some hosts"})
    EXPECT_FALSE(told_above(text).is_window) << text;
  for (const std::string_view text :
       {"Increase over 60 s:", "Counter increases of mlx5_0:", "mlx5_0, increase in 60 s"})
    EXPECT_TRUE(told_above(text).is_window) << text;
}

}  // namespace
}  // namespace weir::readers
