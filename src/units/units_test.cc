#include <concepts>

#include "base/testing.h"
#include "units/format.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Equatable = requires(A a, B b) {
  a == b;
};

static_assert(!Addable<Bytes, Duration> && !Addable<Time, Time> && !Addable<Bytes, int>);
static_assert(!Equatable<Dscp, TosByte> && !Equatable<Dscp, Priority> &&
              !Equatable<Bytes, BitRate>);
static_assert(!std::convertible_to<int, Bytes> && !std::convertible_to<Bytes, std::int64_t>);
static_assert(!std::convertible_to<unsigned, Dscp> && !std::convertible_to<Dscp, unsigned>);
static_assert(Addable<Time, Duration> && std::same_as<decltype(Time() - Time()), Duration>);
static_assert(serialization_time(64_B, 400_Gbps) == 1280_ps);
static_assert(serialization_time(1_B, BitRate::raw(3'200'000'000'000)) == 3_ps);  // 2.5, rounded up
static_assert(!Dscp::make(106) && Dscp::make(63));
static_assert(1_KB == 1000_B && 1_KiB == 1024_B);

TEST(Tos, EveryDscpAndEcnSurvivesTheRoundTrip) {
  COVERS("A3");
  for (unsigned d = 0; d < 64; ++d) {
    for (unsigned e = 0; e < 4; ++e) {
      const TosByte tos = tos_byte(Dscp::of(d), static_cast<Ecn>(e));
      EXPECT_EQ(tos.value(), d * 4 + e);
      EXPECT_EQ(dscp_of(tos).value(), d);
      EXPECT_EQ(static_cast<unsigned>(ecn_of(tos)), e);
    }
  }
}

TEST(Tos, TheSourcesTable) {
  COVERS("A3");
  EXPECT_EQ(tos_byte(0_dscp, Ecn::kNotEct), 0_tos);
  EXPECT_EQ(tos_byte(26_dscp, Ecn::kNotEct), 104_tos);
  EXPECT_EQ(tos_byte(26_dscp, Ecn::kEct0), 106_tos);
  EXPECT_EQ(tos_byte(46_dscp, Ecn::kNotEct), 184_tos);
  EXPECT_EQ(dscp_of(26_tos), 6_dscp);
}

TEST(Quantity, WireTimeIsExactAtEverySpeedWeSell) {
  for (const auto& [gbps, ps_per_byte] : {std::pair{100, 80}, {200, 40}, {400, 20}, {800, 10}}) {
    const BitRate rate = BitRate::raw(gbps * 1'000'000'000LL);
    EXPECT_EQ(serialization_time(9216_B, rate).raw(), 9216 * ps_per_byte);
    EXPECT_EQ(bytes_in(serialization_time(9216_B, rate), rate), 9216_B);
  }
}

TEST(Format, ReadsDecimalAndBinarySizesAndNeverConfusesThem) {
  EXPECT_EQ(*parse_bytes("100KB"), 100'000_B);
  EXPECT_EQ(*parse_bytes("100 KB"), 100'000_B);
  EXPECT_EQ(*parse_bytes("64KiB"), 65'536_B);
  EXPECT_EQ(*parse_bytes("1.5MB"), 1'500'000_B);
  EXPECT_EQ(*parse_bytes("1MiB"), 1'048'576_B);
}

TEST(Format, ABareNumberIsAnErrorThatSuggestsTheUnit) {
  EXPECT_EQ(
      parse_bytes("9216").error().what,
      "expected a size such as 9216B, 100KB, 1.5MB or 64KiB, found '9216'; a bare number has no "
      "unit: did you mean 9216B?");
  EXPECT_NE(parse_rate("400").error().what.find("did you mean 400G?"), std::string::npos);
  EXPECT_NE(parse_length("3").error().what.find("did you mean 3m?"), std::string::npos);
  EXPECT_NE(parse_share("10").error().what.find("did you mean 10%?"), std::string::npos);
  EXPECT_NE(parse_duration("55").error().what.find("did you mean 55us?"), std::string::npos);
}

TEST(Format, RefusesWhatIsNotAQuantity) {
  for (const char* bad :
       {"", "KB", "-1KB", "1..5KB", "1e3B", "1 K B", "0.5B", "99999999999GB", "1kb"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  EXPECT_FALSE(parse_duration("0.5ps"));
  EXPECT_FALSE(parse_alpha("1/3"));
  EXPECT_FALSE(parse_alpha("0"));
}

TEST(Format, PrintsTheShortestExactForm) {
  EXPECT_EQ(to_text(1'500'000_B), "1.5MB");
  EXPECT_EQ(to_text(9216_B), "9216B");
  EXPECT_EQ(to_text(65'536_B), "64KiB");
  EXPECT_EQ(to_text(100_KB), "100KB");
  EXPECT_EQ(to_text(0_B), "0B");
  EXPECT_EQ(to_text(55_us), "55us");
  EXPECT_EQ(to_text(1280_ps), "1.28ns");
  EXPECT_EQ(to_text(400_Gbps), "400G");
  EXPECT_EQ(to_text(1'600_Gbps), "1.6T");
  EXPECT_EQ(to_text(1'500_ms), "1.5s");
  EXPECT_EQ(to_text(40_Mbps), "40M");
  EXPECT_EQ(to_text(30_m), "30m");
  EXPECT_EQ(to_text(10_percent), "10%");
  EXPECT_EQ(to_text(Share::raw(5'000)), "0.5%");
  EXPECT_EQ(to_text(Alpha::from_log2(-3)), "1/8");
  EXPECT_EQ(to_text(PrioritySet::from_mask(0x18)), "3,4");
}

TEST(Format, WhatIsPrintedReadsBackTheSame) {
  for (std::int64_t n = 1; n < 4'000'000'000'000; n = n * 3 + 1) {
    EXPECT_EQ(*parse_bytes(to_text(Bytes::raw(n))), Bytes::raw(n));
    EXPECT_EQ(*parse_duration(to_text(Duration::raw(n))), Duration::raw(n));
    EXPECT_EQ(*parse_rate(to_text(BitRate::raw(n))), BitRate::raw(n));
    EXPECT_EQ(*parse_length(to_text(Length::raw(n))), Length::raw(n));
    EXPECT_EQ(*parse_share(to_text(Share::raw(n))), Share::raw(n));
  }
  for (int log2 = Alpha::kMinLog2; log2 <= Alpha::kMaxLog2; ++log2)
    EXPECT_EQ(*parse_alpha(to_text(Alpha::from_log2(log2))), Alpha::from_log2(log2));
}

TEST(Format, ApproximatesForPeople) {
  EXPECT_EQ(approximate(1'183'100_B), "1.18MB");
  EXPECT_EQ(approximate(Duration::raw(83'560)), "83.6ns");
  EXPECT_EQ(approximate(0_B), "0B");
}

}  // namespace
}  // namespace weir
