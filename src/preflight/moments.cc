#include "preflight/moments.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "counters/delta.h"

namespace weir::preflight {
namespace {

using Ids = std::span<const std::string_view>;

// Of bytes the first that is there counts: what RDMA moved, else what the port did, else that of
// the network device, through which Soft-RoCE sends.
constexpr std::array<std::string_view, 3> kSent = {"nic.rdma.tx.bytes", "nic.port.tx.bytes",
                                                   "nic.netdev.tx.bytes"};
constexpr std::array<std::string_view, 3> kReceived = {"nic.rdma.rx.bytes", "nic.port.rx.bytes",
                                                       "nic.netdev.rx.bytes"};
constexpr std::array<std::string_view, 4> kPauses = {"nic.prio.pause_rx.frames",
                                                     "nic.prio.pause_tx.frames",
                                                     "nic.pause.rx.frames", "nic.pause.tx.frames"};
constexpr std::array<std::string_view, 2> kCnps = {"nic.np.cnp_sent.packets",
                                                   "nic.rp.cnp_handled.packets"};
constexpr std::array<std::string_view, 1> kMarks = {"nic.np.ecn_marked.packets"};
constexpr std::array<std::string_view, 6> kDrops = {
    "nic.port.rx_discard.packets", "nic.port.tx_discard.packets",
    "nic.prio.rx_discard.packets", "nic.prio.rx_buffer_discard.packets",
    "nic.rdma.rx_discard.packets", "nic.rdma.tx_discard.packets"};

/// Over all names and priorities; nothing where none has a value.
std::optional<double> amount_of(const counters::PortDelta& delta, Ids ids) {
  std::optional<double> out;
  for (const counters::Delta& each : delta.deltas) {
    const bool is_asked = each.match && each.amount &&
                          std::find(ids.begin(), ids.end(), each.match.counter->id) != ids.end();
    if (is_asked) out = out.value_or(0) + static_cast<double>(*each.amount);
  }
  return out;
}

std::optional<double> first_of(const counters::PortDelta& delta, Ids ids) {
  for (const std::string_view id : ids)
    if (const auto amount = delta.amount(id)) return static_cast<double>(*amount);
  return std::nullopt;
}

Acted acted_in(const counters::PortDelta& delta) {
  return {.pauses = amount_of(delta, kPauses),
          .cnps = amount_of(delta, kCnps),
          .marks = amount_of(delta, kMarks),
          .drops = amount_of(delta, kDrops)};
}

/// One direction of a NIC: bit/s between looks; empty: not known.
using Rates = std::vector<double>;

double total_of(const Rates& rates) {
  double out = 0;
  for (const double rate : rates)
    out += rate;
  return out;
}

/// From the first moment at full speed to the last: what is before and behind is the load's start
/// and end, when its streams do not all run.
std::pair<std::size_t, std::size_t> steady_part(const Rates& rates, double slow_moment) {
  Rates moving;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(moving),
               [](double rate) { return rate > 0; });
  const double limit = median_of(moving) * slow_moment;
  const auto is_fast = [&](double rate) { return rate > 0 && rate >= limit; };
  const auto first = std::find_if(rates.begin(), rates.end(), is_fast) - rates.begin();
  const auto last = rates.rend() - std::find_if(rates.rbegin(), rates.rend(), is_fast);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(first, last))};
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::pair<std::size_t, std::size_t> range) {
  return {all.begin() + static_cast<std::ptrdiff_t>(range.first),
          all.begin() + static_cast<std::ptrdiff_t>(range.second)};
}

/// A counter that is still and then moves more than the link carries was not read when it moved: it
/// says nothing of moments.
bool is_coarse(const Rates& rates, double line_rate, const finding::Thresholds& limits) {
  const auto still = std::count(rates.begin(), rates.end(), 0.0);
  const bool is_too_fast = std::any_of(rates.begin(), rates.end(), [&](double rate) {
    return rate > line_rate * limits.counter_slack;
  });
  return still * 2 > static_cast<std::ptrdiff_t>(rates.size()) || is_too_fast;
}

}  // namespace

std::span<const std::string_view> moment_counters() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> ids;
    for (const Ids some :
         {Ids(kSent), Ids(kReceived), Ids(kPauses), Ids(kCnps), Ids(kMarks), Ids(kDrops)})
      ids.insert(ids.end(), some.begin(), some.end());
    return ids;
  }();
  return all;
}

Acted acted_between(const Look& before, const Look& after) {
  return acted_in(counters::difference(before.port, after.port));
}

Acted acted_at(const Acted& first, const Acted& second) {
  const auto both = [](std::optional<double> a, std::optional<double> b) -> std::optional<double> {
    const double sum = a.value_or(0) + b.value_or(0);
    if (sum > 0 || (a && b)) return sum;
    return std::nullopt;
  };
  return {.pauses = both(first.pauses, second.pauses),
          .cnps = both(first.cnps, second.cnps),
          .marks = both(first.marks, second.marks),
          .drops = both(first.drops, second.drops)};
}

void add_moment(const Acted& acted, FlowControl& control) {
  control.pauses.push_back(acted.pauses);
  control.cnps.push_back(acted.cnps);
  control.marks.push_back(acted.marks);
  control.drops.push_back(acted.drops);
}

NicMoments moments_of(const std::vector<Look>& looks, double line_rate,
                      const finding::Thresholds& limits) {
  constexpr std::size_t kFewest = 5;  // fewer have no median worth the name
  constexpr double kBits = 8;
  Rates sent;
  Rates received;
  FlowControl control;
  std::vector<double> intervals;
  std::size_t before = 0;
  for (std::size_t i = 1; i < looks.size(); ++i) {
    const double time = looks[i].seconds - looks[before].seconds;
    if (time <= 0) continue;  // two looks within a tick of the clock
    const counters::PortDelta delta = counters::difference(looks[before].port, looks[i].port);
    before = i;
    const auto out = first_of(delta, kSent);
    const auto in = first_of(delta, kReceived);
    if (!out || !in) return {};
    intervals.push_back(time);
    sent.push_back(*out * kBits / time);
    received.push_back(*in * kBits / time);
    add_moment(acted_in(delta), control);
  }
  NicMoments result{.seen = Seen::kNoBytes, .interval = median_of(intervals), .found = {}};
  for (const auto& [rates, other] : {std::pair(&sent, &received), std::pair(&received, &sent)}) {
    if (total_of(*rates) <= 0 || total_of(*rates) < total_of(*other) * limits.acknowledged)
      continue;
    const auto range = steady_part(*rates, limits.slow_moment);
    const Rates steady = part_of(*rates, range);
    if (steady.size() < kFewest) continue;
    if (is_coarse(steady, line_rate, limits)) return {.seen = Seen::kCoarse};
    result.seen = Seen::kMoments;
    result.found += line_up(steady,
                            {.pauses = part_of(control.pauses, range),
                             .cnps = part_of(control.cnps, range),
                             .marks = part_of(control.marks, range),
                             .drops = part_of(control.drops, range)},
                            limits.slow_moment);
  }
  return result;
}

}  // namespace weir::preflight
