// JSON that is said to be ours: evidence, snapshots, results of a simulation, findings; and the
// curves beside such a result. Any document may come; what reads is written and reads again as the
// same, and every name in it is a name.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "evidence/json.h"
#include "evidence/names.h"
#include "finding/json.h"
#include "ops/report/report_input.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

void check_evidence(const std::vector<evidence::Evidence>& pieces) {
  for (const evidence::Evidence& piece : pieces) {
    WEIR_CHECK(evidence::check_names(piece));
    const auto again = evidence::evidence_from_json(evidence::to_json(piece));
    WEIR_CHECK(again.has_value() && *again == piece);
  }
}

void read_all(const std::string& text) {
  if (const auto curves = timeline_from_csv(text, text, nullptr); !curves)
    WEIR_CHECK(!curves.error().what.empty());
  if (const auto pieces = read_snapshot_text(text, "fuzz.json")) check_evidence(*pieces);
  if (const auto pieces = read_document(text, "fuzz.json"))
    if (*pieces) check_evidence(**pieces);
  const auto document = parse_json(text);
  if (!document) return;
  if (is_simulation(*document)) (void)read_simulation(*document);
  if (const auto judgement = finding::judgement_from_json(*document)) {
    const auto again = finding::judgement_from_json(finding::to_json(*judgement));
    WEIR_CHECK(again.has_value());
  }
}

}  // namespace
}  // namespace weir::ops

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::ops::read_all(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
