#include "model/pause_loop.h"

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "base/testing.h"
#include "model/headroom.h"

namespace weir::model {
namespace {

PauseLoop loop_400g() {
  PauseLoop loop;
  loop.rate = 400_Gbps;
  loop.propagation = cable_delay(30_m);
  loop.max_frame = 4158_B;
  loop.smallest_frame = 4158_B;
  loop.peer_reaction = 500_ns;
  loop.own_latency = 300_ns;
  return loop;
}

TEST(PauseLoop, EqualFramesGiveTheSumDoneByHand) {
  COVERS("F2");
  const PauseLoopNeed need = pause_loop_need(loop_400g());
  // 300 ns + 9236 B + 84 B + 150 ns + 500 ns + 150 ns = 1286.4 ns = 64,320 B on the wire:
  // 15 frames of 4178 B fit (62,670 B), a 16th is begun; the crossing one comes on top.
  EXPECT_EQ(need.window.raw(), 1'286'400);
  EXPECT_EQ(need.frames, 16);
  EXPECT_EQ(need.total, 17 * 4158_B);
}

TEST(PauseLoop, AFrameDueAtTheVeryInstantDependsOnWhoWins) {
  PauseLoop loop = loop_400g();
  loop.own_latency = 300_ns - serialization_time(64'320_B - 15 * 4178_B, loop.rate);  // exactly 15
  EXPECT_EQ(exact_headroom_need(loop), 17 * 4158_B);
  loop.pause_wins_ties = true;
  EXPECT_EQ(exact_headroom_need(loop), 16 * 4158_B);
}

TEST(PauseLoop, TermsAddUp) {
  for (const Bytes cell : {1_B, 208_B, 254_B}) {
    PauseLoop loop = loop_400g();
    loop.smallest_frame = 64_B;
    loop.cell = cell;
    const PauseLoopNeed need = pause_loop_need(loop);
    Bytes sum;
    for (const Term& term : need.terms)
      sum += term.bytes;
    EXPECT_EQ(sum, need.total);
    EXPECT_EQ(need.total.raw() % cell.raw(), 0);
  }
}

TEST(PauseLoop, SmallFramesInCellsCostSeveralTimesTheirBytes) {
  COVERS("F2");
  PauseLoop loop = loop_400g();
  loop.cell = 254_B;
  const Bytes large = exact_headroom_need(loop);
  loop.smallest_frame = 64_B;
  const Bytes any = exact_headroom_need(loop);
  // 64,320 B of wire time hold 765 frames of 84 B, a cell each; the last and the crossing frame are
  // large.
  EXPECT_EQ(any, 254_B * (765 + 2 * 17));
  EXPECT_GT(any, 2 * large);
}

/// Most cells for `window` wire bytes by brute force over every size and count.
std::int64_t brute_force_cells(const PauseLoop& loop, std::size_t window) {
  std::vector<std::pair<std::size_t, std::int64_t>> sizes;  // on the wire, in cells
  for (Bytes frame = loop.smallest_frame; frame <= loop.max_frame; frame += 1_B) {
    sizes.emplace_back(wire_size(frame).raw(),
                       cell_occupancy(frame, loop.cell, loop.descriptor).raw() / loop.cell.raw());
  }
  std::vector<std::int64_t> best(window + 1, 0);
  for (std::size_t room = 0; room <= window; ++room) {
    for (const auto& [wire, cells] : sizes)
      if (wire <= room) best[room] = std::max(best[room], best[room - wire] + cells);
  }
  return best[window];
}

TEST(PauseLoop, TheWorstMixIsTheBruteForceOptimum) {
  for (const Bytes cell : {1_B, 64_B, 96_B, 208_B, 254_B}) {
    for (const Bytes descriptor : {0_B, 40_B}) {
      for (const std::size_t window : {83U, 84U, 400U, 777U, 1234U}) {
        PauseLoop loop;
        loop.rate = 400_Gbps;
        loop.max_frame = 300_B;
        loop.smallest_frame = 64_B;
        loop.max_reverse_frame = 0_B;
        loop.pause_frame = 0_B;
        loop.cell = cell;
        loop.descriptor = descriptor;
        loop.crossing_frame_counts = false;
        // The two gaps of 20 B are part of the window already.
        loop.peer_reaction =
            serialization_time(Bytes::raw(static_cast<std::int64_t>(window) - 40), loop.rate);
        const Bytes last = cell_occupancy(loop.max_frame, cell, descriptor);
        EXPECT_EQ(exact_headroom_need(loop), cell * brute_force_cells(loop, window) + last)
            << cell.raw() << " " << descriptor.raw() << " " << window;
      }
    }
  }
}

/// A sender that fills the wire with frames of random sizes, and a receiver that pauses it at t =
/// 0.
Bytes charged_in_a_run(const PauseLoop& loop, RandomStream& random) {
  const auto draw = [&] {
    const auto span = static_cast<std::uint32_t>((loop.max_frame - loop.smallest_frame).raw() + 1);
    const std::int64_t extreme = static_cast<std::int64_t>(random.below(3));  // favour the ends
    if (extreme == 0) return loop.max_frame;
    if (extreme == 1) return loop.smallest_frame;
    return loop.smallest_frame + Bytes::raw(static_cast<std::int64_t>(random.below(span)));
  };
  const auto charge = [&](Bytes frame) {
    return cell_occupancy(frame, loop.cell, loop.descriptor);
  };
  const Duration stop = loop.own_latency +
                        serialization_time(wire_size(loop.max_reverse_frame), loop.rate) +
                        serialization_time(wire_size(loop.pause_frame), loop.rate) +
                        loop.propagation + loop.peer_reaction;
  Bytes charged = loop.crossing_frame_counts ? charge(draw()) : 0_B;
  for (Duration start = Duration() - loop.propagation; start <= stop;) {
    const Bytes frame = draw();
    charged += charge(frame);
    start += serialization_time(wire_size(frame), loop.rate);
  }
  return charged;
}

TEST(PauseLoop, NoRunOfAnyFramesExceedsTheNeed) {
  constexpr std::uint64_t kSeed = 20'250'101;
  SCOPED_TRACE(kSeed);
  RandomStream random(kSeed, 0, 0);
  Bytes closest = Bytes::max();
  for (int run = 0; run < 2'000; ++run) {
    PauseLoop loop = loop_400g();
    loop.propagation = Duration::raw(static_cast<std::int64_t>(random.below(500'000)));
    loop.peer_reaction = Duration::raw(static_cast<std::int64_t>(random.below(2'000'000)));
    loop.cell = run % 3 == 0 ? 1_B : Bytes::raw(64 + static_cast<std::int64_t>(random.below(400)));
    loop.max_frame = Bytes::raw(500 + static_cast<std::int64_t>(random.below(8'000)));
    loop.smallest_frame = run % 4 == 0 ? loop.max_frame : 64_B;
    const Bytes spare = exact_headroom_need(loop) - charged_in_a_run(loop, random);
    ASSERT_GE(spare, 0_B) << run;
    if (loop.smallest_frame == loop.max_frame) {
      ASSERT_EQ(spare, 0_B) << "equal frames leave no choice: the need is met to the byte, run "
                            << run;
    }
    closest = std::min(closest, spare);
  }
  EXPECT_EQ(closest, 0_B);
}

TEST(PauseLoop, GrowsWithEveryDelayAndFrame) {
  const Bytes base = exact_headroom_need(loop_400g());
  for (const auto change : {+[](PauseLoop& l) { l.propagation += 100_ns; },
                            +[](PauseLoop& l) { l.peer_reaction += 100_ns; },
                            +[](PauseLoop& l) { l.own_latency += 100_ns; },
                            +[](PauseLoop& l) { l.max_reverse_frame += 4096_B; },
                            +[](PauseLoop& l) { l.cell = 254_B; }}) {
    PauseLoop loop = loop_400g();
    change(loop);
    EXPECT_GT(exact_headroom_need(loop), base);
  }
}

}  // namespace
}  // namespace weir::model
