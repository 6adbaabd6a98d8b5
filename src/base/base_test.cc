#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count_text.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/partial_file.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/stale_files.h"
#include "base/table.h"
#include "base/testing.h"
#include "base/text.h"
#include "base/untrusted/give_up_root.h"

namespace weir {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_error("odd: " + std::to_string(n));
  return n / 2;
}
Result<int> quarter(int n) {
  WEIR_TRY(once, half(n));
  WEIR_TRY(twice, half(once));
  return twice;
}

TEST(Result, TryReturnsTheFirstErrorAndElseTheValue) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(7).error().what, "odd: 7");
  EXPECT_EQ(quarter(6).error().what, "odd: 3");
  EXPECT_EQ(quarter(6).error().within("dividing").what, "dividing: odd: 3");
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorIsABrokenContract) {
  EXPECT_DEATH((void)half(1).value(), "broken contract");
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ',').size(), 3U);
  EXPECT_EQ(split("", ',').size(), 1U);
  EXPECT_EQ(trim("  x y\t\n"), "x y");
}

TEST(Text, EditDistanceCountsASwapAsOne) {
  EXPECT_EQ(edit_distance("lnit", "lint"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Text, DidYouMeanOffersOnlyWhatIsNear) {
  const std::vector<std::string> verbs = {"lint", "init", "explain", "calc"};
  EXPECT_EQ(did_you_mean("lnit", verbs), "; did you mean 'lint'?");
  EXPECT_EQ(did_you_mean("expl", verbs), "; did you mean 'explain'?");
  EXPECT_EQ(did_you_mean("xyzzy", verbs), "");
}

TEST(Text, WrapBreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrap("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrap("a\nb", 80, 1), "a\n b");
}

TEST(Text, NumbersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(*parse_u64("18446744073709551615"), 18446744073709551615ULL);
  EXPECT_FALSE(parse_u64("18446744073709551616"));
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.0", "0x10"})
    EXPECT_FALSE(parse_u64(bad)) << bad;
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(signed_count(9'223'372'036'854'775'807U), 9'223'372'036'854'775'807);
  EXPECT_FALSE(signed_count(9'223'372'036'854'775'808U).has_value());
}

TEST(Text, NaturalOrderReadsDigitsAsNumbersAndIsTotal) {
  const std::vector<std::string> sorted = {"",      "gpu",   "gpu1",       "gpu02",       "gpu2",
                                           "gpu10", "leaf1", "leaf1 swp2", "leaf1 swp10", "leaf2"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j)
      EXPECT_EQ(natural_order(sorted[i], sorted[j]), i <=> j) << sorted[i] << " and " << sorted[j];
  }
  EXPECT_EQ(natural_order("99999999999999999999999", "100000000000000000000000"),
            std::strong_ordering::less);
}

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table({"id", "bytes"}, {Align::kLeft, Align::kRight});
  table.add_row({"µ", "7"});
  EXPECT_EQ(table.to_text(), "id  bytes\nµ       7\n");
}

TEST(RandomStream, StreamsDifferByEntityAndPurposeAndRepeatBySeed) {
  std::set<std::uint64_t> first;
  for (std::uint64_t entity = 0; entity < 17; ++entity) {
    for (std::uint64_t purpose = 0; purpose < 5; ++purpose)
      first.insert(RandomStream(1, entity, purpose).next());
  }
  EXPECT_EQ(first.size(), 85U);
  EXPECT_EQ(RandomStream(3, 1, 4).next(), RandomStream(3, 1, 4).next());
}

TEST(RandomStream, BelowIsUniformWithinFourSigma) {
  constexpr std::uint64_t kFaces = 6;
  constexpr int kDraws = 60'000;
  std::array<int, kFaces> seen{};
  RandomStream dice(2, 0, 0);
  for (int i = 0; i < kDraws; ++i)
    ++seen.at(dice.below(kFaces));
  for (const int count : seen)
    EXPECT_NEAR(count, 10'000, 4 * 92);  // sigma = sqrt(60000 * 1/6 * 5/6) = 91.3
}

TEST(Digest, DependsOnOrder) {
  Digest a;
  a.add(1);
  a.add(2);
  Digest b;
  b.add(2);
  b.add(1);
  EXPECT_NE(a.value(), b.value());
  EXPECT_EQ(Digest().to_text(), "0000000000005eed");
}

TEST(File, AFailedWriteLeavesNothingBehindAndTheErrorNamesTheAttempt) {
  const auto missing = read_file("/nonexistent/x");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().what, "open /nonexistent/x: No such file or directory");
  EXPECT_FALSE(write_file_atomic("/nonexistent/x", "y"));
}

TEST(File, WritesAtomicallyAndRefusesWhatIsTooLarge) {
  const std::string path = testing::TempDir() + "weir_base_test." + std::to_string(::getpid());
  ASSERT_TRUE(write_pieces_atomic(path, [](const PieceSink& put) {
    put("fi");
    put("rst");
  }));
  EXPECT_EQ(*read_file(path), "first");
  ASSERT_TRUE(write_file_atomic(path, "second"));
  EXPECT_EQ(*read_file(path), "second");
  EXPECT_FALSE(read_file(path, 3));
  std::remove(path.c_str());
}

TEST(File, ReadsPlainFilesAloneAndWaitsForNone) {
  const std::string path = testing::TempDir() + "weir_base_test.fifo" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_file(path).error().what, "open " + path + ": expected a plain file, found a FIFO");
  std::remove(path.c_str());
  ASSERT_EQ(::symlink("/dev/zero", path.c_str()), 0);
  EXPECT_EQ(read_file(path).error().what,
            "open " + path + ": expected a plain file, found a device");
  std::remove(path.c_str());
  EXPECT_EQ(read_file("/dev").error().what, "open /dev: expected a plain file, found a directory");
  EXPECT_EQ(open_plain_file("/dev/zero").get(), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_TRUE(read_file("/proc/self/status")) << "files of the kernel have no size and are read";
}

TEST(File, APipeThatTheShellHandedOverIsRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(*read_file("/dev/fd/" + std::to_string(ends[0])), "text");
  ::close(ends[0]);
}

TEST(File, TheHeadOfAFileIsAsMuchOfItAsThereIs) {
  const std::string path = testing::TempDir() + "weir_base_test.head" + std::to_string(::getpid());
  ASSERT_TRUE(write_file_atomic(path, "weir bundle 1"));
  EXPECT_EQ(*read_head(path, 4), "weir");
  EXPECT_EQ(*read_head(path, 40), "weir bundle 1");
  std::remove(path.c_str());
}

TEST(TextTable, WrapsTheLastColumnWithinAWidth) {
  TextTable table({"name", "bytes", "why"}, {Align::kLeft, Align::kRight, Align::kLeft});
  table.add_row({"cable", "15", "both ways at five"});
  table.add_row({"all", "7", "x"});
  EXPECT_EQ(table.to_text(1, 26),
            " name   bytes  why\n"
            " cable     15  both ways\n"
            "               at five\n"
            " all        7  x\n");
  EXPECT_EQ(table.to_text(1, 80), table.to_text(1));
}

TEST(Parallel, EveryPieceIsDoneOnceOnAnyNumberOfThreads) {
  for (const unsigned jobs : {0U, 1U, 3U, 200U}) {
    std::vector<int> done(100, 0);
    for_each_index(done.size(), jobs, [&](std::size_t i) { done[i] += 1; });
    EXPECT_EQ(done, std::vector<int>(100, 1)) << jobs << " jobs";
  }
  for_each_index(0, 4, [](std::size_t) { ADD_FAILURE() << "there was nothing to do"; });
  EXPECT_GE(available_cores(), 1U);
}

TEST(Text, HangsFurtherLinesUnderTheFirst) {
  EXPECT_EQ(hang("one two three", 7, 3), "one two\n   three");
}

TEST(StaleFiles, OfKilledProcessesAreRemovedAndThoseOfTheLivingAreNot) {
  const std::string folder = testing::TempDir() + "/stale." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/sim.json";
  const auto make = [&](const std::string& name, bool is_old) {
    const std::string file = folder + "/" + name;
    const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (is_old) {
      const std::array<timespec, 2> times{timespec{1000, 0}, timespec{1000, 0}};
      ::futimens(fd, times.data());
    }
    return fd;
  };
  ::close(make("sim.json.aB3dE6", true));
  ::close(make("sim.json.young1", false));
  ::close(make("sim.json.keep", true));
  ::close(make("sim.json.toolong7", true));
  ::close(make("other.json.aB3dE6", true));
  const int living = make("sim.json.living", true);
  mark_alive(living);
  ASSERT_TRUE(write_file_atomic(path, "x"));
  EXPECT_FALSE(file_exists(path + ".aB3dE6"));
  for (const char* name : {".young1", ".keep", ".toolong7", ".living"})
    EXPECT_TRUE(file_exists(path + name)) << name;
  EXPECT_TRUE(file_exists(folder + "/other.json.aB3dE6"));
  ::close(living);
  ASSERT_TRUE(write_file_atomic(path, "y", FileMode::kPrivate));
  EXPECT_FALSE(file_exists(path + ".living"));
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  std::filesystem::remove_all(folder);
}

TEST(StaleFiles, FoldersOfKilledProcessesAreRemovedWithWhatIsInThem) {
  namespace fs = std::filesystem;
  const fs::path folder = testing::TempDir() + "/stale-folders." + std::to_string(::getpid());
  const auto make = [&](const std::string& name, bool is_old) {
    const fs::path path = folder / name;
    fs::create_directories(path);
    EXPECT_TRUE(write_file_atomic((path / "socket").string(), "x"));
    if (is_old) fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return path;
  };
  fs::create_directories(folder / "elsewhere");
  EXPECT_TRUE(write_file_atomic((folder / "elsewhere/kept").string(), "x"));
  const fs::path dead = make("ssh.aB3dE6", true);
  fs::create_directory_symlink(folder / "elsewhere", folder / "ssh.linked");
  const fs::path young = make("ssh.young1", false);
  const fs::path alive = make("ssh.living", true);
  const int descriptor = ::open(alive.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  mark_alive(descriptor);
  remove_stale_folders((folder / "ssh.").string());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(young / "socket"));
  EXPECT_TRUE(fs::exists(alive / "socket"));
  EXPECT_TRUE(fs::exists(folder / "elsewhere/kept"));
  ::close(descriptor);
  remove_stale_folders((folder / "ssh.").string());
  EXPECT_FALSE(fs::exists(alive));
  fs::remove_all(folder);
}

TEST(ForEachIndex, WhatABodyThrowsComesToTheCallerAndEndsNothing) {
  const auto body = [](std::size_t i) { (void)std::vector<int>(i == 7 ? 0 : 1).at(0); };
  EXPECT_THROW(for_each_index(100, 4, body), std::out_of_range);
}

// ---- giving up root ----

/// In a child process, which does not come back to be root: what `does` gives is its exit status.
template <class Does>
int in_child(const Does& does) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(does());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) >= 1;
}

TEST(GiveUpRoot, OneThatWritesFilesCanDoThatUnderItsPlacesAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give up";
  char pattern[] = "/tmp/weir-root-XXXXXX";
  const std::string top = ::mkdtemp(pattern);
  const std::string inside = top + "/inside";
  ASSERT_TRUE(make_directory(inside));
  ASSERT_TRUE(write_file_atomic(top + "/victim", "as it was"));
  ASSERT_EQ(::chown(inside.c_str(), 1000, 1000), 0) << "a home directory";
  const int status = in_child([&] {
    if (!give_up_root({inside + "/new/results"})) return 1;
    if (!make_directory(inside + "/new/results")) return 2;
    if (!write_file_atomic(inside + "/new/results/report", "x")) return 3;
    if (!write_file_atomic(inside + "/script.sh", "x", FileMode::kScript)) return 4;
    if (!read_file("/etc/shadow")) return 5;
    if (has_landlock() && write_file_atomic(top + "/victim", "gone")) return 6;
    if (has_landlock() && ::open((top + "/victim").c_str(), O_WRONLY) >= 0) return 7;
    if (has_landlock() && ::unlink((top + "/victim").c_str()) == 0) return 8;
    if (::chmod((top + "/victim").c_str(), 04777) == 0) return 9;
    if (::chown((top + "/victim").c_str(), 1000, 1000) == 0) return 10;
    if (::socket(AF_INET, SOCK_DGRAM, 0) >= 0) return 11;
    ::execl("/bin/true", "true", nullptr);
    if (::setuid(0) == 0 && ::setuid(1000) == 0) return 12;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*read_file(top + "/victim"), "as it was");
  struct stat info {};
  ASSERT_EQ(::stat((inside + "/script.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0U) << "its own files";
  EXPECT_NE(info.st_mode & S_IXUSR, 0U);
  std::filesystem::remove_all(top);
}

TEST(GiveUpRoot, OneThatOnlyPrintsIsNobodyAndWritesNowhere) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give up";
  const std::string open_to_all = std::filesystem::temp_directory_path() / "weir-nobody-wrote-this";
  const int status = in_child([&] {
    if (!give_up_root({})) return 1;
    if (::geteuid() == 0) return 2;
    if (!read_file("/etc/shadow")) return 3;
    if (has_landlock() && write_file_atomic(open_to_all, "x")) return 4;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(file_exists(open_to_all));
}

// ---- temporary files and signals ----

TEST(StaleFiles, TheNotedOnesAreRemovedAndOthersStay) {
  char pattern[] = "/tmp/weir-notes-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  const auto file = [&](const std::string& name) {
    EXPECT_TRUE(write_file_atomic(folder + "/" + name, "x"));
    return folder + "/" + name;
  };
  const TemporaryFileNote first(file("first"));
  { const TemporaryFileNote done(file("done")); }
  TemporaryFileNote moved(file("moved"));
  const TemporaryFileNote target(std::move(moved));
  remove_noted_files();
  EXPECT_FALSE(file_exists(folder + "/first"));
  EXPECT_FALSE(file_exists(folder + "/moved"));
  EXPECT_TRUE(file_exists(folder + "/done"));
  EXPECT_FALSE(is_name_taken(folder + "/link"));
  std::filesystem::create_symlink("nowhere", folder + "/link");
  EXPECT_TRUE(is_name_taken(folder + "/link"));
  EXPECT_FALSE(file_exists(folder + "/link"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir
