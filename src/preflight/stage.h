#pragma once
// The stages of a preflight, in the order in which they run: each is cheaper than what follows, and
// a red flag in one makes the next meaningless.
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace weir::preflight {

enum class StageId : std::uint8_t {
  kFacts,
  kIdle,
  kPath,
  kLoopback,
  kPairs,
  kOverload,
  kCollectives,
  kFailure,
  kSoak,
};
inline constexpr std::size_t kStages = 9;

struct StageRow {
  StageId id = StageId::kFacts;
  std::string_view name;  // "pairs": for --from-stage and JSON
  std::string_view what;  // half a line
};

/// All of them, in order.
[[nodiscard]] std::span<const StageRow> stages();
[[nodiscard]] const StageRow& row_of(StageId id);
[[nodiscard]] constexpr unsigned number_of(StageId id) {
  return static_cast<unsigned>(id);
}
/// "4" or "pairs"; the error lists what there is.
[[nodiscard]] Result<StageId> parse_stage(std::string_view text);

}  // namespace weir::preflight
