#include "readers/paste/paste_counted.h"

#include "base/testing.h"
#include "base/text.h"

namespace weir::readers {
namespace {

/// "host device name=before>after …", so that a table of cases stays readable.
std::string said_of(const CountedLine& line) {
  std::vector<std::string> out;
  if (!line.host.empty()) out.emplace_back(line.host);
  if (!line.device.empty()) out.emplace_back(line.device);
  for (const Counted& item : line.counts)
    out.push_back(std::string(item.name) + "=" +
                  (item.before ? std::to_string(*item.before) + ">" : std::string()) +
                  std::to_string(item.value));
  return join(out, " ");
}

std::string said_of(std::string_view text) {
  const auto line = counted_line(text);
  return line ? said_of(*line) : "nothing";
}

TEST(Counted, ReadsALineInAnyOrder) {
  COVERS("D8");
  struct Case {
    std::string_view line;
    std::string_view wanted;
  };
  const Case cases[] = {
      {"np_cnp_sent: 12", "np_cnp_sent=12"},
      {"np_cnp_sent 12,345", "np_cnp_sent=12345"},
      {"gpu01 mlx5_0 np_cnp_sent: 12 -> 40", "gpu01 mlx5_0 np_cnp_sent=12>40"},
      {"gpu01:mlx5_0/1:np_cnp_sent=12", "gpu01 mlx5_0 np_cnp_sent=12"},
      {"np_cnp_sent 12->40 (+28)", "np_cnp_sent=12>40"},
      {"np_cnp_sent: pre=501 post=733 DELTA=232", "np_cnp_sent=501>733"},
      {"np_cnp_sent 501 733 232", "np_cnp_sent=501>733"},
      {"np_cnp_sent: 733 (+232)", "np_cnp_sent=501>733"},
      {"tx_prio3_pause   +812033  (81203/s)", "tx_prio3_pause=0>812033"},
      {"during the run: out_of_sequence +61230, packet_seq_err +3",
       "out_of_sequence=0>61230 packet_seq_err=0>3"},
      {"10:00:05 mlx5_1 out_of_buffer=3 out_of_sequence=4",
       "mlx5_1 out_of_buffer=3 out_of_sequence=4"},
      {"np_cnp_sent: 12  <- that is all", "np_cnp_sent=12"},
      {"np_cnp_sent 12 40", "nothing"},  // which is which nobody says
      {"np_cnp_sent is 12 on some of our hosts", "nothing"},
      {"the counter np_cnp_sent 12", "nothing"},
      {"no_such_counter: 12", "nothing"},
  };
  for (const Case& item : cases)
    EXPECT_EQ(said_of(item.line), item.wanted) << item.line;
}

std::string table_of(std::string_view text) {
  const PlainText plain = plain_text(text);
  const Mark mark;
  const auto table = counted_table({plain.lines, mark});
  if (!table) return "nothing";
  std::vector<std::string> rows;
  for (const CountedLine& row : table->rows)
    rows.push_back(said_of(row));
  return join(rows, "; ") + (table->seconds ? " in " + std::to_string(*table->seconds) : "");
}

TEST(Counted, ReadsTablesByTheirHeading) {
  COVERS("D8");
  EXPECT_EQ(table_of("counter  before  after 60s\nnp_cnp_sent  12  40\nrp_cnp_ignored  0  7\n"),
            "np_cnp_sent=12>40; rp_cnp_ignored=0>7 in 60");
  EXPECT_EQ(table_of("| counter | 10:00:00 | 10:00:30 |\n|---|---|---|\n| np_cnp_sent | 1 | 2 |\n"),
            "np_cnp_sent=1>2 in 30");
  EXPECT_EQ(table_of("time,device,np_cnp_sent,rp_cnp_ignored\n10:00:00,mlx5_0,1,2\n"),
            "mlx5_0 np_cnp_sent=1 rp_cnp_ignored=2");
  EXPECT_EQ(table_of("counter  mlx5_0  mlx5_1\nnp_cnp_sent  1  2\n"),
            "mlx5_0 np_cnp_sent=1; mlx5_1 np_cnp_sent=2");
  EXPECT_EQ(table_of("host  np_cnp_sent  tx_prio3_pause\na  0  +7\nb  0  0\n"),
            "a np_cnp_sent=0>0 tx_prio3_pause=0>7; b np_cnp_sent=0>0 tx_prio3_pause=0>0")
      << "one growth makes all of them growth";
  EXPECT_EQ(table_of("counter  delta\nnp_cnp_sent  7\n"), "np_cnp_sent=0>7");
  EXPECT_EQ(table_of("name  before  after\nfirst_step  12  40\n"), "nothing")
      << "no counter that is known";
  EXPECT_EQ(table_of("gpu01 gpu02\nnp_cnp_sent 1\n"), "nothing") << "fewer numbers than columns";
}

TEST(Counted, TakesWhatIsSaidAboveAList) {
  COVERS("D8");
  const PasteTold deltas = told_above("Deltas of mlx5_2 over 60 s:");
  EXPECT_TRUE(deltas.is_window);
  EXPECT_EQ(deltas.seconds, 60);
  EXPECT_EQ(deltas.device, "mlx5_2");
  EXPECT_TRUE(told_above("(counters cleared right before)").is_cleared);
  EXPECT_TRUE(told_above("! counters cleared 12:55, four senders").is_cleared);
  EXPECT_FALSE(told_above("counters were last cleared 12 weeks ago").is_window);
  EXPECT_FALSE(told_above("What is the delta of these?").is_window);
  EXPECT_FALSE(told_above("these are lifetime values, no delta").is_window);
  EXPECT_EQ(told_above("mlx5_0 and mlx5_1:").device, "") << "two are none";
}

}  // namespace
}  // namespace weir::readers
