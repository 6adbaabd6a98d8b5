#include "cli/frame/judging.h"

#include <sstream>

#include "base/json.h"
#include "base/testing.h"
#include "cli/frame/commands.h"
#include "cli/json/object.h"
#include "finding/catalog.h"

namespace weir::cli {
namespace {

finding::Judgement with_severity(finding::Severity severity) {
  finding::Judgement judgement;
  finding::Finding found =
      finding::make_finding("dscp.tos_confusion", "26 is typed as a TOS byte.");
  found.severity = severity;
  judgement.findings.push_back(found);
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

TEST(Judging, ARequiredCheckWithoutAnAnswerIsPartialWithOrWithoutWarnings) {
  using finding::Severity;
  const Command command = lint_command();
  Args args(command);
  args.add("fail-on", "error");
  const auto exit_with = [&](finding::Judgement judgement, bool is_required) {
    judgement.unknown.push_back({"PFC of gpu03", "permission denied", "run as root", is_required});
    return exit_for(args, judgement);
  };
  EXPECT_EQ(exit_with(with_severity(Severity::kError), true), ExitCode::kFindings);
  EXPECT_EQ(exit_with(with_severity(Severity::kWarning), true), ExitCode::kPartial);
  EXPECT_EQ(exit_with({}, true), ExitCode::kPartial);
  EXPECT_EQ(exit_with(with_severity(Severity::kWarning), false), ExitCode::kOk);
  EXPECT_EQ(exit_with({}, false), ExitCode::kOk);
}

TEST(Judging, JsonHoldsTheStableFields) {
  COVERS("A2");
  const Json object =
      judged_object(lint_command(), with_severity(finding::Severity::kError), "one error");
  EXPECT_EQ(object["schema"], "weir/lint/1");
  EXPECT_EQ(object["verdict"], "one error");
  EXPECT_EQ(object["conclusion"], "findings");
  EXPECT_EQ(object["findings"][0]["id"], "dscp.tos_confusion");
  EXPECT_EQ(object["summary"]["errors"], 1);
}

TEST(Judging, FindingsPrintedOneByOneAreThoseOfTheObject) {
  finding::Judgement judgement = with_severity(finding::Severity::kError);
  judgement.findings.push_back(judgement.findings.front());
  judgement.findings.back().verdict = "\"quoted\"\n\xff";
  for (const std::size_t count : {std::size_t{2}, std::size_t{0}}) {
    judgement.findings.resize(count);
    std::ostringstream out;
    std::ostringstream errors;
    Context context{out, errors};
    print_judged(context, judged_heading(lint_command(), judgement, "both"), judgement);
    const Json whole = judged_object(lint_command(), judgement, "both");
    EXPECT_EQ(out.str(), whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
}

}  // namespace
}  // namespace weir::cli
