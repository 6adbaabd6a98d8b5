#include "host/change/apply.h"

#include <algorithm>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "host/fake_host.h"

namespace weir::host {
namespace {

using evidence::Setting;

const design::Intent& pod16() {
  static const design::Intent intent = [] {
    const design::Template* pod = design::find_template("pod16");
    return design::derive(design::load_text(std::string(pod->text), "pod16.yaml").design).intent;
  }();
  return intent;
}

HostPlan plan_of(FakeHost& host) {
  return plan_host(host.observe().value(), pod16().hosts[0], pod16());
}

FakeHost factory() {
  return FakeHost(factory_host(pod16().hosts[0], pod16()));
}

const Step* step_of(const HostPlan& plan, Setting setting) {
  const auto found = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    return setting_of(step.operation.change) == setting;
  });
  return found == plan.steps.end() ? nullptr : &*found;
}

TEST(Plan, APlanChangesWhatDiffersAndNothingElse) {
  COVERS("B1");
  FakeHost host(factory_host(pod16().hosts[0], pod16()));
  const HostPlan plan = plan_of(host);
  EXPECT_NE(step_of(plan, Setting::kTrust), nullptr);
  EXPECT_NE(step_of(plan, Setting::kPfc), nullptr);
  EXPECT_NE(step_of(plan, Setting::kDscpToPriority), nullptr);
  EXPECT_EQ(step_of(plan, Setting::kEcnRp), nullptr) << "on for all priorities: no deviation";
  EXPECT_TRUE(plan.left.empty()) << plan.left.front().reason;
}

TEST(Plan, PfcComesLastBecauseItFlapsTheLink) {
  COVERS("B1");
  FakeHost host(factory_host(pod16().hosts[0], pod16()));
  const HostPlan plan = plan_of(host);
  ASSERT_FALSE(plan.steps.empty());
  EXPECT_EQ(setting_of(plan.steps.back().operation.change), Setting::kPfc);
  EXPECT_NE(plan.steps.back().risk.find("link down"), std::string_view::npos);
  ASSERT_EQ(plan.steps.back().commands.size(), 1U);
  EXPECT_EQ(plan.steps.back().commands[0], "mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0");
}

TEST(Plan, AChangeOfTrustIsFollowedByTheWholeMap) {
  FakeHost host(factory_host(pod16().hosts[0], pod16()));
  evidence::Evidence found = host.observe().value();
  SetDscpMap map;
  std::copy(pod16().hosts[0].nics[0].dscp_to_priority.begin(),
            pod16().hosts[0].nics[0].dscp_to_priority.end(), map.priority.begin());
  take(map, found.nics[0]);
  const HostPlan plan = plan_host(found, pod16().hosts[0], pod16());
  const Step* trust = step_of(plan, Setting::kTrust);
  ASSERT_NE(trust, nullptr);
  EXPECT_EQ(setting_of((trust + 1)->operation.change), Setting::kDscpToPriority);
}

TEST(Plan, WhatCouldNotBeReadIsLeftAloneAndSaidSo) {
  COVERS("B1");
  evidence::Evidence found = factory_host(pod16().hosts[0], pod16());
  found.nics[0].qos.pfc =
      evidence::Fact<PrioritySet>::missing(evidence::Missing::kPermission, "test");
  const HostPlan plan = plan_host(found, pod16().hosts[0], pod16());
  EXPECT_EQ(step_of(plan, Setting::kPfc), nullptr);
  ASSERT_EQ(plan.left.size(), 1U);
  EXPECT_NE(plan.left[0].reason.find("permission"), std::string::npos);
}

TEST(Plan, TheKernelsOwnDriverCannotForceATrafficClass) {
  COVERS("B3");
  evidence::Evidence found = factory_host(pod16().hosts[0], pod16());
  found.nics[0].stack = evidence::Fact<evidence::Stack>::of(evidence::Stack::kInbox, "test");
  take(SetTrafficClass{26_tos}, found.nics[0]);
  const HostPlan plan = plan_host(found, pod16().hosts[0], pod16());
  EXPECT_EQ(step_of(plan, Setting::kTrafficClass), nullptr);
  ASSERT_EQ(plan.left.size(), 1U);
  EXPECT_NE(plan.left[0].reason.find("NCCL_IB_TC"), std::string::npos);
  EXPECT_EQ(step_of(plan, Setting::kPfc)->commands[0],
            "dcb pfc set dev rail0 prio-pfc all:off 3:on");
}

TEST(Plan, ADeviceThatIsGoneIsNamed) {
  evidence::Evidence found = factory_host(pod16().hosts[0], pod16());
  found.nics.clear();
  const HostPlan plan = plan_host(found, pod16().hosts[0], pod16());
  EXPECT_TRUE(plan.steps.empty());
  ASSERT_EQ(plan.left.size(), pod16().hosts[0].nics.size());
  EXPECT_EQ(evidence::text_of(plan.left[0].deviation).found, "no such device");
}

TEST(Apply, ASecondApplyChangesNothing) {
  COVERS("B1");
  FakeHost host(factory_host(pod16().hosts[0], pod16()));
  const HostOutcome first = apply_plan(host, plan_of(host));
  EXPECT_TRUE(first.is_done()) << first.failure;
  const std::size_t performed = host.performed().size();
  EXPECT_EQ(performed, first.steps.size());
  const HostPlan again = plan_of(host);
  EXPECT_TRUE(again.steps.empty()) << name_of(again.steps.front().operation.change);
  EXPECT_TRUE(apply_plan(host, again).is_done());
  EXPECT_EQ(host.performed().size(), performed);
}

/// Whatever goes wrong, and wherever, the host ends as it began.
TEST(Apply, AFailureAtAnyStepPutsEverythingBack) {
  COVERS("B1", "B6");
  FakeHost example = factory();
  const HostPlan plan = plan_of(example);
  for (const Misbehaviour how :
       {Misbehaviour::kRefuses, Misbehaviour::kIgnores, Misbehaviour::kLosesLink}) {
    for (const Step& step : plan.steps) {
      FakeHost host(factory_host(pod16().hosts[0], pod16()));
      const evidence::Evidence before = host.observe().value();
      host.misbehave(setting_of(step.operation.change), how);
      const HostOutcome outcome = apply_plan(host, plan);
      SCOPED_TRACE(name_of(step.operation.change));
      EXPECT_FALSE(outcome.is_done());
      evidence::Evidence after = host.observe().value();
      after.nics[0].link.up = before.nics[0].link.up;
      for (const Step& planned : plan.steps) {
        EXPECT_EQ(as_found(planned.operation.change, after.nics[0]),
                  as_found(planned.operation.change, before.nics[0]));
      }
      EXPECT_TRUE(outcome.is_restored());
    }
  }
}

/// Another program changes a setting while an apply is under way.
class MeddledHost : public FakeHost {
 public:
  MeddledHost(evidence::Evidence evidence, std::size_t after, Change change)
      : FakeHost(std::move(evidence)), after_(after), change_(std::move(change)) {}
  [[nodiscard]] Result<evidence::Evidence> facts(const Scope& scope) override {
    // The first look after a step is its own: what changed in it is the step's doing.
    if (performed().size() == after_ && ++looks_ == 2) {
      WEIR_TRY_STATUS(FakeHost::perform({"mlx5_0", change_}));
    }
    return FakeHost::facts(scope);
  }

 private:
  std::size_t after_;
  Change change_;
  int looks_ = 0;
};

TEST(Apply, ASettingThatAnotherProgramChangedIsNotWrittenOver) {
  COVERS("B1");
  FakeHost example = factory();
  const HostPlan plan = plan_of(example);
  const Change meddled = SetPfc{PrioritySet::from_mask(0x40)};
  for (std::size_t after = 0; after + 1 < plan.steps.size(); after += 3) {
    MeddledHost host(factory_host(pod16().hosts[0], pod16()), after, meddled);
    const HostOutcome outcome = apply_plan(host, plan);
    SCOPED_TRACE(after);
    EXPECT_NE(outcome.failure.find("another program changed it: it was none when it was planned "
                                   "and is now 6"),
              std::string::npos)
        << outcome.failure;
    EXPECT_TRUE(outcome.is_restored());
    const evidence::Evidence now = host.observe().value();
    EXPECT_EQ(as_found(meddled, now.nics[0]), meddled) << "what the other one set stays";
    for (const Step& step : plan.steps)
      if (setting_of(step.operation.change) != Setting::kPfc)
        EXPECT_EQ(as_found(step.operation.change, now.nics[0]), step.before);
  }
}

TEST(Apply, TheFailureSaysWhatTheDriverShows) {
  FakeHost host = factory();
  host.misbehave(Setting::kTrust, Misbehaviour::kIgnores);
  const HostOutcome outcome = apply_plan(host, plan_of(host));
  EXPECT_EQ(outcome.failure, "mlx5_0 trust: dscp: the driver took it and shows pcp");
}

TEST(Operation, AMapIsToldByItsExceptions) {
  SetDscpMap map;
  EXPECT_EQ(value_text(map), "no entries");
  for (unsigned d = 0; d < 64; ++d)
    map.priority.at(d) = Priority::of(d / 8);
  EXPECT_EQ(value_text(map), "DSCP/8");
  map.priority.at(26) = 5_prio;
  EXPECT_EQ(value_text(map), "26→5, the rest DSCP/8");
  map.priority.fill(0_prio);
  map.priority.at(26) = 3_prio;
  map.priority.at(27) = 3_prio;
  map.priority.at(48) = std::nullopt;
  EXPECT_EQ(value_text(map), "26-27→3, 48→no entry, the rest→0");
}

TEST(Operation, EveryChangeReadsBackAsItWasTaken) {
  evidence::Evidence host = factory_host(pod16().hosts[0], pod16());
  evidence::Nic& nic = host.nics[0];
  FakeHost fake(host);
  for (const Step& step : plan_of(fake).steps) {
    EXPECT_NE(as_found(step.operation.change, nic), step.operation.change);
    take(step.operation.change, nic);
    EXPECT_EQ(as_found(step.operation.change, nic), step.operation.change);
  }
}

}  // namespace
}  // namespace weir::host
