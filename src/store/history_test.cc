#include "store/history.h"

#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing.h"
#include "finding/catalog.h"

namespace weir::store {
namespace {

using preflight::StageId;

class HistoryFile : public testing::Test {
 protected:
  HistoryFile()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~HistoryFile() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path() const { return (directory_ / "history.db").string(); }
  [[nodiscard]] History open(Access access = Access::kWrite) const {
    auto history = History::open(path(), access);
    EXPECT_TRUE(history.has_value()) << (history ? "" : history.error().what);
    return std::move(*history);
  }

 private:
  std::filesystem::path directory_;
};

preflight::Report run_at(std::string started, double rate) {
  preflight::Report run = preflight::empty_report();
  run.identity.design = "pod2";
  run.identity.digest = "d1";
  run.identity.hosts = 2;
  run.started = std::move(started);
  preflight::StageResult& pairs = run.stages.at(preflight::number_of(StageId::kPairs));
  pairs.state = preflight::State::kPassed;
  for (const std::string subject : {"", "gpu01 rail 0", "gpu02 rail 0"})
    pairs.measures.push_back({.metric = "bandwidth",
                              .unit = "bit/s",
                              .values = preflight::distribution_of({rate, rate, rate}),
                              .subject = subject});
  pairs.judgement.findings.push_back(
      finding::make_finding("host.straggler", "gpu02 is slow.", {.host = "gpu02"}));
  return run;
}

TEST_F(HistoryFile, KeepsARunOnceWithItsMeasuresAsATrend) {
  COVERS("J4");
  History history = open();
  const auto first = history.add_run(run_at("2026-08-01T08:00:00Z", 96e9));
  const auto again = history.add_run(run_at("2026-08-01T08:00:00Z", 96e9));
  const auto second = history.add_run(run_at("2026-08-02T08:00:00Z", 90e9));
  ASSERT_TRUE(first && again && second);
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *second);
  const auto runs = history.runs();
  ASSERT_TRUE(runs.has_value());
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].verdict, "cannot tell");
  const auto trends = history.trends("d1");
  ASSERT_TRUE(trends.has_value()) << trends.error().what;
  ASSERT_EQ(trends->size(), 1U);  // of the fabric; single NICs are in the file
  EXPECT_EQ((*trends)[0].stage, StageId::kPairs);
  ASSERT_EQ((*trends)[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ((*trends)[0].points[1].p50, 90e9);
  EXPECT_TRUE(history.trends("d2")->empty());
}

TEST_F(HistoryFile, HasTheLastComparisonOfEachActiveBaseline) {
  History history = open();
  const preflight::Report good = run_at("2026-08-01T08:00:00Z", 96e9);
  const preflight::Report bad = run_at("2026-08-02T08:00:00Z", 80e9);
  const auto baseline = preflight::make_baseline("good", {good});
  ASSERT_TRUE(baseline.has_value());
  const std::int64_t first = *history.add_run(good);
  ASSERT_TRUE(history.set_baseline(*baseline, first));
  ASSERT_TRUE(history.add_comparison(first, preflight::compare(*baseline, good, {})));
  const std::int64_t second = *history.add_run(bad);
  for (int twice = 0; twice < 2; ++twice)
    ASSERT_TRUE(history.add_comparison(second, preflight::compare(*baseline, bad, {})));
  auto last = history.last_comparisons();
  ASSERT_TRUE(last.has_value()) << last.error().what;
  ASSERT_EQ(last->size(), 1U);
  EXPECT_EQ((*last)[0].outcome, "regressed");
  EXPECT_EQ((*last)[0].started, "2026-08-02T08:00:00Z");
  EXPECT_TRUE((*last)[0].rows.front().is_regression);
  ASSERT_TRUE(history.drop_baseline("good"));
  last = history.last_comparisons();
  EXPECT_TRUE(last.has_value() && last->empty());
}

TEST_F(HistoryFile, IsReadByOthersWhileItIsWritten) {
  History writer = open();
  ASSERT_TRUE(writer.add_run(run_at("2026-08-01T08:00:00Z", 96e9)));
  History reader = open(Access::kRead);
  ASSERT_TRUE(writer.add_run(run_at("2026-08-02T08:00:00Z", 96e9)));
  EXPECT_EQ(reader.runs()->size(), 2U);
  EXPECT_FALSE(reader.add_run(run_at("2026-08-03T08:00:00Z", 96e9)).has_value());
}

TEST_F(HistoryFile, OfAnEarlierVersionIsChangedOnlyWhenAsked) {
  {
    // As version 1 was: without the tables of comparisons.
    History history = open();
    auto raw = Database::open(path(), Access::kWrite);
    ASSERT_TRUE(raw.has_value());
    ASSERT_TRUE(raw->execute("DROP TABLE deviation; DROP TABLE comparison; PRAGMA user_version=1"));
  }
  const auto refused = History::open(path(), Access::kWrite);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("version 1 of the history, and this weir writes 2: nothing "
                                      "was changed"),
            std::string::npos)
      << refused.error().what;
  EXPECT_FALSE(History::open(path(), Access::kRead, true).has_value());
  auto upgraded = History::open(path(), Access::kWrite, true);
  ASSERT_TRUE(upgraded.has_value()) << upgraded.error().what;
  EXPECT_TRUE(upgraded->last_comparisons().has_value());
}

TEST_F(HistoryFile, OfALaterVersionOrOfAnotherProgramIsLeftAlone) {
  {
    History history = open();
    auto raw = Database::open(path(), Access::kWrite);
    ASSERT_TRUE(raw.has_value());
    ASSERT_TRUE(raw->execute("PRAGMA user_version=99"));
  }
  const auto later = History::open(path(), Access::kWrite, true);
  ASSERT_FALSE(later.has_value());
  EXPECT_NE(later.error().what.find("use the weir that wrote it"), std::string::npos);
  {
    auto raw = Database::open(path(), Access::kWrite);
    ASSERT_TRUE(raw->execute("PRAGMA application_id=1; PRAGMA user_version=2"));
  }
  EXPECT_FALSE(History::open(path(), Access::kWrite, true).has_value());
  ASSERT_TRUE(write_file_atomic(path(), std::string(4096, 'x')));
  const auto none = History::open(path(), Access::kRead);
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().what.find("not a database"), std::string::npos) << none.error().what;
}

TEST_F(HistoryFile, WithWhatIsNotOfItsOwnMakingIsRefusedAndNoTriggerRuns) {
  const std::vector<std::pair<std::string, std::string>> plants = {
      {"CREATE TRIGGER planted AFTER INSERT ON run BEGIN DELETE FROM baseline; END",
       "trigger planted is not of weir's making"},
      {"CREATE VIEW planted AS SELECT 1", "view planted is not of weir's making"},
      {"CREATE INDEX planted ON run (kind)", "index planted is not of weir's making"},
      {"ALTER TABLE subject ADD COLUMN x TEXT", "table subject is not of weir's making"},
      {"DROP TABLE deviation", "table deviation is missing"}};
  for (const auto& [sql, reason] : plants) {
    std::filesystem::remove(path());
    static_cast<void>(open());
    {
      auto raw = Database::open(path(), Access::kWrite);
      ASSERT_TRUE(raw.has_value());
      ASSERT_TRUE(raw->execute(sql)) << sql;
    }
    for (const Access access : {Access::kRead, Access::kWrite}) {
      const auto refused = History::open(path(), access);
      ASSERT_FALSE(refused.has_value()) << sql;
      EXPECT_NE(refused.error().what.find(reason), std::string::npos) << refused.error().what;
    }
  }
}

TEST_F(HistoryFile, ManyThatMakeItAtTheSameTimeAllKeepTheirRun) {
  constexpr int kWriters = 8;
  std::vector<std::string> wrong(kWriters);
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i)
    writers.emplace_back([&, i] {
      auto history = History::open(path(), Access::kWrite);
      if (!history) {
        wrong[static_cast<std::size_t>(i)] = history.error().what;
        return;
      }
      const auto run = history->add_run(run_at(fmt::format("2026-08-0{}T08:00:00Z", i + 1), 96e9));
      if (!run) wrong[static_cast<std::size_t>(i)] = run.error().what;
    });
  for (std::thread& writer : writers)
    writer.join();
  for (const std::string& what : wrong)
    EXPECT_EQ(what, "");
  auto history = History::open(path(), Access::kRead);
  ASSERT_TRUE(history.has_value());
  const auto runs = history->runs();
  ASSERT_TRUE(runs.has_value());
  EXPECT_EQ(runs->size(), static_cast<std::size_t>(kWriters));
}

TEST_F(HistoryFile, IsAPlainFileOfItsDirectory) {
  const std::string elsewhere = path() + ".elsewhere";
  std::filesystem::create_symlink(elsewhere, path());
  const auto linked = History::open(path(), Access::kWrite);
  ASSERT_FALSE(linked.has_value());
  EXPECT_NE(linked.error().what.find("found a symbolic link"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(elsewhere)) << "nothing is written where a link leads";
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_FALSE(History::open(path(), Access::kRead).has_value()) << "no FIFO is waited for";
  std::filesystem::remove(path());
  { const History written = open(); }
  for (const std::string beside : {"-journal", "-wal", "-shm"}) {
    std::filesystem::remove(path() + beside);
    ASSERT_EQ(::mkfifo((path() + beside).c_str(), 0600), 0);
    EXPECT_FALSE(History::open(path(), Access::kRead).has_value()) << beside;
    EXPECT_FALSE(History::open(path(), Access::kWrite).has_value()) << beside;
    std::filesystem::remove(path() + beside);
  }
}

TEST_F(HistoryFile, RunsNoTriggerThatIsPlantedAfterItWasOpened) {
  History history = open();
  auto raw = Database::open(path(), Access::kWrite);
  ASSERT_TRUE(raw.has_value());
  ASSERT_TRUE(
      raw->execute("CREATE TRIGGER planted AFTER INSERT ON run BEGIN "
                   "UPDATE run SET kind = 'planted'; END"));
  ASSERT_TRUE(history.add_run(run_at("2026-08-01T08:00:00Z", 96e9)));
  EXPECT_EQ(*raw->number_of("SELECT count(*) FROM run WHERE kind = 'planted'"), 0);
  EXPECT_EQ(*raw->number_of("SELECT count(*) FROM run"), 1);
}

}  // namespace
}  // namespace weir::store
