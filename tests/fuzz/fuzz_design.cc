// The design file. Whatever the text, loading ends with a design or with errors that have a place;
// a design that loads can be derived, linted and printed, and what is printed loads again to the
// same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "design/fabric/effective.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/lint/lint.h"

namespace weir::design {
namespace {

constexpr const char* kFile = "fuzz.yaml";

void check_printing(const Design& design) {
  const Loaded again = load_text(effective_text(design), kFile);
  WEIR_CHECK(again.is_good());
  // The first print explains defaults, the second has none left: from there on nothing changes.
  const std::string settled = effective_text(again.design);
  const Loaded third = load_text(settled, kFile);
  WEIR_CHECK(third.is_good());
  WEIR_CHECK(effective_text(third.design) == settled);
}

void check_design(std::string_view text) {
  const Loaded loaded = load_text(text, kFile);
  if (!loaded.is_good()) {
    WEIR_CHECK(!to_text(loaded).empty());
    return;
  }
  check_printing(loaded.design);
  const Derived derived = derive(loaded.design);
  if (!derived.errors.empty()) return;
  for (const finding::Finding& found : lint(loaded.design, derived.intent).findings)
    WEIR_CHECK(!found.verdict.empty());
}

}  // namespace
}  // namespace weir::design

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::design::check_design({reinterpret_cast<const char*>(data), size});
  return 0;
}
