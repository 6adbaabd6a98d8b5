#include "base/digest.h"

namespace weir {

std::string Digest::to_text() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = kDigits[(state_ >> (60U - 4U * i)) & 0xFU];
  return out;
}

}  // namespace weir
