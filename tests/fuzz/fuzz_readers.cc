// Pasted texts: whatever comes, every reader ends with evidence or an error, what it lists as
// unread is a line of the text, and the registry answers as the reader it picked.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "readers/readers.h"

namespace weir::readers {
namespace {

void check_text(std::string_view text) {
  for (const Reader& reader : readers()) {
    const auto read = reader.read(text, "fuzz.txt");
    if (!read) {
      WEIR_CHECK(!read.error().what.empty());
      continue;
    }
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    for (const Unread& unread : read->unread)
      WEIR_CHECK(unread.line >= 0 && unread.line <= lines && !unread.why.empty());
  }
  const Reader* const picked = recognise(text);
  const auto read = read_text(text, "fuzz.txt");
  if (picked == nullptr) {
    WEIR_CHECK(!read.has_value());
  } else if (read) {
    WEIR_CHECK(read->kind == picked->name);
  }
}

}  // namespace
}  // namespace weir::readers

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::readers::check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
