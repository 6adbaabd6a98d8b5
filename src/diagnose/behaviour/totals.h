#pragma once
// What a window held in all, over every NIC and switch port that was watched: the numbers by which
// two windows are compared. Absent where no counter shows it; a missing counter is not zero.
#include <cstdint>
#include <optional>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "diagnose/core/view.h"
#include "units/quantity.h"

namespace weir::diagnose {

struct Totals {
  Duration window;                          // the longest of any port; zero: not known
  std::optional<std::uint64_t> pauses;      // PFC frames in the RDMA priority, wherever counted
  std::optional<double> pause_share;        // of the window, at the port that was paused longest
  std::optional<std::uint64_t> marks;       // CE-marked packets that NICs received
  std::optional<std::uint64_t> cnps;        // sent by NICs
  std::optional<std::uint64_t> sent_bytes;  // by NICs, in the RDMA priority
  std::optional<std::uint64_t> dropped;     // packets of the lossless class
  std::optional<std::uint64_t> loss_signs;  // sequence errors that senders saw
  std::optional<std::uint64_t> disordered;  // packets that came out of sequence
  std::optional<std::uint64_t> timeouts;    // of acknowledgements
  std::optional<std::uint64_t> watchdog;    // PFC watchdog: storms, and what it dropped
};

[[nodiscard]] Totals totals_of(const View& view);

/// `totals` of `weir verify --json`; null is what no counter shows.
[[nodiscard]] Json to_json(const Totals& totals);
[[nodiscard]] Result<Totals> totals_from_json(const JsonCursor& at);

}  // namespace weir::diagnose
