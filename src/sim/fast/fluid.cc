#include "sim/fast/fluid.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "sim/workload/traffic.h"

namespace weir::sim {
namespace {

// ConnectX's cut window (rate_reduce_monitor_period), about a round trip. Measured (docs/fast.md):
// 2 us gives the same times at twice the cost, 6 us short flows that are 2 % too short.
constexpr Ps kFluidStep = 4'000'000;
constexpr unsigned kPerRateBits = 40;
constexpr std::uint32_t kMostStages = FluidModel::kStages;
constexpr unsigned kFluidBits = 10;  // of a byte
constexpr std::uint64_t kCertain = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMarkDraws = 0x4D41524B;

constexpr std::int64_t fluid_of(std::int64_t bytes) {
  return bytes << kFluidBits;
}

/// What `rate` carries in `span`.
std::int64_t carried(std::int64_t rate, Ps span) {
  return static_cast<std::int64_t>((Int128{rate} * span << kFluidBits) / 8 / kPicosecondsPerSecond);
}

Ps time_for(std::int64_t amount, std::int64_t rate) {
  return static_cast<Ps>((Int128{amount} * 8 * kPicosecondsPerSecond / rate) >> kFluidBits);
}

std::int64_t part(std::int64_t amount, std::uint64_t share) {
  return static_cast<std::int64_t>((Int128{amount} * static_cast<std::int64_t>(share)) >> 32U);
}

/// Probability that none of `amount` in packets of `packet` is marked, each with `mark`.
std::uint64_t none_marked(std::uint64_t mark, std::int64_t amount, std::int64_t packet) {
  std::uint64_t none = kCertain;
  for (; amount >= packet && none > 0; amount -= packet)
    none = (none * (kCertain - mark)) >> 32U;
  const auto rest =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(mark) * (amount >> 6U) / (packet >> 6U));
  return (none * (kCertain - std::min(rest, kCertain))) >> 32U;
}

/// An order of the ports in which every path that goes up and then down goes forward, so that a
/// step carries a byte to its end: up by rising height of the switch above the NICs, then down.
class Stages {
 public:
  explicit Stages(const Network& network) : height_(network.nodes.size(), kUnknown) {
    std::vector<NodeId> reached;
    for (const NodeId n : network.nodes.ids())
      if (network.nodes[n].kind == NodeKind::kNic) {
        height_[n] = 0;
        reached.push_back(n);
      }
    Table<NodeId, std::vector<NodeId>> around(network.nodes.size());
    for (const Link& link : network.links) {
      around[link.a].push_back(link.b);
      around[link.b].push_back(link.a);
    }
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const NodeId next : around[reached[i]])
        if (height_[next] == kUnknown) {
          height_[next] = height_[reached[i]] + 1;
          top_ = std::max(top_, height_[next]);
          reached.push_back(next);
        }
  }

  /// Of the port of switch `from` towards `to`.
  [[nodiscard]] std::uint32_t of(NodeId from, NodeId to) const {
    const std::uint32_t height = height_[from];
    return height_[to] > height ? height - 1 : 2 * top_ - 1 - height;
  }

  [[nodiscard]] bool go_forward(const Network& network, const std::vector<PathStep>& path) const {
    std::optional<std::uint32_t> last;
    for (std::size_t i = 1; i < path.size(); ++i) {  // the first is the NIC's
      const Link& link = network.links[path[i].link];
      const std::uint32_t stage = of(path[i].node, link.a == path[i].node ? link.b : link.a);
      if ((last && stage <= *last) || stage >= kMostStages) return false;
      last = stage;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFU;
  Table<NodeId, std::uint32_t> height_;  // links to the nearest NIC
  std::uint32_t top_ = 1;
};

}  // namespace

std::string_view fluid_obstacle(const Network& network) {
  if (network.messages.size() != network.qps.size()) return "a connection has several messages";
  if (!network.changes.empty()) return "links change during the run";
  for (const Link& link : network.links)
    if (link.error_threshold > 0) return "a link loses frames";
  for (const QueuePair& qp : network.qps) {
    if (qp.operation == Operation::kRead) return "it has READs";
    if (qp.is_socket) return "it has traffic of sockets, which is dropped and not slowed down";
    if (qp.tos != network.qps[QpId{0}].tos) return "it has several traffic classes";
    const NicConfig& nic = network.nic_config(qp.source);
    if (nic.window > 0) return "NICs limit the bytes in flight";
    if (nic.receive_buffer.raw() > 0) return "a NIC's receive buffer may fill";
  }
  for (const SwitchConfig& config : network.switches)
    if (config.balancing != LoadBalancing::kEcmp)
      return "switches choose the path of each packet, not of each connection";
  Routes routes;
  routes.build(network);
  const QpPaths paths(network, routes);
  const Stages stages(network);
  for (const QueuePair& qp : network.qps)
    if (!stages.go_forward(network, paths.of(qp, PathChoice::kHashed)))
      return "paths go up again after they went down";
  return "";
}

FluidModel::FluidModel(const Network& network)
    : network_(network),
      nics_(network.nics),
      paths_(network, routes_),
      step_(kFluidStep),
      per_rate_(static_cast<std::int64_t>((Int128{step_} << (kFluidBits + kPerRateBits)) / 8 /
                                          kPicosecondsPerSecond)),
      slot_(network.messages.size(), kNone),
      done_(network.messages.size(), -1),
      random_(network.replica_seed(), 0, kMarkDraws) {
  for (NicConfig& nic : nics_)
    prepare(nic.dcqcn);
  routes_.build(network);
  make_ports();
  set_up_pacers();
  for (const MessageId m : network.messages.ids())
    planned_.push_back(m);
  std::stable_sort(planned_.begin(), planned_.end(), [&](MessageId a, MessageId b) {
    return network.messages[a].post < network.messages[b].post;
  });
}

void FluidModel::make_ports() {
  first_port_.resize(network_.nodes.size());
  at_nic_.resize(network_.nodes.size());
  Table<NodeId, std::uint32_t> count(network_.nodes.size(), 0);
  for (const Link& link : network_.links)
    for (const NodeId end : {link.a, link.b})
      ++count[end];
  std::uint32_t first = 0;
  for (const NodeId n : network_.nodes.ids()) {
    first_port_[n] = first;
    first += count[n];
    count[n] = 0;
  }
  ports_.resize(first);
  const Stages stages(network_);
  for (const Link& link : network_.links)
    for (const NodeId end : {link.a, link.b}) {
      const std::uint32_t local = count[end]++;
      Port& port = ports_[first_port_[end] + local];
      port.rate = link.rate.raw();
      port.per_step = carried(port.rate, step_);
      if (network_.nodes[end].kind != NodeKind::kSwitch) continue;
      port.stage = std::min(stages.of(end, end == link.a ? link.b : link.a), kMostStages - 1);
      set_marking(port, end, local);
    }
}

void FluidModel::set_marking(Port& port, NodeId node, std::uint32_t local) const {
  if (network_.qps.empty()) return;
  const SwitchConfig& config = network_.switch_config(node);
  const QueuePair& qp = network_.qps[QpId{0}];  // all are of one class: fluid_obstacle()
  const std::uint8_t cls =
      config.trust == Trust::kDscp ? config.dscp_to_class[qp.tos >> 2U] : config.untrusted_class;
  const Wred& wred = config.wred_at(local, config.class_to_queue[cls]);
  if (!wred.enabled) return;
  port.mark_min = fluid_of(wred.min.raw());
  port.mark_max = std::max(fluid_of(wred.max.raw()), port.mark_min + 1);
  port.mark_most =
      static_cast<std::uint64_t>((Int128{wred.max_probability.raw()} << 32U) / kSharePerWhole);
}

/// Queue pairs whose marks are answered at one pace (CnpScope).
void FluidModel::set_up_pacers() {
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> first;
  for (const QpId id : network_.qps.ids()) {
    const QueuePair& qp = network_.qps[id];
    const CnpScope scope = network_.nic_config(qp.target).cnp_scope;
    const NodeId peer = scope == CnpScope::kPort ? qp.target : qp.source;
    pacer_.push_back(scope == CnpScope::kQp
                         ? to_index(id)
                         : first.emplace(std::pair(qp.target, peer), to_index(id)).first->second);
  }
  next_cnp_.resize(pacer_.size(), 0);
}

void FluidModel::run(Time end) {
  const Ps last = end.since_start().raw();
  while (next_ < planned_.size() || !active_.empty()) {
    if (active_.empty()) {  // nothing moves until the next post
      const Ps post = network_.messages[planned_[next_]].post.since_start().raw();
      now_ = std::max(now_, post / step_ * step_);
    }
    if (now_ >= last) return;
    step();
    now_ += step_;
  }
}

void FluidModel::step() {
  ++steps_;
  const Ps end = now_ + step_;
  admit(end);
  deliver_cnps(end);
  for (auto& ports : stage_ports_)
    ports.clear();
  for (const NodeId nic : busy_nics_)
    send_from(nic, end);
  for (const std::uint32_t slot : active_)
    arrive(flows_[slot], 0);
  for (std::size_t stage = 0; stage < kStages; ++stage)
    move(stage);
  for (const std::uint32_t slot : active_) {
    Flow& flow = flows_[slot];
    if (flow.unmarked < kCertain) notify(flow);
    if (flow.sent >= 0 && slot_[flow.message] == slot) finish(flow);
    flow.moving = 0;
  }
  remove_gone();
}

void FluidModel::admit(Ps end) {
  for (; next_ < planned_.size(); ++next_) {
    const Message& message = network_.messages[planned_[next_]];
    const NodeId source = network_.qps[message.qp].source;
    const Duration latency = nics_[network_.nodes[source].config].message_latency;
    const Ps begin = (message.post + latency).since_start().raw();
    if (begin >= end) return;
    begin_flow(planned_[next_], begin);
  }
}

void FluidModel::begin_flow(MessageId m, Ps begin) {
  const Message& message = network_.messages[m];
  const QueuePair& qp = network_.qps[message.qp];
  const NicConfig& nic = nics_[network_.nodes[qp.source].config];
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Flow& flow = flows_[slot];
  flow = Flow();
  flow.message = m;
  flow.source = qp.source;
  flow.begin = begin;
  flow.left = fluid_of(paths_.on_wire(qp, message.size).raw());
  const std::int64_t frame = paths_.full_frame(qp, message.size);
  flow.packet = fluid_of(frame + network_.wire.gap);
  const auto path = paths_.of(qp, PathChoice::kHashed);
  const PathTimes times = paths_.times(path, frame);
  flow.latency = (times.frame + times.delay * 2 + times.ack).raw();
  flow.one_way = (times.frame + times.delay).raw();
  flow.round_trip = (times.delay * 2 + times.frame + nic.cnp_delay).raw();
  flow.control = find_congestion_algorithm(nic.congestion_control)->make(nic);
  flow.control->start(ports_[first_port_[qp.source]].rate, qp.start_rate);
  flow.pacer = pacer_[to_index(message.qp)];
  for (std::size_t i = 1; i < path.size(); ++i) {  // a NIC has no queue: it sends less
    Hop& hop = flow.hop[flow.hops];
    hop.port = port_at(path[i]);
    auto& places = stage_flows_[ports_[hop.port].stage];
    hop.place = static_cast<std::uint32_t>(places.size());
    places.push_back({slot, static_cast<std::uint32_t>(flow.hops++)});
  }
  active_.push_back(slot);
  slot_[m] = slot;
  auto& here = at_nic_[qp.source];
  if (here.empty()) busy_nics_.push_back(qp.source);
  here.push_back(slot);
}

void FluidModel::deliver_cnps(Ps end) {
  while (!cnps_.empty() && cnps_.top().at < end) {
    const Cnp cnp = cnps_.top();
    cnps_.pop();
    const std::uint32_t slot = slot_[cnp.message];
    if (slot == kNone) continue;
    Flow& flow = flows_[slot];
    if (nics_[network_.nodes[flow.source].config].rp_enabled)
      flow.control->on_cnp(std::max(cnp.at, now_));
  }
}

/// What its flows may send, in equal shares where that is more than the NIC can.
void FluidModel::send_from(NodeId nic, Ps end) {
  const Port& port = ports_[first_port_[nic]];
  auto& here = at_nic_[nic];
  for (const std::uint32_t slot : here) {
    Flow& flow = flows_[slot];
    const std::int64_t rate = std::min(flow.control->rate(now_), port.rate);
    flow.allowed = static_cast<std::int64_t>((Int128{rate} * per_rate_) >> kPerRateBits);
    if (flow.begin > now_)
      flow.allowed = static_cast<std::int64_t>(Int128{flow.allowed} * (end - flow.begin) / step_);
  }
  const std::int64_t share = divide(here, port.per_step);
  for (std::size_t i = 0; i < here.size();) {
    Flow& flow = flows_[here[i]];
    flow.left -= flow.moving;
    flow.control->on_sent(flow.moving >> kFluidBits, now_);
    if (flow.left > 0) {
      ++i;
      continue;
    }
    const Ps from = std::max(flow.begin, now_);
    const std::int64_t could = std::max({std::min(flow.allowed, share), flow.moving, fluid_of(1)});
    flow.sent = from + static_cast<Ps>(Int128{end - from} * flow.moving / could);
    here[i] = here.back();
    here.pop_back();
  }
}

/// Gives each flow of a NIC what it wants, or an equal share of the rest; returns what one flow
/// more could have had.
std::int64_t FluidModel::divide(const std::vector<std::uint32_t>& slots, std::int64_t room) {
  if (slots.size() == 1) {
    Flow& flow = flows_[slots[0]];
    flow.moving = std::min({flow.allowed, flow.left, room});
    return room;
  }
  for (const std::uint32_t slot : slots)
    flows_[slot].moving = -1;
  auto waiting = static_cast<std::int64_t>(slots.size());
  for (bool is_changed = true; is_changed && waiting > 0;) {
    is_changed = false;
    const std::int64_t share = room / waiting;
    for (const std::uint32_t slot : slots) {
      Flow& flow = flows_[slot];
      const std::int64_t wants = std::min(flow.allowed, flow.left);
      if (flow.moving >= 0 || wants > share) continue;
      flow.moving = wants;
      room -= wants;
      --waiting;
      is_changed = true;
    }
  }
  if (waiting == 0) return room;
  for (const std::uint32_t slot : slots)
    if (flows_[slot].moving < 0) flows_[slot].moving = room / waiting;
  return room / waiting;
}

/// What moves, and what waits already, at hop `hop` of a flow.
inline void FluidModel::arrive(const Flow& flow, std::size_t hop) {
  if (hop == flow.hops) return;
  const Hop& at = flow.hop[hop];
  Port& port = ports_[at.port];
  if (port.touched != steps_) {
    port.before = port.touched + 1 == steps_ ? port.queue : 0;
    port.touched = steps_;
    port.total = 0;
    stage_ports_[port.stage].push_back(at.port);
  }
  port.total += at.waits + flow.moving;
}

/// How much of what is there passes in this step, and how likely each packet is marked.
void FluidModel::open(Port& port) const {
  port.queue = std::max<std::int64_t>(port.total - port.per_step, 0);
  port.share = port.queue == 0 ? kCertain
                               : (static_cast<std::uint64_t>(port.per_step) << 32U) /
                                     static_cast<std::uint64_t>(port.total);
  const std::int64_t level = (port.before + port.queue) / 2;
  port.mark = 0;
  if (level > port.mark_max)
    port.mark = kCertain;
  else if (level > port.mark_min)
    port.mark = static_cast<std::uint64_t>(Int128{level - port.mark_min} *
                                           static_cast<std::int64_t>(port.mark_most) /
                                           (port.mark_max - port.mark_min));
}

/// A port passes on what its rate allows, of each flow its part of what is there.
void FluidModel::move(std::size_t stage) {
  for (const std::uint32_t p : stage_ports_[stage])
    open(ports_[p]);
  for (const Place& place : stage_flows_[stage]) {
    Flow& flow = flows_[place.slot];
    Hop& hop = flow.hop[place.hop];
    const Port& port = ports_[hop.port];
    const std::int64_t here = hop.waits + flow.moving;
    flow.moving = port.queue == 0 ? here : part(here, port.share);
    hop.waits = here - flow.moving;
    if (port.mark > 0)
      flow.unmarked = (flow.unmarked * none_marked(port.mark, flow.moving, flow.packet)) >> 32U;
    arrive(flow, place.hop + 1);
  }
}

/// The receiver answers marks with CNPs, at its pace. Marks come at random instants of the step.
void FluidModel::notify(Flow& flow) {
  const std::uint64_t unmarked = std::max<std::uint64_t>(flow.unmarked << 32U, 1);
  flow.unmarked = kCertain;
  const QueuePair& qp = network_.qps[network_.messages[flow.message].qp];
  const NicConfig& target = nics_[network_.nodes[qp.target].config];
  if (!target.np_enabled) return;
  std::uint64_t draw = random_.next() | 1U;
  Ps& next = next_cnp_[flow.pacer];
  // -ln(draw) >= -ln(unmarked): the first mark would come after the step. Most flows end here.
  if (draw <= unmarked || next >= now_ + step_) return;
  const std::int64_t marks = std::max<std::int64_t>(minus_ln_q32(unmarked), 1);
  for (Ps at = std::max(next, now_);; at = next, draw = random_.next() | 1U) {
    at += static_cast<Ps>(Int128{step_} * minus_ln_q32(draw) / marks);
    if (at >= now_ + step_) return;
    cnps_.push({at + flow.round_trip, flow.message});
    next = at + std::max<Ps>(target.cnp_interval.raw(), 1);
  }
}

/// Time to pass what waits, when the share `passed` of the step is over.
Ps FluidModel::wait_at(std::uint32_t p, std::uint64_t passed) const {
  const Port& port = ports_[p];
  if (port.touched != steps_) return 0;
  return time_for(port.before + part(port.queue - port.before, passed), port.rate);
}

/// The last byte has left the NIC: what is before it is in the queues. The ACK comes back through
/// the queues of its own path.
void FluidModel::finish(Flow& flow) {
  Ps done = flow.sent + flow.latency;
  const auto passed = static_cast<std::uint64_t>((Int128{flow.sent - now_} << 32U) / step_);
  for (std::size_t i = 0; i < flow.hops; ++i)
    done += wait_at(flow.hop[i].port, passed);
  QueuePair back = network_.qps[network_.messages[flow.message].qp];
  std::swap(back.source, back.target);
  const auto path = paths_.of(back, PathChoice::kHashed);
  for (std::size_t i = 1; i < path.size(); ++i)
    done += wait_at(port_at(path[i]), kCertain);
  done_[flow.message] = done;
  slot_[flow.message] = kNone;
}

void FluidModel::remove_gone() {
  std::erase_if(busy_nics_, [&](NodeId nic) { return at_nic_[nic].empty(); });
  std::erase_if(active_, [&](std::uint32_t slot) {
    const Flow& flow = flows_[slot];
    if (flow.left > 0) return false;
    std::int64_t waits = 0;
    for (std::size_t i = 0; i < flow.hops; ++i)
      waits += flow.hop[i].waits;
    if (waits >= flow.packet / 4) return false;
    remove(slot);
    return true;
  });
}

void FluidModel::remove(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  for (std::size_t i = 0; i < flow.hops; ++i) {
    auto& places = stage_flows_[ports_[flow.hop[i].port].stage];
    const Place last = places.back();
    places[flow.hop[i].place] = last;
    flows_[last.slot].hop[last.hop].place = flow.hop[i].place;
    places.pop_back();
  }
  flow.control.reset();
  free_.push_back(slot);
}

std::optional<Duration> FluidModel::completion(MessageId message) const {
  if (done_[message] < 0) return std::nullopt;
  return Time::at(Duration::raw(done_[message])) - network_.messages[message].post;
}

FluidModel::Arrived FluidModel::arrived(MessageId m) const {
  const Message& message = network_.messages[m];
  if (const auto all = completion(m)) return {message.size, *all};
  if (slot_[m] == kNone) return {};
  const Flow& flow = flows_[slot_[m]];
  std::int64_t left = flow.left;
  for (std::size_t i = 0; i < flow.hops; ++i)
    left += flow.hop[i].waits;
  const Int128 whole = fluid_of(paths_.on_wire(network_.qps[message.qp], message.size).raw());
  return {
      Bytes::raw(static_cast<std::int64_t>(Int128{message.size.raw()} * (whole - left) / whole)),
      now() - message.post + Duration::raw(flow.one_way)};
}

std::vector<MessageId> FluidModel::under_way() const {
  std::vector<MessageId> out;
  for (const std::uint32_t slot : active_)
    if (slot_[flows_[slot].message] == slot) out.push_back(flows_[slot].message);
  std::sort(out.begin(), out.end());
  return out;
}

std::uint64_t FluidModel::digest() const {
  Digest digest;
  for (const Ps done : done_)
    digest.add(static_cast<std::uint64_t>(done));
  return digest.value();
}

}  // namespace weir::sim
