#pragma once
// What one look at a counter gave: a number, or why there is none.
//
// Absent, unsupported, not permitted and zero are four different things. Code that wants a number
// has to face the other three first.
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"

namespace weir::counters {

enum class Missing : std::uint8_t {
  kAbsent,       // no such name here: the driver has none, or its condition does not hold
  kUnsupported,  // the name is there, the device has no value for it
  kPermission,   // refused by the system
  kError,        // anything else that went wrong while reading
};
[[nodiscard]] std::string_view to_text(Missing);  // "absent" "unsupported" "permission" "error"
[[nodiscard]] std::optional<Missing> parse_missing(std::string_view);

class Reading {
 public:
  static constexpr Reading of(std::uint64_t value) { return Reading(value, std::nullopt); }
  static constexpr Reading missing(Missing why) { return Reading(0, why); }

  [[nodiscard]] constexpr bool has_value() const { return !why_.has_value(); }
  [[nodiscard]] constexpr std::uint64_t value() const {
    WEIR_CHECK(has_value());
    return value_;
  }
  [[nodiscard]] constexpr Missing why() const {
    WEIR_CHECK(!has_value());
    return *why_;
  }
  friend constexpr bool operator==(Reading, Reading) = default;

 private:
  constexpr Reading(std::uint64_t value, std::optional<Missing> why) : value_(value), why_(why) {}
  std::uint64_t value_;
  std::optional<Missing> why_;
};

/// The content of a counter's file: a decimal number and a line break. `N/A (no PMA)`, which old
/// kernels print, is unsupported; any other text an error.
[[nodiscard]] Reading reading_from_text(std::string_view content);

/// What an errno of the read means: ENOENT and its like absent; EACCES and EPERM permission;
/// EINVAL, ENOSYS and EOPNOTSUPP unsupported (drivers answer so for a counter the port lacks).
[[nodiscard]] Reading reading_from_errno(int error);

}  // namespace weir::counters
