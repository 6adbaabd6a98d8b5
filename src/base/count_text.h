#pragma once
// Counters use all 64 bits of their numbers, which a signed one does not hold.
#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// "18,446,744,073,709,551,615".
[[nodiscard]] std::string count_text(std::uint64_t count);

/// For JSON fields that are signed: nothing rather than a negative number.
[[nodiscard]] std::optional<std::int64_t> signed_count(std::uint64_t count);

}  // namespace weir
