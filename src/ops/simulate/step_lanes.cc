#include "ops/simulate/step_lanes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weir::ops {
namespace {

constexpr std::size_t kMostLanes = 16;
constexpr std::size_t kPlaces = 536;  // one per pixel of the drawing

using Stretch = std::pair<std::int64_t, std::int64_t>;  // ps

/// Sorted and without overlap.
std::vector<Stretch> merged(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::vector<Stretch> out;
  for (const Stretch& stretch : stretches) {
    if (!out.empty() && stretch.first <= out.back().second)
      out.back().second = std::max(out.back().second, stretch.second);
    else
      out.push_back(stretch);
  }
  return out;
}

/// What of `from` is not in `without`; both merged.
std::vector<Stretch> difference_of(const std::vector<Stretch>& from,
                                   const std::vector<Stretch>& without) {
  std::vector<Stretch> out;
  std::size_t at = 0;
  for (const auto& [begin, end] : from) {
    std::int64_t left = begin;
    while (at < without.size() && without[at].second <= left)
      ++at;
    for (std::size_t i = at; i < without.size() && without[i].first < end; ++i) {
      if (without[i].first > left) out.emplace_back(left, without[i].first);
      left = std::max(left, without[i].second);
    }
    if (left < end) out.emplace_back(left, end);
  }
  return out;
}

/// The time range of the drawing, cut into places.
class Axis {
 public:
  Axis(std::int64_t begin, std::int64_t end) : begin_(begin), end_(end) {}

  /// Adds to each place the share of it that is in `stretches`, times `weight`; returns the share
  /// of the whole.
  double add(const std::vector<Stretch>& stretches, double weight, std::vector<double>& to) const {
    const double place = static_cast<double>(end_ - begin_) / static_cast<double>(kPlaces);
    double whole = 0;
    for (const auto& [from, until] : stretches) {
      const double first = static_cast<double>(std::max(from, begin_) - begin_) / place;
      const double last = static_cast<double>(std::min(until, end_) - begin_) / place;
      if (last <= first) continue;
      whole += last - first;
      const auto end = std::min(kPlaces, static_cast<std::size_t>(last) + 1);
      for (auto p = static_cast<std::size_t>(first); p < end; ++p) {
        const auto left = static_cast<double>(p);
        to[p] += weight * std::max(0.0, std::min(last, left + 1) - std::max(first, left));
      }
    }
    return whole / static_cast<double>(kPlaces);
  }

 private:
  std::int64_t begin_;
  std::int64_t end_;
};

double microseconds(Time time) {
  return static_cast<double>(time.since_start().raw()) / 1e6;
}

std::string lane_name(const sim::RankTimes& times, const sim::Network& network, std::size_t first,
                      std::size_t count) {
  const std::string& name = network.nodes[times.nodes[first]].name;
  if (count == 1) return name;
  return fmt::format("{} … ({})", name, count);
}

}  // namespace

render::LaneChart lanes_of(const sim::RankTimes& times, const sim::Network& network) {
  render::LaneChart chart;
  if (times.steps.empty() || times.nodes.empty()) return chart;
  const std::size_t steps = std::min(times.steps.size(), kStepsDrawn);
  const Time begin = times.steps.front().begin;
  const Time end = times.steps[steps - 1].end;
  if (end <= begin) return chart;
  chart.begin_us = microseconds(begin);
  chart.end_us = microseconds(end);
  for (std::size_t s = 0; s + 1 < steps; ++s)
    chart.marks_us.push_back(microseconds(times.steps[s].end));
  const std::size_t ranks = times.nodes.size();
  std::vector<std::vector<Stretch>> compute(ranks);
  std::vector<std::vector<Stretch>> sending(ranks);
  for (const sim::RankSpan& span : times.spans) {
    if (span.begin >= end) continue;
    auto& list = span.what == sim::TaskKind::kCompute ? compute : sending;
    list[span.rank].emplace_back(span.begin.since_start().raw(), span.end.since_start().raw());
  }
  const Axis axis(begin.since_start().raw(), end.since_start().raw());
  const std::size_t in_lane = (ranks + kMostLanes - 1) / kMostLanes;
  double computing = 0;
  double exposed = 0;
  for (std::size_t first = 0; first < ranks; first += in_lane) {
    const std::size_t count = std::min(in_lane, ranks - first);
    render::Lane lane{lane_name(times, network, first, count), std::vector<double>(kPlaces),
                      std::vector<double>(kPlaces)};
    for (std::size_t rank = first; rank < first + count; ++rank) {
      const auto busy = merged(std::move(compute[rank]));
      const auto open = difference_of(merged(std::move(sending[rank])), busy);
      computing += axis.add(busy, 1.0 / static_cast<double>(count), lane.compute);
      exposed += axis.add(open, 1.0 / static_cast<double>(count), lane.exposed);
    }
    chart.lanes.push_back(std::move(lane));
  }
  const double share = 100.0 / static_cast<double>(ranks);
  chart.note = fmt::format("computing {:.1f} %, exposed communication {:.1f} %, idle {:.1f} %",
                           computing * share, exposed * share, 100 - (computing + exposed) * share);
  chart.title = fmt::format("{}: step{} of {} rank{}, {}", times.label,
                            steps == 1 ? " 1" : fmt::format("s 1 to {}", steps), ranks,
                            ranks == 1 ? "" : "s", chart.note);
  return chart;
}

}  // namespace weir::ops
