// I5: a deadlock. A switch whose port to the next is paused for good waits for it; switches that
// wait for each other in a circle wait for ever, and the circle is the finding, not the many pauses
// around it.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// Nothing leaves a port in RDMA's priority: paused nearly all of the window with nearly nothing
/// sent, or held by the watchdog.
bool is_stuck(const View& view, const PortView& port) {
  if (port.facts != nullptr) {
    for (const evidence::EgressQueue& queue : port.facts->queues)
      if (queue.queue.value() == view.rdma() && queue.stuck.is(true)) return true;
  }
  const auto share = port.counts.share_of_window("switch.prio.pause_rx.microseconds", view.rdma());
  if (!share || *share < view.thresholds().stuck_pause) return false;
  const auto sent = port.counts.of("switch.queue.tx.bytes", view.rdma());
  if (!sent || !port.speed || port.speed->raw() <= 0) return true;
  const auto possible = static_cast<double>(bytes_in(port.counts.window(), *port.speed).raw());
  return static_cast<double>(*sent) < view.thresholds().stuck_rate * possible;
}

/// By switch: the stuck ports that lead to other switches.
using Waiting = std::map<std::string, std::vector<const PortView*>>;

class CircleSearch {
 public:
  CircleSearch(const View& view, const Waiting& waiting) : view_(view), waiting_(waiting) {}

  /// Ports, each leading to the switch of the next; empty where there is no circle.
  std::vector<const PortView*> find() {
    for (const auto& entry : waiting_) {
      path_.clear();
      if (const auto circle = follow(entry.first); !circle.empty()) return circle;
    }
    return {};
  }

 private:
  std::vector<const PortView*> follow(const std::string& at) {
    const auto again = std::find_if(path_.begin(), path_.end(),
                                    [&](const PortView* port) { return port->switch_name == at; });
    if (again != path_.end()) return {again, path_.end()};
    const auto ports = waiting_.find(at);
    if (ports == waiting_.end() || done_[at]) return {};
    for (const PortView* port : ports->second) {
      path_.push_back(port);
      auto circle = follow(view_.ports()[*port->peer].switch_name);
      if (!circle.empty()) return circle;
      path_.pop_back();
    }
    done_[at] = true;
    return {};
  }

  const View& view_;
  const Waiting& waiting_;
  std::vector<const PortView*> path_;
  std::map<std::string, bool> done_;
};

/// The watchdog found RDMA's queue stuck: what is behind that port pauses without end.
void look_for_held_queues(const View& view, Suspicions& out) {
  constexpr std::string_view kStorms = "switch.queue.watchdog_storm.events";
  for (const PortView& port : view.ports()) {
    const std::uint64_t storms = port.counts.of(kStorms, view.rdma()).value_or(0);
    bool is_held = false;
    if (port.facts != nullptr) {
      for (const evidence::EgressQueue& queue : port.facts->queues)
        is_held = is_held || (queue.queue.value() == view.rdma() && queue.stuck.is(true));
    }
    if (storms == 0 && !is_held) continue;
    finding::Where where = port.where();
    where.priority = std::to_string(view.rdma());
    finding::Finding found = finding::make_finding(
        "pfc.storm",
        fmt::format("the watchdog of {} found queue {} stuck{}{}: what is behind that port pauses "
                    "without end.",
                    name_of(port), view.rdma(),
                    storms > 0 ? fmt::format(" {} time{}", storms, storms == 1 ? "" : "s") : "",
                    is_held ? ", and holds it now" : ""),
        where);
    found.confidence = finding::Confidence::kHigh;
    if (!is_held) found.severity = finding::Severity::kWarning;
    if (storms > 0) found.evidence.push_back(port.counts.line(kStorms, view.rdma()));
    if (is_held) found.evidence.push_back(fact_line(name_of(port), "the watchdog holds the queue"));
    out.add(std::move(found), congestion_anywhere());
  }
}

}  // namespace

void look_for_deadlock(const View& view, Suspicions& out) {
  Waiting waiting;
  for (const PortView& port : view.ports())
    if (port.peer && is_stuck(view, port)) waiting[port.switch_name].push_back(&port);
  const std::vector<const PortView*> circle = CircleSearch(view, waiting).find();
  if (circle.empty()) return look_for_held_queues(view, out);
  std::string names;
  for (const PortView* port : circle)
    names += port->switch_name + " > ";
  names += circle.front()->switch_name;
  finding::Where where = circle.front()->where();
  where.link = names;
  where.priority = std::to_string(view.rdma());
  finding::Finding found = finding::make_finding(
      "pfc.deadlock",
      fmt::format("{} wait for each other in a circle: none of them sends in priority {} any more.",
                  names, view.rdma()),
      where);
  found.confidence = finding::Confidence::kHigh;
  for (const PortView* port : circle) {
    found.evidence.push_back(port->counts.line("switch.prio.pause_rx.microseconds", view.rdma()));
    found.evidence.back().source = fmt::format("{} to {}", name_of(*port), port->neighbour);
  }
  std::vector<Consequence> explains = congestion_anywhere();
  for (const std::string_view id : {"pfc.storm", "receiver.slow", "watchdog.stuck", "peer.dead"})
    explains.push_back({id});
  out.add(std::move(found), std::move(explains));
}

}  // namespace weir::diagnose
