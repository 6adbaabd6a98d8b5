#include "serve/page/frame.h"

#include <algorithm>
#include <cmath>

namespace weir::serve {
namespace {

constexpr double kFullShare = 250;
constexpr double kPerOctave = 8;
constexpr double kLargestRate = 250;

std::optional<double> share_of_speed(std::optional<double> bits, std::optional<BitRate> speed) {
  if (!bits || !speed || speed->raw() <= 0) return std::nullopt;
  return *bits / static_cast<double>(speed->raw());
}

}  // namespace

std::optional<Quantity> parse_quantity(std::string_view name) {
  const auto* const found = std::find(kQuantityNames.begin(), kQuantityNames.end(), name);
  if (found == kQuantityNames.end()) return std::nullopt;
  return static_cast<Quantity>(found - kQuantityNames.begin());
}

std::uint8_t cell_of_share(std::optional<double> share) {
  if (!share || !std::isfinite(*share)) return kGap;
  const double bounded = std::clamp(*share, 0.0, 1.0);
  // What is not zero does not look like zero.
  if (bounded > 0 && bounded < 1e-4) return 1;
  return static_cast<std::uint8_t>(std::lround(kFullShare * std::sqrt(bounded)));
}

std::uint8_t cell_of_rate(std::optional<double> per_second) {
  if (!per_second || !std::isfinite(*per_second)) return kGap;
  if (*per_second <= 0) return 0;
  const double steps = 1 + kPerOctave * std::log2(std::max(*per_second, 1.0));
  return static_cast<std::uint8_t>(std::lround(std::min(steps, kLargestRate)));
}

std::optional<double> value_of(Quantity quantity, std::uint8_t cell) {
  if (cell == kGap) return std::nullopt;
  const double raw = cell;
  switch (quantity) {
    case Quantity::kPause:
    case Quantity::kPausing:
    case Quantity::kSent:
    case Quantity::kReceived: return raw / kFullShare * (raw / kFullShare);
    case Quantity::kMarks:
    case Quantity::kDrops: return cell == 0 ? 0 : std::exp2((raw - 1) / kPerOctave);
    case Quantity::kLink: return raw;
  }
  return std::nullopt;
}

std::uint8_t Frame::highest(Quantity quantity) const {
  std::uint8_t most = kGap;
  for (std::size_t port = 0; port < ports; ++port) {
    const std::uint8_t next = cell(quantity, port);
    if (next != kGap && (most == kGap || next > most)) most = next;
  }
  return most;
}

Frame make_frame(const std::vector<ops::WatchedPort>& ports, const std::vector<std::size_t>& place,
                 std::size_t count) {
  Frame frame;
  frame.ports = count;
  frame.cells.assign(kQuantities * count, kGap);
  const auto set = [&](Quantity quantity, std::size_t at, std::uint8_t cell) {
    frame.cells[static_cast<std::size_t>(quantity) * count + at] = cell;
  };
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const ops::WatchedPort& port = ports[i];
    const std::size_t at = place[i];
    set(Quantity::kPause, at, cell_of_share(port.paused));
    set(Quantity::kPausing, at, cell_of_share(port.pausing));
    set(Quantity::kSent, at, cell_of_share(port.used()));
    set(Quantity::kReceived, at, cell_of_share(share_of_speed(port.received, port.speed)));
    set(Quantity::kMarks, at, cell_of_rate(port.marks));
    set(Quantity::kDrops, at, cell_of_rate(port.losses));
    if (port.up) set(Quantity::kLink, at, *port.up ? 1 : 0);
  }
  return frame;
}

std::string base64(const std::uint8_t* bytes, std::size_t count) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((count + 2) / 3 * 4);
  for (std::size_t at = 0; at < count; at += 3) {
    const std::size_t left = std::min<std::size_t>(3, count - at);
    std::uint32_t bits = static_cast<std::uint32_t>(bytes[at]) << 16U;
    if (left > 1) bits |= static_cast<std::uint32_t>(bytes[at + 1]) << 8U;
    if (left > 2) bits |= bytes[at + 2];
    out += kDigits[bits >> 18U];
    out += kDigits[(bits >> 12U) & 63U];
    out += left > 1 ? kDigits[(bits >> 6U) & 63U] : '=';
    out += left > 2 ? kDigits[bits & 63U] : '=';
  }
  return out;
}

}  // namespace weir::serve
