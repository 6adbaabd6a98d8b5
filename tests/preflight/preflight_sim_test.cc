// A preflight finds every fault that it can find, at the stage that docs/preflight.md says, and
// lets fabrics without a fault pass. All in labs, quick.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "lab/exam/exam.h"
#include "lab/exam/exam_draw.h"
#include "lab/fabric/test_labs.h"
#include "ops/preflight/preflight.h"
#include "sim/fault/fault.h"

namespace weir::ops {
namespace {

using preflight::Report;
using preflight::StageId;
using preflight::Verdict;

Report preflight_of(const lab::Lab& lab) {
  PreflightRequest request;
  request.source.lab = lab.directory();
  request.is_quick = true;
  request.tool = "test";
  auto report = run_preflight(request);
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().what);
  return std::move(*report);
}

std::string told(const Report& report) {
  std::string out = fmt::format("{}\n", preflight::to_text(report.verdict()));
  for (const preflight::StageResult& stage : report.stages) {
    out += fmt::format("  {} {}: {}\n", preflight::number_of(stage.id),
                       preflight::to_text(stage.state), stage.why);
    for (const finding::Finding& finding : stage.judgement.findings)
      out += fmt::format("      {} {} {}: {}\n", finding::to_text(finding.severity), finding.id,
                         finding::to_text(finding.where), finding.verdict);
  }
  return out;
}

/// A fault of the simulator, and where a preflight of pod16 finds it.
struct FaultRow {
  std::string_view name;
  std::string_view more;         // where it is, and what is not the default
  std::optional<StageId> stage;  // none: not found, for the reason below
  std::string_view why_not = {};
};

std::vector<FaultRow> fault_rows() {
  return {
      {"wrong-trust", ",at=gpu05", StageId::kFacts},
      {"wrong-dscp", ",at=gpu05", StageId::kFacts},
      {"wrong-tc", ",at=gpu05", StageId::kFacts},
      {"wrong-nic-map", ",at=gpu05", StageId::kFacts},
      {"switch-wrong-map", ",at=leaf1", StageId::kFacts},
      {"shared-queue", "", StageId::kFacts},
      {"tcp-fallback", ",at=gpu05", StageId::kPath},
      {"wrong-mtu", ",at=gpu05", StageId::kFacts},
      {"wrong-pfc-priority", ",at=gpu05", StageId::kFacts},
      {"pfc-too-wide", "", StageId::kFacts},
      {"headroom-too-small", "", StageId::kFacts},
      {"pool-too-small", "", StageId::kFacts},
      {"nic-pause-storm", ",at=gpu05", StageId::kPath},
      {"slow-receiver", ",at=gpu05", StageId::kPath},
      {"np-off", ",at=gpu05", StageId::kFacts},
      {"rp-off", ",at=gpu05", StageId::kFacts},
      {"ecn-too-low", "", StageId::kFacts},
      {"ecn-too-high", "", StageId::kFacts},
      {"dcqcn-rate-ai", "", StageId::kFacts},
      {"dcqcn-alpha-period", "", StageId::kFacts},
      {"link-down", ",at=leaf1/swp9", StageId::kFacts},
      {"switch-down", ",at=spine1", StageId::kFacts},
      {"degraded-link", ",at=leaf1/swp9", StageId::kPath},
      {"same-hash-seed", "", StageId::kFacts},
      {"reordering", "", StageId::kPairs},
      {"routing-loop", ",at=leaf1", StageId::kPath},
      {"bounce-routing", ",at=leaf1", StageId::kPairs},
      {"few-receives", ",at=gpu05", StageId::kPath},
  };
}

TEST(Faults, AreFoundAtTheirStageOrNotForTheReasonGiven) {
  COVERS("J1", "J2");
  const std::vector<FaultRow> rows = fault_rows();
  // A bounce needs a second switch above and beside the leaf.
  const std::string wide =
      lab::edited(lab::edited(lab::edited(lab::pod16(), "names: leaf[1-2]", "names: leaf[1-4]"),
                              "names: spine1", "names: spine[1-2]"),
                  "count: 8", "count: 2");
  for (const sim::FaultType& type : sim::fault_types()) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const FaultRow& each) { return each.name == type.name; });
    ASSERT_NE(row, rows.end()) << type.name << " has no row";
    const lab::TemporaryDirectory place;
    lab::Lab lab = lab::make_lab(place, type.name == "bounce-routing" ? wide : lab::pod16(),
                                 {.factory_hosts = false});
    lab::must(lab.add_fault(fmt::format("{}{}", type.name, row->more)));
    const Report report = preflight_of(lab);
    SCOPED_TRACE(fmt::format("{}{}: {}", type.name, row->more, told(report)));
    if (std::getenv("WEIR_PREFLIGHT_TABLE") != nullptr) {
      fmt::print("{}{}: {}", type.name, row->more, told(report));
      continue;
    }
    if (!row->stage) {
      EXPECT_NE(report.verdict(), Verdict::kNoGo);
      EXPECT_FALSE(row->why_not.empty());
      continue;
    }
    ASSERT_EQ(report.verdict(), Verdict::kNoGo);
    EXPECT_EQ(report.failed()->id, *row->stage);
    // The cause by its name, at some severity, in the stage that stopped it.
    const auto& findings = report.failed()->judgement.findings;
    std::vector<std::string_view> right = lab::accepted_ids(type.name);
    right.emplace_back("config.differs");  // a setting, named as such
    right.emplace_back("link.degraded");   // a link that is down
    const bool is_named =
        std::any_of(findings.begin(), findings.end(), [&](const finding::Finding& finding) {
          return std::find(right.begin(), right.end(), finding.id) != right.end();
        });
    EXPECT_TRUE(is_named);
  }
}

TEST(Faults, AtAHostNameThatHost) {
  COVERS("J1");
  for (const std::string fault : {"slow-receiver", "nic-pause-storm", "wrong-trust"}) {
    const lab::TemporaryDirectory place;
    lab::Lab lab = lab::make_lab(place, lab::pod16(), {.factory_hosts = false});
    lab::must(lab.add_fault(fault + ",at=gpu05"));
    const Report report = preflight_of(lab);
    SCOPED_TRACE(fault + ": " + told(report));
    const std::vector<std::string> hosts = preflight::failing_of(report).hosts;
    EXPECT_NE(std::find(hosts.begin(), hosts.end(), "gpu05"), hosts.end());
  }
}

/// Eight hosts with two rails, a leaf per rail.
std::string two_rails() {
  std::string text(design::find_template("rail256")->text);
  for (const auto& [from, to] :
       {std::pair("gpu[01-32]", "gpu[01-08]"), std::pair("rails: 8 ", "rails: 2 "),
        std::pair("leaf[0-7]", "leaf[0-1]"), std::pair("spine[1-8]", "spine[1-2]")})
    text = lab::edited(std::move(text), from, to);
  return text;
}

TEST(Faults, OfOneNicOfARailDesignNameItsRailAndNotTheOther) {
  COVERS("J2", "J3");
  const lab::TemporaryDirectory place;
  lab::Lab lab = lab::make_lab(place, two_rails(), {.factory_hosts = false});
  lab::must(lab.add_fault("slow-receiver,at=gpu05/mlx5_1,rate=100G"));
  PreflightRequest request;
  request.source.lab = lab.directory();
  request.is_quick = true;
  request.from = StageId::kPairs;
  request.tool = "test";
  const auto report = run_preflight(request);
  ASSERT_TRUE(report.has_value()) << report.error().what;
  SCOPED_TRACE(told(*report));
  ASSERT_EQ(report->verdict(), Verdict::kNoGo);
  const preflight::Failing failing = preflight::failing_of(*report);
  EXPECT_EQ(failing.hosts, std::vector<std::string>{"gpu05"});
  EXPECT_EQ(failing.rails, std::vector<std::string>{"1"});
}

TEST(Healthy, DrawnFabricsPass) {
  COVERS("J1", "J2", "J3");
  constexpr std::uint64_t kFabrics = 50;
  for (std::uint64_t seed = 1; seed <= kFabrics; ++seed) {
    const lab::Question question = lab::draw_question(seed, 0, {});
    const lab::TemporaryDirectory place;
    const lab::Lab lab = lab::make_lab(
        place, question.text, {.factory_hosts = false, .seed = lab::simulation_seed(question)});
    const Report report = preflight_of(lab);
    EXPECT_EQ(report.verdict(), Verdict::kGo) << "seed " << seed << ": " << told(report);
  }
}

}  // namespace
}  // namespace weir::ops
