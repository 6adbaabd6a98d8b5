// Any text: the search of the catalogue ends, offers at most three findings that exist, each once,
// and says why; a second search says the same.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "finding/catalog.h"
#include "finding/search.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto related = weir::finding::search(text);
  WEIR_CHECK(related.size() <= weir::finding::kMostRelated);
  std::set<std::string> ids;
  for (const auto& offered : related) {
    WEIR_CHECK(weir::finding::find(offered.id) != nullptr && !offered.why.empty());
    WEIR_CHECK(ids.insert(offered.id).second);
  }
  WEIR_CHECK(weir::finding::search(text) == related);
  return 0;
}
