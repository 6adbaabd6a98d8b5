#include "model/pause_loop.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::model {
namespace {

struct WorstMix {
  std::int64_t cells = 0;
  std::int64_t frames = 0;
};

/// Most cells that frames of at most `window` wire bytes together can take.
///
/// For n frames: start with n smallest ones. Making one of them a cell larger costs `first_step`
/// bytes the first time (the rest of its last cell, plus one) and a whole cell each further time;
/// first_step never exceeds a cell, so the cheap steps come first and the greedy choice is the best
/// one.
WorstMix worst_mix(const PauseLoop& loop, std::int64_t window) {
  const std::int64_t cell = loop.cell.raw();
  const auto cells_of = [&](Bytes frame) {
    return cell_occupancy(frame, loop.cell, loop.descriptor).raw() / cell;
  };
  const std::int64_t least = cells_of(loop.smallest_frame);
  const std::int64_t growth = cells_of(loop.max_frame) - least;  // cells a frame can gain
  const std::int64_t wire = wire_size(loop.smallest_frame).raw();
  const std::int64_t first_step =
      least * cell + 1 - loop.descriptor.raw() - loop.smallest_frame.raw();
  WorstMix best;
  for (std::int64_t n = 0; n * wire <= window; ++n) {
    std::int64_t spare = window - n * wire;
    std::int64_t cells = n * least;
    if (growth > 0) {
      const std::int64_t cheap = std::min(n, spare / first_step);
      spare -= cheap * first_step;
      cells += cheap;
      if (cheap == n) cells += std::min(n * (growth - 1), spare / cell);
    }
    if (cells > best.cells) best = {cells, n};
  }
  return best;
}

}  // namespace

PauseLoopNeed pause_loop_need(const PauseLoop& loop) {
  WEIR_CHECK(loop.rate.raw() > 0 && loop.propagation >= Duration() &&
             loop.own_latency >= Duration());
  WEIR_CHECK(loop.peer_reaction >= Duration() && loop.descriptor >= 0_B && loop.cell > 0_B);
  WEIR_CHECK(loop.smallest_frame > 0_B && loop.smallest_frame <= loop.max_frame);
  const Bytes largest = cell_occupancy(loop.max_frame, loop.cell, loop.descriptor);

  PauseLoopNeed need;
  const auto add = [&](std::string name, Bytes bytes, std::string why) {
    need.terms.push_back({std::move(name), bytes, std::move(why)});
    need.total += bytes;
  };
  if (loop.crossing_frame_counts)
    add("crossing frame", largest, "the frame that crosses XOFF, charged to headroom as a whole");

  Bytes in_window;
  const auto wait = [&](std::string name, Duration duration, std::string why) {
    need.window += duration;
    const Bytes so_far = bytes_in(need.window, loop.rate);
    add(std::move(name), so_far - in_window, std::move(why));
    in_window = so_far;
  };
  wait("own latency", loop.own_latency, "line rate while the switch makes the PFC frame");
  wait("blocking frame", serialization_time(wire_size(loop.max_reverse_frame), loop.rate),
       "the PFC frame waits for the largest frame just begun in its direction");
  wait("PFC frame", serialization_time(wire_size(loop.pause_frame), loop.rate),
       "the PFC frame on the wire, with preamble and gap");
  wait("cable, there", loop.propagation, "line rate while the PFC frame travels");
  wait("peer reaction", loop.peer_reaction, "line rate until the peer starts no further frame");
  wait("cable, back", loop.propagation, "what was on the cable at that moment");

  const Duration open = loop.pause_wins_ties ? need.window - 1_ps : need.window;
  const std::int64_t usable = open >= Duration() ? bytes_in(open, loop.rate).raw() : -1;
  const WorstMix mix = worst_mix(loop, usable);
  add("cells and gaps", loop.cell * mix.cells - in_window,
      "the worst mix of frames for that time: cells waste, preambles and gaps are not stored");
  if (usable >= 0) add("last frame", largest, "begun before the peer stops, and completed");
  need.frames = mix.frames + (usable >= 0 ? 1 : 0);
  return need;
}

Bytes exact_headroom_need(const PauseLoop& loop) {
  return pause_loop_need(loop).total;
}

}  // namespace weir::model
