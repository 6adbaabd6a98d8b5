#pragma once
// Counters of ports at one moment, and their JSON.
//
// A key names place and raw name, "hw_counters/np_cnp_sent", because places share spellings. Names
// the catalogue does not know are kept: a snapshot shows what was there.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "counters/catalog.h"
#include "counters/reading.h"

namespace weir::counters {

struct Sample {
  Place place = Place::kHwCounters;
  std::string name;  // raw, as the driver spells it
  Reading reading = Reading::missing(Missing::kAbsent);
  Match match = {};  // filled in by PortCounters; empty for a name the catalogue does not know

  [[nodiscard]] std::string key() const;
  friend bool operator==(const Sample& a, const Sample& b) {
    return a.place == b.place && a.name == b.name && a.reading == b.reading;
  }
};

/// What one NIC port (or one switch port) showed. Immutable: sorted by place and name, a name once.
class PortCounters {
 public:
  PortCounters() = default;
  /// Looks every name up for this driver, and turns a number that the driver calls invalid into a
  /// missing one. Where a name comes twice, the first stays.
  PortCounters(std::string device, std::string netdev, std::string driver,
               std::vector<Sample> samples);

  [[nodiscard]] const std::string& device() const { return device_; }  // "mlx5_0"; a switch's name
  [[nodiscard]] const std::string& netdev() const { return netdev_; }  // "eth2"; a port's name
  [[nodiscard]] const std::string& driver() const { return driver_; }  // "mlx5_core"; "switch"
  [[nodiscard]] std::span<const Sample> samples() const { return samples_; }

  [[nodiscard]] const Sample* find(Place place, std::string_view name) const;
  /// In the raw unit. Absent where the port showed no such name.
  [[nodiscard]] Reading read(Place place, std::string_view name) const;
  /// By catalogue id, in the counter's unit; `number` is the priority, queue … of a counter that
  /// has one. Of several names with this id the first that has a value answers; absent where none
  /// is there.
  [[nodiscard]] Reading read(std::string_view id,
                             std::optional<unsigned> number = std::nullopt) const;

  friend bool operator==(const PortCounters&, const PortCounters&) = default;

 private:
  std::string device_;
  std::string netdev_;
  std::string driver_;
  std::vector<Sample> samples_;
};

/// Counters of one host, or of one fabric, at one moment.
struct Snapshot {
  std::string time;           // RFC 3339, UTC
  std::int64_t clock_ns = 0;  // a clock that only goes forward: differences mean something
  std::vector<PortCounters> nics;
  std::vector<PortCounters> switch_ports;

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// `nics[]{device, netdev, driver, counters{"hw_counters/np_cnp_sent": {id, unit, value}}}`; a
/// counter without a value has `missing` with the reason instead. `value` is the number as the
/// driver shows it, in `unit`; `number` holds the priority or queue. An unknown name has null for
/// id and unit.
[[nodiscard]] Json to_json(const PortCounters&);
[[nodiscard]] Json to_json(const Snapshot&);

/// Reads what to_json wrote. Unknown fields are ignored; a wrong one is an error that names its
/// JSON pointer. Ids and units are not read: they follow from driver and key.
[[nodiscard]] Result<Snapshot> snapshot_from_json(const Json&);
/// The same for a snapshot within a larger document.
[[nodiscard]] Result<Snapshot> snapshot_from_json(const JsonCursor&);

}  // namespace weir::counters
