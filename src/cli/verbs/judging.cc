#include "cli/verbs/judging.h"

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "finding/json.h"
#include "render/text/findings_text.h"

namespace weir::cli {

ExitCode exit_for(const Args& args, const finding::Judgement& judgement) {
  const auto threshold = finding::parse_severity(args.value("fail-on"));
  WEIR_CHECK(threshold.has_value());
  const bool fails =
      std::any_of(judgement.findings.begin(), judgement.findings.end(),
                  [&](const finding::Finding& found) { return found.severity >= *threshold; });
  if (fails) return ExitCode::kFindings;
  return judgement.conclusion == finding::Conclusion::kInconclusive ? ExitCode::kPartial
                                                                    : ExitCode::kOk;
}

ExitCode print_judgement(const Args& args, Context& context, const finding::Judgement& judgement,
                         std::string_view headline, const Json& extra) {
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = headline;
    object.update(finding::to_json(judgement));
    object.update(extra);
    print_json(context, object);
  } else {
    context.out << render::findings_text(judgement, headline,
                                         {.colour = context.colour, .quiet = context.quiet});
  }
  return exit_for(args, judgement);
}

}  // namespace weir::cli
