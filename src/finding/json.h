#pragma once
// Judgements as JSON: the fields that other programs rely on, and the way back.
//
//   conclusion, findings[]{id, aliases[], severity, verdict, where{…}, evidence[]{source, line,
//   counter, value}, confidence, fix[]{platform, commands[], note}, rows[]}, unknown[]{check,
//   reason, how}, next[], summary{errors, warnings, infos, unknown}
//
// `where` holds only what is known. An observation that is no counter has null for counter and
// value. A finding without fixes of its own gets the catalogue's, so that no reader needs a second
// look-up.
#include "base/json_fwd.h"
#include "base/result.h"
#include "finding/finding.h"

namespace weir::finding {

[[nodiscard]] Json to_json(const Finding&);
[[nodiscard]] Json to_json(const Related&);
[[nodiscard]] Json to_json(const Judgement&);
/// The same with an empty list of findings, for who writes these one by one.
[[nodiscard]] Json json_without_findings(const Judgement&);

/// Reads what to_json wrote. Keys that it does not know are ignored, because the format may grow; a
/// key that is missing or of another type is an error that names its place: "findings[2].severity:
/// …". Aliases, rows and the summary are not read: they follow from the catalogue and the findings.
[[nodiscard]] Result<Judgement> judgement_from_json(const Json&);

}  // namespace weir::finding
