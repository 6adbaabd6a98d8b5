#include "diagnose/core/interpret.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "counters/catalog.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using counters::Topic;
using finding::Severity;

std::string rate_text(std::uint64_t amount, Duration window, counters::Unit unit) {
  if (window.raw() <= 0) return "";
  const double seconds = static_cast<double>(window.raw()) / kPicosecondsPerSecond;
  const double rate = static_cast<double>(amount) / seconds;
  if (unit == counters::Unit::kBytes) return fmt::format(", {:.3g} Gb/s", rate * 8 / 1e9);
  if (unit == counters::Unit::kMicroseconds)
    return fmt::format(", {} of the window", percent(rate / 1e6));
  return rate >= 100 ? fmt::format(", {} per second", with_thousands(std::llround(rate)))
                     : fmt::format(", {:.2g} per second", rate);
}

std::string amount_text(std::uint64_t amount, counters::Unit unit) {
  return fmt::format("{} {}", count_text(amount), counters::to_text(unit));
}

/// The first sentence: the rest is for `weir explain`.
std::string_view first_sentence(std::string_view text) {
  const auto stop = text.find(". ");
  return stop == std::string_view::npos ? text : text.substr(0, stop + 1);
}

/// Who paused whom; empty for other counters.
std::string_view direction(std::string_view id) {
  if (id.starts_with("nic.prio.pause_rx")) {
    return "the switch paused this NIC: the bottleneck is in the fabric or at the receiver";
  }
  if (id.starts_with("nic.prio.pause_tx"))
    return "this NIC paused its switch: this host is the bottleneck";
  if (id.starts_with("switch.prio.pause_rx"))
    return "the neighbour paused this port: the bottleneck is there or behind it";
  if (id.starts_with("switch.prio.pause_tx"))
    return "this switch paused its neighbour: the bottleneck is here or further on";
  return "";
}

Severity pause_severity(const Thresholds& limits, std::uint64_t microseconds, Duration window) {
  if (window.raw() <= 0) return Severity::kInfo;
  const double share = static_cast<double>(microseconds) * 1e6 / static_cast<double>(window.raw());
  return share >= limits.pause_error     ? Severity::kError
         : share >= limits.pause_warning ? Severity::kWarning
                                         : Severity::kInfo;
}

Severity severity_of(const View& view, const counters::Delta& delta, std::uint64_t amount,
                     Duration window) {
  const counters::Counter& counter = *delta.match.counter;
  const bool is_pause_time = counter.unit == counters::Unit::kMicroseconds &&
                             counter.id.find(".pause_") != std::string_view::npos;
  if (is_pause_time) return pause_severity(view.thresholds(), amount, window);
  switch (counter.topic) {
    case Topic::kLoss:
    case Topic::kFatal: return Severity::kError;
    case Topic::kError:
    case Topic::kRnr:
    case Topic::kPhy:
    case Topic::kPcie: return Severity::kWarning;
    case Topic::kTraffic:
    case Topic::kCongestion:
    case Topic::kPfc:
    case Topic::kPause:
    case Topic::kBuffer:
    case Topic::kOptics:
    case Topic::kSoftware:
    case Topic::kUtilisation: return Severity::kInfo;
  }
  return Severity::kInfo;
}

void observe(const View& view, const Counts& counts, const finding::Where& where,
             std::vector<Observation>& out) {
  if (!counts.are_there()) return;
  for (const counters::Delta& delta : counts.delta()->deltas) {
    const auto amount = delta.amount ? delta.amount : delta.at_least;
    if (!delta.match || !amount || *amount == 0) continue;
    const counters::Counter& counter = *delta.match.counter;
    Observation moved;
    moved.where = where;
    if (delta.match.number && counter.per == counters::Per::kPriority)
      moved.where.priority = std::to_string(*delta.match.number);
    moved.key = delta.key();
    moved.counter = std::string(counter.id);
    moved.amount = *amount;
    moved.severity = severity_of(view, delta, *amount, counts.window());
    const std::string_view way = direction(counter.id);
    const std::string_view meaning = !way.empty() ? way
                                     : moved.severity == Severity::kInfo
                                         ? first_sentence(counter.meaning)
                                     : !counter.climbing.empty() ? first_sentence(counter.climbing)
                                                                 : first_sentence(counter.meaning);
    moved.quantity = fmt::format("{}{}{}", delta.at_least && !delta.amount ? "at least " : "",
                                 amount_text(*amount, counter.unit),
                                 rate_text(*amount, counts.window(), counter.unit));
    moved.meaning = meaning;
    out.push_back(std::move(moved));
  }
}

}  // namespace

std::vector<Observation> interpret(const View& view) {
  std::vector<Observation> out;
  for (const NicView& nic : view.nics())
    observe(view, nic.counts, nic.where(), out);
  for (const PortView& port : view.ports())
    observe(view, port.counts, port.where(), out);
  std::stable_sort(out.begin(), out.end(), [](const Observation& a, const Observation& b) {
    return a.severity > b.severity;
  });
  return out;
}

std::vector<std::string> summary_of(const std::vector<Observation>& observations) {
  struct Group {
    const Observation* most;
    std::uint64_t sum = 0;
    std::size_t ports = 0;
  };
  std::vector<Group> groups;
  for (const Observation& moved : observations) {
    const counters::Counter* counter = counters::find(moved.counter);
    if (moved.severity == Severity::kInfo && counter != nullptr &&
        counter->topic == Topic::kTraffic)
      continue;
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.most->counter == moved.counter && group.most->severity == moved.severity &&
             group.most->where.priority == moved.where.priority;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), {&moved});
    if (moved.amount > same->most->amount) same->most = &moved;
    same->sum += moved.amount;
    ++same->ports;
  }
  std::vector<std::string> lines;
  lines.reserve(groups.size());
  for (const Group& group : groups) {
    const Observation& most = *group.most;
    const counters::Counter* counter = counters::find(most.counter);
    lines.push_back(group.ports == 1 || counter == nullptr
                        ? fmt::format("{}: {}", to_text(most.where), most.sentence())
                        : fmt::format("{} at {} ports, most at {}: {}",
                                      amount_text(group.sum, counter->unit), group.ports,
                                      to_text(most.where), most.sentence()));
  }
  return lines;
}

}  // namespace weir::diagnose
