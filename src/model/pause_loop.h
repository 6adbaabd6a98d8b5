#pragma once
// The exact headroom need of one pause loop: the most bytes that can be charged to headroom from
// the moment XOFF is crossed until the peer is silent. Vendor formulas estimate it; a simulator
// must meet it: with this much nothing is lost, with one cell less a worst case loses a packet.
//
// Time line, t = 0 when the last bit of the frame that crosses XOFF is in (switch R, peer S):
//   own_latency          until R has a PFC frame ready
//   + wire(reverse)      the largest frame R may just have begun to send the other way
//   + wire(pause_frame)  the PFC frame itself
//   + propagation        to S
//   + peer_reaction      until S starts no further frame of the priority
//   + propagation        the last frames on their way to R
// During that window T, S may *start* frames back to back (their first bits reach R one propagation
// later, counted above); the last one started is completed. Hence
//   need = [crossing frame] + max{ sum of cells : sum of wire sizes <= T x rate } + largest frame
// where wire(x) = x + 20 B, and a frame is charged cell * ceil((frame + descriptor) / cell). The
// maximum runs over every mix of frame sizes from smallest_frame to max_frame; it has a closed form
// for a given number of frames, so that it is exact and quick.
#include <vector>

#include "model/roce_wire.h"
#include "model/term.h"
#include "units/quantity.h"

namespace weir::model {

/// What a frame occupies in a buffer of cells; the first cell also holds the packet's descriptor
/// (switch-ASIC facts as published in FBOSS). A cell of 1 B means no cells. REQUIRES: cell > 0.
constexpr Bytes cell_occupancy(Bytes frame, Bytes cell, Bytes descriptor = {}) {
  WEIR_CHECK(cell > 0_B);
  const std::int64_t used = frame.raw() + descriptor.raw();
  return cell * ((used + cell.raw() - 1) / cell.raw());
}

struct PauseLoop {
  BitRate rate;
  Duration propagation;              // one way
  Bytes max_frame = 9216_B;          // largest frame of the paused priority
  Bytes smallest_frame = kMinFrame;  // smallest one; = max_frame where all are alike
  Bytes max_reverse_frame = 9216_B;  // largest frame in the other direction, any priority
  Bytes pause_frame = kPfcFrame;
  Duration peer_reaction;  // last bit of the PFC frame in -> no further frame is started
  Duration own_latency;    // XOFF crossed -> PFC frame ready for the wire
  Bytes cell = 1_B;
  Bytes descriptor;
  bool crossing_frame_counts =
      true;                      // the frame that crosses XOFF is charged to headroom as a whole
  bool pause_wins_ties = false;  // a frame due at the very instant of the stop is not started
};

struct PauseLoopNeed {
  Bytes total;
  Duration window;          // T: from XOFF to the arrival of the last frame's first bit
  std::int64_t frames = 0;  // of the worst mix, the last one included, the crossing one not
  std::vector<Term> terms;  // add up to total
};

/// REQUIRES: rate > 0, no negative time, 0 < smallest_frame <= max_frame, 0 <= descriptor < cell or
/// cell 1.
[[nodiscard]] PauseLoopNeed pause_loop_need(const PauseLoop&);
[[nodiscard]] Bytes exact_headroom_need(const PauseLoop&);

}  // namespace weir::model
