#pragma once
// Every number that a rule decides by, in one place: named, explained, and the caller's to change.
#include <cstdint>

#include "units/quantity.h"

namespace weir::diagnose {

struct Thresholds {
  // Share of the window that a port was paused: what the field calls a warning and an error.
  double pause_warning = 0.01;
  double pause_error = 0.05;
  // Paused nearly all the time, with nearly nothing received: stuck, not slow.
  double stuck_pause = 0.95;
  double stuck_rate = 0.005;  // of the line

  // Marks or CNPs after which silence is no accident: the first mark is answered at once, only the
  // next ones are paced. CNPs share their priority with routing protocols (CS6), hence more of
  // them.
  std::uint64_t marks_that_matter = 10;
  std::uint64_t cnps_that_matter = 20;

  // Traffic that is worth judging, and the share of it that belongs to the RDMA priority.
  std::uint64_t bytes_that_matter = 200'000;
  double rdma_share = 0.95;
  // Longer on average than this, packets are data and not acknowledgements.
  double data_packet_bytes = 512;

  // A marking threshold this many times off the design is a fault, not a choice of tuning.
  double threshold_factor = 3.0;
  // Marks over what the designed curve can give at the longest queue that was seen.
  double marks_over_curve = 3.0;
  // A queue this many times longer than where every packet is marked, and none was.
  double queue_over_max = 1.2;

  // A headroom or pool below this share of what it should be.
  double buffer_share = 0.95;
  double pool_share = 0.50;

  // An uplink with this many times the bytes of the mean of its group is a hot spot.
  double hot_link = 1.9;
  // ... and one of the group with less than this share of its bytes lies idle beside it.
  double idle_link = 0.02;
  // "Constant" pauses with fewer marks than this for each pause: ECN comes after PFC.
  double marks_per_pause = 0.2;
};

}  // namespace weir::diagnose
