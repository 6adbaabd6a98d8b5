#include "sim/results/activity.h"

#include <algorithm>
#include <numeric>

#include "counters/catalog.h"
#include "sim/results/results_evidence.h"
#include "vocab/nic_drivers.h"

namespace weir::sim {
namespace {

std::uint64_t dropped_by(const PortCounters& port, DropReason reason) {
  return port.drops[static_cast<std::size_t>(reason)];
}

bool has_counter(counters::Driver driver, std::string_view id) {
  const counters::Counter* const counter = counters::find(id);
  WEIR_CHECK(counter != nullptr);
  return counters::name_for(*counter, driver) != nullptr;
}

}  // namespace

Activity::Activity(const design::Intent& intent, const Placement& placement, const Sim& sim)
    : sim_(sim), before_(sim.port_count()), now_(sim.port_count()) {
  const Network& network = sim.network();
  const Table<PortId, PortId> peers = peers_of(sim);
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h)
    for (std::uint32_t rail = 0; rail < intent.hosts[h].nics.size(); ++rail) {
      const NodeId node = placement.node_of({h, rail});
      const PortId port = sim.port_of(node, 0);
      watched_.push_back({port, peers[port], node, LinkId{intent.hosts[h].nics[rail].link},
                          shown_by(intent.hosts[h], network.nic_config(node))});
    }
  for (std::uint32_t s = 0; s < intent.switches.size(); ++s) {
    const NodeId node = placement.switches[s];
    const Shown shown = shown_by(network.switches[network.nodes[node].config]);
    for (std::uint32_t local = 0; local < intent.switches[s].ports.size(); ++local) {
      const PortId port = sim.port_of(node, local);
      watched_.push_back(
          {port, peers[port], kNo<NodeId>, LinkId{intent.switches[s].ports[local].link}, shown});
    }
  }
}

Activity::Shown Activity::shown_by(const design::HostIntent& host, const NicConfig& config) const {
  const counters::Driver driver = host.nic_model->driver;
  Shown out;
  // Bytes of RDMA are files of mlx5's alone in a simulated host (results_evidence.cc).
  out.traffic = driver == counters::Driver::kMlx5;
  out.marks = has_counter(driver, "nic.np.ecn_marked.packets");
  out.cnps = has_counter(driver, "nic.rp.cnp_handled.packets");
  out.naks = has_counter(driver, "nic.req.seq_nak_received.packets");
  out.timeouts = has_counter(driver, "nic.req.ack_timeout.events");
  out.discards = has_counter(driver, "nic.port.rx_discard.packets");
  out.failures = has_counter(driver, "nic.req.retry_exceeded.events");
  if (has_counter(driver, "nic.prio.pause_rx.microseconds")) out.pauses = config.pfc;
  return out;
}

Activity::Shown Activity::shown_by(const SwitchConfig& config) {
  Shown out;
  out.marks = std::any_of(config.groups.begin(), config.groups.end(),
                          [](const IngressGroup& group) { return group.lossless; });
  out.pauses = config.pfc;
  return out;
}

Activity::Tally Activity::tally_of(const Watched& watched, Ps now) const {
  const PortCounters port = sim_.port_counters(watched.port);
  Tally out;
  if (watched.nic == kNo<NodeId>) {
    out.sent = port.tx_bytes;
    out.received = port.rx_bytes;
    out.marks = port.marked;
    out.losses = std::accumulate(port.drops.begin(), port.drops.end(), std::uint64_t{0});
  } else {
    const NicCounters& nic = sim_.nic_counters(watched.nic);
    const RdmaTraffic rdma = rdma_of(port, nic);
    out.sent = rdma.tx_bytes;
    out.received = rdma.rx_bytes;
    out.marks = nic.ce_received;
    out.cnps = nic.cnp_handled;
    const Shown& shown = watched.shown;
    out.losses = (shown.naks ? nic.packet_seq_err : 0) +
                 (shown.timeouts ? nic.local_ack_timeout : 0) +
                 (shown.discards ? dropped_by(port, DropReason::kReceiverBuffer) : 0) +
                 (shown.failures ? nic.retries_exhausted : 0);
  }
  for (unsigned priority = 0; priority < 8; ++priority)
    out.paused[priority] = sim_.paused_for(watched.port, priority, now);
  return out;
}

std::optional<Duration> Activity::longest_pause(const Watched& watched, PortId port) const {
  if (watched.shown.pauses.mask() == 0) return std::nullopt;
  Ps longest = 0;
  for (unsigned priority = 0; priority < 8; ++priority)
    if (watched.shown.pauses.contains(Priority::of(priority)))
      longest = std::max(longest, now_[port].paused[priority] - before_[port].paused[priority]);
  return Duration::raw(longest);
}

PortActivity Activity::change_of(const Watched& watched, const Tally& now) const {
  const Tally& before = before_[watched.port];
  const Shown& shown = watched.shown;
  PortActivity out;
  if (shown.traffic) {
    out.sent = now.sent - before.sent;
    out.received = now.received - before.received;
  }
  if (shown.marks) out.marks = now.marks - before.marks;
  if (shown.cnps) out.cnps = now.cnps - before.cnps;
  if (watched.nic == kNo<NodeId> || shown.naks || shown.timeouts || shown.discards ||
      shown.failures)
    out.losses = now.losses - before.losses;
  out.paused = longest_pause(watched, watched.port);
  out.pausing = longest_pause(watched, watched.peer);
  return out;
}

std::vector<PortActivity> Activity::read(Time now) {
  const Ps end = now.since_start().raw();
  for (const Watched& watched : watched_)
    now_[watched.port] = tally_of(watched, std::max(end, sim_.now()));
  std::vector<PortActivity> out;
  out.reserve(watched_.size());
  for (const Watched& watched : watched_)
    out.push_back(change_of(watched, now_[watched.port]));
  const Network& network = sim_.network();
  for (std::size_t i = 0; i < watched_.size(); ++i)
    out[i].up = network.links[watched_[i].link].up;
  for (const LinkChange& change : network.changes)
    if (change.at.since_start().raw() <= sim_.now())
      for (std::size_t i = 0; i < watched_.size(); ++i)
        if (watched_[i].link == change.link) out[i].up = change.up;
  std::swap(before_, now_);
  return out;
}

}  // namespace weir::sim
