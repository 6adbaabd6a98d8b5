#pragma once
// What a line, or a table with a heading, says of counters, in whatever order people and scripts
// print it: "gpu01 mlx5_0 np_cnp_sent: 12 -> 40", "out_of_sequence +61230, packet_seq_err +3",
// "rx_discards_phy pre=1 post=3 DELTA=2"; a column per counter, per device or per moment.
//
// Here it is decided what a number is: a reading, which is a sum since an unknown time, or a
// window, which is what was counted between two moments. Internal to this folder.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/paste/paste_tools.h"

namespace weir::readers {

struct Counted {
  std::string_view name;                     // of a counter in the catalogue
  std::uint64_t value = 0;                   // at the end of a window
  std::optional<std::uint64_t> before = {};  // at its begin; nullopt: a reading
};

/// Counters of one NIC at one moment.
struct CountedLine {
  std::string_view host = {};  // empty where the line does not say it; so the device
  std::string_view device = {};
  std::optional<std::int64_t> second = {};  // of the day
  std::vector<Counted> counts;
  bool is_listed = false;  // "name: 12", "name=12": not the begin of a sentence

  [[nodiscard]] bool is_window() const { return !counts.empty() && counts.front().before; }
};
/// nullopt where the line has no known counter, or anything beside names, numbers and what tells
/// them apart.
[[nodiscard]] std::optional<CountedLine> counted_line(std::string_view text);

/// The rows of a table, each with what its columns say.
struct CountedTable {
  std::vector<CountedLine> rows;
  std::size_t lines = 0;                     // taken, with the heading
  std::optional<std::int64_t> seconds = {};  // between the two moments of its columns
};
/// nullopt where no table of known counters begins here.
[[nodiscard]] std::optional<CountedTable> counted_table(const PasteAt& at);

/// Puts counters where they belong: to the NIC that a line names, or else the command or the words
/// above it.
class CountedSink {
 public:
  CountedSink(const PasteAt& at, PasteSink& out);
  void add(const CountedLine& line);
  /// How many lines it took.
  std::size_t add(const CountedTable& table);
  /// A counter that the catalogue does not know is where the one above it stood.
  void add_unknown(std::string_view name, std::uint64_t value);

 private:
  [[nodiscard]] PastedNic& nic_of(const CountedLine& line);
  void add_window(PastedNic& nic, const Counted& item);

  PasteSink& out_;
  std::string host_;
  std::string device_;
  bool is_ethtool_ = false;
  std::vector<std::pair<const PastedNic*, counters::Place>> begun_;  // windows
  counters::Place place_ = counters::Place::kHwCounters;
};

/// What a line in words says of the numbers below it: "Counter deltas of mlx5_2 over 60 s:".
[[nodiscard]] PasteTold told_above(std::string_view text);

}  // namespace weir::readers
