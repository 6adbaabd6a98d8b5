#pragma once
// Measures of fixed size, however long the capture: bins over time that widen, and a histogram of
// durations or sizes.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// `N` bins from the first moment on. When time runs past the last one, two neighbours become one
/// and the width doubles. `Bin` has += .
template <class Bin, std::size_t N>
class Timeline {
 public:
  /// The bin of `offset_ns` after the start; before the start counts as the start.
  Bin& at(std::int64_t offset_ns) {
    auto offset = static_cast<std::uint64_t>(offset_ns < 0 ? 0 : offset_ns);
    while ((offset >> shift_) >= N)
      widen();
    const auto index = static_cast<std::size_t>(offset >> shift_);
    if (index >= used_) used_ = index + 1;
    return bins_[index];
  }
  [[nodiscard]] std::int64_t width_ns() const { return std::int64_t{1} << shift_; }
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] const Bin& operator[](std::size_t index) const { return bins_[index]; }

 private:
  void widen() {
    for (std::size_t i = 0; i < N / 2; ++i) {
      bins_[i] = bins_[2 * i];
      bins_[i] += bins_[2 * i + 1];
    }
    for (std::size_t i = N / 2; i < N; ++i)
      bins_[i] = Bin{};
    used_ = (used_ + 1) / 2;
    ++shift_;
  }
  unsigned shift_ = 10;  // 1.024 us
  std::size_t used_ = 0;
  std::array<Bin, N> bins_{};
};

/// Counts by size, four buckets an octave: a quantile is known within a quarter of its value;
/// count, sum, least and most are exact.
class Histogram {
 public:
  void add(std::uint64_t value) {
    ++count_;
    sum_ += value;
    if (count_ == 1 || value < least_) least_ = value;
    if (value > most_) most_ = value;
    ++buckets_[bucket(value)];
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t least() const { return least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  /// The upper end of the bucket that holds the `per_thousand` quantile, at most `most()`.
  [[nodiscard]] std::uint64_t quantile(unsigned per_thousand) const {
    const std::uint64_t rank = (count_ * per_thousand + 999) / 1000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= rank && seen > 0) return upper(i) < most_ ? upper(i) : most_;
    }
    return most_;
  }
  Histogram& operator+=(const Histogram& other) {
    if (other.count_ == 0) return *this;
    if (count_ == 0 || other.least_ < least_) least_ = other.least_;
    if (other.most_ > most_) most_ = other.most_;
    count_ += other.count_;
    sum_ += other.sum_;
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      buckets_[i] += other.buckets_[i];
    return *this;
  }

 private:
  static constexpr std::size_t kBuckets = 176;  // up to 2^45: ten hours in nanoseconds
  static std::size_t bucket(std::uint64_t value) {
    if (value < 4) return static_cast<std::size_t>(value);
    const auto octave = static_cast<unsigned>(std::bit_width(value)) - 3;  // of 4 buckets
    const std::size_t index = std::size_t{octave} * 4 + (value >> octave);
    return index < kBuckets ? index : kBuckets - 1;
  }
  static std::uint64_t upper(std::size_t index) {
    if (index < 8) return index;
    const std::size_t octave = index / 4 - 1;
    return ((index % 4 + 5) << octave) - 1;
  }
  std::array<std::uint32_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace weir::wire
