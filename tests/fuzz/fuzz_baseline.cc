// A baseline and the result of a preflight, which anyone may have written: no bytes may crash the
// readers, what they accept survives being written again, and comparing it ends.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "preflight/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  if (const auto baseline = preflight::baseline_from_text(text)) {
    const std::string written = preflight::baseline_text(*baseline);
    const auto again = preflight::baseline_from_text(written);
    WEIR_CHECK(again.has_value());
    WEIR_CHECK(preflight::baseline_text(*again) == written);
  }
  const auto document = parse_json(text);
  if (!document) return 0;
  const auto run = preflight::report_from_json(JsonCursor(*document));
  if (!run) return 0;
  const auto baseline = preflight::make_baseline("fuzz", {*run});
  if (!baseline) return 0;
  const auto same = preflight::compare(*baseline, *run, {});
  WEIR_CHECK(same.unlike.empty());
  static_cast<void>(preflight::to_json(same).dump(-1, ' ', false, Json::error_handler_t::replace));
  return 0;
}
