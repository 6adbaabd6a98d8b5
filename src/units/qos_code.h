#pragma once
// The small numbers of QoS, each a type of its own, because mixing them up is *the* mistake of this
// field: 26 typed where a TOS byte belongs is DSCP 6, and the traffic leaves the lossless class.
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>

#include "base/check.h"

namespace weir {

template <class Tag, unsigned Limit>
class Code {
 public:
  static constexpr unsigned kLimit = Limit;  // one past the largest value
  constexpr Code() = default;
  static constexpr std::optional<Code> make(std::uint64_t value) {
    if (value >= Limit) return std::nullopt;
    return Code(static_cast<unsigned>(value));
  }
  /// REQUIRES: value < Limit. For values that a table or loop already bounds.
  static constexpr Code of(unsigned value) {
    WEIR_CHECK(value < Limit);
    return Code(value);
  }
  [[nodiscard]] constexpr unsigned value() const { return value_; }
  friend constexpr auto operator<=>(Code, Code) = default;

 private:
  constexpr explicit Code(unsigned value) : value_(static_cast<std::uint8_t>(value)) {}
  std::uint8_t value_ = 0;
};

using Dscp = Code<struct DscpTag, 64>;                   // what a dscp-to-priority map takes
using TosByte = Code<struct TosByteTag, 256>;            // what an RDMA traffic_class file takes
using Pcp = Code<struct PcpTag, 8>;                      // 802.1p bits of a VLAN tag
using Priority = Code<struct PriorityTag, 8>;            // what PFC pauses
using TrafficClass = Code<struct TrafficClassTag, 8>;    // what a scheduler serves
using Queue = Code<struct QueueTag, 8>;                  // a switch's egress queue
using PriorityGroup = Code<struct PriorityGroupTag, 8>;  // a switch's ingress buffer accounting

/// The two low bits of the TOS byte (RFC 3168).
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

constexpr TosByte tos_byte(Dscp dscp, Ecn ecn) {
  return TosByte::of((dscp.value() << 2U) | static_cast<unsigned>(ecn));
}
constexpr Dscp dscp_of(TosByte tos) {
  return Dscp::of(tos.value() >> 2U);
}
constexpr Ecn ecn_of(TosByte tos) {
  return static_cast<Ecn>(tos.value() & 3U);
}

/// A set of priorities, as PFC enables them.
class PrioritySet {
 public:
  constexpr PrioritySet() = default;
  static constexpr PrioritySet from_mask(std::uint8_t mask) { return PrioritySet(mask); }
  [[nodiscard]] constexpr std::uint8_t mask() const { return mask_; }
  [[nodiscard]] constexpr bool contains(Priority p) const {
    return ((mask_ >> p.value()) & 1U) != 0;
  }
  [[nodiscard]] constexpr int count() const { return std::popcount(mask_); }
  constexpr void insert(Priority p) {
    mask_ = static_cast<std::uint8_t>(mask_ | (1U << p.value()));
  }
  friend constexpr bool operator==(PrioritySet, PrioritySet) = default;

 private:
  constexpr explicit PrioritySet(std::uint8_t mask) : mask_(mask) {}
  std::uint8_t mask_ = 0;
};

/// The dynamic-threshold factor of a shared buffer: a power of two on every ASIC we know
/// (switch-configs: SONiC 2^-8…2^7, Junos 2^-7…2^3, NVUE 1/128…64).
class Alpha {
 public:
  constexpr Alpha() = default;
  /// REQUIRES: -15 <= log2 <= 7.
  static constexpr Alpha from_log2(int log2) {
    WEIR_CHECK(log2 >= kMinLog2 && log2 <= kMaxLog2);
    Alpha alpha;
    alpha.log2_ = static_cast<std::int8_t>(log2);
    return alpha;
  }
  static constexpr int kMinLog2 = -15;
  static constexpr int kMaxLog2 = 7;
  [[nodiscard]] constexpr int log2() const { return log2_; }
  /// alpha * n, rounded down.
  [[nodiscard]] constexpr std::int64_t times(std::int64_t n) const {
    return log2_ >= 0 ? n << log2_ : n >> -log2_;
  }
  [[nodiscard]] constexpr double value() const {
    return log2_ >= 0 ? static_cast<double>(1 << log2_) : 1.0 / static_cast<double>(1 << -log2_);
  }
  friend constexpr auto operator<=>(Alpha, Alpha) = default;

 private:
  std::int8_t log2_ = 0;
};

inline namespace literals {
consteval Dscp operator""_dscp(unsigned long long n) {
  return Dscp::make(n).value();
}
consteval TosByte operator""_tos(unsigned long long n) {
  return TosByte::make(n).value();
}
consteval Priority operator""_prio(unsigned long long n) {
  return Priority::make(n).value();
}
consteval TrafficClass operator""_tc(unsigned long long n) {
  return TrafficClass::make(n).value();
}
consteval Queue operator""_queue(unsigned long long n) {
  return Queue::make(n).value();
}
}  // namespace literals

}  // namespace weir
