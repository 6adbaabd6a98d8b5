// I5: a deadlock. A switch whose port to the next is paused permanently waits for that switch;
// switches that wait for each other in a cycle never send again, and the cycle is the finding, not
// the many pauses around it.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

bool is_held_by_watchdog(const PortView& port, unsigned number) {
  return port.facts != nullptr && std::any_of(port.facts->queues.begin(), port.facts->queues.end(),
                                              [&](const evidence::EgressQueue& queue) {
                                                return queue.queue.value() == number &&
                                                       queue.stuck.is(true);
                                              });
}

/// Nothing leaves a port in the RDMA priority: paused nearly all of the window with nearly nothing
/// sent, or paused once and never released (what it sent was before), or held by the watchdog.
bool is_stuck(const View& view, const PortView& port) {
  if (is_held_by_watchdog(port, view.rdma())) return true;
  const auto share = port.counts.share_of_window("switch.prio.pause_rx.microseconds", view.rdma());
  if (!share || *share < view.thresholds().stuck_pause) return false;
  const auto sent = port.counts.of("switch.queue.tx.bytes", view.rdma());
  if (!sent || !port.speed || port.speed->raw() <= 0) return true;
  const auto possible = static_cast<double>(bytes_in(port.counts.window(), *port.speed).raw());
  if (static_cast<double>(*sent) < view.thresholds().stuck_rate * possible) return true;
  const auto frames = port.counts.of("switch.prio.pause_rx.frames", view.rdma());
  return frames && are_only_renewed(port.counts, *share, *frames, *port.speed,
                                    view.thresholds().renewed_pause);
}

/// By switch: the stuck ports that lead to other switches.
using Waiting = std::map<std::string, std::vector<const PortView*>>;

class CycleSearch {
 public:
  CycleSearch(const View& view, const Waiting& waiting) : view_(view), waiting_(waiting) {}

  /// Ports, each leading to the switch of the next; empty if there is no cycle.
  std::vector<const PortView*> find() {
    for (const auto& entry : waiting_) {
      path_.clear();
      if (const auto cycle = follow(entry.first); !cycle.empty()) return cycle;
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
      auto cycle = follow(view_.ports()[*port->peer].switch_name);
      if (!cycle.empty()) return cycle;
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

void look_at_held_queue(const PortView& port, unsigned queue, Suspicions& out) {
  constexpr std::string_view kStorms = "switch.queue.watchdog_storm.events";
  const std::uint64_t storms = port.counts.of(kStorms, queue).value_or(0);
  const bool is_held = is_held_by_watchdog(port, queue);
  if (storms == 0 && !is_held) return;
  Suspicion storm{.id = "pfc.storm",
                  .verdict = fmt::format(
                      "PFC watchdog of {} found queue {} stuck{}{}: the device behind "
                      "this port pauses without end.",
                      name_of(port), queue,
                      storms > 0 ? fmt::format(" {} time{}", storms, storms == 1 ? "" : "s") : "",
                      is_held ? " and holds it now" : ""),
                  .where = port.where(),
                  .confidence = finding::Confidence::kHigh,
                  .severity = is_held ? finding::Severity::kError : finding::Severity::kWarning,
                  .explains = congestion_anywhere()};
  storm.where.priority = std::to_string(queue);
  if (storms > 0) storm.evidence.push_back(port.counts.line(kStorms, queue));
  if (is_held) storm.evidence.push_back(fact_line(name_of(port), "watchdog holds the queue"));
  out.add(std::move(storm));
}

/// The watchdog found a queue stuck: the device behind that port pauses without end. It watches
/// lossless queues alone, so whichever it names is one.
void look_for_held_queues(const View& view, Suspicions& out) {
  for (const PortView& port : view.ports())
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue)
      look_at_held_queue(port, queue, out);
}

}  // namespace

void look_for_deadlock(const View& view, Suspicions& out) {
  Waiting waiting;
  for (const PortView& port : view.ports())
    if (port.peer && is_stuck(view, port)) waiting[port.switch_name].push_back(&port);
  const std::vector<const PortView*> cycle = CycleSearch(view, waiting).find();
  if (cycle.empty()) return look_for_held_queues(view, out);
  std::string names;
  std::vector<finding::EvidenceLine> lines;
  for (const PortView* port : cycle) {
    names += port->switch_name + " > ";
    lines.push_back(port->counts.line("switch.prio.pause_rx.microseconds", view.rdma()));
    lines.back().source = fmt::format("{} to {}", name_of(*port), port->neighbour);
  }
  names += cycle.front()->switch_name;
  finding::Where where = with_priority(view, cycle.front()->where());
  where.link = names;
  out.add({.id = "pfc.deadlock",
           .verdict = fmt::format("{} pause each other in a cycle: none of them sends on priority "
                                  "{} any more.",
                                  names, view.rdma()),
           .where = where,
           .confidence = finding::Confidence::kHigh,
           .evidence = std::move(lines),
           .explains =
               congestion_anywhere({"pfc.storm", "receiver.slow", "watchdog.stuck", "peer.dead"})});
}

}  // namespace weir::diagnose
