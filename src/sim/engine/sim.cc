#include "sim/engine/sim.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/domains/windows.h"
#include "sim/engine/engine.h"
#include "sim/engine/nic.h"
#include "sim/engine/set_up.h"
#include "sim/engine/switch.h"
#include "sim/engine/transport.h"
#include "sim/engine/wire.h"
#include "sim/replay/plain.h"
#include "sim/replay/steady.h"

namespace weir::sim {
namespace engine {
namespace {

/// Calls `act` with the engine of the network's world: the only run-time
/// branch on it.
template <class Act>
decltype(auto) in_world(State& state, Act&& act) {
  if (state.network.model == Model::kHpcc) return act(static_cast<Engine<PeerWorld>&>(state));
  return act(static_cast<Engine<NativeWorld>&>(state));
}

template <class World>
void change_link(Engine<World>& sim, LinkId link, bool up, bool reroute) {
  for (const PortId p : sim.all.link_ports[link]) {
    Port& port = sim.ports[p];
    port.down = !up;
    refresh_disturbed(sim.all, port);
    for (unsigned priority = 0; priority < 8; ++priority)
      set_pause(sim, port, priority, false);
    if (!up && port.sw != nullptr)
      for (std::uint32_t queue = 0; queue < 8; ++queue)
        flush_queue(sim, port, queue, DropReason::kLinkDown);
    if (up && has_work(port)) kick(sim, port);
  }
  if (reroute) sim.routes.set_link(link, up);
}

/// A LinkChange has two events: the link itself, and then the fabric's new paths.
template <class World>
void link_state(Engine<World>& sim, std::uint32_t change) {
  const auto count = static_cast<std::uint32_t>(sim.network.changes.size());
  const bool reroutes = change >= count;
  const LinkChange& what = sim.network.changes[reroutes ? change - count : change];
  if (reroutes) return sim.routes.set_link(what.link, what.up);
  change_link(sim, what.link, what.up, what.reroute.raw() == 0);
  if (what.reroute.raw() > 0)
    sim.events.push(sim.now() + what.reroute.raw(), tie_of(EventKind::kLinkState, change + count));
}

template <class World>
void dispatch_rare(Engine<World>& sim, const Event& event) {
  const std::uint32_t entity = entity_of(event.tie);
  const QpId qp{entity};
  const auto port = [&]() -> Port& { return sim.ports[PortId{entity}]; };
  switch (kind_of(event.tie)) {
    case EventKind::kArrive:
    case EventKind::kPortFree: WEIR_UNREACHABLE("dispatch() has these");
    case EventKind::kForward:
      return switch_forward(sim, port(), FrameId{event.packet.psn}, PortId{event.packet.key});
    case EventKind::kQpWake: return wake(sim, qp);
    case EventKind::kPfcApply: return apply_pause(sim, port(), event.packet);
    case EventKind::kPauseExpire: return pause_expire(sim, port());
    case EventKind::kPauseRefresh: return pause_refresh(sim, port());
    case EventKind::kNicDrain: return nic_drain(sim, *port().nic);
    case EventKind::kQpTimeout: return qp_timeout(sim, qp);
    case EventKind::kRecvRepost: ++sim.receivers[qp].receives; return;
    case EventKind::kWatchdog: return watchdog(sim, port());
    case EventKind::kLinkState: return link_state(sim, entity);
    case EventKind::kNicWake: return nic_wake(sim, port());
    case EventKind::kCnpDue: return send_cnp(sim, sim.receivers[qp], qp);
    case EventKind::kUnused: WEIR_UNREACHABLE("nobody pushes it");
  }
}

template <class World>
inline void dispatch(Engine<World>& sim, Event& event) {
  if (kind_of(event.tie) == EventKind::kArrive) {
    Port& port = sim.ports[PortId{entity_of(event.tie)}];
    if (port.is_disturbed) [[unlikely]] {
      if (!survives_link(sim, port, event.packet)) return;
    }
    if (port.sw != nullptr) return switch_arrive(sim, port, event.packet);
    return nic_arrive(sim, port, event.packet);
  }
  if (kind_of(event.tie) == EventKind::kPortFree)
    return port_free(sim, sim.ports[PortId{entity_of(event.tie)}]);
  dispatch_rare(sim, event);
}

template <class World>
[[gnu::noinline]] void run_before(Engine<World>& sim, Ps end) {
  sim.events.run_before(end, [&sim](Event& event) { dispatch(sim, event); });
}

/// Of several domains, one event at a time: not worth a second copy of everything.
[[gnu::noinline, gnu::cold]] void dispatch_in_turn(Engine<NativeWorld>& sim, Event& event) {
  dispatch(sim, event);
}

/// Several domains are always native.
constexpr DomainSteps kNativeSteps{
    [](State& domain, Ps end) { run_before(static_cast<Engine<NativeWorld>&>(domain), end); },
    [](State& domain, Event& event) {
      dispatch_in_turn(static_cast<Engine<NativeWorld>&>(domain), event);
    },
};

void run_all(Tables& all, Ps end) {
  if (all.domains.size() > 1) return run_domains(all, end, kNativeSteps);
  in_world(*all.domains[0], [&](auto& sim) { run_before(sim, end); });
}

/// The same by the calling thread alone: for stretches so short that a meeting costs more.
void run_alone(Tables& all, Ps end) {
  if (all.domains.size() > 1) return run_domains_alone(all, end, kNativeSteps);
  run_all(all, end);
}

Ps next_time(Tables& all) {
  Ps next = kNever;
  for (const auto& domain : all.domains)
    next = std::min(next, domain->events.next_time());
  return next;
}

}  // namespace
}  // namespace engine

using engine::in_world;

std::string_view to_text(DropReason reason) {
  switch (reason) {
    case DropReason::kIngressBuffer: return "ingress_buffer";
    case DropReason::kEgressBuffer: return "egress_buffer";
    case DropReason::kHeadroom: return "headroom";
    case DropReason::kHeadroomPool: return "headroom_pool";
    case DropReason::kReceiverBuffer: return "receiver_buffer";
    case DropReason::kWatchdog: return "watchdog";
    case DropReason::kLinkDown: return "link_down";
    case DropReason::kBitError: return "bit_error";
    case DropReason::kTtl: return "ttl";
    case DropReason::kMtu: return "mtu";
    case DropReason::kNoRoute: return "no_route";
    case DropReason::kWred: return "wred";
    case DropReason::kCount: break;
  }
  WEIR_UNREACHABLE("not a drop reason");
}

Sim::Sim(std::unique_ptr<engine::Tables> tables) : all_(std::move(tables)) {}
Sim::~Sim() = default;

Result<std::unique_ptr<Sim>> Sim::make(Network network, Threads threads) {
  WEIR_TRY_STATUS(check_network(network));
  auto all = std::make_unique<engine::Tables>(std::move(network));
  if (all->network.model == Model::kHpcc)
    engine::set_up<engine::PeerWorld>(*all, threads);
  else
    engine::set_up<engine::NativeWorld>(*all, threads);
  return std::unique_ptr<Sim>(new Sim(std::move(all)));
}

void Sim::set_driver(Driver* driver) {
  for (const auto& domain : all_->domains)
    domain->driver = driver;
}

void Sim::set_observer(Observer* observer) {
  WEIR_CHECK(observer == nullptr || threads() == 1);  // it sees frames in their order
  for (const auto& domain : all_->domains)
    domain->observer = observer;
}

void Sim::run(Time end) {
  if (open_messages() == 0 && live_frames() == 0) return;
  engine::run_all(*all_, end.since_start().raw());
}

void Sim::run_until(Time end) {
  const Ps until = end.since_start().raw();
  while (next_event() < until)
    engine::run_all(*all_, until);
}

MessageId Sim::post(QpId qp, Bytes size, Time at) {
  engine::State& domain = all_->domain_at(all_->network.qps[qp].source);
  return in_world(domain,
                  [&](auto& sim) { return engine::post(sim, qp, size, at.since_start().raw()); });
}

void Sim::call_in_order(NodeId node, std::uint32_t token) {
  engine::State& domain = all_->domain_at(node);
  if (threads() == 1) return domain.driver->on_call(token, domain.now());
  domain.calls.push_back({domain.now(), all_->first_port[node], token});
}

void Sim::set_link(LinkId link, bool up, bool reroute) {
  WEIR_CHECK(threads() == 1);
  in_world(*all_->domains[0], [&](auto& sim) { engine::change_link(sim, link, up, reroute); });
}

void Sim::set_drain(NodeId node, BitRate drain) {
  engine::change_drain(all_->domain_at(node), node, drain);
}

void Sim::set_congestion_control(NodeId node, bool np, bool rp) {
  NicConfig& config = all_->network.nic_config(node);
  config.np_enabled = np;
  config.rp_enabled = rp;
}

void Sim::set_errors(LinkId link, std::uint64_t threshold) {
  all_->network.links[link].error_threshold = threshold;
  for (const PortId p : all_->link_ports[link]) {
    all_->error_threshold[p] = threshold;
    engine::refresh_disturbed(*all_, all_->ports[p]);
  }
}

void Sim::watch_queue(PortId port, std::uint32_t queue) {
  QueueWatch& watch = all_->watch;
  if (watch.port != kNo<PortId>) all_->ports[watch.port].watched = false;
  all_->ports[port].watched = true;
  watch = {};
  watch.port = port;
  watch.queue = queue;
  watch.since = watch.last = now();
  watch.level = watch.low = watch.high = queue_bytes(port, queue);
}

Skipped Sim::skip_steady(Time stop) {
  engine::find_whole(*all_);
  const auto run_to = [](engine::Tables& all, Ps end) {
    while (engine::next_time(all) < end)  // where no frame is left it stops
      engine::run_alone(all, end);
  };
  return engine::skip_steady(*all_, now(), stop.since_start().raw(), run_to);
}

Ps Sim::next_event() {
  return engine::next_time(*all_);
}

}  // namespace weir::sim
