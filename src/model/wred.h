#pragma once
// WRED/ECN marking: the exact curve, starting values by speed, and what others publish.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "units/quantity.h"

namespace weir::model {

/// Marking thresholds of an egress queue. They exist on the switch alone; a NIC has none.
struct WredCurve {
  Bytes min;        // Kmin: silent up to here
  Bytes max;        // Kmax: everything is marked above
  Share max_share;  // Pmax: probability just below Kmax

  friend bool operator==(const WredCurve&, const WredCurve&) = default;
};

/// 0 < min <= max, 0 < Pmax <= 100 %.
[[nodiscard]] Status validate(const WredCurve&);

/// Probability that a packet leaving a queue of `queue` bytes is marked (DCQCN, SIGCOMM 2015,
/// sec. 3.1): 0 up to Kmin, a ramp to Pmax at Kmax, and 1 above it. The jump from Pmax to 1 at Kmax
/// is real, and makes queues chatter there.
[[nodiscard]] double mark_probability(const WredCurve&, Bytes queue);

/// The same in units of 2^-32, rounded down: mark when a uniform 32-bit number is below it. 2^32 =
/// always. No floating point, hence the same on every machine.
[[nodiscard]] std::uint64_t mark_threshold_32(const WredCurve&, Bytes queue);

struct WredStart {
  WredCurve curve;
  std::string why;
};
/// Where to start at a port speed: 100 KB / 1.5 MB / 10 % at 400G, scaled linearly (800G: 200 KB /
/// 3 MB). REQUIRES: 1G <= speed <= 10T.
[[nodiscard]] WredStart wred_start(BitRate speed);

/// What others publish; absent where the source gives no value.
struct PublishedWred {
  std::string_view who;
  std::string_view rates;  // as published: "25G", "100-400G", "any"
  BitRate slowest;         // the same, for filtering
  BitRate fastest;
  std::optional<Bytes> min;
  std::optional<Bytes> max;
  std::optional<Share> max_share;
  std::string_view nic;  // the NIC side that goes with it
  std::string_view tag;  // "read in the source", "secondary source", "from memory, unverified"
};
[[nodiscard]] std::span<const PublishedWred> published_wred();
/// Those whose range holds `speed`.
[[nodiscard]] std::vector<PublishedWred> published_wred_at(BitRate speed);

}  // namespace weir::model
