#pragma once
// Both readings of a number: as a DSCP and as a TOS byte. 26 typed where a TOS byte belongs is DSCP
// 6, and no tool reports it.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ops/source/failure.h"
#include "units/qos_code.h"

namespace weir::ops {

inline constexpr std::array kAllEcn = {Ecn::kNotEct, Ecn::kEct1, Ecn::kEct0, Ecn::kCe};

enum class ReadAs { kDscp, kTos };

struct TosReading {
  ReadAs as = ReadAs::kDscp;
  TosByte tos;  // holds the DSCP and the ECN bits
};

/// A number that may be either, or a code point's name, which is a DSCP.
struct TosNumber {
  std::string text;
  unsigned value = 0;
  bool is_name = false;
};
/// 26, 0x6a, AF31.
[[nodiscard]] weir::Result<TosNumber> parse_tos_number(const std::string& text);

struct TosRequest {
  std::optional<TosNumber> number;  // none: every DSCP
  std::optional<ReadAs> as;         // this reading alone
  std::optional<Ecn> ecn;           // the bits below the DSCP
};
[[nodiscard]] Result<std::vector<TosReading>> tos_readings(const TosRequest& request);

/// "CE, congestion experienced".
[[nodiscard]] std::string ecn_words(Ecn ecn);

}  // namespace weir::ops
