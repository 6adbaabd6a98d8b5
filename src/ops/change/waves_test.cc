#include "ops/change/waves.h"

#include "base/testing.h"

namespace weir::ops {
namespace {

/// Hosts that do as their names say.
class FakeDriver final : public WaveDriver {
 public:
  std::vector<std::string> log;
  std::vector<std::string> after = {};

  void apply(std::vector<WaveHost>& wave) override {
    log.push_back("apply");
    for (WaveHost& host : wave) {
      host.state = host.host.starts_with("bad") ? WaveHostState::kFailed : WaveHostState::kApplied;
      if (host.host.starts_with("done")) host.state = WaveHostState::kNothing;
    }
  }
  std::vector<std::string> faults(std::vector<WaveHost>& /*wave*/) override { return after; }
  void confirm(std::vector<WaveHost>& wave) override {
    log.push_back("confirm");
    for (WaveHost& host : wave)
      if (host.state == WaveHostState::kApplied)
        host.state =
            host.host.starts_with("gone") ? WaveHostState::kLost : WaveHostState::kConfirmed;
  }
  void roll_back(std::vector<WaveHost>& wave) override {
    log.push_back("roll back");
    for (WaveHost& host : wave)
      if (host.state == WaveHostState::kApplied) host.state = WaveHostState::kRolledBack;
  }
};

Waves drive(const std::vector<std::string>& hosts, FakeDriver& driver,
            const std::vector<std::string>& before = {}) {
  return drive_waves(plan_waves(hosts, {1, 1}), driver, before, {},
                     [](std::string_view, const Wave&) { return weir::Status(); });
}

TEST(Waves, ACanaryABatchAndTheRest) {
  COVERS("K3");
  const std::vector<std::string> hosts(25, "a");
  const auto usual = plan_waves(hosts, {});
  ASSERT_EQ(usual.size(), 3U);
  EXPECT_EQ(usual[0].hosts.size(), 1U);
  EXPECT_EQ(usual[1].hosts.size(), 2U);
  EXPECT_EQ(usual[2].hosts.size(), 22U);
  EXPECT_EQ(plan_waves({"a"}, {}).size(), 1U);
}

TEST(Waves, EveryWaveIsConfirmedBeforeTheNext) {
  FakeDriver driver;
  const Waves done = drive({"a", "b", "done", "c"}, driver);
  EXPECT_EQ(done.red_flag, "");
  EXPECT_EQ(done.count(WaveHostState::kConfirmed), 3U);
  EXPECT_EQ(done.count(WaveHostState::kNothing), 1U);
  EXPECT_EQ(driver.log,
            (std::vector<std::string>{"apply", "confirm", "apply", "confirm", "apply", "confirm"}));
}

TEST(Waves, TheFirstRedFlagEndsItAndItsWaveIsRolledBack) {
  FakeDriver driver;
  const Waves done = drive({"a", "bad1", "c", "d"}, driver);
  EXPECT_NE(done.red_flag.find("bad1"), std::string::npos);
  EXPECT_EQ(done.count(WaveHostState::kConfirmed), 1U);
  EXPECT_EQ(done.count(WaveHostState::kUntouched), 2U);
  FakeDriver late;
  EXPECT_NE(drive({"a", "gone", "c"}, late).red_flag.find("gone: lost"), std::string::npos);
  EXPECT_EQ(late.log.back(), "roll back");
}

TEST(Waves, AFaultThatWasThereBeforeIsNoRedFlag) {
  FakeDriver driver;
  driver.after = {"a mlx5_0: mtu.mismatch"};
  EXPECT_EQ(drive({"a"}, driver, driver.after).red_flag, "");
  const Waves done = drive({"a"}, driver);
  EXPECT_NE(done.red_flag.find("mtu.mismatch"), std::string::npos);
  EXPECT_EQ(done.count(WaveHostState::kRolledBack), 1U);
}

TEST(Waves, WhatCannotBeWrittenDownIsNotBegun) {
  FakeDriver driver;
  const Waves done = drive_waves(plan_waves({"a"}, {}), driver, {}, {},
                                 [](std::string_view, const Wave&) -> weir::Status {
                                   return Error{ErrorCode::kIo, "disk full"};
                                 });
  EXPECT_EQ(done.red_flag, "disk full");
  EXPECT_EQ(driver.log, std::vector<std::string>{"roll back"});
}

TEST(Waves, AnAnswerOfAHostIsCheckedAndPrintable) {
  WaveHost host;
  read_apply_answer(0, "motd\n{\"schema\": \"weir/apply/1\", \"changed\": 2}", "", host);
  EXPECT_EQ(host.state, WaveHostState::kApplied);
  EXPECT_EQ(host.changes, 2U);
  read_apply_answer(0, "{\"schema\": \"weir/apply/1\", \"changed\": 0}", "", host);
  EXPECT_EQ(host.state, WaveHostState::kNothing);
  read_apply_answer(6, "{\"schema\": \"weir/apply/1\", \"verdict\": \"EIO\"}", "", host);
  EXPECT_EQ(host.state, WaveHostState::kFailed);
  EXPECT_NE(host.detail.find("EIO"), std::string::npos);
  read_apply_answer(4, "{\"schema\": \"weir/error/1\"}", "not root", host);
  EXPECT_EQ(host.state, WaveHostState::kFailed);
  // A weir that was killed there may have changed anything: it is put back as well.
  read_apply_answer(137, "", "Killed", host);
  EXPECT_EQ(host.state, WaveHostState::kLost);
  read_apply_answer(0, "\x1b[2J nonsense", "", host);
  EXPECT_EQ(host.state, WaveHostState::kLost);
  EXPECT_EQ(host.detail.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace weir::ops
