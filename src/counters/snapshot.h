#pragma once
// Counters of ports at one moment, and their JSON.
//
// A key names place and raw name, "hw_counters/np_cnp_sent", because places share spellings. Names
// the catalogue does not know are kept: a snapshot shows what was there.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "counters/layout.h"
#include "counters/reading.h"

namespace weir::counters {

/// A name and what it read, before a port holds it.
struct Sample {
  Place place = Place::kHwCounters;
  std::string name;  // raw, as the driver spells it
  Reading reading = Reading::missing(Missing::kAbsent);
};

/// The same in a port. Points into the port's layout.
struct ShownSample {
  Place place = Place::kHwCounters;
  std::string_view name;
  Reading reading = Reading::missing(Missing::kAbsent);
  Match match = {};  // empty for a name the catalogue does not know

  [[nodiscard]] std::string key() const;
  [[nodiscard]] Sample copy() const { return {place, std::string(name), reading}; }
};

/// The samples of a port, by place and name.
class Samples {
 public:
  Samples(const Layout& layout, std::span<const Reading> readings)
      : layout_(&layout), readings_(readings) {}

  [[nodiscard]] std::size_t size() const { return readings_.size(); }
  [[nodiscard]] bool empty() const { return readings_.empty(); }
  [[nodiscard]] ShownSample operator[](std::size_t at) const {
    const ShownName& shown = (*layout_)[at];
    return {shown.place, shown.name, readings_[at], shown.match};
  }

  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] std::vector<Sample> copy() const;

 private:
  const Layout* layout_;
  std::span<const Reading> readings_;
};

class Samples::Iterator {
 public:
  using value_type = ShownSample;
  using reference = ShownSample;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using pointer = void;
  Iterator(Samples samples, std::size_t at) : samples_(samples), at_(at) {}
  ShownSample operator*() const { return samples_[at_]; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

 private:
  Samples samples_;
  std::size_t at_;
};

inline Samples::Iterator Samples::begin() const {
  return {*this, 0};
}
inline Samples::Iterator Samples::end() const {
  return {*this, size()};
}

/// What one NIC port (or one switch port) showed. Immutable: sorted by place and name, a name once.
class PortCounters {
 public:
  PortCounters();
  /// Looks every name up for this driver, and turns a number that the driver calls invalid into a
  /// missing one. Where a name comes twice, the first stays.
  PortCounters(std::string device, std::string netdev, std::string driver,
               std::vector<Sample> samples);
  /// REQUIRES: one reading per name of the layout.
  PortCounters(std::string device, std::string netdev, std::string driver, SharedLayout layout,
               std::vector<Reading> readings);

  [[nodiscard]] const std::string& device() const { return device_; }  // "mlx5_0"; a switch's name
  [[nodiscard]] const std::string& netdev() const { return netdev_; }  // "eth2"; a port's name
  [[nodiscard]] const std::string& driver() const { return driver_; }  // "mlx5_core"; "switch"
  [[nodiscard]] Samples samples() const { return {*layout_, readings_}; }
  [[nodiscard]] const SharedLayout& layout() const { return layout_; }
  [[nodiscard]] std::span<const Reading> readings() const { return readings_; }
  /// The same port and names with other readings.
  [[nodiscard]] PortCounters with(std::vector<Reading> readings) const;

  [[nodiscard]] bool shows(Place place, std::string_view name) const {
    return layout_->find(place, name).has_value();
  }
  /// In the raw unit. Absent where the port showed no such name.
  [[nodiscard]] Reading read(Place place, std::string_view name) const;
  /// By catalogue id, in the counter's unit; `number` is the priority, queue … of a counter that
  /// has one. Of several names with this id the first that has a value answers; absent where none
  /// is there.
  [[nodiscard]] Reading read(std::string_view id,
                             std::optional<unsigned> number = std::nullopt) const;

  friend bool operator==(const PortCounters& a, const PortCounters& b);

 private:
  void drop_invalid();

  std::string device_;
  std::string netdev_;
  std::string driver_;
  SharedLayout layout_;  // never null
  std::vector<Reading> readings_;
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

/// Writes ports as to_json() has them, each in one line. What ports of one layout have in common is
/// made once: a fabric of thousands of ports shows millions of counters.
class PortWriter {
 public:
  /// With `host` as the first member.
  void append(std::string_view host, const PortCounters& port, std::string& out);

 private:
  /// By layout, and each of its names: the text up to the value.
  std::map<SharedLayout, std::vector<std::string>> heads_;
};

/// Reads what to_json wrote. Unknown fields are ignored; a wrong one is an error that names its
/// JSON pointer. Ids and units are not read: they follow from driver and key.
[[nodiscard]] Result<Snapshot> snapshot_from_json(const Json&);
/// The same for a snapshot within a larger document.
[[nodiscard]] Result<Snapshot> snapshot_from_json(const JsonCursor&);

}  // namespace weir::counters
