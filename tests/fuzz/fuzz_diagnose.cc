// A pasted text through the whole diagnosis: whatever comes, it ends with a judgement whose lines
// are lines of the text, and the same text has the same judgement.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "diagnose/core/view.h"
#include "diagnose/paste/pasted.h"
#include "finding/json.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {
namespace {

finding::Judgement judged(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"fuzz.txt", text}});
  Case subject;
  subject.evidence = paste.evidence;
  const View view(subject);
  return diagnose_paste(paste, view);
}

}  // namespace
}  // namespace weir::diagnose

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto print = [&] {
    return weir::finding::to_json(weir::diagnose::judged(text))
        .dump(-1, ' ', false, weir::Json::error_handler_t::replace);
  };
  WEIR_CHECK(print() == print());
  return 0;
}
