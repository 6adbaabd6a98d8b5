#include "lab/exam/exam.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing.h"
#include "evidence/json.h"
#include "finding/catalog.h"
#include "sim/fault/fault.h"

namespace weir::lab {
namespace {

finding::Finding found(std::string_view id, const std::string& host,
                       finding::Confidence confidence = finding::Confidence::kHigh) {
  finding::Where where;
  where.host = host;
  finding::Finding out = finding::make_finding(id, "made", where);
  out.severity = finding::Severity::kError;
  out.confidence = confidence;
  return out;
}

finding::Judgement said(std::vector<finding::Finding> findings) {
  finding::Judgement out;
  out.conclusion =
      findings.empty() ? finding::Conclusion::kHealthy : finding::Conclusion::kFindings;
  out.findings = std::move(findings);
  return out;
}

Culprit np_off() {
  return {.fault = "np-off", .hosts = {"gpu01"}, .ports = {{"leaf1", "swp1"}}};
}

TEST(ExamMark, OnlyTheFirstFindingAnswersOneFault) {
  COVERS("D3");
  const Mark right = mark_answer(said({found("np.disabled", "gpu01")}), {np_off()});
  EXPECT_TRUE(right.cause && right.place && !right.confident_wrong);
  const Mark second =
      mark_answer(said({found("path.loss", "gpu01"), found("np.disabled", "gpu01")}), {np_off()});
  EXPECT_FALSE(second.cause);
  EXPECT_TRUE(second.confident_wrong);
  EXPECT_EQ(second.said, "path.loss");
}

TEST(ExamMark, TheRightCauseAtAnotherHostIsNoPlace) {
  COVERS("D3");
  const Mark mark = mark_answer(said({found("np.disabled", "gpu02")}), {np_off()});
  EXPECT_TRUE(mark.cause);
  EXPECT_FALSE(mark.place);
}

TEST(ExamMark, ThePortThatAHostIsBehindIsItsPlaceToo) {
  COVERS("D3");
  finding::Finding at_port = found("np.disabled", "");
  at_port.where.switch_name = "leaf1";
  at_port.where.port = "swp1";
  EXPECT_TRUE(mark_answer(said({at_port}), {np_off()}).place);
  at_port.where.port = "swp2";
  EXPECT_FALSE(mark_answer(said({at_port}), {np_off()}).place);
}

TEST(ExamMark, AGuessIsWrongButNotConfident) {
  COVERS("D3");
  const Mark mark =
      mark_answer(said({found("path.loss", "gpu01", finding::Confidence::kLow)}), {np_off()});
  EXPECT_FALSE(mark.cause);
  EXPECT_FALSE(mark.confident_wrong);
}

TEST(ExamMark, CannotTellIsNeitherRightNorConfident) {
  COVERS("D3");
  finding::Judgement open;
  open.conclusion = finding::Conclusion::kInconclusive;
  const Mark mark = mark_answer(open, {np_off()});
  EXPECT_TRUE(mark.inconclusive && !mark.cause && !mark.confident_wrong);
  EXPECT_EQ(mark.said, "inconclusive");
  EXPECT_FALSE(mark_answer(open, {}).cause) << "a healthy fabric must be called healthy";
}

TEST(ExamMark, TwoFaultsMustBothBeAmongTheFirstThree) {
  COVERS("D3");
  const Culprit mtu = {.fault = "wrong-mtu", .hosts = {"gpu02"}};
  const finding::Finding other = found("path.loss", "gpu03");
  EXPECT_TRUE(
      mark_answer(said({found("mtu.mismatch", "gpu02"), other, found("np.disabled", "gpu01")}),
                  {np_off(), mtu})
          .place);
  const Mark fourth = mark_answer(
      said({found("mtu.mismatch", "gpu02"), other, other, found("np.disabled", "gpu01")}),
      {np_off(), mtu});
  EXPECT_FALSE(fourth.cause);
  EXPECT_FALSE(fourth.confident_wrong) << "the first one is right";
}

TEST(ExamMark, AFindingOnAHealthyFabricIsAFalseAlarm) {
  COVERS("D7");
  EXPECT_TRUE(mark_answer(said({}), {}).cause);
  const Mark alarm = mark_answer(said({found("receiver.slow", "gpu01")}), {});
  EXPECT_TRUE(alarm.confident_wrong && !alarm.cause);
}

TEST(ExamTable, EveryFaultHasIdsOfTheCatalogue) {
  COVERS("D3");
  for (const sim::FaultType& type : sim::fault_types()) {
    EXPECT_FALSE(accepted_ids(type.name).empty()) << type.name;
    for (const std::string_view id : accepted_ids(type.name)) {
      const finding::CatalogEntry* entry = finding::find(id);
      ASSERT_NE(entry, nullptr) << id;
      EXPECT_EQ(entry->id, id) << "an alias";
    }
  }
  EXPECT_TRUE(accepted_ids("no-such-fault").empty());
}

TEST(ExamDraw, EveryKindOfQuestionComesUp) {
  COVERS("D3");
  std::set<std::string> kinds;
  int healthy = 0;
  int pairs = 0;
  constexpr int kSeeds = 600;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const auto drawn = drawn_kinds(static_cast<std::uint64_t>(seed), {});
    kinds.insert(drawn.begin(), drawn.end());
    healthy += drawn.empty() ? 1 : 0;
    pairs += drawn.size() == 2 ? 1 : 0;
  }
  const auto types = sim::fault_types();
  const auto drawn = std::count_if(types.begin(), types.end(),
                                   [](const sim::FaultType& type) { return type.is_drawn; });
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(drawn));
  EXPECT_NEAR(healthy, kSeeds * 15 / 100, 25);
  EXPECT_NEAR(pairs, kSeeds * 10 / 100, 25);
}

TEST(ExamDraw, QuestionsAreSound) {
  COVERS("D3");
  for (const sim::FaultType& type : sim::fault_types()) {
    const Question asked = draw_question(7, 0, {std::string(type.name)});
    ASSERT_EQ(asked.faults.size(), 1U);
    const auto fault = sim::parse_fault(asked.faults.front());
    ASSERT_TRUE(fault.has_value()) << fault.error().what;
    EXPECT_TRUE(sim::resolve(*fault, asked.intent).has_value()) << asked.faults.front();
    EXPECT_LE(asked.intent.hosts.size(), 64U);
  }
}

TEST(Exam, EvidenceDoesNotNameTheFault) {
  COVERS("D3");
  const ExamRun run = sit_exam(2, {.faults = {"np-off"}, .keeps_evidence = true});
  ASSERT_TRUE(run.is_counted) << run.trouble;
  for (std::size_t i = 0; i < kExamViews.size(); ++i) {
    ASSERT_FALSE(run.evidence.at(i).empty());
    for (const evidence::Evidence& piece : run.evidence.at(i)) {
      const std::string text = evidence::to_json(piece).dump();
      for (const sim::FaultType& type : sim::fault_types())
        EXPECT_EQ(text.find(type.name), std::string::npos) << type.name;
    }
  }
  const auto& counters = run.evidence.at(static_cast<std::size_t>(ExamView::kCounters));
  for (const evidence::Evidence& piece : counters) {
    for (const evidence::Nic& nic : piece.nics)
      EXPECT_FALSE(nic.qos.trust.is_known() || nic.ecn.np.is_known() || nic.link.mtu.is_known());
    for (const evidence::Switch& device : piece.switches)
      EXPECT_FALSE(device.dscp_to_tc.is_known() || device.pools.is_known() ||
                   !device.ports.front().queues.empty());
  }
  const auto& alone = run.evidence.at(static_cast<std::size_t>(ExamView::kOneHost));
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone.front().provenance.host, run.culprits.front().hosts.front());
}

TEST(Exam, TheNumberOfThreadsChangesNothing) {
  COVERS("D3");
  ExamOptions options;
  options.last_seed = 4;
  options.faults = {"wrong-trust", "np-off", "healthy"};
  const ExamReport single = run_exam(options);
  options.jobs = 3;
  const ExamReport three = run_exam(options);
  EXPECT_EQ(single.counted + single.uncounted, 4U);
  EXPECT_EQ(single.redraws, three.redraws);
  ASSERT_EQ(single.misses.size(), three.misses.size());
  for (std::size_t i = 0; i < single.misses.size(); ++i) {
    EXPECT_EQ(single.misses[i].seed, three.misses[i].seed);
    EXPECT_EQ(single.misses[i].said, three.misses[i].said);
  }
  for (std::size_t i = 0; i < kExamViews.size(); ++i) {
    EXPECT_EQ(single.views.at(i).faulty.cause, three.views.at(i).faulty.cause);
    EXPECT_EQ(single.views.at(i).wrong, three.views.at(i).wrong);
  }
}

}  // namespace
}  // namespace weir::lab
