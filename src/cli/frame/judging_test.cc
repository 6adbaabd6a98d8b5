#include "cli/frame/judging.h"

#include <sstream>

#include "base/json.h"
#include "base/testing.h"
#include "cli/frame/commands.h"
#include "finding/catalog.h"

namespace weir::cli {
namespace {

finding::Judgement with_severity(finding::Severity severity) {
  finding::Judgement judgement;
  finding::Finding one = finding::make_finding("dscp.tos_confusion", "26 is typed as a TOS byte.");
  one.severity = severity;
  judgement.findings.push_back(one);
  finding::settle(judgement);
  return judgement;
}

ExitCode exit_of(finding::Severity found, const std::string& fail_on) {
  const Command command = lint_command();
  Args args(command);
  args.add("fail-on", fail_on);
  return exit_for(args, with_severity(found));
}

TEST(Judging, TheExitStatusFollowsFailOn) {
  using finding::Severity;
  EXPECT_EQ(exit_of(Severity::kError, "error"), ExitCode::kFindings);
  EXPECT_EQ(exit_of(Severity::kWarning, "error"), ExitCode::kOk);
  EXPECT_EQ(exit_of(Severity::kWarning, "warning"), ExitCode::kFindings);
  EXPECT_EQ(exit_of(Severity::kInfo, "warning"), ExitCode::kOk);
  EXPECT_EQ(exit_of(Severity::kInfo, "info"), ExitCode::kFindings);
}

TEST(Judging, JsonHoldsTheStableFieldsAndTheVerbsOwn) {
  COVERS("A2");
  const Command command = lint_command();
  Args args(command);
  args.fill_defaults();
  std::ostringstream out;
  std::ostringstream err;
  Context context{.out = out, .err = err, .json = true};
  const ExitCode code = print_judgement(args, context, with_severity(finding::Severity::kError),
                                        "one error", {{"design", "fabric.yaml"}});
  EXPECT_EQ(code, ExitCode::kFindings);
  const Json object = Json::parse(out.str());
  EXPECT_EQ(object["schema"], "weir/lint/1");
  EXPECT_EQ(object["verdict"], "one error");
  EXPECT_EQ(object["conclusion"], "findings");
  EXPECT_EQ(object["findings"][0]["id"], "dscp.tos_confusion");
  EXPECT_EQ(object["summary"]["errors"], 1);
  EXPECT_EQ(object["design"], "fabric.yaml");
}

}  // namespace
}  // namespace weir::cli
