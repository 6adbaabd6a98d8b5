#include "ops/record/snapshot.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

using Captures = std::vector<evidence::Evidence>;

/// The counters alone, without the facts.
Observation read_counters(const HostSet& set) {
  Observation seen;
  seen.unseen = set.absent;
  std::vector<std::optional<weir::Result<counters::Snapshot>>> all(set.hosts.size());
  for_each_host(set, [&](std::size_t i, host::HostIo& host) { all[i] = host.snapshot(); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& host = set.hosts[i];
    weir::Result<counters::Snapshot>& counted = *all[i];
    if (!counted) {
      seen.unseen.push_back(fmt::format("{}: {}", host->name(), counted.error().what));
      continue;
    }
    evidence::Evidence capture;
    capture.provenance = {.host = host->name(),
                          .time = counted->time,
                          .tool = "weir",
                          .origin = set.lab             ? evidence::Origin::kLab
                                    : !set.are_captured ? evidence::Origin::kLive
                                                        : evidence::Origin::kBundle,
                          .simulated = set.lab.has_value(),
                          .detail = ""};
    capture.snapshots.push_back(std::move(*counted));
    seen.hosts.push_back(std::move(capture));
  }
  return seen;
}

std::string name_of(const evidence::Evidence& capture) {
  return capture.provenance.host.empty() ? "switches" : capture.provenance.host;
}

void subtract(const evidence::Evidence& before, const evidence::Evidence& after, HostDiff& pair) {
  if (before.snapshots.empty() || after.snapshots.empty()) {
    pair.problem = "no counters in one of the files";
    return;
  }
  auto delta = counters::difference(before.snapshots.back(), after.snapshots.back());
  if (delta) {
    pair.counters = std::move(*delta);
  } else {
    pair.problem = delta.error().what;
  }
}

/// The first capture of each host.
std::map<std::string_view, const evidence::Evidence*> by_host(const Captures& captures) {
  std::map<std::string_view, const evidence::Evidence*> out;
  for (const evidence::Evidence& capture : captures)
    out.emplace(capture.provenance.host, &capture);
  return out;
}

/// By name; two files of one host each are compared whatever they are called.
void pair_up(const Captures& before, const Captures& after, Diff& out) {
  if (before.size() == 1 && after.size() == 1 &&
      before[0].provenance.host != after[0].provenance.host) {
    out.hosts.push_back({fmt::format("{} and {}", name_of(before[0]), name_of(after[0])),
                         evidence::fact_changes(before[0], after[0]),
                         {},
                         "two hosts: their counters are not subtracted"});
    return;
  }
  const auto earlier = by_host(before);
  for (const evidence::Evidence& capture : after) {
    const auto same = earlier.find(capture.provenance.host);
    if (same == earlier.end()) {
      out.unpaired.push_back(name_of(capture) + ": in the second file only");
      continue;
    }
    HostDiff pair{name_of(capture), evidence::fact_changes(*same->second, capture), {}, ""};
    subtract(*same->second, capture, pair);
    out.hosts.push_back(std::move(pair));
  }
  const auto later = by_host(after);
  for (const evidence::Evidence& capture : before)
    if (!later.contains(capture.provenance.host))
      out.unpaired.push_back(name_of(capture) + ": in the first file only");
}

}  // namespace

Result<Observation> snapshot(const Source& source, bool only_counters) {
  WEIR_TRY(set, open_hosts(source));
  Observation seen = only_counters ? read_counters(set) : observe(set);
  if (seen.hosts.empty()) return no_host_seen(seen);
  return seen;
}

CounterTotals count_counters(const std::vector<const evidence::Evidence*>& captures) {
  CounterTotals count;
  const auto add = [&](const std::vector<counters::PortCounters>& ports) {
    for (const counters::PortCounters& port : ports) {
      for (const counters::Reading& reading : port.readings()) {
        if (!reading.has_value()) {
          ++count.refused;
          continue;
        }
        ++count.read;
        if (reading.value() > 0) ++count.nonzero;
      }
    }
  };
  for (const evidence::Evidence* capture : captures) {
    if (capture->snapshots.empty()) continue;
    count.nics += capture->snapshots.back().nics.size();
    add(capture->snapshots.back().nics);
    add(capture->snapshots.back().switch_ports);
  }
  return count;
}

Result<Diff> diff(const DiffRequest& request) {
  WEIR_TRY(before, or_bad_input(read_snapshot_file(request.before)));
  Diff out;
  Captures after;
  if (request.after) {
    WEIR_TRY(read, or_bad_input(read_snapshot_file(*request.after)));
    after = std::move(read);
  } else {
    WEIR_TRY(set, open_hosts(request.source));
    Observation seen = observe(set);
    out.unseen = seen.unseen;
    after = std::move(seen).all();
  }
  pair_up(before, after, out);
  out.is_simulated = std::any_of(after.begin(), after.end(),
                                 [](const auto& capture) { return capture.provenance.simulated; });
  return out;
}

}  // namespace weir::ops
