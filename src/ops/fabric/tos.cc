#include "ops/fabric/tos.h"

#include <charconv>

#include <fmt/format.h>

#include "base/check.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::ops {
namespace {

// The readings of one number. An error where the request asks for one that does not exist.
weir::Result<std::vector<TosReading>> read(const TosNumber& typed, const TosRequest& request) {
  const std::optional<Dscp> dscp = Dscp::make(typed.value);
  const TosByte tos = TosByte::of(typed.value);
  if (!dscp && request.as == ReadAs::kDscp) {
    return invalid_error(fmt::format(
        "{} does not fit the 6 bits of a DSCP (0 to 63); as a TOS byte it is DSCP {} with {}",
        typed.text, to_text(dscp_of(tos)), ecn_words(ecn_of(tos))));
  }
  if (typed.is_name && request.as == ReadAs::kTos) {
    return invalid_error(
        fmt::format("{} is the name of a DSCP, {}; leave --as tos out", typed.text, typed.value));
  }
  if (request.ecn && (!dscp || request.as == ReadAs::kTos)) {
    return invalid_error(
        fmt::format("--ecn adds the ECN bits to a DSCP; as a TOS byte {} already holds them ({}); "
                    "type weir tos {} "
                    "--ecn {}",
                    typed.text, to_text(ecn_of(tos)), dscp_of(tos).value(), to_text(*request.ecn)));
  }
  std::vector<TosReading> readings;
  if (dscp && request.as != ReadAs::kTos) {
    if (!request.ecn) readings.push_back({ReadAs::kDscp, tos_byte(*dscp, Ecn::kNotEct)});
    readings.push_back({ReadAs::kDscp, tos_byte(*dscp, request.ecn.value_or(Ecn::kEct0))});
  }
  if (!typed.is_name && request.as != ReadAs::kDscp) readings.push_back({ReadAs::kTos, tos});
  return readings;
}

std::vector<TosReading> every_reading(std::optional<Ecn> ecn) {
  std::vector<TosReading> readings;
  for (unsigned dscp = 0; dscp < Dscp::kLimit; ++dscp) {
    for (const Ecn bits : kAllEcn) {
      if (!ecn || ecn == bits) readings.push_back({ReadAs::kDscp, tos_byte(Dscp::of(dscp), bits)});
    }
  }
  return readings;
}

}  // namespace

std::string ecn_words(Ecn ecn) {
  switch (ecn) {
    case Ecn::kNotEct: return "not ECN-capable";
    case Ecn::kEct1: return "ECT(1)";
    case Ecn::kEct0: return "ECT(0)";
    case Ecn::kCe: return "CE, congestion experienced";
  }
  WEIR_UNREACHABLE("an Ecn has two bits");
}

weir::Result<TosNumber> parse_tos_number(const std::string& text) {
  if (const auto named = dscp_named(text)) return TosNumber{text, named->value(), true};
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const char* const first = text.data() + (is_hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(first, last, value, is_hex ? 16 : 10);
  const bool too_large = error == std::errc::result_out_of_range || value >= TosByte::kLimit;
  if (stop != last || first == last) {
    return parse_error(fmt::format(
        "expected a number (26, 0x6a) or a code point's name (AF31, CS3, EF), found '{}'", text));
  }
  if (too_large) {
    return parse_error(fmt::format(
        "{} is too large: a DSCP has 6 bits (0 to 63), a TOS byte 8 bits (0 to 255)", text));
  }
  return TosNumber{text, value, false};
}

Result<std::vector<TosReading>> tos_readings(const TosRequest& request) {
  if (!request.number) return every_reading(request.ecn);
  return or_bad_request(read(*request.number, request));
}

}  // namespace weir::ops
