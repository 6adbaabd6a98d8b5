#include "counters/reading.h"

#include <array>
#include <cerrno>

#include "base/text.h"

namespace weir::counters {
namespace {

constexpr std::array<std::string_view, 4> kReasons = {"absent", "unsupported", "permission",
                                                      "error"};

}  // namespace

std::string_view to_text(Missing why) {
  const auto at = static_cast<std::size_t>(why);
  WEIR_CHECK(at < kReasons.size());
  return kReasons[at];
}

std::optional<Missing> parse_missing(std::string_view text) {
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons[i] == text) return static_cast<Missing>(i);
  }
  return std::nullopt;
}

Reading reading_from_text(std::string_view content) {
  const std::string_view text = trim(content);
  if (const auto value = parse_u64(text)) return Reading::of(*value);
  return Reading::missing(text.starts_with("N/A") ? Missing::kUnsupported : Missing::kError);
}

Reading reading_from_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENOTDIR: return Reading::missing(Missing::kAbsent);
    case EACCES:
    case EPERM: return Reading::missing(Missing::kPermission);
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP: return Reading::missing(Missing::kUnsupported);
    default: return Reading::missing(Missing::kError);
  }
}

}  // namespace weir::counters
