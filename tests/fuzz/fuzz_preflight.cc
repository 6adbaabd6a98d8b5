// The result of a preflight that is taken up again with --resume, or reported: anyone may have
// edited it. What reads is written and reads again as the same, has a verdict, and goes on only
// with the same fabric.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "preflight/baseline.h"
#include "preflight/report.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const auto document =
      parse_json({static_cast<const char*>(static_cast<const void*>(data)), size});
  if (!document) return 0;
  const auto report = preflight::report_from_json(JsonCursor(*document));
  if (!report) {
    WEIR_CHECK(!report.error().what.empty());
    return 0;
  }
  const Json written = preflight::to_json(*report);
  const auto again = preflight::report_from_json(JsonCursor(written));
  WEIR_CHECK(again.has_value());
  WEIR_CHECK(preflight::to_json(*again) == written);
  WEIR_CHECK(!preflight::to_text(report->verdict()).empty());
  WEIR_CHECK(preflight::differences(report->identity, again->identity).empty());
  (void)preflight::whole_judgement(*report);
  (void)preflight::failing_of(*report);
  WEIR_CHECK(preflight::unseen_names(*report).size() == report->unseen.size());
  for (const preflight::StageResult& a : report->stages)
    if (a.totals) (void)preflight::sum_of(*a.totals, *a.totals);
  return 0;
}
