#include "counters/delta.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace weir::counters {
namespace {

constexpr std::array<std::string_view, 9> kChanges = {"counted",    "wrapped",  "reset",
                                                      "saturated",  "appeared", "vanished",
                                                      "unreadable", "level",    "setting"};

std::uint64_t largest(unsigned bits) {
  return bits >= 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << bits) - 1;
}

/// A value beyond the width the table gives proves the table too narrow for this device.
unsigned width_of(const RawName* name, std::uint64_t a, std::uint64_t b) {
  if (name == nullptr || std::max(a, b) > largest(name->bits)) return 64;
  return name->bits;
}

bool is_gone(Reading reading) {
  return !reading.has_value() && reading.why() == Missing::kAbsent;
}

void set_reset(Delta& delta, unsigned scale) {
  delta.change = Change::kReset;
  delta.amount.reset();
  delta.at_least = delta.after.value() * scale;
}

/// Both ends have a value and the name is a counter.
void count(Delta& delta) {
  const RawName* name = delta.match.name;
  const std::uint64_t before = delta.before.value();
  const std::uint64_t after = delta.after.value();
  const unsigned scale = name != nullptr ? name->scale : 1U;
  const unsigned bits = width_of(name, before, after);
  const bool saturates =
      name != nullptr && name->overflow == Overflow::kSaturates && bits == name->bits;
  if (saturates && std::max(before, after) == largest(bits)) {
    delta.change = Change::kSaturated;
    return;
  }
  if (after >= before) {
    delta.change = Change::kCounted;
    delta.amount = (after - before) * scale;
    return;
  }
  const std::uint64_t advance = (after - before) & largest(bits);
  if (saturates || advance > largest(bits) / 2 / scale) {
    set_reset(delta, scale);
    return;
  }
  delta.change = Change::kWrapped;
  delta.amount = advance * scale;
}

/// Whether this delta is evidence that its whole place was reset. A narrow counter's decrease is
/// not: it may have gone round. Rings come and go by themselves, and an unknown name may be a
/// gauge.
bool testifies_reset(const Delta& delta) {
  if (delta.change != Change::kReset || !delta.match) return false;
  return delta.match.counter->topic != Topic::kSoftware &&
         (delta.match.name->bits >= 64 || delta.match.name->overflow == Overflow::kSaturates);
}

/// Where the place was reset, no number of it is more than a lower bound.
void spread_resets(std::vector<Delta>& deltas) {
  std::array<bool, 1 + static_cast<std::size_t>(Place::kShow)> is_reset{};
  for (const Delta& delta : deltas) {
    if (testifies_reset(delta)) is_reset[static_cast<std::size_t>(delta.place)] = true;
  }
  for (Delta& delta : deltas) {
    const bool is_count = delta.change == Change::kCounted || delta.change == Change::kWrapped;
    if (is_count && is_reset[static_cast<std::size_t>(delta.place)] && delta.match &&
        delta.match.counter->topic != Topic::kSoftware)
      set_reset(delta, delta.match.name->scale);
  }
}

std::tuple<std::string_view, std::string_view> port_name(const PortCounters& port) {
  return {port.device(), port.netdev()};
}

/// The change of one counter, by itself: without the evidence of its neighbours about a reset.
Delta change_of(const ShownName& shown, Reading before, Reading after) {
  Delta delta;
  delta.place = shown.place;
  delta.name = shown.name;
  delta.match = shown.match;
  delta.before = before;
  delta.after = after;
  const Kind kind = delta.match ? delta.match.counter->kind : Kind::kCounter;
  if (kind == Kind::kSetting) {
    delta.change = Change::kSetting;
  } else if (is_gone(before) && !is_gone(after)) {
    delta.change = Change::kAppeared;
  } else if (!is_gone(before) && is_gone(after)) {
    delta.change = Change::kVanished;
  } else if (!before.has_value() || !after.has_value()) {
    delta.change = Change::kUnreadable;
  } else if (kind == Kind::kGauge) {
    delta.change = Change::kLevel;
  } else {
    count(delta);
  }
  return delta;
}

/// All names of both; what the later one knows of a name counts.
SharedLayout union_of(const SharedLayout& before, const SharedLayout& after) {
  if (after->has_same_names(*before)) return after;
  const auto comes_first = [](const ShownName& a, const ShownName& b) {
    return std::tie(a.place, a.name) < std::tie(b.place, b.name);
  };
  std::vector<ShownName> names;
  std::set_union(after->names().begin(), after->names().end(), before->names().begin(),
                 before->names().end(), std::back_inserter(names), comes_first);
  return std::make_shared<const Layout>(std::move(names));
}

using PortName = std::tuple<std::string_view, std::string_view>;

/// By name; of two ports with one name the first.
std::map<PortName, const PortCounters*> by_name(const std::vector<PortCounters>& ports) {
  std::map<PortName, const PortCounters*> out;
  for (const PortCounters& port : ports)
    out.emplace(port_name(port), &port);
  return out;
}

std::string shown(const PortCounters& port, bool is_switch) {
  return is_switch ? port.device() + " " + port.netdev() : port.device();
}

std::vector<PortDelta> compare(const std::vector<PortCounters>& before,
                               const std::vector<PortCounters>& after, bool is_switch,
                               SnapshotDelta& out) {
  const auto earlier = by_name(before);
  const auto later = by_name(after);
  std::vector<PortDelta> deltas;
  deltas.reserve(after.size());
  for (const PortCounters& port : after) {
    if (const auto found = earlier.find(port_name(port)); found != earlier.end()) {
      deltas.push_back(difference(*found->second, port));
    } else {
      out.appeared.push_back(shown(port, is_switch));
    }
  }
  for (const PortCounters& port : before)
    if (!later.contains(port_name(port))) out.vanished.push_back(shown(port, is_switch));
  return deltas;
}

std::vector<PortDelta> totals_of(const std::vector<PortCounters>& ports) {
  std::vector<PortDelta> out;
  out.reserve(ports.size());
  for (const PortCounters& port : ports) {
    PortDelta& total =
        out.emplace_back(PortDelta{port.device(), port.netdev(), port.driver(), port.layout(), {}});
    total.deltas.reserve(port.readings().size());
    for (std::size_t i = 0; i < port.readings().size(); ++i) {
      const Reading now = port.readings()[i];
      total.deltas.push_back(
          change_of((*port.layout())[i], now.has_value() ? Reading::of(0) : now, now));
    }
  }
  return out;
}

}  // namespace

std::string_view to_text(Change change) {
  const auto at = static_cast<std::size_t>(change);
  WEIR_CHECK(at < kChanges.size());
  return kChanges[at];
}

std::string Delta::key() const {
  return std::string(to_text(place)) + "/" + std::string(name);
}

const Delta* PortDelta::find(Place place, std::string_view name) const {
  const auto at = layout->find(place, name);
  return at ? &deltas[*at] : nullptr;
}

const Delta* PortDelta::find(std::string_view id, std::optional<unsigned> number) const {
  const Delta* first = nullptr;
  for (const std::uint32_t at : layout->find(id, number)) {
    if (deltas[at].amount) return &deltas[at];
    if (first == nullptr) first = &deltas[at];
  }
  return first;
}

std::optional<std::uint64_t> PortDelta::amount(std::string_view id,
                                               std::optional<unsigned> number) const {
  const Delta* delta = find(id, number);
  return delta != nullptr ? delta->amount : std::nullopt;
}

bool PortDelta::was_reset(Place place) const {
  return std::any_of(deltas.begin(), deltas.end(), [place](const Delta& delta) {
    return delta.place == place && delta.change == Change::kReset;
  });
}

PortDelta difference(const PortCounters& before, const PortCounters& after) {
  WEIR_CHECK(port_name(before) == port_name(after));
  PortDelta out{after.device(),
                after.netdev(),
                after.driver(),
                union_of(before.layout(), after.layout()),
                {}};
  out.deltas.reserve(out.layout->size());
  const bool is_aligned = before.layout() == after.layout();
  for (std::size_t i = 0; i < out.layout->size(); ++i) {
    const ShownName& shown = (*out.layout)[i];
    const Reading old = is_aligned ? before.readings()[i] : before.read(shown.place, shown.name);
    const Reading now = is_aligned ? after.readings()[i] : after.read(shown.place, shown.name);
    out.deltas.push_back(change_of(shown, old, now));
  }
  spread_resets(out.deltas);
  return out;
}

SnapshotDelta totals(const Snapshot& snapshot) {
  return {0, totals_of(snapshot.nics), totals_of(snapshot.switch_ports), {}, {}};
}

Result<SnapshotDelta> difference(const Snapshot& before, const Snapshot& after) {
  if (after.clock_ns < before.clock_ns) {
    return invalid_error("the second snapshot (" + after.time + ") is older than the first (" +
                         before.time + "), or the host was restarted between them");
  }
  SnapshotDelta out;
  out.elapsed_ns = after.clock_ns - before.clock_ns;
  out.nics = compare(before.nics, after.nics, false, out);
  out.switch_ports = compare(before.switch_ports, after.switch_ports, true, out);
  return out;
}

}  // namespace weir::counters
