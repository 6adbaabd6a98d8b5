#include "model/wred.h"

#include <array>

#include <fmt/format.h>

#include "units/format.h"

namespace weir::model {
namespace {

constexpr BitRate kReferenceSpeed = 400_Gbps;
constexpr WredCurve kReference = {100_KB, 1500_KB, 10_percent};
constexpr Bytes kTwoLargeFrames = 8'316_B;  // two RoCE frames of 4096 B payload

constexpr std::string_view kRead = "read in the source";
constexpr std::string_view kSecondary = "secondary source";
constexpr std::string_view kMemory = "from memory, unverified";
constexpr std::string_view kHpccNic =
    "timers 1/4/300 us (production 900 us), AI 5 Mb/s per 25G, fast recovery 1";
constexpr BitRate kAnySlow = 1_Gbps;
constexpr BitRate kAnyFast = BitRate::raw(10'000'000'000'000);

constexpr std::array kPublished = {
    PublishedWred{"Microsoft, SIGCOMM 2015", "40G", 40_Gbps, 40_Gbps, 5_KB, 200_KB, 1_percent,
                  "T 55 us, B 10 MB, g 1/256, AI 40 Mb/s, F 5, CNP interval 50 us", kRead},
    PublishedWred{"Alibaba HPCC artifact", "25G", 25_Gbps, 25_Gbps, 100_KB, 400_KB, 20_percent,
                  kHpccNic, kRead},
    PublishedWred{"Alibaba HPCC artifact", "50G", 50_Gbps, 50_Gbps, 200_KB, 800_KB, 20_percent,
                  kHpccNic, kRead},
    PublishedWred{"Alibaba HPCC artifact", "100G", 100_Gbps, 100_Gbps, 400_KB, 1600_KB, 20_percent,
                  kHpccNic, kRead},
    PublishedWred{"Alibaba HPCC artifact", "400G", 400_Gbps, 400_Gbps, 1600_KB, 6400_KB, 20_percent,
                  kHpccNic, kRead},
    PublishedWred{"DCQCN+, ICNP 2018", "10-40G", 10_Gbps, 40_Gbps, 20_KB, 200_KB, std::nullopt,
                  "CNP interval adaptive, at least 45 us", kRead},
    PublishedWred{"NVIDIA Onyx and Cumulus `roce`", "any", kAnySlow, kAnyFast, 150_KB, 1500_KB,
                  std::nullopt, "ConnectX defaults; Cumulus ships a probability of 100 %", kRead},
    PublishedWred{"Cisco NX-OS AI/ML blueprint", "100-400G", 100_Gbps, 400_Gbps, 150_KB, 3000_KB,
                  7_percent, "DSCP 26 to queue 3, CNP 48 to queue 7", kSecondary},
    PublishedWred{"Arista EOS", "400G", 400_Gbps, 400_Gbps, 500_KB, 1500_KB, 20_percent, "",
                  kSecondary},
    PublishedWred{"SONiC AZURE_LOSSLESS", "40-400G", 40_Gbps, 400_Gbps, 1_MiB, 2_MiB, 5_percent,
                  "PFC on 3 and 4", kMemory},
    PublishedWred{"Meta, CTSW relaxed", "200G", 200_Gbps, 200_Gbps, 5_MB, std::nullopt,
                  std::nullopt, "DCQCN off at 400G", kRead},
    PublishedWred{
        "ByteDance Barre, tuned DCQCN", "400G", 400_Gbps, 400_Gbps, std::nullopt, std::nullopt,
        std::nullopt,
        "CNP interval 0-2 us, min_dec_fac 80-98, monitor 1-4 us, AI 8-20 Mb/s, T 20-100 us", kRead},
    PublishedWred{"ByteTuning grid, low", "40G", 40_Gbps, 40_Gbps, 5_KB, 200_KB, 10_percent,
                  "also with 50 %; PFC at 300 KB or 800/838 KB", kRead},
    PublishedWred{"ByteTuning grid, high", "40G", 40_Gbps, 40_Gbps, 200_KB, 400_KB, 10_percent,
                  "also with 50 %; PFC at 300 KB or 800/838 KB", kRead},
};

/// value * speed / 400G, to the nearest byte.
Bytes scaled(Bytes value, BitRate speed) {
  const Int128 product = Int128{value.raw()} * speed.raw() + kReferenceSpeed.raw() / 2;
  return Bytes::raw(static_cast<std::int64_t>(product / kReferenceSpeed.raw()));
}

}  // namespace

Status validate(const WredCurve& curve) {
  if (curve.min <= 0_B || curve.max < curve.min) {
    return invalid_error(fmt::format("expected 0B < min <= max, found min {} and max {}",
                                     to_text(curve.min), to_text(curve.max)));
  }
  if (curve.max_share <= Share() || curve.max_share > 100_percent) {
    return invalid_error(
        fmt::format("expected a marking probability over 0% and up to 100%, found {}",
                    to_text(curve.max_share)));
  }
  return {};
}

double mark_probability(const WredCurve& curve, Bytes queue) {
  if (queue <= curve.min) return 0;
  if (queue > curve.max) return 1;
  const double ramp = static_cast<double>((queue - curve.min).raw()) /
                      static_cast<double>((curve.max - curve.min).raw());
  return ramp * static_cast<double>(curve.max_share.raw()) / kSharePerWhole;
}

std::uint64_t mark_threshold_32(const WredCurve& curve, Bytes queue) {
  if (queue <= curve.min) return 0;
  if (queue > curve.max) return std::uint64_t{1} << 32U;
  const Int128 numerator = (Int128{(queue - curve.min).raw()} * curve.max_share.raw()) << 32;
  const Int128 denominator = Int128{(curve.max - curve.min).raw()} * kSharePerWhole;
  return static_cast<std::uint64_t>(numerator / denominator);
}

WredStart wred_start(BitRate speed) {
  WEIR_CHECK(speed >= kAnySlow && speed <= kAnyFast);
  WredStart start;
  start.curve = {scaled(kReference.min, speed), scaled(kReference.max, speed),
                 kReference.max_share};
  start.why =
      speed == kReferenceSpeed
          ? "starting value for 400G: 100 KB, 1.5 MB, 10 %"
          : fmt::format("100 KB, 1.5 MB, 10 % at 400G, scaled linearly to {}", to_text(speed));
  if (start.curve.min < kTwoLargeFrames)
    start.why += "; less than two large frames, so raise min where frames of 4 KB are in use";
  return start;
}

std::span<const PublishedWred> published_wred() {
  return kPublished;
}

std::vector<PublishedWred> published_wred_at(BitRate speed) {
  std::vector<PublishedWred> found;
  for (const PublishedWred& row : kPublished)
    if (row.slowest <= speed && speed <= row.fastest) found.push_back(row);
  return found;
}

}  // namespace weir::model
