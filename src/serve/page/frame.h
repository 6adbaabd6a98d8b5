#pragma once
// What every port did at one moment, in a byte per quantity: small enough to keep a day of, and to
// send every second to many browsers.
//
//   shares (pause, pausing, sent, received)   round(250 · √share): 0.1 % is 8, 1 % is 25, 100 % 250
//   rates (marks, drops)                      0, or 1 + 8·log2(per second): within 5 % of it
//   link                                      0 down, 1 up
//   255                                       not known: a gap, never zero
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/watch/ports.h"

namespace weir::serve {

enum class Quantity : std::uint8_t { kPause, kPausing, kSent, kReceived, kMarks, kDrops, kLink };
inline constexpr std::size_t kQuantities = 7;
inline constexpr std::array<std::string_view, kQuantities> kQuantityNames = {
    "pause", "pausing", "sent", "received", "marks", "drops", "link"};
[[nodiscard]] std::optional<Quantity> parse_quantity(std::string_view name);

inline constexpr std::uint8_t kGap = 255;
[[nodiscard]] std::uint8_t cell_of_share(std::optional<double> share);
[[nodiscard]] std::uint8_t cell_of_rate(std::optional<double> per_second);
/// nullopt for a gap.
[[nodiscard]] std::optional<double> value_of(Quantity quantity, std::uint8_t cell);

struct Frame {
  std::uint64_t number = 0;  // from 1, one more each
  std::int64_t unix_ms = 0;
  std::string clock;  // of a lab or a recording; empty: the time is the machine's
  std::size_t ports = 0;
  std::vector<std::uint8_t> cells;  // by quantity, then by port

  [[nodiscard]] std::uint8_t cell(Quantity quantity, std::size_t port) const {
    if (port >= ports) return kGap;
    return cells[static_cast<std::size_t>(quantity) * ports + port];
  }
  /// The highest of all ports; a gap where none is known.
  [[nodiscard]] std::uint8_t highest(Quantity quantity) const;
};
using SharedFrame = std::shared_ptr<const Frame>;

/// `place[i]` is the position of the i-th port in the frame of `count` ports.
[[nodiscard]] Frame make_frame(const std::vector<ops::WatchedPort>& ports,
                               const std::vector<std::size_t>& place, std::size_t count);

[[nodiscard]] std::string base64(const std::uint8_t* bytes, std::size_t count);

}  // namespace weir::serve
