#include "diagnose/behaviour/failure.h"

#include "base/testing.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

finding::Judgement drilled(const FailurePhase& during) {
  return judge_failure({FailurePhase(), during, FailurePhase()}, "shut leaf1 swp1");
}

TEST(Failure, ADrillThatNothingShowsProvesNothing) {
  COVERS("D7");
  FailurePhase quiet;
  quiet.shows_failure = false;
  EXPECT_TRUE(finding::is_raised(drilled(quiet).findings, "failover.not_injected"));
  EXPECT_FALSE(finding::is_raised(drilled({}).findings, "failover.not_injected"));
}

TEST(Failure, ALoadThatEndsWithTheFailureIsGivenUpTooEarly) {
  COVERS("D7");
  FailurePhase ended;
  ended.exit_status = 1;
  EXPECT_TRUE(finding::is_raised(drilled(ended).findings, "failover.window_too_short"));
  EXPECT_FALSE(finding::is_raised(drilled({}).findings, "failover.window_too_short"));
}

TEST(Failure, ShowsInLinksThatGoDownAndInLoss) {
  COVERS("D7");
  const auto moved = [](const char* counter) {
    Observation out;
    out.counter = counter;
    out.amount = 1;
    return std::vector{out};
  };
  EXPECT_TRUE(shows_failure(moved("nic.phy.link_down.events")));
  EXPECT_TRUE(shows_failure(moved("nic.req.ack_timeout.events")));
  EXPECT_FALSE(shows_failure(moved("nic.prio.tx.bytes")));
  EXPECT_FALSE(shows_failure({}));
}

TEST(Failure, ThatTakesEveryHostLeavesNobodyToSurviveIt) {
  COVERS("D7");
  FailurePhase all;
  all.exit_status = 1;
  all.lost = {"gpu01", "gpu02", "gpu03"};
  const finding::Judgement judgement = drilled(all);
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_TRUE(judgement.unknown[0].is_required);
  EXPECT_NE(judgement.unknown[0].reason.find("gpu[01-03]"), std::string::npos)
      << judgement.unknown[0].reason;
  all.others = 1;
  EXPECT_TRUE(finding::is_raised(drilled(all).findings, "failover.window_too_short"));
}

}  // namespace
}  // namespace weir::diagnose
