// Host sets as a user or a group file writes them: what is accepted is bounded, consists of good
// names, and is the same set after folding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hosts/host_set.h"
#include "base/untrusted/name_policy.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 4096));
  // A group is what follows the first line.
  const std::size_t line = text.find('\n');
  const std::string group = line == std::string::npos ? "g[1-2]" : text.substr(line + 1);
  auto names =
      weir::parse_host_set(std::string_view(text).substr(0, line),
                           [&](const std::string&) { return weir::Result<std::string>(group); });
  if (!names) {
    WEIR_CHECK(!names.error().what.empty());
    return 0;
  }
  WEIR_CHECK(!names->empty() && names->size() <= weir::kMostHosts);
  for (const std::string& name : *names)
    WEIR_CHECK(!weir::wrong_name(weir::NameKind::kHost, name));
  if (names->size() > 2000) return 0;
  auto again = weir::parse_host_set(weir::fold_hosts(*names));
  WEIR_CHECK(again.has_value());
  std::sort(names->begin(), names->end());
  std::sort(again->begin(), again->end());
  WEIR_CHECK(*names == *again);
  return 0;
}
