#include "lab/rehearsal/rehearsal_signs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "diagnose/core/shape.h"

namespace weir::lab {
namespace {

using diagnose::NicView;
using diagnose::PortView;
using diagnose::View;

struct Counted {
  std::string_view id;
  std::string_view name;
  bool is_of_rdma = false;  // of RDMA's priority or queue
  bool is_peak = false;     // the largest, not the sum
  double offset = 1;        // counts below it are alike: chance decides them
  double grain = 0.05;      // of the logarithm
};

constexpr std::array kOfNics = {
    Counted{"nic.np.ecn_marked.packets", "marks that arrived at hosts", false, false, 10},
    Counted{"nic.rp.cnp_handled.packets", "CNPs that senders obeyed", false, false, 5},
    Counted{"nic.prio.pause_rx.microseconds", "time that hosts were paused", true, false, 5, 0.1},
    Counted{"nic.resp.out_of_sequence.packets", "packets out of order", false, false, 2, 0.2},
    Counted{"nic.req.ack_timeout.events", "timeouts", false, false, 1, 0.2},
    Counted{"nic.resp.duplicate_request.packets", "packets that came twice", false, false, 2, 0.2},
    Counted{"nic.prio.tx.packets", "packets that hosts sent as RDMA", true, false, 100, 0.02},
    Counted{"nic.prio.rx.packets", "packets that hosts received as RDMA", true, false, 100, 0.02},
};

constexpr std::array kSignsOfPorts = {
    Counted{"switch.queue.ecn_marked.packets", "marks at switches", true, false, 10},
    Counted{"switch.queue.depth_max.bytes", "the longest queue", true, true, 10'000},
    Counted{"switch.prio.pause_tx.frames", "pauses that switches sent", true, false, 3, 0.1},
    Counted{"switch.port.drop.packets", "packets that switches dropped", false, false, 2, 0.2},
};

/// Counts of one kind, put together.
class Pile {
 public:
  explicit Pile(const Counted& of) : of_(of) {}
  void add(std::optional<std::uint64_t> count) {
    if (!count) return;
    is_there_ = true;
    const auto number = static_cast<double>(*count);
    total_ = of_.is_peak ? std::max(total_, number) : total_ + number;
  }
  void put(std::string place, std::vector<Sign>& out) const {
    if (!is_there_) return;
    out.push_back({std::string(of_.name), std::move(place), total_, std::log(total_ + of_.offset),
                   of_.grain});
  }

 private:
  const Counted& of_;
  bool is_there_ = false;
  double total_ = 0;
};

std::optional<unsigned> number_of(const Counted& what, const View& view) {
  return what.is_of_rdma ? std::optional(view.rdma()) : std::nullopt;
}

/// Together first, then place by place, in the order of their names.
template <class Things, class Place>
void add_counts(const Counted& what, const View& view, const Things& things, const Place& place_of,
                std::vector<Sign>& out) {
  Pile all(what);
  std::map<std::string, Pile> apart;
  for (const auto& one : things) {
    const auto count = what.is_peak ? one.counts.peak(what.id, number_of(what, view))
                                    : one.counts.of(what.id, number_of(what, view));
    all.add(count);
    apart.try_emplace(place_of(one), what).first->second.add(count);
  }
  all.put({}, out);
  if (apart.size() < 2) return;
  for (const auto& [place, pile] : apart)
    pile.put(place, out);
}

/// How unevenly switches use their ways up, and their ways to each neighbour below: the share of
/// the bytes that would have to move.
void add_unevenness(const View& view, bool is_up, std::vector<Sign>& out) {
  std::map<std::string, std::vector<double>> groups;
  for (const PortView& port : view.ports()) {
    const auto leads = diagnose::leads_up(view, port);
    const auto sent = port.counts.of("switch.port.tx.bytes");
    if (!port.peer || !sent || leads != std::optional(is_up)) continue;
    groups[port.switch_name + (is_up ? "" : " " + port.neighbour)].push_back(
        static_cast<double>(*sent));
  }
  double moved = 0;
  double all = 0;
  double idle = 0;
  double busiest = 0;
  for (const auto& [name, sent] : groups) {
    if (sent.size() < 2) continue;
    double sum = 0;
    for (const double one : sent)
      sum += one;
    const double even = sum / static_cast<double>(sent.size());
    for (const double one : sent) {
      moved += std::abs(one - even) / 2;
      idle += sum > 0 && one < even / 20 ? 1 : 0;
      busiest = std::max(busiest, one);
    }
    all += sum;
  }
  if (all <= 0) return;
  constexpr double kGrain = 0.02;
  out.push_back({is_up ? "unevenness of the ways up" : "unevenness of parallel cables",
                 {},
                 moved / all,
                 moved / all,
                 kGrain});
  constexpr double kLinks = 0.5;
  out.push_back({is_up ? "idle ways up" : "idle parallel cables", {}, idle, idle, kLinks});
  // What congests is the one that has most.
  constexpr double kGrainOfBytes = 0.02;
  if (busiest > 0)
    out.push_back({is_up ? "bytes of the busiest way up" : "bytes of the busiest parallel cable",
                   {},
                   busiest,
                   std::log(busiest),
                   kGrainOfBytes});
}

}  // namespace

std::vector<Sign> signs_of(const View& view, std::optional<Duration> took) {
  std::vector<Sign> out;
  constexpr double kGrainOfTime = 0.015;
  if (took && took->raw() > 0) {
    const double us = static_cast<double>(took->raw()) / 1e6;
    out.push_back({"time that the load took", {}, us, std::log(us), kGrainOfTime});
  }
  for (const Counted& what : kOfNics)
    add_counts(
        what, view, view.nics(), [](const NicView& nic) { return nic.host; }, out);
  for (const Counted& what : kSignsOfPorts)
    add_counts(
        what, view, view.ports(), [](const PortView& port) { return port.switch_name; }, out);
  add_unevenness(view, true, out);
  add_unevenness(view, false, out);
  return out;
}

}  // namespace weir::lab
