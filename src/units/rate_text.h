#pragma once
// A rate that was measured, for people: rounded.
#include <string>

namespace weir {

/// "392.1 Gb/s", "9.6 Mb/s".
[[nodiscard]] std::string rate_text(double bits_per_second);

}  // namespace weir
