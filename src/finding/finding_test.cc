#include "finding/finding.h"

#include <algorithm>

#include "base/testing.h"

namespace weir::finding {
namespace {

Where in_file(int line, int column) {
  Where where;
  where.file = "fabric.yaml";
  where.position = {line, column};
  return where;
}

Where on_switch(const std::string& name, const std::string& port) {
  Where where;
  where.switch_name = name;
  where.port = port;
  return where;
}

Finding found(Severity severity, Confidence confidence, Where where) {
  Finding finding;
  finding.id = "path.loss";
  finding.severity = severity;
  finding.confidence = confidence;
  finding.where = std::move(where);
  return finding;
}

TEST(Finding, APlaceIsTheShortestTextThatFindsIt) {
  EXPECT_EQ(to_text(in_file(12, 7)), "fabric.yaml:12:7");
  EXPECT_EQ(to_text(in_file(0, 0)), "fabric.yaml");
  EXPECT_EQ(to_text(on_switch("leaf2", "swp5")), "leaf2 swp5");

  Where nic;
  nic.host = "gpu07";
  nic.rail = "3";
  nic.device = "mlx5_3";
  EXPECT_EQ(to_text(nic), "gpu07 rail 3 (mlx5_3)");
  nic.priority = "3";
  EXPECT_EQ(to_text(nic), "gpu07 rail 3 (mlx5_3) priority 3");

  Where device;
  device.device = "mlx5_3";
  EXPECT_EQ(to_text(device), "mlx5_3");

  Where link;
  link.link = "leaf1 swp1 - spine1 swp4";
  EXPECT_EQ(to_text(link), "leaf1 swp1 - spine1 swp4");
  EXPECT_EQ(to_text(Where{}), "");
}

TEST(Finding, EveryWordReadsBackAndNoOtherDoes) {
  for (const auto severity : {Severity::kInfo, Severity::kWarning, Severity::kError})
    EXPECT_EQ(parse_severity(to_text(severity)), severity);
  for (const auto confidence :
       {Confidence::kLow, Confidence::kMedium, Confidence::kHigh, Confidence::kCertain})
    EXPECT_EQ(parse_confidence(to_text(confidence)), confidence);
  for (const auto conclusion : {Conclusion::kHealthy, Conclusion::kFindings, Conclusion::kNotFabric,
                                Conclusion::kInconclusive})
    EXPECT_EQ(parse_conclusion(to_text(conclusion)), conclusion);
  EXPECT_EQ(parse_severity("Error"), std::nullopt);
  EXPECT_EQ(parse_confidence(""), std::nullopt);
  EXPECT_EQ(parse_conclusion("not-fabric"), std::nullopt);
}

TEST(Settle, SortsBySeverityThenConfidenceThenPlaceWithNumbersAsNumbers) {
  const std::vector<Finding> expected = {
      found(Severity::kError, Confidence::kCertain, on_switch("leaf2", "swp9")),
      found(Severity::kError, Confidence::kCertain, on_switch("leaf10", "swp2")),
      found(Severity::kError, Confidence::kCertain, on_switch("leaf10", "swp10")),
      found(Severity::kError, Confidence::kCertain, in_file(9, 3)),
      found(Severity::kError, Confidence::kCertain, in_file(12, 1)),
      found(Severity::kError, Confidence::kCertain, in_file(12, 7)),
      found(Severity::kError, Confidence::kLow, in_file(1, 1)),
      found(Severity::kWarning, Confidence::kHigh, in_file(1, 1)),
      found(Severity::kInfo, Confidence::kCertain, in_file(1, 1)),
  };
  Judgement judgement;
  judgement.findings = expected;
  for (std::size_t turn = 0; turn < expected.size(); ++turn) {
    std::rotate(judgement.findings.begin(), judgement.findings.begin() + 1,
                judgement.findings.end());
    Judgement settled = judgement;
    settle(settled);
    EXPECT_EQ(settled.findings, expected) << "rotated by " << turn + 1;
  }
}

TEST(Settle, KeepsTheOrderOfEquals) {
  Judgement judgement;
  for (const char* verdict : {"first", "second", "third"}) {
    Finding finding = found(Severity::kError, Confidence::kHigh, in_file(3, 1));
    finding.verdict = verdict;
    judgement.findings.push_back(finding);
  }
  settle(judgement);
  EXPECT_EQ(judgement.findings[0].verdict, "first");
  EXPECT_EQ(judgement.findings[2].verdict, "third");
}

TEST(Settle, InfoAloneIsHealthyAndAWarningIsNot) {
  Judgement judgement;
  settle(judgement);
  EXPECT_EQ(judgement.conclusion, Conclusion::kHealthy);

  judgement.findings.push_back(found(Severity::kInfo, Confidence::kCertain, {}));
  settle(judgement);
  EXPECT_EQ(judgement.conclusion, Conclusion::kHealthy);

  judgement.findings.push_back(found(Severity::kWarning, Confidence::kLow, {}));
  settle(judgement);
  EXPECT_EQ(judgement.conclusion, Conclusion::kFindings);
  EXPECT_EQ(judgement.count(Severity::kWarning), 1);
  EXPECT_EQ(judgement.count(Severity::kError), 0);
}

}  // namespace
}  // namespace weir::finding
