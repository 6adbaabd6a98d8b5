#include "diagnose/core/thresholds.h"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::diagnose {
namespace {

using T = Thresholds;

constexpr ThresholdInfo kTable[] = {
    {"pause_warning", "share", "I1 I7 I8",
     "of the window that a port was paused: from here on a warning", &T::pause_warning, nullptr},
    {"pause_error", "share", "I1 I7 I8", "of the window that a port was paused: an error",
     &T::pause_error, nullptr},
    {"stuck_pause", "share", "I1 I5", "of the window that a port was paused: stuck, not slow",
     &T::stuck_pause, nullptr},
    {"stuck_rate", "share", "I1 I5", "of its line that a stuck port moves at most", &T::stuck_rate,
     nullptr},
    {"steady_window", "ms", "I7 I10 I27",
     "a shorter window may show a burst somebody asked for: told, and no alarm", &T::steady_window,
     nullptr},
    {"marks_that_matter", "packets", "I11", "marked packets after which no CNP is no accident",
     nullptr, &T::marks_that_matter},
    {"cnps_that_matter", "packets", "I12 I13", "CNPs after which no reaction is no accident",
     nullptr, &T::cnps_that_matter},
    {"cnps_ignored", "share", "I13", "of the CNPs that arrived which a NIC may ignore",
     &T::cnps_ignored, nullptr},
    {"cnps_heard", "share", "I12", "of the CNPs sent that senders get at least", &T::cnps_heard,
     nullptr},
    {"bytes_that_matter", "bytes", "D8 I14", "traffic below this proves nothing", nullptr,
     &T::bytes_that_matter},
    {"rdma_share", "share", "I14", "of a NIC's bytes that should be in the RDMA priority",
     &T::rdma_share, nullptr},
    {"data_packet_bytes", "bytes", "I14",
     "packets longer than this on average are data, not acknowledgements", &T::data_packet_bytes,
     nullptr},
    {"threshold_factor", "times", "I2 I6 I10 I21 I22",
     "off the design: a fault and not a choice of tuning", &T::threshold_factor, nullptr},
    {"far_from_usual", "times", "I2 I21 I22",
     "off the usual start, where no design says what is wanted", &T::far_from_usual, nullptr},
    {"marks_over_curve", "times", "I2 I21",
     "the marks that the designed curve gives queues of that length", &T::marks_over_curve,
     nullptr},
    {"chance", "deviations", "I2 I6 I21 I22",
     "standard deviations that marks may be off what the designed curve gives", &T::chance,
     nullptr},
    {"marks_per_pause", "marks", "I22", "for each pause: fewer, and ECN comes after PFC",
     &T::marks_per_pause, nullptr},
    {"pauses_that_matter", "frames", "I22", "pauses of a switch after which marks are missed",
     nullptr, &T::pauses_that_matter},
    {"cnps_per_pause", "CNPs", "I8",
     "for each pause of a host: fewer, and the pauses came too early", &T::cnps_per_pause, nullptr},
    {"low_use", "share", "I10", "of the busiest line, though senders are told to slow down",
     &T::low_use, nullptr},
    {"buffer_share", "share", "I3", "of the headroom that is needed", &T::buffer_share, nullptr},
    {"pool_share", "share", "I8", "of the designed pool, or of what it holds at the first pause",
     &T::pool_share, nullptr},
    {"hot_link", "times", "I4 I7", "the mean of its group: a hot spot", &T::hot_link, nullptr},
    {"idle_link", "share", "I4", "of the busiest link's bytes: idle beside it", &T::idle_link,
     nullptr},
    {"narrow_uplinks", "share", "I26", "of the uplink capacity that the other leaves have",
     &T::narrow_uplinks, nullptr},
    {"bounced", "times", "I5", "what came from below, sent upwards: traffic went down and up again",
     &T::bounced, nullptr},
    {"came_twice", "share", "I17",
     "of the packets out of order that came twice: overtaken, not lost", &T::came_twice, nullptr},
    {"asked_again", "share", "I9 I17",
     "of what a host sent: more is hardly lost, where nothing pauses", &T::asked_again, nullptr},
    {"restarts_that_matter", "events", "I27", "slow restarts of a NIC: fewer are a burst's",
     nullptr, &T::restarts_that_matter},
};

bool is_share(const ThresholdInfo& info) {
  return info.unit == "share";
}

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0)
    return parse_error(fmt::format("'{}' is no number of 0 or more", text));
  return value;
}

/// "2%" and "2 %" are 0.02; so is "0.02".
Result<double> parse_share_of(std::string_view text) {
  const bool is_percent = !text.empty() && text.back() == '%';
  if (is_percent) text = trim(text.substr(0, text.size() - 1));
  WEIR_TRY(value, parse_number(text));
  return is_percent ? value / 100 : value;
}

}  // namespace

std::span<const ThresholdInfo> threshold_table() {
  return kTable;
}

std::string value_text(const ThresholdInfo& info, const Thresholds& of) {
  if (info.count != nullptr) return std::to_string(of.*info.count);
  return is_share(info) ? fmt::format("{:g}%", of.*info.number * 100)
                        : fmt::format("{:g}", of.*info.number);
}

Status set_threshold(std::string_view assignment, Thresholds& out) {
  const auto at = assignment.find('=');
  const std::string_view name = trim(assignment.substr(0, at));
  std::vector<std::string> known;
  for (const ThresholdInfo& info : kTable) {
    known.emplace_back(info.name);
    if (info.name != name) continue;
    if (at == std::string_view::npos)
      return parse_error(fmt::format("threshold '{}' needs a value: {}={}", name, name,
                                     value_text(info, Thresholds())));
    const std::string_view text = trim(assignment.substr(at + 1));
    if (info.count != nullptr) {
      const auto value = parse_u64(text);
      if (!value)
        return parse_error(
            fmt::format("threshold {}: '{}' is no whole number of {}", name, text, info.unit));
      out.*info.count = *value;
      return {};
    }
    const auto value = is_share(info) ? parse_share_of(text) : parse_number(text);
    if (!value) return value.error().within(fmt::format("threshold {}", name));
    out.*info.number = *value;
    return {};
  }
  return not_found_error(fmt::format("no threshold '{}' (weir diagnose --list-thresholds){}", name,
                                     did_you_mean(name, known)));
}

}  // namespace weir::diagnose
