// NAME=VALUE for a threshold, as a script or a unit of a watching weir passes it on: it is set to
// what is said, or refused with words; what is set is printed so that it reads again as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "finding/thresholds.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::finding;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  Thresholds set;
  if (const auto done = set_threshold(text, set); !done) {
    WEIR_CHECK(!done.error().what.empty());
    return 0;
  }
  for (const ThresholdInfo& info : threshold_table()) {
    const std::string value = value_text(info, set);
    Thresholds again;
    WEIR_CHECK(set_threshold(std::string(info.name) + "=" + value, again));
    WEIR_CHECK(value_text(info, again) == value);
  }
  return 0;
}
