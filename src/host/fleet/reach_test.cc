#include "host/fleet/reach.h"

#include <algorithm>

#include "base/testing.h"
#include "host/bundle/bundle.h"
#include "host/fleet/collector.h"
#include "host/fleet/fleet.h"
#include "host/probe/linux_command.h"

namespace weir::host {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

TEST(Reach, SshAsksNothingForwardsNothingAndKeepsTheHostBehindTheDashes) {
  COVERS("K3");
  const Reach reach;
  const Words words =
      reach_command(reach, {.name = "gpu01", .address = "10.0.0.1", .port = 2222}, "echo 'a b'");
  EXPECT_EQ(words.front(), "ssh");
  EXPECT_TRUE(has(words, "BatchMode=yes"));
  EXPECT_TRUE(has(words, "ClearAllForwardings=yes"));
  EXPECT_TRUE(has(words, "HostName=10.0.0.1"));
  EXPECT_TRUE(has(words, "Port=2222"));
  EXPECT_FALSE(has(words, "ControlMaster"));
  EXPECT_EQ(words[words.size() - 3], "--");
  EXPECT_EQ(words[words.size() - 2], "gpu01");
  EXPECT_EQ(words.back(), R"(sh -c 'echo '\''a b'\''')");
}

TEST(Reach, AJumpHostIsLoggedInToOnceForAll) {
  Reach reach;
  reach.jump = "bastion";
  reach.sockets = "/tmp/x";
  const Words words = reach_command(reach, {.name = "gpu01"}, "true");
  EXPECT_TRUE(has(words, "ProxyCommand=ssh"));
  EXPECT_TRUE(has(words, "ControlPath=/tmp/x/%%C"));
  EXPECT_TRUE(has(words, "-W '[%h]:%p' -- bastion"));
  reach.jump = "-oProxyCommand=x";
  EXPECT_FALSE(check_reach(reach).has_value());
}

TEST(Reach, AnExecLineHasAPlaceForTheHost) {
  Reach reach;
  reach.kind = Reach::Kind::kExec;
  reach.exec = "cat %h.bundle";
  EXPECT_TRUE(check_reach(reach).has_value());
  EXPECT_FALSE(runs_lines(reach));
  EXPECT_EQ(reach_command(reach, {.name = "gpu01"}, "x").back(), "cat gpu01.bundle");
  reach.exec = "docker exec %h sh -c %c; echo 100%%h";
  EXPECT_TRUE(runs_lines(reach));
  EXPECT_EQ(reach_command(reach, {.name = "gpu01"}, "a; b").back(),
            "docker exec gpu01 sh -c 'a; b'; echo 100%h");
  reach.exec = "cat %%h";
  EXPECT_FALSE(check_reach(reach).has_value());
}

TEST(Reach, SlurmRunsOneTaskOnThatNode) {
  Reach reach;
  reach.kind = Reach::Kind::kSlurm;
  const Words words = reach_command(reach, {.name = "gpu01"}, "true");
  EXPECT_EQ(words.front(), "srun");
  EXPECT_TRUE(has(words, "--nodelist=gpu01"));
  EXPECT_EQ(words.back(), "true");
}

TEST(Reach, TheAnswerOfSshSaysWhereItGoes) {
  const auto direct = parse_ssh_answer("user root\nhostname 10.0.0.7\nport 2222\n");
  ASSERT_TRUE(direct.has_value());
  EXPECT_EQ(direct->gate(), "10.0.0.7:2222");
  EXPECT_TRUE(direct->through.empty());
  const auto behind =
      parse_ssh_answer("hostname gpu\nport 22\nproxyjump login1\nproxycommand none\n");
  EXPECT_EQ(behind->gate(), "login1");
  EXPECT_FALSE(parse_ssh_answer("garbage\n").has_value());
}

TEST(Collector, IsOneLineThatAnyLoginShellPassesOn) {
  const std::string line = collector_line();
  EXPECT_EQ(line.find_first_of("'!\n"), std::string::npos);
  const auto looked = run_command({"sh", "-c", line});
  ASSERT_TRUE(looked.has_value());
  EXPECT_EQ(looked->errors, "");
  const auto bundle = parse_bundle(looked->output);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().what;
  EXPECT_TRUE(bundle->looks.front().files.contains("/proc/stat"));
  EXPECT_TRUE(bundle->looks.front().lists.contains("/sys/class/infiniband"));
}

std::vector<std::unique_ptr<FleetMember>> fleet_of(const std::string& exec, FleetLimits limits) {
  Reach reach;
  reach.kind = Reach::Kind::kExec;
  reach.exec = exec;
  auto made = make_fleet({{.name = "gpu01"}, {.name = "gpu02"}}, reach, limits);
  WEIR_CHECK(made.has_value());
  return std::move(*made);
}

std::string why_unseen(const std::string& exec, FleetLimits limits = {}) {
  const auto seen = fleet_of(exec, limits).front()->observe();
  return seen ? "" : seen.error().what;
}

TEST(Fleet, WhatAHostPrintsIsBoundedAndAnErrorOfThatHost) {
  COVERS("K3");
  EXPECT_NE(why_unseen(": %h; yes").find("more than 8 MiB"), std::string::npos);
  EXPECT_NE(why_unseen(": %h; printf '\\033[2J'").find("no bundle ('\\u001b[2J"),
            std::string::npos);
  EXPECT_NE(why_unseen(": %h; echo boo >&2; exit 3").find("status 3: boo"), std::string::npos);
  FleetLimits limits;
  limits.host_time = Duration::raw(300'000'000'000);
  EXPECT_NE(why_unseen(": %h; sleep 20", limits).find("within 0.3 s"), std::string::npos);
  limits.budget = Duration::raw(1);
  EXPECT_NE(why_unseen(": %h", limits).find("--budget"), std::string::npos);
}

TEST(Fleet, ALoadEndsWithItsOwnLimitWhateverTheBudget) {
  COVERS("J1", "K3");
  FleetLimits limits;
  limits.budget = 604800_s;
  auto fleet = fleet_of(": %h; sh -c %c", limits);
  const auto hung = fleet.front()->run({"sleep", "60"}, {.limit = 300_ms});
  ASSERT_FALSE(hung.has_value());
  EXPECT_NE(hung.error().what.find("did not end within 0.3 s"), std::string::npos)
      << hung.error().what;
}

TEST(Fleet, ACommandGetsItsInputAndItsStatusIsAnOutcome) {
  auto fleet = fleet_of("WEIR=%h sh -c %c", {});
  const auto done = fleet.back()->run({"sh", "-c", "echo $WEIR; exit 4"});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->output, "gpu02\n");
  EXPECT_EQ(done->exit_status, 4);
  const auto absent = fleet.back()->run_weir({"--version"}, "text", 5_s);
  if (!absent) EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
}

TEST(Fleet, OfWhatAHostPrintsToStandardErrorTheFirstAndTheLastIsKept) {
  COVERS("K3");
  auto fleet = fleet_of(": %h; sh -c %c", {});
  const auto done =
      fleet.front()->run({"sh", "-c", "echo first >&2; yes | head -c 5000000 >&2; echo last >&2"});
  ASSERT_TRUE(done.has_value()) << done.error().what;
  EXPECT_LT(done->errors.size(), std::size_t{64} << 10U);
  EXPECT_TRUE(done->errors.starts_with("first\n"));
  EXPECT_TRUE(done->errors.ends_with("last\n"));
  EXPECT_NE(done->errors.find("bytes of output left out"), std::string::npos);
}

TEST(Fleet, NamesAreChecked) {
  EXPECT_FALSE(make_fleet({{.name = "-x"}}, {}, {}).has_value());
  EXPECT_FALSE(make_fleet({{.name = "a"}, {.name = "a"}}, {}, {}).has_value());
  EXPECT_FALSE(make_fleet({{.name = "a", .address = "-oX=y"}}, {}, {}).has_value());
}

}  // namespace
}  // namespace weir::host
