#pragma once
// What changed between two snapshots of a port, with the width of each number in mind.
//
// A decrease is one of three things, told apart so that no report shows a negative or a huge
// number:
//
//   wrap        the number is narrow (32 bits) or sits near the end of 64, and went round once;
//   reset       the driver was reloaded, the port reset, the counters cleared;
//   a level     the name is a gauge: its reading means something, its difference nothing.
//
// The rule: a decrease is a wrap when going round once would be an advance of less than half the
// range, and a reset otherwise. A reset of one wide counter is evidence for its whole place
// (drivers clear a place at a time), so there a narrow number that went down was reset too, and one
// that went up may have been: for all of them only a lower bound is known. A narrow counter that
// goes round more than once between two snapshots cannot be noticed; the catalogue says which are
// that fast.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/snapshot.h"

namespace weir::counters {

enum class Change : std::uint8_t {
  kCounted,     // `amount` is what was added
  kWrapped,     // the same, and the number went round once
  kReset,       // started again in between: at least `at_least`
  kSaturated,   // stuck at its maximum at either end: nothing is known
  kAppeared,    // not there before: PFC switched on, a new driver
  kVanished,    // not there any more
  kUnreadable,  // no value at one end or at both
  kLevel,       // a gauge: look at the readings
  kSetting,     // not a counter
};
[[nodiscard]] std::string_view to_text(Change);  // "counted" "wrapped" "reset" …

/// Points into the layout of its PortDelta.
struct Delta {
  Place place = Place::kHwCounters;
  std::string_view name;
  Match match = {};
  Change change = Change::kUnreadable;
  std::optional<std::uint64_t> amount = {};    // in the counter's unit; kCounted and kWrapped only
  std::optional<std::uint64_t> at_least = {};  // in the counter's unit; kReset only
  Reading before = Reading::missing(Missing::kAbsent);
  Reading after = Reading::missing(Missing::kAbsent);

  [[nodiscard]] std::string key() const;
};

struct PortDelta {
  std::string device;
  std::string netdev;
  std::string driver;
  SharedLayout layout;        // of all names that either snapshot shows
  std::vector<Delta> deltas;  // one per name of the layout

  [[nodiscard]] const Delta* find(Place place, std::string_view name) const;
  /// By catalogue id; the first of several names that has an amount, else the first.
  [[nodiscard]] const Delta* find(std::string_view id,
                                  std::optional<unsigned> number = std::nullopt) const;
  /// What was added, or nullopt where that is not known.
  [[nodiscard]] std::optional<std::uint64_t> amount(
      std::string_view id, std::optional<unsigned> number = std::nullopt) const;
  [[nodiscard]] bool was_reset(Place place) const;
};

/// REQUIRES: the same port.
[[nodiscard]] PortDelta difference(const PortCounters& before, const PortCounters& after);

struct SnapshotDelta {
  std::int64_t elapsed_ns = 0;
  std::vector<PortDelta> nics;          // in the order of the later snapshot
  std::vector<PortDelta> switch_ports;  // ditto
  std::vector<std::string> appeared;    // ports only the later one has: "mlx5_1", "leaf1 swp3"
  std::vector<std::string> vanished;
};

/// All that was counted until the snapshot: its difference from zeros.
[[nodiscard]] SnapshotDelta totals(const Snapshot& snapshot);

/// An error where the second snapshot is older than the first.
[[nodiscard]] Result<SnapshotDelta> difference(const Snapshot& before, const Snapshot& after);

}  // namespace weir::counters
