#include "units/format.h"

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t scale;  // in the quantity's own unit
};

// Longest scale first, so that printing finds the largest that divides; the first of equals prints.
constexpr std::array kDurations = {Unit{"s", kPicosecondsPerSecond},
                                   Unit{"ms", 1'000'000'000},
                                   Unit{"us", 1'000'000},
                                   Unit{"µs", 1'000'000},
                                   Unit{"ns", 1'000},
                                   Unit{"ps", 1}};
// Read, not printed: 90s says more than 1.5min beside other times.
constexpr std::array kDurationsRead = {Unit{"h", 3600 * kPicosecondsPerSecond},
                                       Unit{"min", 60 * kPicosecondsPerSecond},
                                       kDurations[0],
                                       kDurations[1],
                                       kDurations[2],
                                       kDurations[3],
                                       kDurations[4],
                                       kDurations[5]};
constexpr std::array kSizes = {Unit{"GB", 1'000'000'000}, Unit{"GiB", std::int64_t{1} << 30U},
                               Unit{"MB", 1'000'000},     Unit{"MiB", std::int64_t{1} << 20U},
                               Unit{"KB", 1'000},         Unit{"kB", 1'000},
                               Unit{"KiB", 1'024},        Unit{"B", 1}};
constexpr std::array kRates = {Unit{"T", 1'000'000'000'000}, Unit{"Tbps", 1'000'000'000'000},
                               Unit{"G", 1'000'000'000},     Unit{"Gbps", 1'000'000'000},
                               Unit{"Gb/s", 1'000'000'000},  Unit{"M", 1'000'000},
                               Unit{"Mbps", 1'000'000},      Unit{"Mb/s", 1'000'000},
                               Unit{"kbps", 1'000},          Unit{"bps", 1}};
constexpr std::array kLengths = {Unit{"km", 1'000'000}, Unit{"m", 1'000}, Unit{"cm", 10},
                                 Unit{"mm", 1}};
constexpr std::array kShares = {Unit{"%", 10'000}};

struct Grammar {
  std::string_view what;     // "a size"
  std::string_view example;  // "100KB, 1.5MB or 64KiB"
  std::string_view suggest;  // the unit a bare number most likely meant
  std::span<const Unit> units;
};

constexpr Grammar kDurationGrammar{"a time", "55us, 1.5ms or 200ns", "us", kDurationsRead};
constexpr Grammar kSizeGrammar{"a size", "9216B, 100KB, 1.5MB or 64KiB", "B", kSizes};
constexpr Grammar kRateGrammar{"a rate", "400G, 25Gbps or 40Mbps", "G", kRates};
constexpr Grammar kLengthGrammar{"a length", "3m or 2km", "m", kLengths};
constexpr Grammar kShareGrammar{"a share", "10% or 0.5%", "%", kShares};

Error expected(const Grammar& grammar, std::string_view text, std::string_view hint) {
  return parse_error(fmt::format("expected {} such as {}, found '{}'{}", grammar.what,
                                 grammar.example, text, hint));
}

// "12.5" as an exact multiple of 10^-9; nullopt if it is not a plain decimal or has too many
// digits.
std::optional<Int128> parse_decimal_nano(std::string_view text) {
  constexpr std::int64_t kNano = 1'000'000'000;
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  std::string fraction(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  if (whole.empty() || (dot != std::string_view::npos && fraction.empty())) return std::nullopt;
  if (fraction.size() > 9) return std::nullopt;
  fraction.resize(9, '0');
  const auto high = parse_u64(whole);
  const auto low = parse_u64(fraction);
  if (!high || !low || *high > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return Int128{*high} * kNano + Int128{*low};
}

Result<std::int64_t> parse_with_unit(std::string_view text, const Grammar& grammar) {
  const std::string_view clean = trim(text);
  const auto digits = clean.find_first_not_of("0123456789.");
  if (clean.empty() || digits == 0) return expected(grammar, text, "");
  const auto number = parse_decimal_nano(clean.substr(0, digits));
  if (digits == std::string_view::npos) {
    return expected(grammar, text,
                    number ? fmt::format("; a bare number has no unit: did you mean {}{}?", clean,
                                         grammar.suggest)
                           : "");
  }
  if (!number) return expected(grammar, text, "");
  const std::string_view name = trim(clean.substr(digits));
  for (const Unit& unit : grammar.units) {
    if (unit.name != name) continue;
    constexpr std::int64_t kNano = 1'000'000'000;
    constexpr Int128 kLargest = Int128{std::numeric_limits<std::int64_t>::max()} * kNano;
    if (*number > kLargest / unit.scale) return expected(grammar, text, "; too large");
    const Int128 exact = *number * unit.scale;
    if (exact % kNano != 0)
      return expected(grammar, text, fmt::format("; finer than {} can be", grammar.what));
    return static_cast<std::int64_t>(exact / kNano);
  }
  std::string names;
  for (const Unit& unit : grammar.units)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
  return expected(grammar, text, fmt::format("; units are {}", names));
}

template <class Q>
Result<Q> parse_quantity(std::string_view text, const Grammar& grammar) {
  WEIR_TRY(value, parse_with_unit(text, grammar));
  return Q::raw(value);
}

// The shortest exact text over all units (1.5MB before 1500KB; 64KiB before 65536B). Binary units
// only for what is clearly a memory size: an MTU of 9216 is never "9KiB".
std::string shortest(std::int64_t value, std::span<const Unit> units) {
  constexpr std::int64_t kSmallestBinary = 16'384;
  std::string best;
  for (const Unit& unit : units) {
    const bool is_binary = unit.name.ends_with("iB");
    if (is_binary && value < kSmallestBinary) continue;
    const std::int64_t thousandths = unit.scale >= 1'000 ? 1'000 : 1;
    const Int128 scaled = Int128{value} * thousandths;
    if (scaled % unit.scale != 0) continue;
    const auto in_unit = static_cast<std::int64_t>(scaled / unit.scale);
    if (is_binary && in_unit % thousandths != 0) continue;
    std::string text = fmt::format("{}", in_unit / thousandths);
    if (in_unit % thousandths != 0) {
      if (in_unit < thousandths && in_unit > -thousandths) continue;  // 0.5ms: 500us reads better
      std::string fraction = fmt::format("{:03}", std::abs(in_unit % thousandths));
      fraction.erase(fraction.find_last_not_of('0') + 1);
      text += "." + fraction;
    }
    text += unit.name;
    if (best.empty() || text.size() < best.size()) best = text;
  }
  return best;
}

std::string three_digits(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const double scaled = value / static_cast<double>(unit.scale);
    if (std::abs(scaled) < 1.0 && unit.scale != 1) continue;
    const int decimals = std::abs(scaled) >= 100 ? 0 : std::abs(scaled) >= 10 ? 1 : 2;
    std::string text = fmt::format("{:.{}f}", scaled, decimals);
    if (text.find('.') != std::string::npos) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    return text + std::string(unit.name);
  }
  WEIR_UNREACHABLE("every unit list ends with scale 1");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  return parse_quantity<Duration>(text, kDurationGrammar);
}
Result<Bytes> parse_bytes(std::string_view text) {
  return parse_quantity<Bytes>(text, kSizeGrammar);
}
Result<BitRate> parse_rate(std::string_view text) {
  return parse_quantity<BitRate>(text, kRateGrammar);
}
Result<Length> parse_length(std::string_view text) {
  return parse_quantity<Length>(text, kLengthGrammar);
}
Result<Share> parse_share(std::string_view text) {
  return parse_quantity<Share>(text, kShareGrammar);
}

Result<Alpha> parse_alpha(std::string_view text) {
  const std::string_view clean = trim(text);
  const bool is_fraction = clean.starts_with("1/");
  const auto number = parse_u64(is_fraction ? clean.substr(2) : clean);
  const bool is_power = number && std::has_single_bit(*number);
  const int log2 = is_power ? std::countr_zero(*number) * (is_fraction ? -1 : 1) : 0;
  if (!is_power || log2 < Alpha::kMinLog2 || log2 > Alpha::kMaxLog2) {
    return parse_error(
        fmt::format("expected a dynamic threshold that is a power of two from 1/32768 to 128, such "
                    "as 1/8 or 1, found '{}'",
                    text));
  }
  return Alpha::from_log2(log2);
}

std::string to_text(Duration d) {
  return shortest(d.raw(), kDurations);
}
std::string to_text(Bytes b) {
  return shortest(b.raw(), kSizes);
}
std::string to_text(BitRate r) {
  return shortest(r.raw(), kRates);
}
std::string to_text(Length l) {
  return shortest(l.raw(), std::span(kLengths).subspan(1));
}

std::string to_text(Share s) {
  std::string text = fmt::format("{}.{:04}", s.raw() / 10'000, std::abs(s.raw() % 10'000));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

std::string to_text(Alpha a) {
  return a.log2() >= 0 ? std::to_string(1 << a.log2()) : "1/" + std::to_string(1 << -a.log2());
}

std::string_view to_text(Ecn ecn) {
  switch (ecn) {
    case Ecn::kNotEct: return "not-ect";
    case Ecn::kEct1: return "ect1";
    case Ecn::kEct0: return "ect0";
    case Ecn::kCe: return "ce";
  }
  WEIR_UNREACHABLE("an Ecn has two bits");
}

std::string to_text(PrioritySet set) {
  std::string text;
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!set.contains(Priority::of(p))) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(p);
  }
  return text.empty() ? "none" : text;
}

std::string approximate(Bytes b) {
  constexpr std::array kDecimal = {Unit{"GB", 1'000'000'000}, Unit{"MB", 1'000'000},
                                   Unit{"KB", 1'000}, Unit{"B", 1}};
  return three_digits(static_cast<double>(b.raw()), kDecimal);
}
std::string approximate(Duration d) {
  return three_digits(static_cast<double>(d.raw()), kDurations);
}

}  // namespace weir
