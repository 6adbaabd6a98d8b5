// The manifest of a calibration, which anyone may have written: no bytes may crash the reader, and
// what it accepts is bounded and survives being written again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "tune/calibration/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::tune;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  const auto manifest = manifest_from_text(text);
  if (!manifest) return 0;
  for (const Trial& trial : manifest->plan.trials) {
    WEIR_CHECK(trial.qps >= 1 && trial.size.raw() >= 1 && trial.seconds >= 1);
    WEIR_CHECK(!folder_of(trial, 1).starts_with('/'));
  }
  weir::Json again = to_json(manifest->plan);
  again["measured"] = to_json(manifest->measured);
  const auto second = manifest_from_text(again.dump());
  WEIR_CHECK(second.has_value());
  WEIR_CHECK(to_json(second->plan) == to_json(manifest->plan));
  WEIR_CHECK(second->measured.size() == manifest->measured.size());
  return 0;
}
