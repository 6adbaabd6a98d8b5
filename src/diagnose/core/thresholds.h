#pragma once
// Every number that a rule decides by, in one place: named, explained, and the caller's to change.
// The table below the struct is what `weir diagnose --list-thresholds` prints and what
// `--threshold NAME=VALUE` sets; docs/diagnosis.md shows it.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "units/quantity.h"

namespace weir::diagnose {

struct Thresholds {
  // Share of the window that a port was paused: what the field calls a warning and an error.
  double pause_warning = 0.01;
  double pause_error = 0.05;
  // Paused nearly all the time, with nearly nothing received: stuck, not slow.
  double stuck_pause = 0.95;
  double stuck_rate = 0.005;  // of the line
  // A window this long shows the steady state; a shorter one may show a burst that somebody asked
  // for, and pauses in bursts are what PFC is for.
  double steady_window = 1000;

  // Marks or CNPs after which silence is no accident: the first mark is answered at once, only the
  // next ones are paced. CNPs share their priority with routing protocols (CS6), hence more of
  // them.
  std::uint64_t marks_that_matter = 4;
  std::uint64_t cnps_that_matter = 20;
  // CNPs that arrived, and the NIC ignored this share of them.
  double cnps_ignored = 0.1;
  // Of the CNPs that receivers sent, senders got less than this share: they are lost on the way.
  double cnps_heard = 0.2;

  // Traffic that is worth judging, and the share of it that belongs to the RDMA priority.
  std::uint64_t bytes_that_matter = 200'000;
  double rdma_share = 0.95;
  // Longer on average than this, packets are data and not acknowledgements.
  double data_packet_bytes = 512;

  // A marking threshold this many times off the design is a fault, not a choice of tuning.
  double threshold_factor = 1.5;
  // Without a design the usual start is a guess: only this many times of it is beyond doubt.
  double far_from_usual = 10.0;
  // Marks over what the designed curve gives a queue that is as often at every length it had.
  double marks_over_curve = 1.6;
  // Of what is counted by chance: so many standard deviations (square roots of the mean).
  double chance = 3.0;
  // "Constant" pauses with fewer marks than this for each pause: ECN comes after PFC.
  double marks_per_pause = 0.2;
  std::uint64_t pauses_that_matter = 20;
  // From one host: told to slow down less often than this for each pause, it was stopped before ECN
  // had its turn.
  double cnps_per_pause = 20;
  // Senders that are told to slow down, nobody pauses, and the busiest line is used less than this.
  double low_use = 0.6;

  // A headroom or pool below this share of what it should be.
  double buffer_share = 0.95;
  double pool_share = 0.50;

  // An uplink with this many times the bytes of the mean of its group is a hot spot.
  double hot_link = 1.9;
  // ... and one of the group with less than this share of its bytes lies idle beside it.
  double idle_link = 0.02;
  // A leaf whose uplinks carry less than this share of its peers' is a bottleneck.
  double narrow_uplinks = 0.9;
  // What leaves a switch upwards, over what came from below: more is traffic that came down.
  double bounced = 1.005;

  // Packets that came twice for each that came out of order: then what was asked for again had
  // only been overtaken.
  double came_twice = 0.1;
  // From one host: asked again for more than this share of what it sent. A cable that breaks one
  // frame in five hundred is no link any more; paths of different length do it all the time.
  double asked_again = 0.002;
  // Connections that began again at the bottom: a few in a burst are normal.
  std::uint64_t restarts_that_matter = 10;
};

/// One of them, as people see it. Exactly one of the two members is set.
struct ThresholdInfo {
  std::string_view name;
  std::string_view unit;  // "share" "times" "bytes" "packets" "ms" ...
  std::string_view rows;  // the mission rows that go by it: "I1 I7"
  std::string_view meaning;
  double Thresholds::*number = nullptr;
  std::uint64_t Thresholds::*count = nullptr;
};

/// In the order of the struct.
[[nodiscard]] std::span<const ThresholdInfo> threshold_table();

/// "1 %", "200000", "1.9": as set_threshold() reads it.
[[nodiscard]] std::string value_text(const ThresholdInfo& info, const Thresholds& of);

/// "pause_warning=2%", "hot_link=2.5". Says what a name or value may be where it is neither.
[[nodiscard]] Status set_threshold(std::string_view assignment, Thresholds& out);

}  // namespace weir::diagnose
