#pragma once
// Quantities that refuse to mix. Each is one signed 64-bit integer in a fixed unit: no floating
// point, no implicit conversion in either direction, and only the arithmetic that makes sense.
//
//   Duration  picoseconds (400G: 20 ps per byte; range +-106 days)
//   Time      an instant since the start, in picoseconds
//   Bytes     octets
//   BitRate   bits per second
//   Length    millimetres (cables)
//   Share     parts per million
//
// The one crossing between bytes, bits and time is serialization_time().
#include <compare>
#include <cstdint>
#include <limits>

#include "base/check.h"

namespace weir {

__extension__ using Int128 = __int128;

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity raw(std::int64_t value) { return Quantity(value); }  // the door in …
  [[nodiscard]] constexpr std::int64_t raw() const { return value_; }            // … and out
  static constexpr Quantity max() { return Quantity(std::numeric_limits<std::int64_t>::max()); }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.value_ * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  /// Rounds towards zero.
  friend constexpr Quantity operator/(Quantity a, std::int64_t n) { return Quantity(a.value_ / n); }
  constexpr Quantity& operator+=(Quantity b) { return *this = *this + b; }
  constexpr Quantity& operator-=(Quantity b) { return *this = *this - b; }

 private:
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}
  std::int64_t value_ = 0;
};

using Duration = Quantity<struct DurationTag>;
using Bytes = Quantity<struct BytesTag>;
using BitRate = Quantity<struct BitRateTag>;
using Length = Quantity<struct LengthTag>;
using Share = Quantity<struct ShareTag>;

/// An instant, counted from the start of a run. Time - Time is a Duration; Time + Time does not
/// exist.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time at(Duration since_start) { return Time(since_start); }
  static constexpr Time never() { return Time(Duration::max()); }
  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }
  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.since_start_ + d); }
  friend constexpr Time operator-(Time t, Duration d) { return Time(t.since_start_ - d); }
  friend constexpr Duration operator-(Time a, Time b) { return a.since_start_ - b.since_start_; }

 private:
  constexpr explicit Time(Duration since_start) : since_start_(since_start) {}
  Duration since_start_;
};

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
inline constexpr std::int64_t kSharePerWhole = 1'000'000;

/// Time to put `size` on a wire of `rate`, rounded up to the next picosecond (a rate that is not a
/// whole number of ps per byte costs at most 1 ps per frame). REQUIRES: rate > 0, size >= 0.
constexpr Duration serialization_time(Bytes size, BitRate rate) {
  WEIR_CHECK(rate.raw() > 0 && size.raw() >= 0);
  const Int128 bit_picoseconds = Int128{size.raw()} * 8 * kPicosecondsPerSecond;
  return Duration::raw(static_cast<std::int64_t>((bit_picoseconds + rate.raw() - 1) / rate.raw()));
}

/// Whole bytes that `rate` carries in `time`, rounded down. REQUIRES: neither is negative.
constexpr Bytes bytes_in(Duration time, BitRate rate) {
  WEIR_CHECK(rate.raw() >= 0 && time.raw() >= 0);
  return Bytes::raw(
      static_cast<std::int64_t>(Int128{time.raw()} * rate.raw() / 8 / kPicosecondsPerSecond));
}

/// `share` of `whole`, rounded down.
template <class Tag>
constexpr Quantity<Tag> share_of(Quantity<Tag> whole, Share share) {
  return Quantity<Tag>::raw(
      static_cast<std::int64_t>(Int128{whole.raw()} * share.raw() / kSharePerWhole));
}

inline namespace literals {
consteval Duration operator""_ps(unsigned long long n) {
  return Duration::raw(static_cast<std::int64_t>(n));
}
consteval Duration operator""_ns(unsigned long long n) {
  return Duration::raw(static_cast<std::int64_t>(n) * 1'000);
}
consteval Duration operator""_us(unsigned long long n) {
  return Duration::raw(static_cast<std::int64_t>(n) * 1'000'000);
}
consteval Duration operator""_ms(unsigned long long n) {
  return Duration::raw(static_cast<std::int64_t>(n) * 1'000'000'000);
}
consteval Duration operator""_s(unsigned long long n) {
  return Duration::raw(static_cast<std::int64_t>(n) * kPicosecondsPerSecond);
}
consteval Bytes operator""_B(unsigned long long n) {
  return Bytes::raw(static_cast<std::int64_t>(n));
}
consteval Bytes operator""_KB(unsigned long long n) {
  return Bytes::raw(static_cast<std::int64_t>(n) * 1'000);
}
consteval Bytes operator""_MB(unsigned long long n) {
  return Bytes::raw(static_cast<std::int64_t>(n) * 1'000'000);
}
consteval Bytes operator""_KiB(unsigned long long n) {
  return Bytes::raw(static_cast<std::int64_t>(n) << 10U);
}
consteval Bytes operator""_MiB(unsigned long long n) {
  return Bytes::raw(static_cast<std::int64_t>(n) << 20U);
}
consteval BitRate operator""_Mbps(unsigned long long n) {
  return BitRate::raw(static_cast<std::int64_t>(n) * 1'000'000);
}
consteval BitRate operator""_Gbps(unsigned long long n) {
  return BitRate::raw(static_cast<std::int64_t>(n) * 1'000'000'000);
}
consteval Length operator""_m(unsigned long long n) {
  return Length::raw(static_cast<std::int64_t>(n) * 1'000);
}
consteval Share operator""_percent(unsigned long long n) {
  return Share::raw(static_cast<std::int64_t>(n) * 10'000);
}
}  // namespace literals

}  // namespace weir
