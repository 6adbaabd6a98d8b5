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

TEST(Progress, IsSilentForTheFirstTwoSeconds) {
  std::ostringstream err;
  FakeClock clock;
  Progress bar(err, true, "simulating", clock.reader());
  clock.now += milliseconds(1999);
  bar.update(0.5);
  EXPECT_EQ(err.str(), "");
  clock.now += milliseconds(1);
  bar.update(0.5);
  EXPECT_EQ(as_printed(err.str()), "\r\x1b[Ksimulating [############............]  50%, 2 s left");
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

}  // namespace
}  // namespace weir::cli
