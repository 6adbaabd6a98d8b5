#include "units/rate_text.h"

#include <fmt/format.h>

namespace weir {

std::string rate_text(double bits_per_second) {
  constexpr double kGiga = 1e9;
  constexpr double kMega = 1e6;
  if (bits_per_second > 0 && bits_per_second < kGiga)
    return fmt::format("{:.1f} Mb/s", bits_per_second / kMega);
  return fmt::format("{:.1f} Gb/s", bits_per_second / kGiga);
}

}  // namespace weir
