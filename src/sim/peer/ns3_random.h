#pragma once
// The random numbers of ns-3 (model `hpcc`): MRG32k3a by L'Ecuyer (Operations Research 47(1),
// 1999), seed 1, run 1. The peer makes a new stream for every draw, so a draw is the first number
// of the next stream: streams are 2^127 apart, and run 1 begins 2^76 into one.
//
// With the same draws in the same order the peer's marks fall on the same packets.
#include <array>
#include <cstdint>

namespace weir::sim {

class Ns3Random {
 public:
  /// The first draw comes from stream `stream`: how many the peer used up before its run began.
  explicit Ns3Random(std::uint64_t stream = 0);

  /// Uniform in (0, 1), from a stream of its own.
  double next();  // as the peer computes
  /// A draw whose value nobody looks at.
  void skip() { advance(); }

 private:
  using Vector = std::array<std::uint64_t, 3>;
  using Matrix = std::array<Vector, 3>;
  void advance();

  Matrix stream_1_;  // one stream on
  Matrix stream_2_;
  Matrix run_1_;  // into run 1
  Matrix run_2_;
  Vector state_1_;
  Vector state_2_;
};

}  // namespace weir::sim
