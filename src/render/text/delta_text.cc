#include "render/text/delta_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/table.h"

namespace weir::render {
namespace {

using counters::Change;
using counters::Delta;
using counters::PortDelta;

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kNanosecondsPerMicrosecond = 1e3;

bool has_moved(const Delta& delta) {
  switch (delta.change) {
    case Change::kCounted: return *delta.amount > 0;
    case Change::kWrapped:
    case Change::kReset:
    case Change::kSaturated:
    case Change::kAppeared:
    case Change::kVanished: return true;
    case Change::kLevel: return delta.before != delta.after;
    case Change::kUnreadable:
    case Change::kSetting: return false;
  }
  return false;
}

std::string number(std::uint64_t value) {
  return count_text(value);
}

std::string reading_text(counters::Reading reading) {
  return reading.has_value() ? number(reading.value())
                             : std::string(counters::to_text(reading.why()));
}

std::string amount_text(const Delta& delta) {
  if (delta.amount) return "+" + number(*delta.amount);
  if (delta.at_least) return "at least " + number(*delta.at_least);
  return fmt::format("{} → {}", reading_text(delta.before), reading_text(delta.after));
}

std::string note_of(const Delta& delta) {
  switch (delta.change) {
    case Change::kWrapped: return "wrapped once";
    case Change::kReset: return "reset in between: a lower bound";
    case Change::kSaturated: return "saturated: the change is not known";
    case Change::kAppeared: return "new";
    case Change::kVanished: return "gone";
    case Change::kLevel: return "a level";
    case Change::kCounted:
    case Change::kUnreadable:
    case Change::kSetting: break;
  }
  return "";
}

std::string unit_text(const Delta& delta) {
  return delta.match ? std::string(counters::to_text(delta.match.counter->unit)) : "";
}

}  // namespace

std::string rate_text(std::uint64_t amount, std::int64_t elapsed_ns) {
  if (elapsed_ns <= 0) return "";
  double rate =
      static_cast<double>(amount) * kNanosecondsPerSecond / static_cast<double>(elapsed_ns);
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (rate >= 1000 && prefix + 1 < kPrefixes.size()) {
    rate /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g}{}/s", rate, kPrefixes.at(prefix));
}

std::size_t moved(const PortDelta& delta) {
  return static_cast<std::size_t>(
      std::count_if(delta.deltas.begin(), delta.deltas.end(), has_moved));
}

std::string delta_table(const PortDelta& delta, std::int64_t elapsed_ns, std::size_t indent) {
  if (moved(delta) == 0) return "";
  TextTable table({"counter", "change", "unit", "rate", "note"},
                  {Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft});
  for (const Delta& counter : delta.deltas) {
    if (!has_moved(counter)) continue;
    table.add_row({counter.key(), amount_text(counter), unit_text(counter),
                   counter.amount ? rate_text(*counter.amount, elapsed_ns) : "", note_of(counter)});
  }
  return table.to_text(indent);
}

std::string processor_sentence(const PortDelta& nic) {
  const auto all = nic.amount("host.cpu.all.ticks");
  const auto busy = nic.amount("host.cpu.busy.ticks");
  const auto softirq = nic.amount("host.cpu.softirq.ticks");
  if (!all || !busy || !softirq || *all == 0) return "";
  const auto percent = [&](std::uint64_t part) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(*all);
  };
  return fmt::format("CPUs: {:.1f} % busy, {:.1f} % in soft interrupts.", percent(*busy),
                     percent(*softirq));
}

std::vector<std::string> pause_sentences(const PortDelta& nic, std::int64_t elapsed_ns) {
  std::vector<std::string> sentences;
  const auto share = [&](std::uint64_t microseconds) {
    if (elapsed_ns <= 0) return std::string();
    return fmt::format(", {:.2g} % of the time", 100.0 * static_cast<double>(microseconds) *
                                                     kNanosecondsPerMicrosecond /
                                                     static_cast<double>(elapsed_ns));
  };
  const auto say = [&](std::string_view id, unsigned priority, std::string_view who,
                       std::string_view meaning) {
    const auto frames = nic.amount(fmt::format("{}.frames", id), priority);
    const auto duration = nic.amount(fmt::format("{}.microseconds", id), priority);
    if (frames.value_or(0) == 0 && duration.value_or(0) == 0) return;
    const std::string time =
        duration ? fmt::format("{} us{}", number(*duration), share(*duration)) : "unknown time";
    sentences.push_back(fmt::format("{} priority {}: {} ({} pause frames, {}): {}", nic.device,
                                    priority, who, number(frames.value_or(0)), time, meaning));
  };
  for (unsigned priority = 0; priority < 8; ++priority) {
    say("nic.prio.pause_rx", priority, "the switch paused this host",
        "the congestion is at or beyond the switch");
    say("nic.prio.pause_tx", priority, "this host paused the switch",
        "this NIC or host is the bottleneck: it drains data too slowly");
  }
  return sentences;
}

}  // namespace weir::render
