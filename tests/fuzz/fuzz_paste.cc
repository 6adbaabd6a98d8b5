// Plain text pasted from anywhere: whatever comes, the reader ends; every line that it cites is one
// of the text, no line is both read and left over, and a second reading says the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "readers/paste/paste.h"

namespace weir::readers {
namespace {

void check_paste(std::string_view text) {
  const Paste paste = read_paste({{"fuzz.txt", text}});
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  const auto is_line = [&](int line) { return line >= 1 && line <= lines; };
  for (const PastePart& part : paste.parts) {
    WEIR_CHECK(!part.tool.empty() && !to_text(part).empty());
    if (part.first > 0) WEIR_CHECK(is_line(part.first) && is_line(part.last));
  }
  for (const auto& item : paste.unread)
    WEIR_CHECK(item.line.line >= 0 && item.line.line <= lines && !item.line.why.empty());
  for (const Cited& cited : paste.rest)
    WEIR_CHECK(is_line(cited.line) && !cited.text.empty());
  for (const PasteEvent& event : paste.events)
    WEIR_CHECK(is_line(event.at.line) && !event.host.empty());
  for (const PasteCapture& capture : paste.captures)
    for (const PasteCapture::Marked& marked : capture.by_tos)
      WEIR_CHECK(marked.tos < 256 && is_line(marked.first.line));
  for (const evidence::Evidence& evidence : paste.evidence) {
    WEIR_CHECK(evidence.provenance.origin == evidence::Origin::kText);
    for (const evidence::Nic& nic : evidence.nics)
      WEIR_CHECK(!nic.device.empty());
  }
  WEIR_CHECK(read_paste({{"fuzz.txt", text}}).evidence == paste.evidence);
}

}  // namespace
}  // namespace weir::readers

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::readers::check_paste({reinterpret_cast<const char*>(data), size});
  return 0;
}
