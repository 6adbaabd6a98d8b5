#pragma once
// Slow moments of a load on real hosts: what a NIC's counters did between looks at it, some ten per
// second, as a series of rates and of flow control for line_up(). Every NIC is lined up with its
// own counters and its host's own clock: hosts share none. Pure.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "counters/snapshot.h"
#include "finding/thresholds.h"
#include "preflight/measure.h"

namespace weir::preflight {

/// A NIC's counters at one moment of a load.
struct Look {
  double seconds = 0;  // of the host's own clock
  counters::PortCounters port;
};

/// Ids of the catalogue that moments are made of: bytes, pauses, marks, CNPs, discards.
[[nodiscard]] std::span<const std::string_view> moment_counters();

/// What flow control did between two looks. Without a value: not counted.
struct Acted {
  std::optional<double> pauses;
  std::optional<double> cnps;
  std::optional<double> marks;
  std::optional<double> drops;
};
[[nodiscard]] Acted acted_between(const Look& before, const Look& after);
/// At either of two NICs; without a value where one is not counted and the other did nothing.
[[nodiscard]] Acted acted_at(const Acted& first, const Acted& second);
/// Adds it as one more moment.
void add_moment(const Acted& acted, FlowControl& control);

enum class Seen : std::uint8_t {
  kMoments,
  kNoBytes,  // nobody counts what it moves, or it was looked at too seldom
  kCoarse,   // its counters stand still for longer than between looks, and then jump
};
/// Of one NIC under one load: both directions, each against its own median, without the time in
/// which the load starts and ends. `line_rate` is in bit/s.
struct NicMoments {
  Seen seen = Seen::kNoBytes;
  double interval = 0;  // seconds between looks, in the median
  LineUp found;
};
[[nodiscard]] NicMoments moments_of(const std::vector<Look>& looks, double line_rate,
                                    const finding::Thresholds& limits);

}  // namespace weir::preflight
