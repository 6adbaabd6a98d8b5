#pragma once
// Units as people write them. The only place where text becomes a quantity and back.
//
// Decimal and binary sizes are both read and never confused: KB = 1000, KiB = 1024. A bare number
// is an error that says which unit to write; every message quotes what was found.
#include <string>
#include <string_view>

#include "base/result.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir {

[[nodiscard]] Result<Duration> parse_duration(std::string_view text);  // "55us" "1.28ns" "200ms"
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);  // "9216B" "100KB" "1.5MB" "64KiB"
[[nodiscard]] Result<BitRate> parse_rate(
    std::string_view text);  // "400G" "400Gbps" "40Mbps" "1.6T"
[[nodiscard]] Result<Length> parse_length(std::string_view text);  // "3m" "2.5m" "2km"
[[nodiscard]] Result<Share> parse_share(std::string_view text);    // "10%" "0.5%"
[[nodiscard]] Result<Alpha> parse_alpha(std::string_view text);    // "1/8" "1" "8"

/// Shortest exact form: 1500000 B is "1.5MB", 9216 B is "9216B", 65536 B is "64KiB".
[[nodiscard]] std::string to_text(Duration);
[[nodiscard]] std::string to_text(Bytes);
[[nodiscard]] std::string to_text(BitRate);
[[nodiscard]] std::string to_text(Length);
[[nodiscard]] std::string to_text(Share);
[[nodiscard]] std::string to_text(Alpha);
[[nodiscard]] std::string_view to_text(Ecn);     // "not-ect" "ect1" "ect0" "ce"
[[nodiscard]] std::string to_text(PrioritySet);  // "3", "3,4", "none"

template <class Tag, unsigned Limit>
[[nodiscard]] std::string to_text(Code<Tag, Limit> code) {
  return std::to_string(code.value());
}

/// For people: three significant digits and a decimal unit ("1.18MB", "83.6ns").
[[nodiscard]] std::string approximate(Bytes);
[[nodiscard]] std::string approximate(Duration);

}  // namespace weir
