// Configurations of switches: the first byte chooses the system, the rest is the text. Whatever is
// accepted can be compared with itself and has lines that exist; whatever is refused says where.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "platforms/common/platform.h"
#include "platforms/openconfig/openconfig.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::platforms::Platform;
  if (size == 0) return 0;
  const auto systems = weir::platforms::platforms();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t choice = data[0] % (systems.size() + 1);
  const Platform& platform =
      choice == systems.size() ? weir::platforms::openconfig() : systems[choice];
  const auto parsed = platform.parse(text, "fuzz");
  static_cast<void>(weir::platforms::recognise(text));
  if (!parsed) {
    WEIR_CHECK(parsed.error().what.rfind("fuzz", 0) == 0);
    return 0;
  }
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const weir::platforms::Unread& unread : parsed->unread)
    WEIR_CHECK(unread.line >= 0 && unread.line <= lines && !unread.why.empty());
  WEIR_CHECK(weir::platforms::same_state(parsed->state, parsed->state));
  return 0;
}
