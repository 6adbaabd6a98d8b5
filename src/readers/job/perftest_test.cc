#include "readers/job/perftest.h"

#include "base/testing.h"
#include "readers/job/step_times.h"

namespace weir::readers {
namespace {

TEST(Perftest, ABandwidthRowSaysWhatWasMoved) {
  COVERS("D5");
  const auto rows = bandwidth_rows(
      " GID index       : 3\n"
      "---------------------------------------------------------------------------------------\n"
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      "Conflicting CPU frequency values detected: 2600.000000 != 800.000000.\n"
      " 65536      5000             97.80              97.79              0.186520\n"
      "---------------------------------------------------------------------------------------\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].message, 65536_B);
  EXPECT_EQ(rows[0].iterations, 5000U);
  EXPECT_EQ(rows[0].moved(), 327'680'000_B);
  EXPECT_EQ(rows[0].average, BitRate::raw(97'790'000'000));
}

TEST(Perftest, MegabytesAreBinaryInEveryRelease) {
  for (const char* unit : {"[MB/sec]", "[MiB/sec]"}) {
    const std::string text = std::string("#bytes #iterations BW peak") + unit + " BW average" +
                             unit + " MsgRate[Mpps]\n65536 1000 0.00 100.00 0.1\n";
    const auto rows = bandwidth_rows(text);
    ASSERT_EQ(rows.size(), 1U) << unit;
    EXPECT_EQ(rows[0].average, BitRate::raw(100LL * 8 * 1024 * 1024));
  }
}

TEST(Perftest, OtherTextHasNoRows) {
  EXPECT_TRUE(bandwidth_rows("").empty());
  EXPECT_TRUE(bandwidth_rows("Couldn't connect to gpu02:18515\n").empty());
  EXPECT_TRUE(bandwidth_rows("#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n"
                             "2 1000 1.5 3.0 1.6\n")
                  .empty());
  EXPECT_TRUE(bandwidth_rows("#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate\n"
                             "99999999999999999999 1 1 1 1\n-1 2 3 4 5\n4096 1 1 nan 1\n")
                  .empty());
}

TEST(StepTimes, AListOrTheLogOfMegatron) {
  EXPECT_EQ(
      read_step_times("# warm\n 412ms \r\n0.4s\n\n"),
      (std::vector<Duration>{Duration::raw(412'000'000'000), Duration::raw(400'000'000'000)}));
  EXPECT_EQ(read_step_times("loading\n iteration 1/ 9 | elapsed time per iteration (ms): 412.5 | "
                            "learning rate: 1E-4\nsaving\n"),
            (std::vector<Duration>{Duration::raw(412'500'000'000)}));
  EXPECT_TRUE(read_step_times("").empty());
  EXPECT_TRUE(read_step_times("412\n").empty());  // of what unit?
  EXPECT_TRUE(read_step_times("412ms\nfailed\n").empty());
  EXPECT_TRUE(read_step_times("0ms\n").empty());
  EXPECT_TRUE(read_step_times("elapsed time per iteration (ms): nan |\n").empty());
}

}  // namespace
}  // namespace weir::readers
