#include "sim/engine/set_up.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/check.h"
#include "base/parallel.h"
#include "sim/domains/windows.h"
#include "sim/engine/transport.h"
#include "sim/engine/wire.h"

namespace weir::sim::engine {
namespace {

constexpr std::int64_t kCutThroughHeader = 64;  // bytes a cut-through switch reads before it acts
constexpr std::size_t kShortFrame = 60;
constexpr unsigned kMostDomains = 64;
constexpr std::size_t kNicsPerThread = 160;     // threads that nobody asked for
constexpr Ps kHopsPerWindow = 1000;             // … each with so much to do at a time
constexpr std::int64_t kMostQuantum = 1 << 30;  // bytes: far beyond what a scheduler gives a queue

enum Purpose : std::uint64_t { kPortStream = 1, kSprayStream = 2 };

template <class World>
std::vector<std::uint32_t> wire_table(BitRate rate, std::int64_t gap) {
  std::vector<std::uint32_t> table(kLargestFrame + 1);
  for (std::size_t size = 0; size < table.size(); ++size) {
    const std::int64_t bytes = static_cast<std::int64_t>(size) + gap;
    // The peer's short frames on fast links take no time.
    const std::int64_t time = std::max<std::int64_t>(World::transmission_time(bytes, rate), 1);
    table[size] = static_cast<std::uint32_t>(std::min<std::int64_t>(time, UINT32_MAX));
  }
  return table;
}

/// Ports of each node in the order of its links.
void number_ports(Tables& sim) {
  const std::size_t nodes = sim.network.nodes.size();
  Table<NodeId, std::uint32_t> count(nodes, 0);
  for (const Link& link : sim.network.links) {
    ++count[link.a];
    ++count[link.b];
  }
  sim.first_port.assign(nodes + 1, PortId{0});
  for (const NodeId n : sim.network.nodes.ids())
    sim.first_port[n + 1] = sim.first_port[n] + count[n];
}

/// Tallies of neighbouring ports may be written by two threads: each port has its cache lines.
std::size_t traffic_stride(const ClassSlots& slots) {
  return (slots.count() + 1U) / 2 * 2;
}

struct LinkEnd {
  PortId self;
  PortId peer;
  NodeId node;
  bool has_errors;  // on frames that arrive here
};

void set_up_port(Tables& sim, const Link& link, const LinkEnd& end,
                 const std::uint32_t* wire_time) {
  Port& port = sim.ports[end.self];
  port.self = end.self;
  port.peer = end.peer;
  port.node = end.node;
  port.local = static_cast<std::uint16_t>(end.self - sim.first_port[end.node]);
  port.queues = &sim.queues[std::size_t{to_index(end.self)} * sim.slots.count()];
  port.traffic = &sim.traffic[to_index(end.self) * traffic_stride(sim.slots)];
  port.down = !link.up;
  port.wire_time = wire_time;
  port.flight = link.propagation.raw();
  sim.pauses[end.self].times = &sim.pause_times[to_index(end.self)];
  sim.pauses[end.self].cable = link.propagation.raw();
  sim.pauses[end.self].rate = link.rate.raw();
  sim.error_threshold[end.self] = end.has_errors ? link.error_threshold : 0;
  refresh_disturbed(sim, port);
}

template <class World>
void set_up_ports(Tables& sim) {
  number_ports(sim);
  const std::size_t total = to_index(sim.first_port.back());
  sim.ports.resize(total);
  sim.queues.resize(total * sim.slots.count());
  sim.pauses.resize(total);
  sim.pause_times = RawArray<PauseTimes>(total);
  sim.traffic = RawArray<ClassTraffic>(total * traffic_stride(sim.slots));
  sim.counter_room = RawArray<PortCounters>(total);
  sim.port_counters = View<PortId, PortCounters>(sim.counter_room);
  sim.error_threshold.assign(total, 0);
  for (std::size_t p = 0; p < total; ++p)
    sim.port_random.emplace_back(sim.network.replica_seed(), p, kPortStream);
  std::map<std::int64_t, std::size_t> tables;
  for (const Link& link : sim.network.links)
    if (tables.emplace(link.rate.raw(), sim.wire_times.size()).second)
      sim.wire_times.push_back(wire_table<World>(link.rate, sim.network.wire.gap));
  Table<NodeId, PortId> next = sim.first_port;
  for (const Link& link : sim.network.links) {
    const PortId a = next[link.a];
    next[link.a] = a + 1;
    const PortId b = next[link.b];
    next[link.b] = b + 1;
    sim.link_ports.push_back({a, b});
    const std::uint32_t* const wire_time = sim.wire_times[tables[link.rate.raw()]].data();
    set_up_port(sim, link, {a, b, link.a, !link.errors_to_b_only}, wire_time);
    set_up_port(sim, link, {b, a, link.b, true}, wire_time);
  }
}

/// What only this world keeps of the queues.
template <class World>
void set_up_marking(Engine<World>& sim) {
  sim.extra.add_queues(sim.all.queues.size());
  for (const Switch& sw : sim.all.switches)
    for (std::uint32_t local = 0; local < sw.port_count; ++local)
      for (std::uint32_t q = 0; q < 8; ++q)
        if (const Wred& wred = sw.config->wred_at(local, q); wred.enabled && sim.slots.contains(q))
          sim.extra.set_marking(
              static_cast<std::size_t>(&sw.ports[local].queues[sim.slots[q]] - &sim.all.queues[0]),
              wred);
}

void set_up_queues(Tables& sim, NodeId node, const SwitchConfig& config) {
  for (const PortId p : sim.ports_of(node)) {
    sim.pauses[p].configure(config.pfc_reaction, config.pause_quanta, config.pfc.mask());
    const std::uint32_t local = sim.ports[p].local;
    const Bytes mtu = local < config.port_mtu.size() ? config.port_mtu[local] : config.mtu;
    sim.ports[p].mtu = static_cast<std::uint16_t>(mtu.raw());
    for (std::uint32_t q = 0; q < 8; ++q) {
      if (!sim.slots.contains(q)) continue;
      const EgressQueue& from = config.queues[q];
      Queue& queue = sim.ports[p].queues[sim.slots[q]];
      queue.quantum = static_cast<std::int32_t>(std::min<std::int64_t>(
          std::max<std::int64_t>(from.weight, 1) * config.mtu.raw(), kMostQuantum));
      const Wred& wred = config.wred_at(local, q);
      if (!wred.enabled) continue;
      queue.mark_min = wred.min.raw();
      queue.mark_max = wred.max.raw();
      const std::int64_t range = std::max<std::int64_t>(queue.mark_max - queue.mark_min, 1);
      queue.mark_slope = static_cast<std::uint64_t>((Int128{wred.max_probability.raw()} << 48U) /
                                                    kSharePerWhole / range);
    }
  }
}

/// A cut-through switch acts on the header, provided no port of its own is faster than the wire the
/// frame comes in by.
void set_up_cut_through(Tables& sim, NodeId node, const SwitchConfig& config) {
  if (config.forwarding != Forwarding::kCutThrough) return;
  std::int64_t fastest = 0;
  for (const PortId p : sim.ports_of(node))
    fastest = std::max(fastest, sim.pauses[p].rate);
  for (const PortId p : sim.ports_of(node)) {
    const std::int64_t rate = sim.pauses[p].rate;
    if (rate < fastest) continue;
    Port& from = sim.ports[sim.ports[p].peer];
    from.is_cut_through = true;
    from.flight += serialization_time(Bytes::raw(kCutThroughHeader), BitRate::raw(rate)).raw();
  }
}

template <class World>
Switch make_switch(Tables& sim, NodeId node, const SwitchConfig& config) {
  const std::uint32_t count = sim.first_port[node + 1] - sim.first_port[node];
  Switch sw{node,
            count,
            &config,
            sim.slots,
            SharedBuffer(config, count, sim.slots, World::kPausesAtThreshold),
            RandomStream(sim.network.replica_seed(), to_index(node), kSprayStream)};
  sw.ports = sim.ports.data() + to_index(sim.first_port[node]);
  sw.route_row = sim.routes.row_of(node);
  sw.has_pipeline = config.pipeline.raw() > 0;
  sw.has_plain_ecmp = World::kHasPlainEcmp && config.balancing == LoadBalancing::kEcmp;
  sw.ecmp_seed = config.ecmp_seed;
  for (std::size_t dscp = 0; dscp < 64; ++dscp) {
    const std::uint8_t tc = class_of(config, dscp);
    const std::uint8_t queue = config.class_to_queue[tc];
    const std::uint8_t group = config.class_to_group[tc];
    sw.classes[dscp] = {queue, group, sim.slots[queue], sim.slots[group]};
  }
  for (unsigned i = 0; i < 8; ++i) {
    if (config.queues[i].scheduling == Scheduling::kStrict)
      sw.strict = static_cast<std::uint8_t>(sw.strict | bit_of(i));
    if (config.groups[i].lossless) sw.lossless = static_cast<std::uint8_t>(sw.lossless | bit_of(i));
  }
  return sw;
}

template <class World>
void set_up_switches(Tables& sim) {
  sim.index_of.assign(sim.network.nodes.size(), 0);
  for (const NodeId n : sim.network.nodes.ids()) {
    if (sim.network.nodes[n].kind != NodeKind::kSwitch) continue;
    const SwitchConfig& config = sim.network.switch_config(n);
    sim.index_of[n] = static_cast<std::uint32_t>(sim.switches.size());
    sim.switches.push_back(make_switch<World>(sim, n, config));
    set_up_queues(sim, n, config);
    set_up_cut_through(sim, n, config);
  }
}

Nic make_nic(Tables& sim, NodeId node) {
  const NicConfig& config = sim.network.nic_config(node);
  Nic nic;
  nic.node = node;
  nic.config = &config;
  nic.ready_head.fill(kNo<QpId>);
  nic.ready_tail.fill(kNo<QpId>);
  nic.strict = config.strict.mask();
  nic.cnp_priority = cnp_priority(config);
  const PortId port = sim.first_port[node];
  nic.port = &sim.ports[port];
  nic.line = sim.pauses[port].rate;
  sim.pauses[port].configure(config.pfc_reaction, config.pause_quanta, config.pfc.mask());
  return nic;
}

void set_up_nics(Tables& sim) {
  for (const NodeId n : sim.network.nodes.ids()) {
    if (sim.network.nodes[n].kind != NodeKind::kNic) continue;
    sim.index_of[n] = static_cast<std::uint32_t>(sim.nics.size());
    sim.nics.push_back(make_nic(sim, n));
  }
}

/// Once the tables of switches and NICs stay where they are.
void set_up_owners(Tables& sim) {
  for (Switch& sw : sim.switches)
    for (std::uint32_t local = 0; local < sw.port_count; ++local)
      sw.ports[local].sw = &sw;
  for (Nic& nic : sim.nics)
    nic.port->nic = &nic;
}

Sender make_sender(Tables& sim, const QueuePair& qp) {
  Sender sender;
  sender.nic = &sim.nic_at(qp.source);
  const NicConfig& config = *sender.nic->config;
  sender.key = flow_key(qp.source, qp.target, qp.source_port);
  sender.dst = qp.target;
  sender.tos = qp.tos;
  sender.priority = sent_priority(config, qp);
  sender.operation = qp.operation;
  sender.is_socket = qp.is_socket;
  sender.control = find_congestion_algorithm(config.congestion_control)->make(config);
  sender.control->start(sender.nic->line, qp.start_rate);
  if (sender.is_read()) sender.granted = 0;
  sender.keeps_answers = config.window == 0 && !sender.is_read();
  return sender;
}

Receiver make_receiver(Tables& sim, const QueuePair& qp) {
  Receiver receiver;
  receiver.nic = &sim.nic_at(qp.target);
  const NicConfig& config = *receiver.nic->config;
  receiver.key = flow_key(qp.target, qp.source, qp.source_port);
  receiver.dst = qp.source;
  receiver.tos = qp.tos;
  receiver.is_socket = qp.is_socket;
  receiver.is_read = qp.operation == Operation::kRead;
  receiver.priority = config.ack_priority ? static_cast<std::uint8_t>(config.ack_priority->value())
                                          : sent_priority(config, qp);
  receiver.receives = qp.receives;
  if (config.recovery == Recovery::kSelective && !receiver.is_read)
    receiver.early = sim.early.add();
  return receiver;
}

/// CNPs of one scope are paced by the clock of its first QP.
void set_up_cnp_pacers(Tables& sim) {
  const auto scope_of = [&](const QueuePair& qp) {
    return sim.network.nic_config(qp.target).cnp_scope;
  };
  if (std::all_of(sim.network.qps.begin(), sim.network.qps.end(),
                  [&](const QueuePair& qp) { return scope_of(qp) == CnpScope::kQp; }))
    return;
  std::map<std::pair<NodeId, NodeId>, QpId> first;
  for (const QpId id : sim.network.qps.ids()) {
    const QueuePair& qp = sim.network.qps[id];
    const CnpScope scope = scope_of(qp);
    // A port's own node stands for all its peers.
    const NodeId peer = scope == CnpScope::kPort ? qp.target : qp.source;
    sim.cnp_pacer.push_back(
        scope == CnpScope::kQp ? id : first.emplace(std::pair(qp.target, peer), id).first->second);
  }
}

void set_up_qps(Tables& sim) {
  sim.senders.reserve(sim.network.qps.size());
  sim.receivers.reserve(sim.network.qps.size());
  for (const QueuePair& qp : sim.network.qps) {
    sim.senders.push_back(make_sender(sim, qp));
    sim.receivers.push_back(make_receiver(sim, qp));
  }
  set_up_cnp_pacers(sim);
}

/// What only this world keeps of the hosts.
template <class World>
void set_up_hosts(Engine<World>& sim) {
  std::vector<std::size_t> senders(sim.all.nics.size(), 0);
  for (const QueuePair& qp : sim.network.qps)
    ++senders[sim.all.index_of[qp.source]];
  sim.extra.add_hosts(senders);
}

Ps pipeline_of(const Port& port) {
  return port.sw != nullptr ? port.sw->config->pipeline.raw() : 0;
}

/// Lanes for the delays that most ports share.
class LanePlan {
 public:
  explicit LanePlan(State& sim) : sim_(sim) {
    std::int64_t mtu = 0;
    for (const QueuePair& qp : sim.network.qps)
      mtu = std::max(mtu, sim.network.nic_config(qp.source).mtu.raw());
    full_ = static_cast<std::uint16_t>(sim.network.wire.data_header + mtu);
    ack_ = static_cast<std::uint16_t>(sim.network.wire.ack_frame);
  }

  void set_up() {
    std::size_t inbound = 0;
    for (const Port& port : sim_.ports)
      if (is_here(port)) want_lanes_of(port);
    for (const Port& port : sim_.ports)
      if (port.peer_domain == sim_.index) inbound += most_under_way(port);
    std::vector<std::pair<std::size_t, Ps>> order;
    for (const auto& [delay, want] : wanted_)
      order.emplace_back(want.ports, delay);
    std::sort(order.begin(), order.end(), std::greater<>());
    for (const auto& [ports, delay] : order) {
      const std::uint8_t lane = sim_.events.add_lane(delay, wanted_[delay].bound);
      if (lane != EventList::kNoLane) lanes_[delay] = lane;
    }
    for (Port& port : sim_.ports)
      if (is_here(port)) assign(port);
    for (Switch& sw : sim_.all.switches)
      if (is_here(sw.ports[0])) sw.lane_pipeline = lane_of(sw.config->pipeline.raw());
    if (const std::size_t domains = sim_.all.domains.size(); domains > 1)
      sim_.events.add_inboxes(domains - 1, inbound + 2, full_);
  }

 private:
  struct Wanted {
    std::size_t bound = 0;
    std::size_t ports = 0;
  };

  [[nodiscard]] bool is_here(const Port& port) const {
    return sim_.all.domain_of[port.node] == sim_.index;
  }
  [[nodiscard]] std::size_t most_under_way(const Port& port) const {
    const Ps shortest = port.wire_time[std::min<std::size_t>(ack_, kShortFrame)];
    return static_cast<std::size_t>((port.flight + 2 * sim_.all.window) / shortest) + 4;
  }
  [[nodiscard]] Ps full_delay(const Port& port) const {
    return port.flight + (port.is_cut_through ? 0 : Ps{port.wire_time[full_]});
  }
  void want(Ps delay, std::size_t bound) {
    wanted_[delay].bound += bound;
    ++wanted_[delay].ports;
  }
  void want_spaced(Ps delay, Ps spacing) {
    want(delay, static_cast<std::size_t>(delay / spacing) + 2);
  }
  void want_lanes_of(const Port& port) {
    const Ps shortest = port.wire_time[std::min<std::size_t>(ack_, kShortFrame)];
    want(port.wire_time[full_], 2);
    if (const Ps pipeline = pipeline_of(port); pipeline > 0) want_spaced(pipeline, shortest);
    if (port.peer_domain != Port::kHere) return;
    want_spaced(full_delay(port), port.is_cut_through ? shortest : Ps{port.wire_time[full_]});
    if (!port.is_cut_through) want_spaced(port.flight + port.wire_time[ack_], port.wire_time[ack_]);
  }
  [[nodiscard]] std::uint8_t lane_of(Ps delay) const {
    const auto found = lanes_.find(delay);
    return found == lanes_.end() ? EventList::kNoLane : found->second;
  }
  void assign(Port& port) const {
    port.lane_free = lane_of(port.wire_time[full_]);
    port.free_delay = port.wire_time[full_];
    if (port.peer_domain != Port::kHere) return;
    port.lane_full = lane_of(full_delay(port));
    port.lane_ack =
        port.is_cut_through ? EventList::kNoLane : lane_of(port.flight + port.wire_time[ack_]);
    if (port.lane_full != EventList::kNoLane) port.full_size = full_;
    if (port.lane_ack != EventList::kNoLane) port.ack_size = ack_;
  }

  State& sim_;
  std::uint16_t full_ = 0;
  std::uint16_t ack_ = 0;
  std::map<Ps, Wanted> wanted_;
  std::map<Ps, std::uint8_t> lanes_;
};

/// Bounds from the design: as many events as frames fit into wires and pipelines, and timers; as
/// many waiting frames as fit into the buffers.
void reserve_memory(State& sim, std::size_t waiting_per_qp) {
  const Tables& all = sim.all;
  const auto is_here = [&](NodeId node) { return all.domain_of[node] == sim.index; };
  const WireFormat& wire = sim.network.wire;
  std::int64_t smallest =
      std::min({wire.ack_frame, wire.cnp_frame, wire.pfc_frame, wire.data_header});
  smallest = std::max<std::int64_t>(smallest, 1);
  std::size_t frames = 0;
  std::size_t ports = 0;
  for (const Port& port : sim.ports) {
    if (!is_here(port.node) && !is_here(sim.ports[port.peer].node)) continue;
    const Ps spacing = std::max<Ps>(port.wire_time[smallest], 100);
    frames += static_cast<std::size_t>((port.flight + pipeline_of(port)) / spacing) + 24;
    ++ports;
  }
  std::size_t receives = 0;
  std::size_t answers = 0;  // CNPs under way from the mark to the wire
  std::size_t qps = 0;
  for (const QueuePair& qp : sim.network.qps) {
    if (!is_here(qp.source) && !is_here(qp.target)) continue;
    ++qps;
    receives += static_cast<std::size_t>(std::max(qp.receives, 0));
    const NicConfig& nic = sim.network.nic_config(qp.target);
    if (nic.cnp_delay.raw() > 0)
      answers += static_cast<std::size_t>(nic.cnp_delay.raw() /
                                          std::max<Ps>(nic.cnp_interval.raw(), 100'000)) +
                 2;
  }
  const std::size_t timers = qps * 8 + receives + answers + sim.network.changes.size() * 2 +
                             sim.network.spare_messages + 4096;
  sim.events.reserve(frames + timers, ports * 8 + timers, ports);
  std::size_t packets = qps * waiting_per_qp + 4096;
  for (const Switch& sw : all.switches)
    if (is_here(sw.node))
      packets += static_cast<std::size_t>(sw.config->buffer.raw() /
                                          std::max<std::int64_t>(sw.buffer.charge_of(60), 1));
  // More than any machine has memory for: those of a large fabric are never all full.
  constexpr std::size_t kMostPackets = std::size_t{1} << 31U;
  sim.pool.reserve(std::min(packets, kMostPackets));
}

/// Several domains only where nothing happens that they would all feel at once.
unsigned domains_of(const Tables& all, const Threads& threads) {
  const Network& network = all.network;
  const bool has_reads =
      std::any_of(network.qps.begin(), network.qps.end(),
                  [](const QueuePair& qp) { return qp.operation == Operation::kRead; });
  if (!network.changes.empty() || has_reads) return 1;
  if (threads.reach && threads.reach->raw() <= 0) return 1;
  if (threads.count > 0) return std::min(threads.count, kMostDomains);
  const std::size_t helpful = all.nics.size() / kNicsPerThread;
  return static_cast<unsigned>(
      std::clamp<std::size_t>(helpful, 1, std::min(available_cores(), kMostDomains)));
}

/// Where nobody asked for threads, a window must have work that waiting for the others is small
/// against: frames that the NICs can send in it, over some four links there and back.
bool is_worth_it(const Tables& all) {
  Ps frames = 0;
  for (const Nic& nic : all.nics)
    frames += 8 * all.window / Ps{nic.port->wire_time[nic.config->mtu.raw()]};
  return frames >= kHopsPerWindow * static_cast<Ps>(all.domains.size());
}

template <class World>
void set_up_domains(Tables& all, unsigned wanted, std::optional<Duration> reach) {
  all.domain_of = cut_into_domains(all.network, all.routes, wanted);
  all.domains.clear();
  for (Port& port : all.ports)
    port.peer_domain = Port::kHere;
  std::uint32_t count = 0;
  for (const std::uint32_t domain : all.domain_of)
    count = std::max(count, domain + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto engine = std::make_unique<Engine<World>>(all);
    engine->index = i;
    engine->outboxes.resize(count);
    all.domains.push_back(std::move(engine));
  }
  if (count > 1) set_up_windows(all, reach ? reach->raw() : kNever);
}

}  // namespace

void State::bind() {
  ports = View<PortId, Port>(all.ports);
  pauses = View<PortId, PauseState>(all.pauses);
  port_counters = all.port_counters;
  port_random = View<PortId, RandomStream>(all.port_random);
  error_threshold = View<PortId, std::uint64_t>(all.error_threshold);
  senders = View<QpId, Sender>(all.senders);
  receivers = View<QpId, Receiver>(all.receivers);
  cnp_pacer = View<QpId, QpId>(all.cnp_pacer);
  messages = {all.message_room.data(), all.message_room.size()};
}

template <class World>
void set_up(Tables& all, const Threads& threads) {
  for (NicConfig& nic : all.network.nics)
    prepare(nic.dcqcn);
  all.slots = classes_in_use(all.network);
  all.routes.build(all.network);
  set_up_ports<World>(all);
  set_up_switches<World>(all);
  set_up_nics(all);
  set_up_owners(all);
  set_up_qps(all);
  all.message_room =
      RawArray<MessageRecord>(all.network.messages.size() + all.network.spare_messages);
  const unsigned wanted = World::kTies == Ties::kCanonical ? domains_of(all, threads) : 1;
  all.adapts = threads.adapts;
  set_up_domains<World>(all, wanted, threads.reach);
  if (threads.count == 0 && all.domains.size() > 1 && !is_worth_it(all))
    set_up_domains<World>(all, 1, threads.reach);
  for (const auto& domain : all.domains) {
    domain->bind();
    LanePlan(*domain).set_up();
    reserve_memory(*domain, World::kWaitingFrames);
  }
  auto& first = static_cast<Engine<World>&>(*all.domains[0]);
  set_up_marking(first);
  set_up_hosts(first);
  for (const Message& message : all.network.messages)
    post(static_cast<Engine<World>&>(all.domain_at(all.network.qps[message.qp].source)), message.qp,
         message.size, message.post.since_start().raw());
  all.in_order = all.posted().end_id();
  all.posted_in_between.clear();
  for (std::uint32_t i = 0; i < all.network.changes.size(); ++i)
    first.events.push(all.network.changes[i].at.since_start().raw(),
                      tie_of(EventKind::kLinkState, i));
}

template <class World>
MessageId post(Engine<World>& sim, QpId qp, Bytes size, Ps at) {
  Tables& all = sim.all;
  const MessageId index{all.message_count.fetch_add(1, std::memory_order_relaxed)};
  WEIR_CHECK(sim.messages.contains(index));
  if (all.domains.size() > 1) {
    if (all.is_between)
      all.posted_in_between.push_back({all.call.at, all.call.port, to_index(index)});
    else
      sim.posts.push_back({sim.now(), sim.senders[qp].nic->port->self, to_index(index)});
  }
  MessageRecord message;
  message.qp = qp;
  message.size = size.raw();
  message.post = at + sim.senders[qp].nic->config->message_latency.raw();
  const std::int64_t mtu = sim.senders[qp].nic->config->mtu.raw();
  message.packets =
      static_cast<std::uint32_t>(std::max<std::int64_t>((size.raw() + mtu - 1) / mtu, 1));
  sim.messages[index] = message;
  ++sim.open_messages;
  add_message(sim, index);
  return index;
}

}  // namespace weir::sim::engine
