#include "cli/frame/progress.h"

#include <sstream>

#include "base/testing.h"

namespace weir::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct FakeClock {
  std::chrono::steady_clock::time_point now{};
  Progress::Clock reader() {
    return [this] { return now; };
  }
};

TEST(Progress, IsSilentForTheFirstSecond) {
  std::ostringstream err;
  FakeClock clock;
  Progress bar(err, true, "simulating", clock.reader());
  clock.now += milliseconds(999);
  bar.update(0.5);
  EXPECT_EQ(err.str(), "");
  clock.now += milliseconds(1);
  bar.update(0.5);
  EXPECT_EQ(as_printed(err.str()), "\r\x1b[Ksimulating [############............]  50%, 1 s left");
}

TEST(Progress, NeverWritesWhereThereIsNoTerminal) {
  std::ostringstream err;
  FakeClock clock;
  {
    Progress bar(err, false, "simulating", clock.reader());
    clock.now += seconds(3600);
    bar.update(0.9, "step 9");
  }
  EXPECT_EQ(err.str(), "");
}

TEST(Progress, RedrawsAtMostTenTimesASecond) {
  std::ostringstream err;
  FakeClock clock;
  Progress bar(err, true, "simulating", clock.reader());
  clock.now += seconds(2);
  int drawn = 0;
  for (int millisecond = 0; millisecond < 1000; ++millisecond) {
    err.str("");
    bar.update(0.3);
    drawn += err.str().empty() ? 0 : 1;
    clock.now += milliseconds(1);
  }
  EXPECT_EQ(drawn, 10);
}

TEST(Progress, LeavesNoTrace) {
  std::ostringstream err;
  FakeClock clock;
  {
    Progress bar(err, true, "simulating", clock.reader());
    clock.now += seconds(3);
    bar.update(1.5, "a share above one is full, not a crash");
    EXPECT_NE(err.str().find("[########################] 100%"), std::string::npos);
    err.str("");
  }
  EXPECT_EQ(as_printed(err.str()), "\r\x1b[K");
}

TEST(Progress, KeepsToOneLineOfATerminal) {
  std::ostringstream err;
  FakeClock clock;
  Progress bar(err, true, "simulating", clock.reader());
  clock.now += seconds(400);
  bar.update(0.1, std::string(200, 'x'));
  EXPECT_LE(as_printed(err.str()).size(), 79U + 4U);
  EXPECT_NE(err.str().find("60 min 00 s left"), std::string::npos);
}

TEST(Working, SaysHowLong) {
  EXPECT_EQ(working_line("validate", std::chrono::seconds(3)), "weir validate: working, 3 s");
}

TEST(Working, NeverWritesWhereThereIsNoTerminalNorForAShortVerb) {
  std::ostringstream err;
  std::ostringstream out;
  {
    Working silent(err, false, "lint");
    StoppingStream stream(out, silent);
    stream << "answer " << 42 << '\n';
  }
  {
    Working quick(err, true, "lint");  // ends within its second of silence
    StoppingStream stream(out, quick);
    stream << "again\n" << std::flush;
  }
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(out.str(), "answer 42\nagain\n");
}

}  // namespace
}  // namespace weir::cli
