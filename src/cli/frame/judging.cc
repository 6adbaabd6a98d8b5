#include "cli/frame/judging.h"

#include <algorithm>

#include "base/check.h"
#include "render/text/findings_text.h"

namespace weir::cli {

finding::Severity fail_severity(const Args& args) {
  const auto threshold = finding::parse_severity(args.value("fail-on"));
  WEIR_CHECK(threshold.has_value());
  return *threshold;
}

ExitCode exit_for(const Args& args, const finding::Judgement& judgement) {
  const finding::Severity threshold = fail_severity(args);
  const bool fails =
      std::any_of(judgement.findings.begin(), judgement.findings.end(),
                  [&](const finding::Finding& found) { return found.severity >= threshold; });
  if (fails) return ExitCode::kFindings;
  if (judgement.conclusion == finding::Conclusion::kNotFabric) return ExitCode::kOk;
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive;
  return is_open || judgement.is_partial() ? ExitCode::kPartial : ExitCode::kOk;
}

void print_findings(Context& context, const finding::Judgement& judgement,
                    std::string_view headline) {
  context.out << render::findings_text(judgement, headline,
                                       {.colour = context.colour, .quiet = context.quiet});
}

}  // namespace weir::cli
