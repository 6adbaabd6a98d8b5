#include "ops/tune/judge.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "ops/tune/block_file.h"

namespace weir::ops {
namespace {

namespace fs = std::filesystem;

class JudgeFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(write_file_atomic(path.string(), text));
    return path.string();
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

  fs::path folder_;
};

std::string verified(double gbytes, int unlike, int drops = 0) {
  return fmt::format(
      R"({{"schema": "weir/verify/1", "command": {{"words": "all_reduce_perf", "exit": 0}},
  "load": {{"bandwidth": [], "latency": [], "collective": {{"bus_bandwidth_gbytes": {}}}}},
  "totals": {{"window_us": 300000000, "pause_share": 0, "pauses": 0, "marked": {}, "cnps": 7,
   "sent_bytes": 5000, "lossless_drops": {}, "sequence_errors": 0, "timeouts": 0, "watchdog": 0}},
  "simulated": false}}
)",
      gbytes, unlike, drops);
}

constexpr double kSpread[] = {0.3, -0.4, 0.1, -0.2, 0.5, -0.1, 0.2, -0.3};

TEST_F(JudgeFiles, AFolderOfBlocksInTurn) {
  // A B B A A B B A …
  for (int i = 0; i < 16; ++i) {
    const bool is_after = i % 4 == 1 || i % 4 == 2;
    put(fmt::format("{:02}-{}.json", i + 1, is_after ? 'B' : 'A'),
        verified((is_after ? 106 : 100) + kSpread[i % 8], 100 + i));
  }
  put("README", "what was done");
  const auto judged = judge_blocks({.paths = {folder()}});
  ASSERT_TRUE(judged) << judged.error().what;
  EXPECT_EQ(judged->verdict, tune::JudgeVerdict::kKeep) << judged->reason;
  EXPECT_EQ(judged->pairs, 8U);
  ASSERT_EQ(judged->notes.size(), 1U);
  EXPECT_NE(judged->notes[0].find("README"), std::string::npos);
}

TEST_F(JudgeFiles, TwoFilesOfResultsOneAfterTheOther) {
  std::string before;
  std::string after;
  for (int i = 0; i < 8; ++i) {
    before += verified(100 + kSpread[i], 100 + i);
    after += verified(94 - kSpread[i], 200 + i);
  }
  const auto judged =
      judge_blocks({.paths = {put("before.json", before), put("after.json", after)}});
  ASSERT_TRUE(judged) << judged.error().what;
  EXPECT_EQ(judged->verdict, tune::JudgeVerdict::kRemove);
  // Seven against eight are no pairs.
  const auto odd = judge_blocks(
      {.paths = {put("before.json", before), put("after.json", after + verified(94, 300))}});
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().what.find("8 blocks without the change and 9 with it"), std::string::npos)
      << odd.error().what;
}

TEST_F(JudgeFiles, MeasurementsOfABlockAreJoined) {
  put("1A/counters.json", verified(100, 1));
  put("1A/steps.txt", "# warm-up left out\n410ms\n0.412s\n\n");
  put("2B/counters.json", verified(100, 2, 3));
  put("2B/train.log",
      "iteration 10/ 50 | consumed samples: 640 | elapsed time per iteration (ms): 500.5 | lr\n"
      "iteration 20/ 50 | consumed samples: 640 | elapsed time per iteration (ms): 499.5 | lr\n");
  const auto judged = judge_blocks({.paths = {folder()}});
  ASSERT_TRUE(judged) << judged.error().what;
  EXPECT_EQ(judged->verdict, tune::JudgeVerdict::kRemove);
  EXPECT_EQ(judged->find(tune::Metric::kStepTime)->before, 411'000);
  EXPECT_EQ(judged->find(tune::Metric::kStepTime)->after, 500'000);
  EXPECT_EQ(judged->find(tune::Metric::kBusBandwidth)->before, 100);
  put("2B/again.json", verified(100, 2, 3));
  EXPECT_FALSE(judge_blocks({.paths = {folder()}}));
}

TEST_F(JudgeFiles, ErrorsSayWhatWasExpected) {
  const auto error_of = [](const JudgeRequest& request) {
    const auto judged = judge_blocks(request);
    return judged ? std::string("no error") : judged.error().what;
  };
  EXPECT_NE(error_of({.paths = {folder()}}).find("01-A"), std::string::npos);
  put("01-A.json", verified(100, 1));
  EXPECT_NE(error_of({.paths = {folder()}}).find("01-A has no other block"), std::string::npos);
  put("02-A.json", verified(100, 2));
  EXPECT_NE(error_of({.paths = {folder()}}).find("01-A and 02-A follow each other"),
            std::string::npos);
  const std::string single = put("one.json", verified(100, 1));
  EXPECT_NE(error_of({.paths = {single}}).find("one directory of blocks"), std::string::npos);
  const std::string odd = put("odd.txt", "hello\n");
  EXPECT_NE(error_of({.paths = {single, odd}}).find("nccl-tests or perftest"), std::string::npos);
  const std::string torn = put("torn.json", "{\"schema\": \"weir/verify/1\", ");
  EXPECT_NE(error_of({.paths = {single, torn}}).find("torn.json"), std::string::npos);
  const std::string wrong = put("wrong.json", R"({"schema": "weir/verify/1", "command": 3})");
  EXPECT_NE(error_of({.paths = {single, wrong}}).find("/command"), std::string::npos);
  EXPECT_NE(error_of({.paths = {single, put("empty", "\n")}}).find("empty"), std::string::npos);
  EXPECT_NE(error_of({.paths = {single, folder() + "/none"}}).find("none"), std::string::npos);
}

TEST_F(JudgeFiles, OutputOfTools) {
  const auto part_of = [&](const std::string& text) {
    auto parts = read_block_file(put("tool.txt", text));
    EXPECT_TRUE(parts) << parts.error().what;
    return parts ? parts->front().measured : tune::Block();
  };
  EXPECT_EQ(*part_of("# nThread 1 nGpus 1\n# Avg bus bandwidth    : 120.5\n").bus_gbytes, 120.5);
  const tune::Block latency = part_of(
      "                    RDMA_Write Latency Test\n"
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
      " 2       1000          1.90           6.10         1.95               2.00           "
      "0.10            2.30                    5.60\n");
  EXPECT_NEAR(*latency.p99_us, 2.3, 1e-9);
  EXPECT_NEAR(*latency.latency_us, 2.0, 1e-9);
  EXPECT_FALSE(latency.gbps);
}

}  // namespace
}  // namespace weir::ops
