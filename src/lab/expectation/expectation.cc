#include "lab/expectation/expectation.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/parallel.h"
#include "sim/results/simulate.h"
#include "units/format.h"

namespace weir::lab {
namespace {

using diagnose::NicView;
using diagnose::PortView;
using diagnose::View;

/// A counter that is compared: those of congestion, loss and load. Others differ a little between
/// any two runs, and say nothing. How far outside a value must be is in finding/thresholds.h
/// (replica_...); the floors here are what the last packets of a run may add, in units of a row.
struct Compared {
  std::string_view counter;
  std::string_view what;
  std::string_view unit;
  bool is_rdma = false;  // of RDMA's priority or queue
  bool is_peak = false;  // places are put together by their maximum, not by their sum
  double floor = 1;      // differences up to this are noise
};

constexpr std::array kOfNics = {
    Compared{"nic.np.ecn_marked.packets", "ECN-marked packets received", "packets", false, false,
             20},
    Compared{"nic.rp.cnp_handled.packets", "CNPs handled by senders", "packets", false, false, 10},
    Compared{"nic.prio.pause_rx.microseconds", "time paused", "us", true, false, 10},
    Compared{"nic.resp.out_of_sequence.packets", "packets out of sequence", "packets", false, false,
             2},
    Compared{"nic.req.ack_timeout.events", "ACK timeouts", "events"},
    Compared{"nic.resp.duplicate_request.packets", "duplicate requests", "packets", false, false,
             2},
    Compared{"nic.prio.tx.packets", "RDMA packets sent", "packets", true, false, 100},
    Compared{"nic.prio.rx.packets", "RDMA packets received", "packets", true, false, 100},
};

constexpr std::array kOfSwitchPorts = {
    Compared{"switch.queue.ecn_marked.packets", "packets marked by switches", "packets", true,
             false, 20},
    Compared{"switch.queue.depth_max.bytes", "longest queue", "bytes", true, true, 20'000},
    Compared{"switch.prio.pause_tx.frames", "pause frames sent by switches", "frames", true, false,
             5},
    Compared{"switch.port.drop.packets", "packets dropped by switches", "packets", false, false, 2},
};

constexpr std::string_view kTime = "time of the load";

/// Totals (no place) come first in the order of a map.
struct Key {
  std::string where;
  std::string_view what;
  friend auto operator<=>(const Key&, const Key&) = default;
};
struct Value {
  double number = 0;
  const Compared* row = nullptr;  // null: the time of the load
};
using Values = std::map<Key, Value>;

template <class Seen, class Place>
void add_counts(const Compared& row, const View& view, const Seen& seen, const Place& place_of,
                Values& out) {
  const auto priority = row.is_rdma ? std::optional(view.rdma()) : std::nullopt;
  for (const auto& port : seen) {
    const auto count = row.is_peak ? port.counts.peak(row.counter, priority)
                                   : port.counts.of(row.counter, priority);
    if (!count) continue;
    const auto number = static_cast<double>(*count);
    for (const std::string& where : {std::string(), place_of(port)}) {
      Value& value = out.try_emplace(Key{where, row.what}, Value{0, &row}).first->second;
      value.number = row.is_peak ? std::max(value.number, number) : value.number + number;
    }
  }
}

/// What of a run is compared: in total, by host and by switch. Counters that are missing are left
/// out.
Values values_of(const View& view, std::optional<Duration> took) {
  Values out;
  if (took) out[{{}, kTime}] = {static_cast<double>(took->raw()) / 1e6, nullptr};
  for (const Compared& row : kOfNics)
    add_counts(
        row, view, view.nics(), [](const NicView& nic) { return nic.host; }, out);
  for (const Compared& row : kOfSwitchPorts)
    add_counts(
        row, view, view.ports(), [](const PortView& port) { return port.switch_name; }, out);
  return out;
}

struct Range {
  double low = 0;
  double high = 0;
};

/// nullopt if a replica lacks the value.
std::optional<Range> range_of(const Key& key, const std::vector<Values>& replicas) {
  std::optional<Range> out;
  for (const Values& replica : replicas) {
    const auto found = replica.find(key);
    if (found == replica.end()) return std::nullopt;
    const double number = found->second.number;
    if (!out) out = Range{number, number};
    out = Range{std::min(out->low, number), std::max(out->high, number)};
  }
  return out;
}

/// Beyond the range, in units of what chance may add to it; above 1 is a deviation.
double excess(const Value& value, const Range& range, bool is_place,
              const finding::Thresholds& limits) {
  const double relative =
      (value.row == nullptr ? limits.replica_time_difference : limits.replica_difference) *
      range.high;
  const double floor = value.row == nullptr ? 1 : value.row->floor;
  const double width =
      (is_place ? limits.replica_range_of_places : limits.replica_range) * (range.high - range.low);
  const double slack = std::max({width, relative, floor});
  return std::max(range.low - value.number, value.number - range.high) / slack;
}

Deviation deviation(const Key& key, const Value& value, const Range& range) {
  Deviation out;
  out.what = key.what;
  out.where = key.where;
  out.counter = value.row == nullptr ? std::string_view() : value.row->counter;
  out.unit = value.row == nullptr ? "us" : value.row->unit;
  out.measured = value.number;
  out.low = range.low;
  out.high = range.high;
  return out;
}

}  // namespace

Result<Replicas> Replicas::play(const design::Design& design, const design::Intent& intent,
                                const KnownLoad& load, unsigned jobs, const Told& told) {
  Replicas out;
  out.took_ = load.took;
  out.runs_.resize(kCount);
  std::array<Status, kCount> failed;
  std::mutex guard;
  std::size_t done = 0;
  for_each_index(kCount, jobs, [&](std::size_t i) {
    sim::Experiment experiment;
    experiment.design = &design;
    experiment.intent = intent;
    experiment.workloads = load.workloads;
    experiment.seed = load.seed;
    experiment.replica = mix64(i + 1);
    experiment.limit = load.limit;
    auto run = sim::simulate(experiment);
    if (!run) {
      failed.at(i) = run.error();
    } else if (!run->is_finished) {
      failed.at(i) = invalid_error(
          fmt::format("does not finish within {} on the design", to_text(load.limit)));
    } else {
      run->results.flows = {};  // large, and not compared
      run->results.repeats = {};
      out.runs_[i] = std::move(run->results);
    }
    if (!told) return;
    const std::lock_guard lock(guard);
    told(++done);
  });
  for (const Status& status : failed)
    if (!status) return status.error();
  return out;
}

Expectation Replicas::compare(const View& observed) const {
  std::set<std::string> hosts;
  for (const NicView& nic : observed.nics())
    hosts.insert(nic.host);
  std::vector<Values> replicas;
  for (const sim::Results& run : runs_) {
    std::vector<evidence::Evidence> pieces;
    for (const evidence::Evidence& host : run.hosts)
      if (hosts.count(host.provenance.host) > 0) pieces.push_back(host);
    if (!observed.ports().empty()) pieces.push_back(run.switches);
    diagnose::Case seen;
    seen.evidence = pieces;
    seen.intent = observed.intent();
    replicas.push_back(
        values_of(View(seen), took_ ? std::optional(run.totals.duration) : std::nullopt));
  }
  Expectation out;
  out.replicas = runs_.size();
  std::vector<std::tuple<bool, double, Deviation>> found;  // at a place, minus the excess
  for (const auto& [key, value] : values_of(observed, took_)) {
    const auto range = range_of(key, replicas);
    if (!range) continue;
    ++out.compared;
    const bool is_place = !key.where.empty();
    if (const double far = excess(value, *range, is_place, observed.thresholds()); far > 1)
      found.emplace_back(is_place, -far, deviation(key, value, *range));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (auto& [is_place, order, item] : found)
    out.outside.push_back(std::move(item));
  return out;
}

}  // namespace weir::lab
