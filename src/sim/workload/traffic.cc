#include "sim/workload/traffic.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace weir::sim {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Share share(std::int64_t hundredths_of_percent) {
  return Share::raw(hundredths_of_percent * 100);
}

// The tables of the HPCC simulator's traffic generator, as published with it.
constexpr std::array kWebSearch{
    CdfPoint{10_KB, share(1500)}, CdfPoint{20_KB, share(2000)}, CdfPoint{30_KB, share(3000)},
    CdfPoint{50_KB, share(4000)}, CdfPoint{80_KB, share(5300)}, CdfPoint{200_KB, share(6000)},
    CdfPoint{1_MB, share(7000)},  CdfPoint{2_MB, share(8000)},  CdfPoint{5_MB, share(9000)},
    CdfPoint{10_MB, share(9700)}, CdfPoint{30_MB, share(10000)}};
constexpr std::array kHadoop{
    CdfPoint{100_B, share(100)},  CdfPoint{300_B, share(500)},   CdfPoint{350_B, share(1500)},
    CdfPoint{400_B, share(2000)}, CdfPoint{500_B, share(3000)},  CdfPoint{600_B, share(4000)},
    CdfPoint{700_B, share(5000)}, CdfPoint{1_KB, share(6000)},   CdfPoint{2_KB, share(6700)},
    CdfPoint{7_KB, share(7000)},  CdfPoint{30_KB, share(7200)},  CdfPoint{50_KB, share(8200)},
    CdfPoint{80_KB, share(8700)}, CdfPoint{120_KB, share(9000)}, CdfPoint{300_KB, share(9500)},
    CdfPoint{1_MB, share(9750)},  CdfPoint{2_MB, share(9900)},   CdfPoint{10_MB, share(10000)}};
constexpr std::array kStorage{CdfPoint{4_KB, share(2293)},   CdfPoint{8_KB, share(6921)},
                              CdfPoint{16_KB, share(8061)},  CdfPoint{32_KB, share(9047)},
                              CdfPoint{64_KB, share(9353)},  CdfPoint{128_KB, share(9677)},
                              CdfPoint{256_KB, share(9753)}, CdfPoint{2_MB, share(10000)}};

constexpr std::array kDistributions{
    SizeDistribution{"websearch", "web search (DCTCP), 10 KB to 30 MB", kWebSearch,
                     "HPCC simulator, WebSearch_distribution.txt"},
    SizeDistribution{"hadoop", "Hadoop of Facebook, 100 B to 10 MB", kHadoop,
                     "HPCC simulator, FbHdp_distribution.txt"},
    SizeDistribution{"storage", "Alibaba's storage, 4 KB to 2 MB", kStorage,
                     "HPCC simulator, AliStorage2019.txt"}};

enum Draw : std::uint64_t { kGap = 0x6A09, kSize = 0x510E, kTarget = 0x1F83 };

}  // namespace

std::span<const SizeDistribution> size_distributions() {
  return kDistributions;
}

const SizeDistribution* find_distribution(std::string_view name) {
  const auto* const found = std::find_if(kDistributions.begin(), kDistributions.end(),
                                         [&](const SizeDistribution& d) { return d.name == name; });
  return found == kDistributions.end() ? nullptr : found;
}

Bytes size_at(const SizeDistribution& distribution, std::uint64_t uniform) {
  // The draw in parts of a whole, in 2^-32 of a part per million.
  const auto drawn = static_cast<std::int64_t>((Wide{uniform} * kSharePerWhole) >> 32U);
  CdfPoint low{1_B, Share()};
  for (const CdfPoint& high : distribution.points) {
    const std::int64_t top = high.up_to.raw() << 32U;
    if (drawn < top) {
      const std::int64_t bottom = low.up_to.raw() << 32U;
      const Int128 above = Int128{high.size.raw() - low.size.raw()} * (drawn - bottom);
      return low.size + Bytes::raw(static_cast<std::int64_t>(above / (top - bottom)));
    }
    low = high;
  }
  WEIR_UNREACHABLE("a distribution ends at 100 %");
}

Bytes mean_size(const SizeDistribution& distribution) {
  std::int64_t twice = 0;  // in bytes * parts per million
  CdfPoint low{1_B, Share()};
  for (const CdfPoint& high : distribution.points) {
    twice += (high.up_to - low.up_to).raw() * (high.size + low.size).raw();
    low = high;
  }
  return Bytes::raw((twice + kSharePerWhole) / (2 * kSharePerWhole));
}

std::int64_t minus_ln_q32(std::uint64_t uniform) {
  WEIR_CHECK(uniform > 0);
  constexpr std::uint64_t kLn2Q32 = 2'977'044'472U;  // ln 2 * 2^32
  const auto zeros = static_cast<unsigned>(std::countl_zero(uniform));
  // uniform / 2^64 = m * 2^-(zeros + 1) with m in [1, 2). log2(m) bit by bit: squaring m doubles
  // its logarithm, and whenever m reaches 2 the next bit is 1.
  std::uint64_t m = uniform << zeros;  // m in 2^-63
  std::uint64_t log2 = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const Wide square = Wide{m} * m;  // in 2^-126
    const bool doubled = (square >> 127U) != 0;
    log2 = (log2 << 1U) | (doubled ? 1U : 0U);
    m = static_cast<std::uint64_t>(square >> (doubled ? 64U : 63U));
  }
  const std::uint64_t exponent = ((std::uint64_t{zeros} + 1) << 32U) - log2;
  return static_cast<std::int64_t>((Wide{exponent} * kLn2Q32) >> 32U);
}

std::vector<Arrival> poisson_arrivals(const OpenLoop& spec, std::uint64_t seed,
                                      std::uint64_t purpose, std::size_t limit) {
  WEIR_CHECK(spec.sources >= 2 && spec.rate.raw() > 0 && spec.load.raw() > 0);
  const Bytes mean = spec.fixed_size > Bytes() ? spec.fixed_size : mean_size(*spec.sizes);
  // One flow every mean * 8 / (load * rate) seconds.
  const auto mean_gap =
      static_cast<std::int64_t>(Int128{mean.raw()} * 8 * kPicosecondsPerSecond / spec.rate.raw() *
                                kSharePerWhole / spec.load.raw());
  std::vector<Arrival> arrivals;
  for (std::uint32_t source = 0; source < spec.sources; ++source) {
    RandomStream gaps(seed, source, purpose ^ kGap);
    RandomStream sizes(seed, source, purpose ^ kSize);
    RandomStream targets(seed, source, purpose ^ kTarget);
    Duration at;
    for (;;) {
      const std::int64_t draw = minus_ln_q32(gaps.next() | 1U);
      at += Duration::raw(static_cast<std::int64_t>((Int128{mean_gap} * draw) >> 32U));
      if (at >= spec.duration || arrivals.size() >= limit) break;
      const auto other = static_cast<std::uint32_t>(targets.below(spec.sources - 1));
      const Bytes size =
          spec.fixed_size > Bytes() ? spec.fixed_size : size_at(*spec.sizes, sizes.next());
      arrivals.push_back({spec.start + at, source, other < source ? other : other + 1, size});
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return arrivals;
}

}  // namespace weir::sim
