#include "sim/domains/windows.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/check.h"

namespace weir::sim::engine {
namespace {

// ---- which node goes where

/// Sets of nodes that grow together.
class Parts {
 public:
  explicit Parts(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  [[nodiscard]] std::uint32_t find(NodeId node) {
    std::uint32_t at = to_index(node);
    while (parent_[at] != at)
      at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void join(NodeId a, NodeId b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Where each node's links lead, in the order of its ports.
Table<NodeId, std::vector<NodeId>> neighbours_of(const Network& network) {
  Table<NodeId, std::vector<NodeId>> out(network.nodes.size());
  for (const Link& link : network.links) {
    out[link.a].push_back(link.b);
    out[link.b].push_back(link.a);
  }
  return out;
}

/// Joins what packets from `source` to `target` may pass.
class PathJoiner {
 public:
  PathJoiner(const Network& network, const Routes& routes, Parts& parts)
      : network_(network), routes_(routes), parts_(parts), around_(neighbours_of(network)) {}

  void join(NodeId source, NodeId target) {
    parts_.join(source, target);
    if (around_[source].empty() || around_[target].empty()) return;
    const NodeId first = around_[source][0];
    const NodeId last = around_[target][0];
    parts_.join(source, first);
    if (!done_.emplace(first, last).second) return;
    frontier_.assign(1, first);
    while (!frontier_.empty()) {
      const NodeId node = frontier_.back();
      frontier_.pop_back();
      if (node == target || network_.nodes[node].kind != NodeKind::kSwitch) continue;
      for (const std::uint16_t port : routes_.next(node, target)) {
        const NodeId next = around_[node][port];
        parts_.join(node, next);
        if (next != target && seen_.emplace(last, next).second) frontier_.push_back(next);
      }
    }
  }

 private:
  const Network& network_;
  const Routes& routes_;
  Parts& parts_;
  Table<NodeId, std::vector<NodeId>> around_;
  std::set<std::pair<NodeId, NodeId>> done_;  // switch of the source, of the target
  std::set<std::pair<NodeId, NodeId>> seen_;  // switch of the target, switch on the way there
  std::vector<NodeId> frontier_;
};

/// What stays together: a switch with its NICs.
struct Unit {
  std::uint32_t region;
  bool has_nics;
  NodeId node;
  std::uint64_t weight;
};

/// Regions whole, the heaviest first, each to the domain with the least.
bool deal_regions(const std::vector<Unit>& units, unsigned wanted,
                  Table<NodeId, std::uint32_t>& domain_of) {
  std::map<std::uint32_t, std::uint64_t> weights;
  std::uint64_t total = 0;
  for (const Unit& unit : units) {
    weights[unit.region] += unit.weight;
    total += unit.weight;
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (const auto& [region, weight] : weights)
    order.emplace_back(weight, region);
  std::sort(order.begin(), order.end(), std::greater<>());
  std::vector<std::uint64_t> load(wanted, 0);
  std::map<std::uint32_t, std::uint32_t> place;
  for (const auto& [weight, region] : order) {
    const auto least = std::min_element(load.begin(), load.end());
    place[region] = static_cast<std::uint32_t>(least - load.begin());
    *least += weight;
  }
  if (*std::max_element(load.begin(), load.end()) * wanted * 4 > total * 5) return false;
  for (const Unit& unit : units)
    domain_of[unit.node] = place[unit.region];
  return true;
}

/// Leaves in order, so that neighbours stay together; the switches above them likewise.
void deal_units(const std::vector<Unit>& units, unsigned wanted,
                Table<NodeId, std::uint32_t>& domain_of) {
  for (const bool has_nics : {true, false}) {
    std::uint64_t total = 0;
    for (const Unit& unit : units)
      if (unit.has_nics == has_nics) total += unit.weight;
    std::uint64_t before = 0;
    for (const Unit& unit : units) {
      if (unit.has_nics != has_nics) continue;
      domain_of[unit.node] = static_cast<std::uint32_t>((before + unit.weight / 2) * wanted /
                                                        std::max<std::uint64_t>(total, 1));
      before += unit.weight;
    }
  }
}

/// Without the numbers that nobody has.
void number_from_zero(Table<NodeId, std::uint32_t>& domain_of) {
  std::map<std::uint32_t, std::uint32_t> place;
  for (const std::uint32_t domain : domain_of)
    place.emplace(domain, 0);
  std::uint32_t next = 0;
  for (auto& [domain, number] : place)
    number = next++;
  for (std::uint32_t& domain : domain_of)
    domain = place[domain];
}

}  // namespace

Table<NodeId, std::uint32_t> parts_of(const Network& network, const Routes& routes) {
  Parts parts(network.nodes.size());
  PathJoiner joiner(network, routes, parts);
  for (const QueuePair& qp : network.qps)
    joiner.join(qp.source, qp.target);
  Table<NodeId, std::uint32_t> out;
  for (const NodeId n : network.nodes.ids())
    out.push_back(parts.find(n));
  return out;
}

Table<NodeId, std::uint32_t> cut_into_domains(const Network& network, const Routes& routes,
                                              unsigned wanted) {
  Table<NodeId, std::uint32_t> domain_of(network.nodes.size(), 0);
  if (wanted <= 1) return domain_of;
  const Table<NodeId, std::uint32_t> part = parts_of(network, routes);
  Table<NodeId, std::uint64_t> weight(network.nodes.size(), 0);
  for (const QueuePair& qp : network.qps) {
    ++weight[qp.source];
    ++weight[qp.target];
  }
  Table<NodeId, NodeId> home(network.nodes.size());  // of a NIC: its switch
  for (const NodeId n : network.nodes.ids())
    home[n] = n;
  Table<NodeId, std::uint8_t> has_nics(network.nodes.size(), 0);
  for (const Link& link : network.links)
    for (const auto& [nic, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
      if (network.nodes[nic].kind == NodeKind::kNic) {
        home[nic] = other;
        has_nics[other] = 1;
        weight[other] += weight[nic];
      }
  std::vector<Unit> units;
  for (const NodeId n : network.nodes.ids())
    if (home[n] == n || home[home[n]] == n)  // a NIC on a NIC: the one of them
      units.push_back({part[n], has_nics[n] != 0, n, std::max<std::uint64_t>(weight[n], 1)});
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit& a, const Unit& b) { return a.region < b.region; });
  if (!deal_regions(units, wanted, domain_of)) deal_units(units, wanted, domain_of);
  for (const NodeId n : network.nodes.ids())
    if (network.nodes[n].kind == NodeKind::kNic && network.nodes[home[n]].kind == NodeKind::kSwitch)
      domain_of[n] = domain_of[home[n]];
  number_from_zero(domain_of);
  return domain_of;
}

namespace {

/// From a frame's start to its arrival, at least.
Ps shortest_delay(const Tables& all, const Port& port) {
  const auto smallest = static_cast<std::size_t>(
      std::min({all.network.wire.ack_frame, all.network.wire.cnp_frame, all.network.wire.pfc_frame,
                all.network.wire.data_header}));
  return port.flight + (port.is_cut_through ? 0 : Ps{port.wire_time[smallest]});
}

}  // namespace

void set_up_windows(Tables& all, Ps reach) {
  Ps window = reach;
  Ps to_switch = kNever;  // between a NIC and what it is connected to
  for (Port& port : all.ports) {
    const NodeId peer = all.ports[port.peer].node;
    const Ps delay = shortest_delay(all, port);
    if (all.domain_of[port.node] != all.domain_of[peer]) {
      port.peer_domain = static_cast<std::uint8_t>(all.domain_of[peer]);
      window = std::min(window, delay);
    }
    if (port.nic != nullptr || all.ports[port.peer].nic != nullptr)
      to_switch = std::min(to_switch, delay);
    if (port.nic != nullptr && all.ports[port.peer].nic != nullptr)
      window = std::min(window, delay);
  }
  // From a NIC to a switch and on to another NIC: an ACK needs as long, as does a message there and
  // back between NICs on one cable.
  all.window = std::min(window, to_switch == kNever ? kNever : 2 * to_switch);
  // Of a queue pair that was well at the beginning of a window one retry is used up in it at most.
  all.has_retries =
      std::all_of(all.network.nics.begin(), all.network.nics.end(), [&](const auto& nic) {
        return nic.retries > 0 &&
               (nic.ack_timeout.raw() == 0 || nic.ack_timeout.raw() >= all.window);
      });
}

void send_across(State& sim, std::uint8_t domain, const Event& event) {
  Outbox& box = sim.outboxes[domain];
  box.earliest = std::min(box.earliest, event.at);
  box.by_turn[sim.turn].push_back(event);
}

// ---- windows

namespace {

/// What a domain says of itself at the end of a window.
struct alignas(64) Report {
  Ps next = kNever;
  std::uint64_t live_frames = 0;
  std::uint64_t unsent = 0;
  std::uint64_t undelivered = 0;
  std::uint64_t gone = 0;
  std::uint64_t events = 0;
  bool has_calls = false;
  bool may_fail = false;
  bool is_over = false;  // nothing is left, or a replay is in doubt
};
/// What all know when they meet.
struct Meeting {
  std::vector<Report> reports;
  unsigned turn = 0;      // half of the outboxes that was written last
  bool is_alone = false;  // the first thread simulates what comes
};

class WindowRun {
 public:
  WindowRun(Tables& all, Ps end, const DomainSteps& steps)
      : all_(all), end_(end), steps_(steps), pace_(all.crew->pace()) {
    for (Meeting& meeting : meetings_)
      meeting.reports.resize(all.domains.size());
    meetings_[0].is_alone = pace_.is_alone();
    for (unsigned d = 0; d < all.domains.size(); ++d)
      report(d, meetings_[0]);
    gone_ = gone();
    events_ = events_of(meetings_[0]);
  }

  void work(unsigned index) {
    for (unsigned place = 0;; place = 1 - place) {
      const Meeting& before = meetings_[place];
      Meeting& after = meetings_[1 - place];
      const Plan plan = next(before);
      if (plan.what == Plan::kOver) {
        if (index == 0) finish(plan);
        return;
      }
      const bool is_shared = plan.what == Plan::kWindow && !before.is_alone;
      if (index == 0) {
        look_at_clock(before, Pace::kAll, was_shared_);
        was_shared_ = is_shared;
      }
      if (is_shared) {
        if (index == 0) after.turn = 1 - before.turn;
        if (index == 0) after.is_alone = pace_.is_alone();
        simulate(index, 1 - before.turn, plan.end);
        report(index, after);
      } else if (index == 0) {
        lead(plan, before.turn, after);
      }
      all_.crew->meet();
    }
  }
  void work_alone() {
    for (unsigned turn = 1;; turn = 1 - turn) {
      const Plan plan = next(meetings_[0]);
      if (plan.what == Plan::kOver) return finish(plan);
      alone(plan, turn);
      for (unsigned d = 0; d < all_.domains.size(); ++d)
        report(d, meetings_[0]);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Plan {
    enum What { kWindow, kCalls, kOneByOne, kOver } what;
    Ps end = 0;
    bool is_at_rest = false;
  };

  void simulate(unsigned index, unsigned turn, Ps end) {
    State& sim = *all_.domains[index];
    take_in(sim, turn);
    sim.turn = static_cast<std::uint8_t>(turn);
    while (sim.events.next_time() < end)  // a domain without frames stops, and goes on
      steps_.run_before(sim, end);
  }
  void report(unsigned index, Meeting& meeting) {
    State& sim = *all_.domains[index];
    Report& to = meeting.reports[index];
    to = {sim.events.next_time(),
          sim.live_frames,
          sim.unsent,
          sim.undelivered,
          sim.consumed + sim.dropped,
          sim.events.events(),
          !sim.calls.empty(),
          sim.may_fail,
          sim.is_replay_in_doubt || is_stopped_};
    for (Outbox& box : sim.outboxes) {
      to.next = std::min(to.next, box.earliest);
      box.earliest = kNever;
    }
  }
  [[nodiscard]] std::uint64_t gone() const {
    return all_.sum(&State::consumed) + all_.sum(&State::dropped);
  }
  [[nodiscard]] static std::uint64_t events_of(const Meeting& meeting) {
    std::uint64_t events = 0;
    for (const Report& report : meeting.reports)
      events += report.events;
    return events;
  }
  /// What happened between the last look and `meeting` was simulated that way, if it counts.
  void look_at_clock(const Meeting& meeting, Pace::Way way, bool counts) {
    const Clock::time_point now = Clock::now();
    const std::uint64_t events = events_of(meeting);
    if (counts)
      pace_.passed(way, std::chrono::nanoseconds(now - looked_).count(), events - events_);
    looked_ = now;
    events_ = events;
  }
  /// Every thread comes to the same, from the same reports.
  [[nodiscard]] Plan next(const Meeting& meeting) const {
    Report sum;
    for (const Report& report : meeting.reports) {
      sum.next = std::min(sum.next, report.next);
      sum.live_frames += report.live_frames;
      sum.unsent += report.unsent;
      sum.undelivered += report.undelivered;
      sum.may_fail = sum.may_fail || report.may_fail;
      sum.gone += report.gone;
      sum.has_calls = sum.has_calls || report.has_calls;
      sum.is_over = sum.is_over || report.is_over;
    }
    if (sum.has_calls) return {Plan::kCalls};
    const bool stops_at_rest = all_.domains[0]->stop_below != 0;
    if (stops_at_rest && sum.live_frames == 0 && sum.gone != gone_) return {Plan::kOver, 0, true};
    if (sum.is_over || sum.next >= end_) return {Plan::kOver};
    const bool goes_on = all_.has_retries && !sum.may_fail ? sum.undelivered != 0 : sum.unsent != 0;
    if (!goes_on) return {Plan::kOneByOne};
    return {Plan::kWindow, std::min(end_, sum.next + std::min(all_.window, end_ - sum.next))};
  }
  /// What the others sent in the window before.
  void take_in(State& sim, unsigned turn) {
    for (const auto& other : all_.domains) {
      if (other.get() == &sim) continue;
      std::vector<Event>& box = other->outboxes[sim.index].by_turn[1 - turn];
      const std::size_t source = other->index < sim.index ? other->index : other->index - 1;
      for (const Event& event : box)
        sim.events.push_from(source, event);
      box.clear();
    }
  }
  /// One thread, while the others wait: for as long as that is faster.
  void lead(Plan plan, unsigned turn, Meeting& after) {
    do {
      turn = 1 - turn;
      alone(plan, turn);
      for (unsigned d = 0; d < all_.domains.size(); ++d)
        report(d, after);
      look_at_clock(after, Pace::kAlone, true);
      plan = next(after);
    } while (pace_.is_alone() && plan.what != Plan::kOver);
    after.turn = turn;
    after.is_alone = pace_.is_alone();
  }
  void alone(const Plan& plan, unsigned turn) {
    if (plan.what == Plan::kWindow) {
      for (unsigned d = 0; d < all_.domains.size(); ++d)
        simulate(d, turn, plan.end);
      return;
    }
    for (const auto& sim : all_.domains)
      take_in(*sim, turn);
    if (plan.what == Plan::kCalls)
      call_driver();
    else
      run_one_by_one(turn);
  }
  void call_driver() {
    std::vector<InOrder> calls;
    for (const auto& sim : all_.domains) {
      calls.insert(calls.end(), sim->calls.begin(), sim->calls.end());
      sim->calls.clear();
    }
    std::stable_sort(calls.begin(), calls.end(), comes_before);
    all_.is_between = true;
    for (const InOrder& call : calls) {
      all_.call = call;
      all_.domains[0]->driver->on_call(call.what, call.at);
    }
    all_.is_between = false;
  }
  /// Until a message waits in a NIC again, or nothing is left.
  void run_one_by_one(unsigned turn) {
    for (;;) {
      Ps at = kNever;
      for (const auto& sim : all_.domains)
        at = std::min(at, sim->events.next_time());
      if (at >= end_) return;
      run_instant(at, turn);
      for (const auto& sim : all_.domains)
        take_in(*sim, turn);
      const bool has_calls = std::any_of(all_.domains.begin(), all_.domains.end(),
                                         [](const auto& sim) { return !sim->calls.empty(); });
      if (is_stopped_ || has_calls || all_.sum(&State::unsent) != 0) return;
    }
  }
  /// All events of one instant in the order of ties, whichever domain they are in.
  void run_instant(Ps at, unsigned turn) {
    std::vector<State*> active;
    for (const auto& sim : all_.domains) {
      sim->turn = static_cast<std::uint8_t>(1 - turn);  // taken in at once
      if (sim->events.next_time() != at) continue;
      sim->events.begin_instant(at);
      active.push_back(sim.get());
    }
    for (;;) {
      State* first = nullptr;
      for (State* const sim : active)
        if (sim->events.has_more() &&
            (first == nullptr || sim->events.next_tie() < first->events.next_tie()))
          first = sim;
      if (first == nullptr) return;
      const std::uint64_t before = gone();
      steps_.dispatch(*first, first->events.take_next());
      if (gone() != before && all_.sum(&State::live_frames) == 0 &&
          all_.sum(&State::open_messages) <= all_.domains[0]->stop_below)
        is_stopped_ = true;
    }
  }
  static bool comes_before(const InOrder& a, const InOrder& b) {
    return std::pair(a.at, a.port) < std::pair(b.at, b.port);
  }
  void finish(const Plan& plan) {
    for (const unsigned turn : {0U, 1U})
      for (const auto& sim : all_.domains)
        take_in(*sim, turn);
    for (const auto& sim : all_.domains)
      all_.now = std::max(all_.now, plan.is_at_rest ? sim->last_gone : sim->now());
  }

  Tables& all_;
  Ps end_;
  const DomainSteps& steps_;
  Pace& pace_;
  std::array<Meeting, 2> meetings_;  // the last one, and the one to come
  std::uint64_t gone_ = 0;           // frames, before this run
  std::uint64_t events_ = 0;         // up to the last look at the clock, which the first thread has
  Clock::time_point looked_ = Clock::now();
  bool was_shared_ = false;  // the window before this one, as the first thread knows
  bool is_stopped_ = false;  // only one thread looks at it, and reports it
};

}  // namespace

namespace {

void make_crew(Tables& all) {
  if (all.crew == nullptr)
    all.crew = std::make_unique<Crew>(static_cast<unsigned>(all.domains.size()), all.adapts);
}

}  // namespace

void run_domains(Tables& all, Ps end, const DomainSteps& steps) {
  make_crew(all);
  all.is_between = false;
  WindowRun run(all, end, steps);
  all.crew->run([&](unsigned index) { run.work(index); });
  all.is_between = true;
}

void run_domains_alone(Tables& all, Ps end, const DomainSteps& steps) {
  make_crew(all);
  all.is_between = false;
  WindowRun(all, end, steps).work_alone();
  all.is_between = true;
}

void number_messages(Tables& all) {
  const MessageId base = all.in_order;
  const Messages messages = all.posted();
  all.in_order = messages.end_id();
  std::vector<InOrder> posts;
  for (const auto& sim : all.domains) {
    posts.insert(posts.end(), sim->posts.begin(), sim->posts.end());
    sim->posts.clear();
  }
  posts.insert(posts.end(), all.posted_in_between.begin(), all.posted_in_between.end());
  all.posted_in_between.clear();
  WEIR_CHECK(posts.size() == all.in_order - base);
  std::stable_sort(posts.begin(), posts.end(), [](const InOrder& a, const InOrder& b) {
    return std::pair(a.at, a.port) < std::pair(b.at, b.port);
  });
  std::vector<MessageId> order(posts.size());
  std::vector<MessageId> place(posts.size());  // by old number
  std::vector<MessageRecord> records(posts.size());
  for (std::uint32_t i = 0; i < posts.size(); ++i) {
    order[i] = MessageId{posts[i].what};
    place[order[i] - base] = base + i;
    records[i] = messages[order[i]];
  }
  const auto renumber = [&](MessageId& message) {
    if (message != kNo<MessageId> && message >= base) message = place[message - base];
  };
  std::copy(records.begin(), records.end(), messages.data() + to_index(base));
  for (MessageRecord& message : messages)
    renumber(message.next);
  for (Sender& sender : all.senders)
    for (MessageId* const message : {&sender.current, &sender.oldest, &sender.last})
      renumber(*message);
  for (Receiver& receiver : all.receivers)
    for (MessageId* const message : {&receiver.message, &receiver.requested})
      renumber(*message);
  for (Script& script : all.scripts)
    for (std::vector<MessageId>* const list : {&script.messages, &script.later})
      for (MessageId& message : *list)
        renumber(message);
  if (all.domains[0]->driver != nullptr) all.domains[0]->driver->on_numbered(base, order);
}

}  // namespace weir::sim::engine
