#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "sim/results/simulate.h"
#include "tune/calibration/fit.h"
#include "tune/calibration/minimise.h"
#include "tune/calibration/plan_json.h"
#include "tune/calibration/range.h"
#include "tune/calibration/twin.h"
#include "tune/test_fabrics.h"
#include "units/format.h"

namespace weir::tune {
namespace {

/// Two leaves, small buffers: a trial takes milliseconds.
design::Variant two_leaves() {
  return loaded_fabric(
      "weir: 1\nname: two\nhosts:\n  gpu:\n    names: gpu[1-6]\n    nic: connectx6dx\n"
      "switches:\n  leaf:\n    names: leaf[1-2]\n    system: sonic\n    asic: spectrum3\n"
      "    buffer: 8MB\n  spine:\n    names: spine1\n    system: sonic\n    asic: spectrum3\n"
      "    tier: 2\n    buffer: 8MB\n"
      "links:\n  - { from: gpu, to: leaf, wiring: block, speed: 100G, cable: dac, length: 2m }\n"
      "  - { from: leaf, to: spine, wiring: mesh, count: 3, speed: 100G, cable: aoc, length: 30m "
      "}\naddressing:\n  subnets: 10.{rail}.{leaf}.0/24\n");
}

CalibrationPlan plan_of(const design::Variant& fabric) {
  auto plan = plan_calibration(fabric.design, fabric.intent);
  EXPECT_TRUE(plan.has_value());
  return *std::move(plan);
}

double completion_us(const design::Variant& fabric) {
  sim::Experiment experiment;
  experiment.design = &fabric.design;
  experiment.intent = fabric.intent;
  experiment.workloads = {sim::parse_workload("pair,size=4096B").value()};
  const auto outcome = sim::simulate(experiment);
  EXPECT_TRUE(outcome.has_value());
  return static_cast<double>(outcome->results.totals.completion.mean.raw()) / 1e6;
}

TEST(CalibrationPlan, TakesThreeHostsOfALeafAndOneOfAnotherWithinAboutTenMinutes) {
  COVERS("H3");
  const CalibrationPlan plan = plan_of(pod16());
  EXPECT_EQ(plan.hosts, (std::vector<std::string>{"gpu01", "gpu02", "gpu03", "gpu09"}));
  EXPECT_LE(plan.seconds(), 11 * 60);
  std::vector<std::string> order;
  for (const Trial& trial : plan.trials)
    order.push_back(trial.id);
  EXPECT_EQ(order,
            (std::vector<std::string>{
                "latency-2",     "latency-4096",  "latency-far", "bandwidth",   "rp-off-level1",
                "rp-off-level2", "rp-off-level3", "rp-off-max5", "rp-off-max6", "rp-off-max7",
                "rp-off-max8",   "rp-off-max9",   "rp-off-2",    "rp-off-4",    "rp-off-6",
                "rp-off-3",      "rp-on-2",       "rp-on-64",    "join",        "rp-on-16",
                "rp-on-3"}));
}

TEST(CalibrationPlan, OfAStarSaysThatLatenciesAreASumOnly) {
  const CalibrationPlan plan = plan_of(star(4));
  EXPECT_EQ(plan.find("latency-far"), nullptr);
  ASSERT_FALSE(plan.notes.empty());
  EXPECT_NE(plan.notes.front().find("sum"), std::string::npos);
}

TEST(CalibrationPlan, OfTwoHostsMeasuresLatencyAndRateAndHoldsOneSizeBack) {
  const CalibrationPlan plan = plan_of(star(2));
  EXPECT_EQ(plan.hosts.size(), 2U);
  for (const Trial& trial : plan.trials)
    EXPECT_NE(trial.kind, TrialKind::kIncast);
  EXPECT_TRUE(plan.trials.back().is_held_out);
}

TEST(CalibrationPlan, TurnsTheReactionPointOnAgain) {
  const design::Variant fabric = pod16();
  const std::string script = script_of(plan_of(fabric), fabric.intent);
  EXPECT_NE(script.find("trap restore EXIT"), std::string::npos);
  EXPECT_NE(script.find("ecn/roce_rp/enable/3"), std::string::npos);
}

TEST(CalibrationPlan, PutsEveryHostBackAsItWasWhateverBecomesOfOne) {
  // A stand-in for ssh: each host's file is a file here; gpu01 is lost once its value is read.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("weir-calibration-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const design::Variant fabric = pod16();
  const CalibrationPlan plan = plan_of(fabric);
  ASSERT_TRUE(
      write_file_atomic(folder / "run.sh", script_of(plan, fabric.intent), FileMode::kScript));
  ASSERT_TRUE(
      write_file_atomic(folder / "ssh",
                        "#!/bin/bash\nd=$(dirname \"$0\"); h=${@: -2:1}; h=${h#root@}; c=${@: -1}\n"
                        "case $c in\n"
                        "cat*) echo 1;;\n"
                        "'echo '*) [ \"$h\" = gpu01 ] && exit 255; echo \"$c\" >>\"$d/said.$h\";;\n"
                        "esac\n",
                        FileMode::kScript));
  const std::string path = folder.string();
  const std::string command =
      fmt::format("cd {0} && bash -n run.sh && PATH={0}:$PATH bash run.sh >out 2>err", path);
  const int status = std::system(command.c_str());
  EXPECT_NE(WEXITSTATUS(status), 0);
  EXPECT_NE(read_file(path + "/err").value().find("gpu01: NOT restored: echo 1 > /sys"),
            std::string::npos);
  for (const std::string& host : plan.hosts) {
    if (host == "gpu01") continue;
    const auto said = read_file(fmt::format("{}/said.{}", path, host));
    ASSERT_TRUE(said.has_value()) << host;
    EXPECT_TRUE(trim(*said).substr(trim(*said).rfind("echo")).starts_with("echo 1 > ")) << *said;
  }
  std::filesystem::remove_all(folder);
}

TEST(CalibrationManifest, IsReadAsItWasWritten) {
  const CalibrationPlan plan = plan_of(two_leaves());
  Json written = to_json(plan);
  written["measured"] = to_json({{"join", Statistic::kJoinMarks, {12, 13.5}}});
  const auto read = manifest_from_text(written.dump());
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(to_json(read->plan), to_json(plan));
  ASSERT_EQ(read->measured.size(), 1U);
  EXPECT_EQ(read->measured.front().repeats, (std::vector<double>{12, 13.5}));
}

TEST(CalibrationManifest, RefusesWhatIsNoNameOrNoNumberAndNamesThePlace) {
  Json manifest = to_json(plan_of(two_leaves()));
  Json wrong = manifest;
  wrong["trials"][0]["receiver"] = "../x";
  auto read = manifest_from_text(wrong.dump());
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what.find("/trials/0/receiver"), std::string::npos) << read.error().what;
  wrong = manifest;
  wrong["trials"][1]["qps"] = 1'000'000;
  read = manifest_from_text(wrong.dump());
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what.find("1 to 256"), std::string::npos) << read.error().what;
  EXPECT_FALSE(manifest_from_text("{").has_value());
}

TEST(CalibrationPlan, OfAnotherFabricIsRefusedByTheNameOfItsHost) {
  const Status status = check_plan(plan_of(pod16()), star(4).intent);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().what.find("gpu01"), std::string::npos);
}

TEST(Minimise, FindsTheLowestPointOfABowlWithinItsBounds) {
  const auto bowl = [](const std::vector<double>& at, double& value) {
    value = std::pow(at[0] - 0.4, 2) + 10 * std::pow(at[1] + 0.2 - at[0], 2);
    return true;
  };
  const Minimum found = minimise({0, 0}, {-2, -2}, {2, 2}, 0.3, 100, bowl);
  EXPECT_NEAR(found.at[0], 0.4, 0.02);
  EXPECT_NEAR(found.at[1], 0.2, 0.02);
  const auto line = [](const std::vector<double>& at, double& value) {
    value = std::pow(at[0] - 3, 2);
    return true;
  };
  EXPECT_NEAR(minimise({0}, {-1}, {1}, 0.3, 60, line).at[0], 1, 0.02);
}

TEST(Directions, OfTwoColumnsThatOnlyShowAsASumHaveOneThatIsUnseen) {
  const Directions found = directions_of({{3, 3, 0}, {0, 0, 2}});
  EXPECT_NEAR(found.singular_values.back(), 0, 1e-9);
  EXPECT_NEAR(std::abs(found.vectors.back()[0]), std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(found.vectors.back()[0], -found.vectors.back()[1], 1e-9);
  EXPECT_NEAR(deviations_of(found, 20)[2], 0.5, 1e-9);
}

TEST(Unknowns, AreWrittenToADesignAsTheyAreRead) {
  const design::Variant fabric = star(4);
  for (const UnknownInfo& info : unknowns()) {
    const std::string setting =
        fmt::format("calibration.{}={}", info.key, value_text(info, 1.5 * info.start));
    const auto changed = design::with_values(fabric.design, std::vector{setting});
    ASSERT_TRUE(changed.has_value()) << setting;
    EXPECT_NEAR(
        start_values(changed->design.calibration).at(static_cast<std::size_t>(info.unknown)),
        std::min(1.5 * info.start, info.high), 0.002)
        << setting;
  }
}

TEST(Calibration, OfADesignIsUsedByTheSimulatorAndItsAbsenceChangesNothing) {
  const design::Variant fabric = star(4);
  const auto with = [&](const std::string& setting) {
    auto changed = design::with_values(fabric.design, std::vector{setting});
    EXPECT_TRUE(changed.has_value()) << setting;
    return completion_us(*changed);
  };
  const double before = completion_us(fabric);
  EXPECT_EQ(with("calibration.fan_in=3"), before);
  EXPECT_NEAR(with("calibration.nic_latency=10us") - before, 10, 1e-6);
  EXPECT_GT(with("calibration.switch_latency=200%"), before + 0.2);
  EXPECT_GT(with("calibration.host_rate=50%"), before + 0.3);
}

TEST(CnpScope, LimitsCnpsPerQueuePairPerPeerOrPerPort) {
  const design::Variant fabric = two_leaves();
  const CalibrationPlan plan = plan_of(fabric);
  const Trial& trial = *plan.find("rp-off-4");
  const auto rate = [&](design::CnpScope scope) {
    Assumption at;
    at.values = start_values(fabric.design.calibration);
    at.cnp_scope = scope;
    const auto seen = observe(fabric.design, fabric.intent, plan, trial, at, 1);
    EXPECT_TRUE(seen.has_value());
    return (*seen)[1];
  };
  const double by_port = rate(design::CnpScope::kPort);
  EXPECT_NEAR(by_port, 250, 15);  // one each 4 us
  EXPECT_GT(rate(design::CnpScope::kDestination), 1.8 * by_port);
  EXPECT_GT(rate(design::CnpScope::kQp), 2.5 * by_port);
}

TEST(CalibrationFit, FindsLatencyAndRateOfAPairAndNamesWhatItCannotTell) {
  const design::Variant fabric = star(2);
  const CalibrationPlan plan = plan_of(fabric);
  Assumption hidden;
  hidden.values = start_values(fabric.design.calibration);
  hidden.is_set.fill(true);
  hidden.values.at(static_cast<std::size_t>(Unknown::kNicLatency)) = 2.5;
  hidden.values.at(static_cast<std::size_t>(Unknown::kHostRate)) = 0.9;
  FitRequest request;
  request.plan = plan;
  request.measured = measure_twin(fabric.design, fabric.intent, plan, hidden, 3, 1).value();
  const auto fit = fit_calibration(fabric.design, fabric.intent, request);
  ASSERT_TRUE(fit.has_value()) << fit.error().what;
  EXPECT_TRUE(fit->is_calibrated) << fit->reason;
  EXPECT_NEAR(fit->of(Unknown::kHostRate).value, 0.9, 0.01);
  EXPECT_EQ(fit->of(Unknown::kHostRate).state, UnknownState::kIdentified);
  EXPECT_EQ(fit->of(Unknown::kSwitchLatency).state, UnknownState::kFrozen);
  EXPECT_EQ(fit->of(Unknown::kNicLatency).state, UnknownState::kConditional);
  EXPECT_EQ(fit->of(Unknown::kXoff).state, UnknownState::kNotMeasured);
  for (const FitRow& row : fit->rows)
    EXPECT_TRUE(row.is_within()) << row.trial;
}

TEST(CalibrationFit, SaysWhereNoValueExplainsWhatWasMeasured) {
  const design::Variant fabric = star(2);
  FitRequest request;
  request.plan = plan_of(fabric);
  // A small message that takes longer than a large one: no fabric of the model does that.
  request.measured = {{"latency-2", Statistic::kLatency, {90, 91, 90}},
                      {"latency-4096", Statistic::kLatency, {3, 3.1, 3}},
                      {"bandwidth", Statistic::kBandwidth, {90, 91, 90}}};
  const auto fit = fit_calibration(fabric.design, fabric.intent, request);
  ASSERT_TRUE(fit.has_value()) << fit.error().what;
  EXPECT_FALSE(fit->is_calibrated);
  EXPECT_TRUE(fit->reason.starts_with("cannot be calibrated here")) << fit->reason;
}

TEST(CalibrationFit, SaysWhatVariesTooMuchFromRunToRun) {
  const design::Variant fabric = star(2);
  FitRequest request;
  request.plan = plan_of(fabric);
  request.measured = {{"latency-2", Statistic::kLatency, {1.9, 7.3, 3.1}},
                      {"latency-4096", Statistic::kLatency, {11.3, 2.9, 5.3}},
                      {"bandwidth", Statistic::kBandwidth, {31, 89, 59}}};
  const auto fit = fit_calibration(fabric.design, fabric.intent, request);
  ASSERT_TRUE(fit.has_value()) << fit.error().what;
  EXPECT_FALSE(fit->is_calibrated);
  EXPECT_TRUE(
      fit->reason.starts_with("cannot be calibrated here: what was measured varies too "
                              "much from run to run"))
      << fit->reason;
  EXPECT_NE(fit->reason.find("most: latency of latency-2,"), std::string::npos) << fit->reason;
}

TEST(CalibrationFit, WantsRepeatsSinceNoiseIsPartOfTheAnswer) {
  const design::Variant fabric = star(2);
  FitRequest request;
  request.plan = plan_of(fabric);
  request.measured = {{"latency-2", Statistic::kLatency, {2}}};
  const auto fit = fit_calibration(fabric.design, fabric.intent, request);
  ASSERT_FALSE(fit.has_value());
  EXPECT_NE(fit.error().what.find("two repeats"), std::string::npos) << fit.error().what;
}

TEST(CalibratedRange, NamesEachWayInWhichALoadGoesBeyondIt) {
  const std::vector<std::string> settings = {"calibration.source=x", "calibration.fan_in=2",
                                             "calibration.flows=8", "calibration.rdma_mtu=1024B",
                                             "calibration.speed=100G"};
  const auto fabric = design::with_values(star(6).design, settings);
  ASSERT_TRUE(fabric.has_value());
  const auto outside = [&](const char* load) {
    return outside_calibration(fabric->design, fabric->intent, {sim::parse_workload(load).value()})
        .value();
  };
  EXPECT_EQ(outside("incast,senders=2").size(), 1U);  // the MTU
  const std::vector<std::string> all = outside("incast,qps=4");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_NE(all[0].find("5 senders to one receiver; calibrated up to 2"), std::string::npos);
  const design::Variant plain = star(6);
  EXPECT_TRUE(
      outside_calibration(plain.design, plain.intent, {sim::parse_workload("incast").value()})
          .value()
          .empty());
}

}  // namespace
}  // namespace weir::tune
