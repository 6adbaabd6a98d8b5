// Stages on hosts: shells and scripts of perftest stand for machines, everything else is real.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "finding/catalog.h"
#include "finding/shown.h"
#include "host/fake_host.h"
#include "host/probe/linux_command.h"
#include "host/probe/load_mark.h"
#include "ops/preflight/bench.h"
#include "ops/verify/host_load.h"

namespace weir::ops {
namespace {

/// A machine that runs commands here, with programs of its own in front of PATH.
class ShellHost final : public host::FakeHost {
 public:
  ShellHost(evidence::Evidence evidence, std::string programs)
      : FakeHost(std::move(evidence)), programs_(std::move(programs)) {
    std::filesystem::create_directories(root());
  }
  weir::Result<host::CommandOutcome> run(const std::vector<std::string>& command,
                                         const host::LoadControl& control) override {
    std::vector<std::string> words = {"env", fmt::format("PATH={}:/usr/bin:/bin", programs_),
                                      "HOST=" + name(), "TMPDIR=" + root(),
                                      "WEIR_SYSROOT=" + root()};
    words.insert(words.end(), command.begin(), command.end());
    return host::run_load(words, control);
  }

 private:
  /// Its files, and what loads leave.
  [[nodiscard]] std::string root() const { return programs_ + "/root." + name(); }

  std::string programs_;
};

/// A host that shows its devices and no settings: nothing of it is wrong.
evidence::Evidence silent_host(const design::HostIntent& host, const design::Intent& intent) {
  evidence::Evidence out = host::factory_host(host, intent);
  for (evidence::Nic& nic : out.nics) {
    nic.link = {};
    nic.qos = {};
    nic.ecn = {};
  }
  return out;
}

/// perftest as it prints: a rate for who names a server, latencies, failures by a file `broken`.
constexpr std::string_view kBandwidth = R"(#!/bin/sh
for last; do :; done
case $last in -*) exit 0 ;; esac
case " $* " in *" --report_gbits "*) ;; *) exit 1 ;; esac
dir=$(dirname "$0")
case $last in --*|*=*) ;; *)
  if [ -f "$dir/broken.$HOST" ]; then echo "Completion with error at client"; exit 1; fi
  rate=95.1; [ -f "$dir/slow.$HOST" ] && rate=20.5
  dev=; for word; do [ "$dev" = -d ] && dev=$word && break; [ "$word" = -d ] && dev=-d; done
  for way in "$HOST.$dev" "all.$dev" all "to.$last"; do [ -f "$dir/slow.$way" ] && rate=20.5; done
  echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
  echo " 65536      500000         $rate              $rate              0.18"
esac
)";
constexpr std::string_view kLatency = R"(#!/bin/sh
for last; do :; done
printf " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] "
echo "t_stdev[usec] 99% percentile[usec] 99.9% percentile[usec]"
echo " 64 1000 1.80 9.10 1.95 1.99 0.10 2.40 5.60"
)";

class HostsOfADesign : public testing::Test {
 protected:
  HostsOfADesign()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    EXPECT_TRUE(
        write_file_atomic((folder_ / "ib_write_bw").string(), kBandwidth, FileMode::kScript));
    EXPECT_TRUE(
        write_file_atomic((folder_ / "ib_write_lat").string(), kLatency, FileMode::kScript));
    EXPECT_TRUE(
        write_file_atomic((folder_ / "ping").string(), "#!/bin/sh\nexit 0\n", FileMode::kScript));
  }
  ~HostsOfADesign() override { std::filesystem::remove_all(folder_); }

  void mark(const std::string& name) const {
    EXPECT_TRUE(write_file_atomic((folder_ / name).string(), ""));
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

  /// The first `count` hosts of pod16.
  [[nodiscard]] Bench bench(
      const PreflightRequest& request, std::size_t count,
      std::string_view text = design::find_template("pod16")->text,
      const std::function<void(evidence::Evidence&)>& edit = [](evidence::Evidence&) {}) const {
    const design::Loaded loaded = design::load_text(std::string(text), "pod16.yaml");
    Fabric fabric{loaded.design, design::derive(loaded.design).intent};
    HostSet set;
    for (std::size_t i = 0; i < count; ++i) {
      evidence::Evidence host = silent_host(fabric.intent.hosts[i], fabric.intent);
      edit(host);
      set.hosts.push_back(std::make_unique<ShellHost>(std::move(host), folder()));
    }
    return Bench(request, std::move(set), std::move(fabric));
  }

 private:
  std::filesystem::path folder_;
};

preflight::StageResult stage_of(preflight::StageId id) {
  preflight::StageResult stage;
  stage.id = id;
  return stage;
}

PreflightRequest quick() {
  PreflightRequest request;
  request.is_quick = true;
  return request;
}

TEST(LoadOutput, IsReadByTaskAndWhateverElseIsPrintedIsNone) {
  COVERS("J1");
  const auto read = read_load_output(
      "Welcome to gpu01\nweir-task 0\nhello\nweir-status 0\nweir-task 1\nweir-status 127\n"
      "weir-task 9\nweir-status 0\nweir-task x\n",
      3);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].status, 0);
  EXPECT_EQ(read[0].text, "hello\n");
  EXPECT_EQ(read[1].status, 127);
  EXPECT_EQ(read[2].status, -1);  // it did not say
}

TEST_F(HostsOfADesign, RunClientsUntilTheirServersListenAndSayWhatEachPrinted) {
  COVERS("D5");
  // The first two tries find nobody.
  ASSERT_TRUE(write_file_atomic(folder() + "/late",
                                "#!/bin/sh\nd=$(dirname \"$0\")\necho x >>\"$d/tries\"\n"
                                "[ $(wc -l <\"$d/tries\") -ge 3 ] && { echo done; exit 0; }\n"
                                "echo \"Couldn't connect to 10.0.0.2:18515\"; exit 1\n",
                                FileMode::kScript));
  const std::string line =
      load_line({{true, {"sh", "-c", "echo it\\'s; exit 3"}}, {false, {folder() + "/late"}}}, 20);
  const auto outcome = host::run_command({"sh", "-c", line});
  ASSERT_TRUE(outcome.has_value());
  const auto read = read_load_output(outcome->output, 2);
  EXPECT_EQ(read[0].status, 3) << outcome->output << outcome->errors;
  EXPECT_EQ(read[1].status, 0);
  EXPECT_EQ(read[1].text, "done\n");
}

TEST_F(HostsOfADesign, StopALoadWithAllItsTasksAndWhatItLeft) {
  COVERS("D5", "J2");
  // Three numbers nobody else sleeps for; the directory of the load is below this one.
  const std::string line = host::marked_line(
      "test-2",
      load_line({{true, {"sleep", "3471"}}, {false, {"sleep", "3472"}}, {true, {"sleep", "3473"}}},
                3600));
  const auto load = host::RunningCommand::start({"env", "TMPDIR=" + folder(), "sh", "-c", line});
  ASSERT_TRUE(load.has_value());
  // Within five seconds.
  const auto become = [](std::string_view wanted) {
    const auto seen = host::run_command(
        {"sh", "-c",
         fmt::format("for i in $(seq 100); do n=$(cat /proc/[0-9]*/cmdline 2>/dev/null | "
                     "tr '\\0' ' ' | grep -c 'sleep 347[123]'); [ $n {} ] && exit 0; "
                     "sleep 0.05; done; exit 1",
                     wanted)});
    return seen && seen->exit_status == 0;
  };
  ASSERT_TRUE(become("!= 0"));
  // Another load, and whatever has its name elsewhere, is not touched.
  ASSERT_TRUE(host::run_command({"sh", "-c", host::stop_line("test-3")}).has_value());
  EXPECT_TRUE(become("!= 0"));
  const auto stopped = host::run_command({"sh", "-c", host::stop_line("test-2")});
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->exit_status, 0) << stopped->errors;
  EXPECT_EQ(trim(stopped->output), host::kLoadEnded);
  const auto outcome = (*load)->finish(10_s);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->exit_status, 143);
  EXPECT_TRUE(become("= 0"));
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("weir-load-")) << entry.path();
}

TEST_F(HostsOfADesign, EndALoadWhoseControllerIsGone) {
  COVERS("J2");
  // Ids of their own: what ends the first load looks for its words for a moment longer.
  const auto line = [&](std::string_view load) {
    static int number = 0;
    return host::marked_line(fmt::format("tether-{}-", ++number), load);
  };
  const auto run = [&](const std::string& text) {
    const auto done = host::run_command({"sh", "-c", text});
    return done ? *done : host::CommandOutcome{};
  };
  // The tether holds for a moment, and breaks.
  const host::CommandOutcome broken =
      run(fmt::format("{{ echo {}; sleep 0.3; }} | sh -c {}", host::kTether,
                      shell_word(line("sleep 3474 & sleep 3474; exit 0"))));
  EXPECT_EQ(broken.exit_status, 143);
  EXPECT_LT(broken.elapsed, 20_s);
  EXPECT_EQ(
      run("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 347[4]'").output,
      "0\n");
  // One that ends by itself waits for nobody, and says what it always said.
  const auto own = host::RunningCommand::start_tethered(
      {"sh", "-c", line("cat; echo out; echo err >&2; exit 7")}, host::kTether);
  ASSERT_TRUE(own.has_value());
  const auto done = (*own)->finish(20_s);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->exit_status, 7);
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  // A launcher without input has no tether.
  EXPECT_EQ(run("sh -c " + shell_word(line("sleep 0.2; exit 5")) + " </dev/null").exit_status, 5);
}

TEST_F(HostsOfADesign, ArePlannedWithTheTimeOfEachStageAndWhatIsNotSaid) {
  COVERS("J1", "J2");
  const PreflightRequest request = quick();
  Bench three = bench(request, 3);
  EXPECT_EQ(three.hosts(), 3U);
  preflight::Report report = preflight::empty_report();
  three.rig().plan(report);
  EXPECT_EQ(report.stages[1].budget, "30 s");
  EXPECT_NE(report.stages[4].budget.find("3 rounds with all 3 hosts"), std::string::npos);
  EXPECT_NE(report.stages[5].budget.find("2 senders to gpu01"), std::string::npos);
  EXPECT_EQ(report.stages[7].why, "how a rail is drained is not said: --drain CMD --restore CMD");
  Bench alone = bench(request, 1);
  alone.rig().plan(report);
  EXPECT_EQ(report.stages[4].budget, "-");
}

TEST_F(HostsOfADesign, ExchangeInPairsAndASlowHostIsTriedAgainAndBlamed) {
  COVERS("J2", "J3");
  mark("slow.gpu03");
  const PreflightRequest request = quick();
  Bench four = bench(request, 4);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  const auto ran = run_pairs(four, stage);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  const preflight::Measure* const bandwidth = stage.find("bandwidth");
  ASSERT_NE(bandwidth, nullptr);
  EXPECT_EQ(bandwidth->values.count, 12U);  // 6 pairs, both ways
  EXPECT_DOUBLE_EQ(bandwidth->values.least, 20.5e9);
  EXPECT_DOUBLE_EQ(bandwidth->values.most, 95.1e9);
  ASSERT_NE(stage.find("latency_p999"), nullptr);
  EXPECT_NEAR(stage.find("latency_p999")->values.p50, 5.6e-6, 1e-12);
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  ASSERT_FALSE(stage.judgement.findings.empty());
  EXPECT_EQ(stage.judgement.findings.front().id, "host.straggler");
  EXPECT_EQ(stage.judgement.findings.front().where.host, "gpu03");
}

/// rail256 with twelve hosts, at 100G: eight rails, each below a leaf of its own.
std::string twelve_with_rails() {
  std::string text(design::find_template("rail256")->text);
  const auto edit = [&](std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  edit("gpu[01-32]", "gpu[01-12]");
  edit("speed: 400G", "speed: 100G");
  edit("speed: 400G", "speed: 100G");
  return text;
}

std::string all_of(const preflight::StageResult& stage) {
  std::string out = stage.why;
  for (const finding::Finding& finding : stage.judgement.findings)
    out += fmt::format("\n{} {}: {}", finding.id, finding::to_text(finding.where), finding.verdict);
  for (const std::string& note : stage.notes)
    out += "\n" + note;
  return out;
}

TEST_F(HostsOfADesign, OneSlowNicOfEightIsNamedWithItsRailAndNoPathIs) {
  COVERS("J2", "J3");
  mark("slow.gpu05.mlx5_3");
  const PreflightRequest request = quick();
  for (const std::size_t hosts : {12U, 7U}) {
    Bench some = bench(request, hosts, twelve_with_rails());
    preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
    const auto ran = run_pairs(some, stage);
    ASSERT_TRUE(ran.has_value()) << ran.error().what;
    EXPECT_EQ(stage.state, preflight::State::kFailed);
    ASSERT_EQ(stage.judgement.findings.size(), 1U) << all_of(stage);
    const finding::Finding& found = stage.judgement.findings.front();
    EXPECT_EQ(found.id, "host.straggler");
    EXPECT_FALSE(finding::is_raised(stage.judgement.findings, "hosts.below_floor"));
    EXPECT_EQ(finding::to_text(found.where), "gpu05 rail 3 (mlx5_3)");
    EXPECT_NE(found.verdict.find("7 other rails of the host reached their floors"),
              std::string::npos)
        << found.verdict;
  }
}

TEST_F(HostsOfADesign, ThatAreAllSlowAlikeAreOneFindingThatNamesNoHostAndNoPath) {
  COVERS("J3");
  mark("slow.all");
  const PreflightRequest request = quick();
  Bench twelve = bench(request, 12, twelve_with_rails());
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  ASSERT_TRUE(run_pairs(twelve, stage).has_value());
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  ASSERT_EQ(stage.judgement.findings.size(), 1U) << all_of(stage);
  const finding::Finding& found = stage.judgement.findings.front();
  EXPECT_EQ(found.id, "hosts.below_floor");
  EXPECT_TRUE(finding::is_raised(stage.judgement.findings, "hosts.below_floor"));
  EXPECT_EQ(finding::to_text(found.where), "");
  EXPECT_TRUE(found.verdict.starts_with("Every rail is slow on all 12 hosts")) << found.verdict;
}

TEST_F(HostsOfADesign, WithOneSlowRailAreToldAsTheRailAndNotAsHosts) {
  COVERS("J3");
  mark("slow.all.mlx5_3");
  const PreflightRequest request = quick();
  Bench twelve = bench(request, 12, twelve_with_rails());
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  ASSERT_TRUE(run_pairs(twelve, stage).has_value());
  ASSERT_EQ(stage.judgement.findings.size(), 1U) << all_of(stage);
  const finding::Finding& found = stage.judgement.findings.front();
  EXPECT_EQ(found.id, "hosts.below_floor");
  EXPECT_TRUE(found.verdict.starts_with("Rail 3 is slow on all 12 hosts")) << found.verdict;
  EXPECT_EQ(found.where.rail, "3");
  EXPECT_EQ(found.where.switch_name, "leaf3");
}

TEST_F(HostsOfADesign, OfThreeTheSlowOneIsBlamedAndTheOthersAreNot) {
  COVERS("J2");
  // Each of the others is slow with half of its partners.
  mark("slow.gpu02");
  mark("slow.to.10.0.0.2");
  const PreflightRequest request = quick();
  Bench three = bench(request, 3);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  ASSERT_TRUE(run_pairs(three, stage).has_value());
  ASSERT_EQ(stage.judgement.findings.size(), 1U) << all_of(stage);
  EXPECT_EQ(stage.judgement.findings.front().id, "host.straggler");
  EXPECT_EQ(stage.judgement.findings.front().where.host, "gpu02");
}

/// gpu01 and gpu02 below one leaf of pod16, gpu09 and gpu10 below the other: fast below one leaf,
/// slow between the two, alone too.
constexpr std::string_view kSlowBetweenLeaves = R"(#!/bin/sh
for last; do :; done
case $last in -*|*=*) exit 0 ;; esac
case $HOST.$last in gpu0[12].10.*.0.*|gpu09.10.*.1.*|gpu10.10.*.1.*) rate=95.1 ;;
*) rate=60.0 ;; esac
[ -f "$(dirname "$0")/slow.$HOST" ] && rate=20.5
echo ' #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]'
echo " 65536 500000 $rate $rate 0.18"
)";

class HostsBelowTwoLeaves : public HostsOfADesign {
 protected:
  HostsBelowTwoLeaves() {
    EXPECT_TRUE(
        write_file_atomic(folder() + "/ib_write_bw", kSlowBetweenLeaves, FileMode::kScript));
  }
  /// Stage 4 of a pod16 of which one thing is edited.
  preflight::StageResult pairs_of(std::string_view from = "", std::string_view to = "") const {
    std::string text(design::find_template("pod16")->text);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    const design::Loaded loaded = design::load_text(text, "pod16.yaml");
    Fabric fabric{loaded.design, design::derive(loaded.design).intent};
    HostSet set;
    for (const std::size_t i : {0U, 1U, 8U, 9U})
      set.hosts.push_back(std::make_unique<ShellHost>(
          silent_host(fabric.intent.hosts[i], fabric.intent), folder()));
    const PreflightRequest request = quick();
    Bench four(request, std::move(set), std::move(fabric));
    preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
    EXPECT_TRUE(run_pairs(four, stage).has_value());
    return stage;
  }
};

TEST_F(HostsBelowTwoLeaves, ThatAreSlowBetweenThemAloneAreOneFindingOnTheLinksAndOnNoHost) {
  COVERS("J2", "J3");
  const preflight::StageResult stage = pairs_of();
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  ASSERT_EQ(stage.judgement.findings.size(), 1U) << all_of(stage);
  const finding::Finding& found = stage.judgement.findings.front();
  EXPECT_EQ(found.id, "link.degraded");
  EXPECT_EQ(found.where.link, "leaf[1-2] - spine1");
  EXPECT_EQ(found.where.host, "");
  EXPECT_EQ(found.verdict,
            "16 links between switches are slow: alone too, gpu01 to gpu09 reached 60.0 Gb/s of at "
            "least 93.1 Gb/s, and gpu01 to gpu02, below one leaf, 95.1 Gb/s of at least 93.1 Gb/s; "
            "so it is with every pair of hosts.");
}

TEST_F(HostsBelowTwoLeaves, AreNotBlamedForLinksThatAreSlowOrLongByDesign) {
  COVERS("J2");
  for (const auto& [from, to] :
       {std::pair("count: 8, speed: 100G", "count: 8, speed: 50G"),
        {"length: 30m", "length: 80km"},
        {"speed: 100G, cable: aoc", "speed: 100G, shaper: 60G, cable: aoc"}}) {
    const preflight::StageResult stage = pairs_of(from, to);
    EXPECT_TRUE(stage.judgement.findings.empty()) << to << ": " << all_of(stage);
    EXPECT_NE(all_of(stage).find("no pair of hosts below different leaves reaches its floor"),
              std::string::npos)
        << all_of(stage);
  }
}

TEST_F(HostsBelowTwoLeaves, WithAHostThatIsSlowToEverybodySayNothingOfTheLinks) {
  COVERS("J2");
  mark("slow.gpu02");
  for (const finding::Finding& found : pairs_of().judgement.findings)
    EXPECT_NE(found.where.link, "leaf[1-2] - spine1") << found.verdict;
}

TEST_F(HostsOfADesign, KeepTheRatesAndTheFairnessOfFewHostsBesideThoseOfAll) {
  COVERS("J2");
  const PreflightRequest request;
  Bench nine = bench(request, 9);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  ASSERT_TRUE(run_pairs(nine, stage).has_value());
  for (const auto& [step, exchanges] : {std::pair("4", 4U), {"8", 8U}}) {
    const auto* const rates = stage.find(fmt::format("bandwidth_of_{}_hosts", step));
    ASSERT_NE(rates, nullptr) << step;
    EXPECT_EQ(rates->values.count, exchanges);
    EXPECT_DOUBLE_EQ(rates->values.least, 95.1e9);
    const auto* const fairness = stage.find(fmt::format("jain_of_{}_hosts", step));
    ASSERT_NE(fairness, nullptr) << step;
    EXPECT_DOUBLE_EQ(fairness->values.least, 1);
  }
  EXPECT_EQ(stage.find("bandwidth")->values.count, 72U);
}

TEST(Warnings, OfFewHostsAreNotLostInWhatMoreHostsShow) {
  COVERS("J2");
  const auto found = [](std::string id, finding::Severity severity) {
    finding::Finding finding = finding::make_finding(std::move(id), "So it is.", {.host = "gpu01"});
    finding.severity = severity;
    return finding;
  };
  finding::Judgement of_few;
  of_few.findings = {found("link.flapping", finding::Severity::kWarning),
                     found("link.degraded", finding::Severity::kWarning),
                     found("receiver.slow", finding::Severity::kInfo)};
  of_few.unknown = {{.check = "links", .reason = "carried nothing", .how = ""}};
  finding::Judgement judgement;
  judgement.findings = {found("link.degraded", finding::Severity::kError)};
  finding::settle(judgement);
  add_warnings(of_few, judgement);
  ASSERT_EQ(judgement.findings.size(), 2U);
  EXPECT_EQ(judgement.findings[0].severity, finding::Severity::kError) << "said of the later load";
  EXPECT_EQ(judgement.findings[1].id, "link.flapping");
  EXPECT_TRUE(judgement.unknown.empty());
  // Nothing to add: what could not be judged stays so.
  finding::Judgement open;
  open.conclusion = finding::Conclusion::kInconclusive;
  add_warnings({}, open);
  EXPECT_EQ(open.conclusion, finding::Conclusion::kInconclusive);
}

TEST_F(HostsOfADesign, TwoThatMoveNothingAreNoGoThoughNobodyElseIsThereToTryThemWith) {
  COVERS("J2");
  mark("broken.gpu01");
  mark("broken.gpu02");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  const auto ran = run_pairs(two, stage);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  ASSERT_EQ(stage.judgement.findings.size(), 1U);
  EXPECT_EQ(stage.judgement.findings.front().where.link, "gpu01 - gpu02");
}

TEST_F(HostsOfADesign, ThatDoNotReachTheNextAreARedFlagOfThePath) {
  COVERS("J1");
  mark("broken.gpu02");
  const PreflightRequest request = quick();
  Bench three = bench(request, 3);
  preflight::StageResult stage = stage_of(preflight::StageId::kPath);
  const auto ran = run_path(three, stage);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  EXPECT_EQ(stage.why, "Messages did not arrive: gpu02 to gpu03.");
  ASSERT_FALSE(stage.judgement.findings.front().evidence.empty()) << "what perftest said";
  EXPECT_NE(stage.judgement.findings.front().evidence.front().line.find("Completion with error"),
            std::string::npos);
}

TEST_F(HostsOfADesign, WhereLargePacketsDoNotPassNameTheMtu) {
  COVERS("J1");
  ASSERT_TRUE(write_file_atomic(folder() + "/ping",
                                "#!/bin/sh\ncase \"$HOST $*\" in *\" 127.0.0.1\") exit 0;; "
                                "\"gpu02 \"*\"-M do\"*) exit 1;; "
                                "esac\nexit 0\n",
                                FileMode::kScript));
  const PreflightRequest request = quick();
  Bench three = bench(request, 3);
  preflight::StageResult stage = stage_of(preflight::StageId::kPath);
  ASSERT_TRUE(run_path(three, stage).has_value());
  ASSERT_FALSE(stage.judgement.findings.empty());
  EXPECT_EQ(stage.judgement.findings.front().id, "mtu.mismatch");
  EXPECT_EQ(stage.judgement.findings.front().where.host, "gpu02");
}

TEST_F(HostsOfADesign, WhosePingCannotForbidDivisionSayNothingOfTheMtu) {
  ASSERT_TRUE(write_file_atomic(
      folder() + "/ping",
      "#!/bin/sh\ncase \"$*\" in *\"-M do\"*) echo \"ping: invalid option -- 'M'\"; exit 1;; esac\n"
      "exit 0\n",
      FileMode::kScript));
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  finding::Judgement judgement;
  const auto ran = two.rig().neighbours(judgement);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_TRUE(judgement.findings.empty());
  ASSERT_FALSE(ran->notes.empty());
  EXPECT_EQ(ran->notes.front(),
            "the MTU of the path is known by RDMA alone: gpu01, gpu02 cannot ping or be pinged");
}

TEST_F(HostsOfADesign, ThatBreakOffInALoadAreNamedAndNotBlamed) {
  COVERS("J1");
  ASSERT_TRUE(write_file_atomic(folder() + "/timeout",
                                "#!/bin/sh\n[ \"$HOST\" = gpu02 ] && kill -9 $PPID\nshift\n"
                                "exec \"$@\"\n",
                                FileMode::kScript));
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  const auto ran = two.rig().exchange({{0, 1}}, 0);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().kind, FailureKind::kCouldNotLook);
  EXPECT_NE(ran.error().what.find("gpu02 did not say how the load ended"), std::string::npos)
      << ran.error().what;
}

TEST_F(HostsOfADesign, AreNamedWhereTheirFecIsNotTheOneOfTheDesign) {
  COVERS("J1");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  const auto judged = [&](std::string_view first, std::optional<std::string_view> second) {
    Window window;
    for (std::uint32_t i = 0; i < 2; ++i)
      window.evidence.push_back(silent_host(two.host(i), two.intent()));
    const auto set = [&](std::uint32_t host, std::optional<std::string_view> mode) {
      for (evidence::Nic& nic : window.evidence[host].nics)
        nic.link.fec = mode ? evidence::Fact<std::string>::of(std::string(*mode))
                            : evidence::Fact<std::string>::missing(evidence::Missing::kUnsupported);
    };
    set(0, first);
    set(1, second);
    finding::Judgement judgement;
    preflight::StageResult stage = stage_of(preflight::StageId::kPath);
    judge_fec(two, window, judgement, stage);
    return std::pair(judgement, stage.notes);
  };
  const auto [good, good_notes] = judged("RS", "LLRS");
  EXPECT_TRUE(good.findings.empty());
  const auto [wrong, wrong_notes] = judged("RS", "Off");
  ASSERT_FALSE(wrong.findings.empty());
  EXPECT_EQ(wrong.findings.front().id, "fec.wrong");
  EXPECT_EQ(wrong.findings.front().where.host, "gpu02");
  // What a driver does not show is neither right nor wrong.
  const auto [open, open_notes] = judged("RS", std::nullopt);
  EXPECT_TRUE(open.findings.empty());
  EXPECT_NE(std::find(open_notes.begin(), open_notes.end(), "FEC: cannot tell, not shown by gpu02"),
            open_notes.end());
}

TEST_F(HostsOfADesign, ShowWhatFecCorrectedByItsUnitAndNothingThatTheyDoNotCount) {
  COVERS("J1");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  using Counted = std::vector<std::pair<std::string_view, std::uint64_t>>;
  const auto note_of = [&](std::string_view driver, const std::vector<Counted>& hosts) {
    Window window;
    for (std::uint32_t i = 0; i < 2; ++i) {
      window.evidence.push_back(silent_host(two.host(i), two.intent()));
      evidence::Evidence& host = window.evidence.back();
      for (const std::uint64_t look : {0U, 1U}) {
        counters::Snapshot snapshot;
        snapshot.clock_ns = static_cast<std::int64_t>(look + 1) * 1'000'000'000;
        std::vector<counters::Sample> samples;
        for (const auto& [name, count] : hosts[i])
          samples.push_back(
              {counters::Place::kEthtool, std::string(name), counters::Reading::of(look * count)});
        snapshot.nics.push_back({host.nics.front().device, "", std::string(driver), samples});
        host.snapshots.push_back(std::move(snapshot));
      }
    }
    finding::Judgement judgement;
    preflight::StageResult stage = stage_of(preflight::StageId::kPath);
    judge_fec(two, window, judgement, stage);
    for (const std::string& note : stage.notes)
      if (note.starts_with("FEC, under load")) return note;
    return std::string();
  };
  EXPECT_EQ(note_of("mlx5_core", {{}, {}}), "");
  // Nobody counts what could not be corrected: that is not none.
  EXPECT_EQ(note_of("mlx5_core", {{{"rx_corrected_bits_phy", 7}}, {}}),
            "FEC, under load: corrected 7 bits (1 NIC shows it)");
  EXPECT_EQ(note_of("mlx5_core", {{{"rx_corrected_bits_phy", 7}},
                                  {{"rx_corrected_bits_phy", 3}, {"rx_pcs_symbol_err_phy", 2}}}),
            "FEC, under load: corrected 10 bits (2 NICs show it; most gpu01 mlx5_0 with 7); could "
            "not correct 2 symbols (1 NIC shows it)");
  // A block is thousands of bits.
  EXPECT_EQ(note_of("bnxt_en", {{{"rx_corrected_bits", 7}}, {{"rx_fec_corrected_blocks", 3}}}),
            "FEC, under load: corrected 7 bits (1 NIC shows it) and 3 blocks (1 NIC shows it)");
}

/// One pair of samples per rail, slow both ways.
std::vector<preflight::Sample> slow_pair(std::uint32_t from, std::uint32_t to,
                                         std::uint32_t rails) {
  std::vector<preflight::Sample> out;
  for (std::uint32_t rail = 0; rail < rails; ++rail)
    for (const bool is_back : {false, true})
      out.push_back({.from = is_back ? to : from,
                     .to = is_back ? from : to,
                     .rail = rail,
                     .rate = 20e9,
                     .floor = 93e9});
  return out;
}

TEST_F(HostsOfADesign, SlowOnesAreNotTakenForASlowLink) {
  COVERS("J2");
  mark("slow.gpu03");
  const PreflightRequest request = quick();
  Bench all = bench(request, 16);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  finding::Judgement judgement;
  // Nobody knows yet that it is slow: below its own leaf it is, so that no link is to blame.
  const auto done = bisect_links(all, slow_pair(2, 10, 1), {}, stage, judgement);
  ASSERT_TRUE(done.has_value()) << done.error().what;
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings.front().id, "host.straggler");
  EXPECT_EQ(judgement.findings.front().where.host, "gpu03");
  // One that a retest blamed is not looked at again.
  finding::Judgement none;
  ASSERT_TRUE(bisect_links(all, slow_pair(2, 10, 1), {2}, stage, none).has_value());
  EXPECT_TRUE(none.findings.empty());
}

TEST_F(HostsOfADesign, AreNotMeasuredAgainForEveryRail) {
  COVERS("J2");
  std::string text(design::find_template("pod16")->text);
  const auto edit = [&](std::string_view from, std::string_view to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  edit("rails: 1", "rails: 2");
  std::size_t loads = 0;
  PreflightRequest request = quick();
  request.progress = [&](double, std::string_view detail) {
    loads += detail.find("slow link of rail") != std::string_view::npos ? 1 : 0;
  };
  Bench all = bench(request, 16, text);
  preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
  finding::Judgement judgement;
  const auto done = bisect_links(all, slow_pair(2, 10, 2), {}, stage, judgement);
  ASSERT_TRUE(done.has_value()) << done.error().what;
  EXPECT_TRUE(judgement.findings.empty()) << "alone they are fast";
  EXPECT_EQ(loads, 12U) << "twelve pairs of the two leaves, once, each of them told";
}

TEST_F(HostsOfADesign, AreAllMeasuredForLatencyOnEveryRail) {
  COVERS("J1");
  const PreflightRequest request = quick();
  // Of an odd number one rests in every round.
  for (const std::size_t hosts : {12U, 5U}) {
    Bench some = bench(request, hosts, twelve_with_rails());
    preflight::StageResult stage = stage_of(preflight::StageId::kPairs);
    ASSERT_TRUE(run_pairs(some, stage).has_value());
    for (const std::string_view metric : {"latency", "latency_p99", "latency_p999", "jitter"}) {
      ASSERT_NE(stage.find(metric), nullptr) << metric;
      EXPECT_EQ(stage.find(metric)->values.count, (hosts + 1) / 2 * 8) << metric;
    }
    EXPECT_NEAR(stage.find("jitter")->values.most, 0.45e-6, 1e-12);
  }
}

TEST_F(HostsOfADesign, StandBesideWhatTheSimulatorExpectsOfANic) {
  COVERS("J1");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  const auto alone = two.rig().all_to_all();
  ASSERT_TRUE(alone.has_value());
  ASSERT_EQ(alone->measures.size(), 2U);
  EXPECT_EQ(alone->measures[1].metric, "all_to_all_nic_bandwidth");
  EXPECT_EQ(alone->measures[1].values.count, 2U);
  // One stream from each NIC, of 95.1 Gb/s.
  const std::string beside = two.rig().expectation({}, Duration());
  EXPECT_TRUE(
      beside.starts_with("all-to-all, what a NIC sends: measured 95.1 Gb/s (sum of its 1 "
                         "stream; median of 2 NICs), expected 9"))
      << beside;
  EXPECT_TRUE(beside.ends_with(" % of it")) << beside;
  // Three streams that say 95 Gb/s each did not run at the same time on a link of 100.
  Bench four = bench(request, 4);
  const auto ran = four.rig().all_to_all();
  ASSERT_TRUE(ran.has_value());
  EXPECT_NE(
      four.rig().expectation({}, Duration()).find("; not compared: the streams of 4 NICs add"),
      std::string::npos);
  EXPECT_EQ(ran->measures.size(), 1U) << "of NICs nothing is known";
}

/// A client of perftest whose NIC counts as said: steps of 100 ms of the clock that the host shows,
/// each behind a look at the one before. The counters first: a look that began before the clock was
/// set is one at the old time, and is dropped.
constexpr std::string_view kStepping = R"sh(#!/bin/sh
for last; do :; done
case $last in -*|*=*) exit 0 ;; esac
p=$WEIR_SYSROOT/sys/class/infiniband/mlx5_0/ports/1
put() { echo "$2" >"$1.new"; mv "$1.new" "$1"; }
seen() { cat "$TMPDIR"/weir-load-*/look0 2>/dev/null | grep -c '^[.]$'; }
wait_looks() { w=$(($(seen) + 2)); until [ $(seen) -ge $w ]; do sleep 0.02; done; }
step() {
  x=$((x + $1)); r=$((r + 300000000)); pause=$((pause + $2)); cnp=$((cnp + $3)); now=$((now + 1))
  put "$p/counters/port_xmit_data" $x; put "$p/counters/port_rcv_data" $r
  put "$p/hw_counters/rp_cnp_handled" $cnp
  put "$WEIR_SYSROOT/statistics" "     rx_prio3_pause: $pause"
  put "$WEIR_SYSROOT/proc/uptime" "$((1000 + now / 10)).$((now % 10))0 7.00"
}
mkdir -p "$p/counters" "$p/hw_counters" "$WEIR_SYSROOT/proc"
x=0; r=0; pause=0; cnp=0; now=0
for words in 0:0:0 STEPS; do
  IFS=: read -r a b c <<END
$words
END
  step $a $b $c; wait_looks
done
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 65536      500000         95.1               95.1               0.18"
)sh";

TEST_F(HostsOfADesign, ShowWhichSlowMomentsOfALoadHadPausesAndWhatNobodyCounts) {
  COVERS("J1", "J3");
  // Full speed; a moment of a tenth with pauses and CNPs; one without.
  std::string script(kStepping);
  const std::string_view fast = "300000000:0:0 ";
  script.replace(script.find("STEPS"), 5,
                 fmt::format("{0}{0}{0}{0}30000000:7:3 {0}{0}30000000:0:0 {0}{0}", fast));
  ASSERT_TRUE(write_file_atomic(folder() + "/ib_write_bw", script, FileMode::kScript));
  ASSERT_TRUE(write_file_atomic(
      folder() + "/ethtool", "#!/bin/sh\ncat \"$WEIR_SYSROOT/statistics\"\n", FileMode::kScript));
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  two.remember(observe(two.set()));
  const auto ran = two.rig().exchange({{0, 1}}, 0);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  const std::vector<std::string> notes = two.rig().take_moments();
  ASSERT_EQ(notes.size(), 1U);
  // Ten moments of two NICs, both ways.
  EXPECT_EQ(notes.front(),
            "4 of 40 moments of 100 ms moved less than half of their NIC's median rate; 2 of these "
            "coincide with pauses, 2 with CNPs; not counted: marks; most at gpu01 rail 0, 2");
  EXPECT_TRUE(two.rig().take_moments().empty()) << "told once";
}

TEST_F(HostsOfADesign, ThatShowNoBytesAreNamedAndHaveNoSlowMoments) {
  COVERS("J3");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  two.remember(observe(two.set()));
  ASSERT_TRUE(two.rig().exchange({{0, 1}}, 0).has_value());
  const std::vector<std::string> notes = two.rig().take_moments();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front(),
            "slow moments are not known of gpu[01-02]: no bytes could be read of 2 NICs while the "
            "load ran, or too few times");
}

TEST(Looks, AtNicsAreReadWholeAndWhateverElseIsPrintedIsNone) {
  COVERS("J3");
  const LookPlan plan{
      .nics = {{"mlx5_0", 1, "rail0", "mlx5_core"}, {"mlx5_1", 1, "", "mlx5_core"}}};
  const auto seen = read_looks(
      "weir-task 0\nt 1.00\n.\nweir-looks 0\nt 5.00\ncounters/port_xmit_data 7\n"
      "hw_counters/np_cnp_sent N/A (no PMA)\nu 5.01\n     rx_prio3_pause: 4\n.\n"
      "t 5.10\nu 5.20\n.\nt 5.30\nu nan\n.\nt 5.40\ngarbage\n/ 3\nu 5.40\n.\nt 5.50\nu 5.50\n"
      "weir-looks 7\nt 1.00\nu 1.00\n.\n",
      plan);
  ASSERT_EQ(seen.size(), 2U);
  ASSERT_EQ(seen[0].size(), 2U) << "one took too long, one has no time, one has no end";
  EXPECT_EQ(seen[0][0].seconds, 5);
  EXPECT_EQ(seen[0][0].port.read("nic.rdma.tx.bytes").value(), 28U);
  EXPECT_EQ(seen[0][0].port.read("nic.prio.pause_rx.frames", 3).value(), 4U);
  EXPECT_FALSE(seen[0][0].port.read("nic.np.cnp_sent.packets").has_value());
  EXPECT_TRUE(seen[0][1].port.samples().empty());
  EXPECT_TRUE(seen[1].empty());
}

TEST_F(HostsOfADesign, AreNoLongerLookedAtWhenALoadHasEndedHoweverItDoes) {
  COVERS("D5", "J3");
  const std::string root = folder() + "/sys";
  std::filesystem::create_directories(root + "/proc");
  ASSERT_TRUE(write_file_atomic(root + "/proc/uptime", "5.00 1.00\n"));
  const LookPlan plan{.nics = {{"mlx5_0", 1, "rail0", "mlx5_core"}}};
  const auto is_looking = [&](std::string_view wanted) {
    const auto seen = host::run_command(
        {"sh", "-c",
         fmt::format(
             "for i in $(seq 100); do n=$(grep -ls 'WEIR_SYSROOT={}' /proc/[0-9]*/environ | "
             "wc -l); [ $n {} ] && exit 0; sleep 0.05; done; exit 1",
             root, wanted)});
    return seen && seen->exit_status == 0;
  };
  const auto line = [&](std::vector<std::string> words) {
    return load_line({{true, std::move(words)}}, 3600, plan);
  };
  // By itself.
  const auto outcome = host::run_command(
      {"env", "TMPDIR=" + folder(), "WEIR_SYSROOT=" + root, "sh", "-c", line({"true"})});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(read_load_output(outcome->output, 1).front().status, 0) << outcome->output;
  // Stopped, and killed: then what looks notices that its directory has gone, at the latest.
  for (const std::string_view how : {"TERM", "KILL"}) {
    const auto load =
        host::RunningCommand::start({"env", "TMPDIR=" + folder(), "WEIR_SYSROOT=" + root, "sh",
                                     "-c", host::marked_line("test-9", line({"sleep", "3481"}))});
    ASSERT_TRUE(load.has_value());
    EXPECT_TRUE(is_looking("-ge 2"));
    ASSERT_TRUE(host::run_command({"sh", "-c",
                                   fmt::format("kill -{} $(grep -ls 'weir-load-test-9' "
                                               "/proc/[0-9]*/environ | cut -d/ -f3) 2>/dev/null; :",
                                               how)}));
    ASSERT_TRUE(
        host::run_command({"env", "TMPDIR=" + folder(), "sh", "-c", host::stop_line("test-9")})
            .has_value());
    ASSERT_TRUE((*load)->finish(10_s).has_value());
    EXPECT_TRUE(is_looking("-eq 0")) << how;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("weir-load-")) << entry.path();
  }
}

TEST_F(HostsOfADesign, GivePerftestTheWordsOfTheUser) {
  ASSERT_TRUE(write_file_atomic(folder() + "/ib_write_lat",
                                "#!/bin/sh\necho \"$*\" >>\"$(dirname \"$0\")/words\"\n",
                                FileMode::kScript));
  PreflightRequest request = quick();
  request.perftest = {"-u", "18"};
  Bench two = bench(request, 2);
  const auto ran = two.rig().latencies({{0, 1}});
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_NE(read_file(folder() + "/words", 4096).value_or("").find(" -u 18 "), std::string::npos);
  ASSERT_EQ(ran->notes.size(), 1U);  // it printed no latency, which is said
}

TEST_F(HostsOfADesign, AreIdentifiedByWhatTheirLoadsWereToldToo) {
  COVERS("J4");
  PreflightRequest request = quick();
  Bench two = bench(request, 2);
  const Observation seen = observe(two.set());
  EXPECT_EQ(identity_of(two, seen).perftest, "");
  EXPECT_TRUE(identity_of(two, seen).thresholds.value().empty());
  request.perftest = {"-u", "18"};
  request.collective = "all_reduce_perf";
  request.thresholds.pair_floor = 0.9;
  const preflight::Identity told = identity_of(two, seen);
  EXPECT_EQ(told.perftest, "-u 18");
  EXPECT_EQ(told.collective, "all_reduce_perf");
  EXPECT_EQ(told.thresholds, std::vector<std::string>{"pair_floor=90%"});
}

/// perftest with CUDA: a rate of its own with a GPU's memory; who asks it for help is noted.
constexpr std::string_view kWithCuda = R"(#!/bin/sh
dir=$(dirname "$0")
for last; do :; done
case $last in --help) echo "$HOST" >>"$dir/asked"; echo " --use_cuda=<cuda device id>"; exit 0 ;;
-*) exit 0 ;; esac
rate=95.1
case " $* " in *" --use_cuda_bus_id=0000:1b:00.0 "*)
  rate=94.2; [ -f "$dir/slow.$HOST" ] && rate=31.5 ;; esac
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 65536      5000           $rate              $rate              0.18"
)";

/// One GPU, as far from the first NIC as said.
void add_gpu(evidence::Evidence& host, evidence::Distance distance) {
  const auto set = [](auto& fact, auto value) {
    fact = std::decay_t<decltype(fact)>::of(std::move(value), "test");
  };
  evidence::Gpu& gpu = host.gpus.emplace_back();
  set(gpu.pcie.address, std::string("0000:1b:00.0"));
  set(gpu.pcie.speed_mtps_max, 16'000U);
  set(gpu.pcie.width_max, 16U);
  evidence::GpuDistance& pair = host.distances.emplace_back();
  pair.nic = host.nics.front().device;
  set(pair.distance, distance);
}

TEST_F(HostsOfADesign, SlowWithAGpuBelowTheSamePcieSwitchAreARedFlag) {
  COVERS("J1");
  ASSERT_TRUE(write_file_atomic(folder() + "/ib_write_bw", kWithCuda, FileMode::kScript));
  mark("slow.gpu02");
  const PreflightRequest request = quick();
  Bench three = bench(request, 3, design::find_template("pod16")->text,
                      [](auto& host) { add_gpu(host, evidence::Distance::kPix); });
  preflight::StageResult stage = stage_of(preflight::StageId::kLoopback);
  const auto ran = run_loopback(three, stage);
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_EQ(stage.state, preflight::State::kFailed);
  EXPECT_EQ(stage.why,
            "gpu02 moves 31.5 Gb/s with its GPU on rail 0, of at least 90.0 Gb/s: the host is "
            "slow, not the fabric.");
  EXPECT_EQ(stage.find("gpu_loopback_bandwidth")->floor, 90e9);
  std::string asked = read_file(folder() + "/asked", 4096).value_or("");
  EXPECT_EQ(std::count(asked.begin(), asked.end(), '\n'), 3) << "each once: " << asked;
}

TEST_F(HostsOfADesign, WithGpusBehindTheProcessorAreComparedWithEachOther) {
  COVERS("J1");
  ASSERT_TRUE(write_file_atomic(folder() + "/ib_write_bw", kWithCuda, FileMode::kScript));
  mark("slow.gpu02");
  const PreflightRequest request = quick();
  const auto far = [](auto& host) { add_gpu(host, evidence::Distance::kSys); };
  const auto text = design::find_template("pod16")->text;
  Bench nine = bench(request, 9, text, far);
  preflight::StageResult stage = stage_of(preflight::StageId::kLoopback);
  ASSERT_TRUE(run_loopback(nine, stage).has_value());
  EXPECT_EQ(stage.state, preflight::State::kPassed) << "a warning: no floor is known";
  ASSERT_EQ(stage.judgement.findings.size(), 1U);
  EXPECT_EQ(stage.judgement.findings.front().where.host, "gpu02");
  EXPECT_EQ(stage.judgement.findings.front().severity, finding::Severity::kWarning);
  EXPECT_FALSE(stage.find("gpu_loopback_bandwidth")->floor);
  // Too few to compare: said, and not judged.
  Bench two = bench(request, 2, text, far);
  preflight::StageResult few = stage_of(preflight::StageId::kLoopback);
  ASSERT_TRUE(run_loopback(two, few).has_value());
  EXPECT_TRUE(few.judgement.findings.empty());
  ASSERT_FALSE(few.notes.empty());
  EXPECT_NE(few.notes.back().find("the rate was not judged"), std::string::npos);
}

TEST_F(HostsOfADesign, WithoutPerftestCannotBeMeasured) {
  std::filesystem::remove(folder() + "/ib_write_bw");
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  const auto ran = two.rig().exchange({{0, 1}}, 0);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().kind, FailureKind::kCouldNotLook);
  EXPECT_NE(ran.error().what.find("ib_write_bw on gpu0"), std::string::npos) << ran.error().what;
}

TEST_F(HostsOfADesign, ReadACollectiveOfNcclTests) {
  COVERS("J2");
  // What nccl-tests printed of two ranks on a GPU machine (tests/data/README.md).
  const std::string recorded = WEIR_TEST_DATA "/load/all_reduce_perf_2ranks_socket.txt";
  ASSERT_TRUE(write_file_atomic(folder() + "/all_reduce_perf",
                                "#!/bin/sh\ncat " + shell_word(recorded) + "\n",
                                FileMode::kScript));
  PreflightRequest request = quick();
  request.collective = "all_reduce_perf -b 1M";
  Bench two = bench(request, 2);
  const auto ran = two.rig().all_reduce();
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_TRUE(ran->is_finished);
  ASSERT_EQ(ran->measures.size(), 1U);
  // 16, 32 and 64 MB: 1.85, 1.86 and 1.86 GB/s.
  EXPECT_NEAR(ran->measures.front().values.p50, 1.86 * 8e9, 1e8);
  EXPECT_TRUE(ran->notes.empty());
}

TEST_F(HostsOfADesign, SayWhyACollectiveFailed) {
  COVERS("J2");
  const std::string recorded = WEIR_TEST_DATA "/load/all_reduce_perf_duplicate_gpu.txt";
  ASSERT_TRUE(write_file_atomic(folder() + "/all_reduce_perf",
                                "#!/bin/sh\ncat " + shell_word(recorded) + "\nexit 3\n",
                                FileMode::kScript));
  PreflightRequest request = quick();
  request.collective = "all_reduce_perf";
  Bench two = bench(request, 2);
  const auto ran = two.rig().all_reduce();
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  EXPECT_FALSE(ran->is_finished);
  ASSERT_EQ(ran->notes.size(), 1U);
  EXPECT_EQ(ran->notes.front(),
            "all_reduce_perf: status 3: Duplicate GPU detected : rank 0 and rank 1 both on CUDA "
            "device 60");
}

TEST_F(HostsOfADesign, FailAndHealByTheCommandsOfTheUser) {
  COVERS("D5", "J2");
  PreflightRequest request = quick();
  request.drain = "touch " + shell_word(folder() + "/drained");
  request.restore = "rm " + shell_word(folder() + "/drained");
  request.state = folder() + "/state";
  request.tool = "test";
  Bench two = bench(request, 2);
  const auto ran = two.rig().under_failure();
  ASSERT_TRUE(ran.has_value()) << ran.error().what;
  ASSERT_EQ(ran->phases.size(), 3U);
  EXPECT_EQ(ran->phases[1].first, "during");
  EXPECT_FALSE(is_name_taken(folder() + "/drained"));
  request.restore.clear();
  EXPECT_FALSE(two.rig().under_failure().has_value());
}

TEST_F(HostsOfADesign, WhoseLauncherHangsAreGivenUpAfterTheLoadsOwnTime) {
  COVERS("J1");
  // A way to a host that never comes back.
  class HungHost final : public host::FakeHost {
   public:
    using FakeHost::FakeHost;
    weir::Result<host::CommandOutcome> run(const std::vector<std::string>& /*command*/,
                                           const host::LoadControl& control) override {
      limit = control.limit;
      return Error{ErrorCode::kIo, "did not end within 197 s and was cut off"};
    }
    std::optional<Duration> limit;
  };
  const PreflightRequest request = quick();
  Bench two = bench(request, 2);
  HungHost sender(silent_host(two.host(0), two.intent()));
  HungHost receiver(silent_host(two.host(1), two.intent()));
  std::vector<Flow> flows;
  add_flows({0, &two.host(0)}, {1, &two.host(1)}, {"ib_write_bw", "-D", "2"}, flows);
  const auto ran =
      run_flows({{0, &sender}, {1, &receiver}}, flows,
                [&](std::uint32_t host, std::uint32_t rail) {
                  return choose_end(two.name(host), nullptr, two.intent(), static_cast<int>(rail));
                },
                {});
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().what, "gpu01: did not end within 197 s and was cut off");
  ASSERT_TRUE(sender.limit && receiver.limit);
  EXPECT_GT(*sender.limit, 42_s) << "of the tests themselves";
  EXPECT_LE(*sender.limit, 300_s);
}

TEST_F(HostsOfADesign, WhoseLoadHangsHereAreEndedToo) {
  const auto hung = host::run_load({"sleep", "60"}, {.limit = 300_ms});
  ASSERT_FALSE(hung.has_value());
  EXPECT_EQ(hung.error().what, "sleep: did not end within 300ms and was ended");
}

TEST_F(HostsOfADesign, AreStoppedWhenItIsInterrupted) {
  PreflightRequest request = quick();
  request.is_interrupted = [] { return true; };
  Bench two = bench(request, 2);
  const auto ran = two.rig().all_to_all();
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().kind, FailureKind::kInterrupted);
}

}  // namespace
}  // namespace weir::ops
