#include "ops/change/apply.h"

#include "base/testing.h"
#include "host/change/watchdog.h"
#include "lab/fabric/test_labs.h"
#include "ops/change/waves.h"

namespace weir::ops {
namespace {

/// A lab that is not set up yet, and its settings as a plan sees them.
class ApplyLab : public ::testing::Test {
 protected:
  ApplyLab() { (void)lab::make_lab(place_, lab::pod16()); }

  [[nodiscard]] PlanRequest hosts() const {
    return {.source = {.lab = place_.file("lab"), .hosts = {}, .captures = {}}, .design = ""};
  }
  [[nodiscard]] std::size_t differences() const { return plan(hosts()).value().step_count(); }
  [[nodiscard]] Result<Applied> apply_with(const ApplyRequest& request) const {
    WEIR_TRY(transaction, begin_apply(hosts(), request));
    return apply(transaction, request);
  }
  /// An apply of the same state directory that waits for its confirmation.
  void leave_awaiting() const {
    const host::StateDirectory state(place_.file("lab/journal"), host::StateDirectory::Kind::kLab);
    ASSERT_TRUE(state.prepare());
    auto journal = state.create();
    ASSERT_TRUE(journal && journal->begin({.time = "now", .design = "fabric.yaml", .boot = ""}));
    ASSERT_TRUE(journal->awaiting(0, host::boot_time_now().ms + 95'500));
  }

  lab::TemporaryDirectory place_;
};

TEST_F(ApplyLab, AnInterruptionUndoesEveryHostWhereverItComes) {
  COVERS("B2");
  const std::size_t before = differences();
  for (const int comes_after : {0, 1, 20, 100, 175}) {
    ApplyRequest request;
    int asked = 0;
    request.is_interrupted = [&] { return ++asked > comes_after; };
    const auto applied = apply_with(request);
    ASSERT_TRUE(applied) << applied.error().what;
    EXPECT_TRUE(applied->is_failed());
    EXPECT_TRUE(applied->is_restored());
    EXPECT_TRUE(applied->hosts.back().was_interrupted);
    EXPECT_EQ(differences(), before) << comes_after;
    EXPECT_EQ(applied->count(host::StepState::kDone), 0U);
  }
  EXPECT_TRUE(apply_with({}));
  EXPECT_EQ(differences(), 0U) << "none of them is in the way of the next";
}

TEST_F(ApplyLab, ARollbackLeavesEveryFactAsItWas) {
  COVERS("B2");
  const auto facts = [&] {
    const lab::Lab opened = lab::Lab::open(place_.file("lab")).value();
    return opened.host("gpu01").value()->observe().value().nics;
  };
  const std::vector<evidence::Nic> before = facts();
  ASSERT_TRUE(apply_with({}));
  ASSERT_NE(facts(), before);
  auto plan = plan_rollback(hosts().source, "", {});
  ASSERT_TRUE(plan && plan->journal);
  const auto done = roll_back(*plan);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(facts(), before);
}

TEST_F(ApplyLab, ARollbackOfWhatIsPendingLeavesAnApplyThatWasKept) {
  COVERS("B2");
  ASSERT_TRUE(apply_with({}));
  {
    const auto nothing = plan_rollback(hosts().source, "", {}, RollbackScope::kPending);
    ASSERT_TRUE(nothing) << nothing.error().what;
    EXPECT_FALSE(nothing->journal);
  }
  leave_awaiting();
  auto pending = plan_rollback(hosts().source, "", {}, RollbackScope::kPending);
  ASSERT_TRUE(pending && pending->journal);
  EXPECT_EQ(pending->journal->journal.head.time, "now");
  ASSERT_TRUE(roll_back(*pending));
  pending->lock.reset();
  EXPECT_EQ(differences(), 0U) << "the apply before is still there";
  const auto after = plan_rollback(hosts().source, "", {}, RollbackScope::kPending);
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_FALSE(after->journal);
}

TEST_F(ApplyLab, AWaveThatWasNotBegunLeavesTheWaveBefore) {
  COVERS("K3");
  const WaveRequest request{.planned = hosts(), .apply = {}, .sizes = {}};
  const Plan planned = plan(hosts()).value();
  const auto driver = make_lab_driver(request, planned);
  int applies = 0;
  const Waves done = drive_waves(plan_waves({"gpu01", "gpu02"}, {1, 1}), *driver,
                                 error_texts(planned.seen.hosts, planned.fabric.intent), {},
                                 [&](std::string_view what, const Wave&) -> weir::Status {
                                   if (what == "apply" && ++applies == 2)
                                     return Error{ErrorCode::kIo, "full"};
                                   return {};
                                 });
  EXPECT_EQ(done.red_flag, "full");
  EXPECT_EQ(done.count(WaveHostState::kConfirmed), 1U);
  EXPECT_EQ(done.count(WaveHostState::kUntouched), 1U);
  PlanRequest first = hosts();
  first.source.hosts = {"gpu01"};
  EXPECT_EQ(plan(first).value().step_count(), 0U) << "the first wave was confirmed";
}

TEST_F(ApplyLab, WhileOneIsNotConfirmedAnotherThatWouldChangeSomethingIsRefused) {
  COVERS("B2");
  leave_awaiting();
  const auto refused = begin_apply(hosts(), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("weir confirm keeps it, weir rollback undoes it"),
            std::string::npos)
      << refused.error().what;
}

TEST_F(ApplyLab, OneThatHasNothingToDoSaysWhatIsPending) {
  COVERS("B2");
  {
    const auto quiet = begin_apply(hosts(), {});
    ASSERT_TRUE(quiet);
    EXPECT_FALSE(quiet->pending);
  }
  ASSERT_TRUE(apply_with({}));
  leave_awaiting();
  const auto nothing = begin_apply(hosts(), {});
  ASSERT_TRUE(nothing) << nothing.error().what;
  EXPECT_EQ(nothing->plan.step_count(), 0U);
  ASSERT_TRUE(nothing->pending && nothing->pending->left);
  EXPECT_EQ(nothing->pending->title, "the apply of fabric.yaml at now");
  EXPECT_GT(*nothing->pending->left, 90_s);
  EXPECT_LE(*nothing->pending->left, 95_s);
}

TEST_F(ApplyLab, ADamagedJournalIsAnErrorEvenWhereThereIsNothingToDo) {
  COVERS("B2");
  ASSERT_TRUE(apply_with({}));
  const std::string file = place_.file("lab/journal/journal-000001");
  std::string text = read_file(file).value();
  text[100] ^= 1;
  ASSERT_TRUE(write_file_atomic(file, text, FileMode::kPrivate));
  const auto damaged = begin_apply(hosts(), {});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, FailureKind::kBadInput);
}

}  // namespace
}  // namespace weir::ops
